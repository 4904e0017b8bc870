"""The embedded PostgreSQL: starts and stops with the service and listens only on a private socket."""

from app.platform.process.embedded.home import EmbeddedPostgresError, home_of, server_account
from app.platform.process.embedded.server import EmbeddedPostgres, Postmaster, running_urls

__all__ = ["EmbeddedPostgres", "EmbeddedPostgresError", "Postmaster", "home_of", "running_urls", "server_account"]
