"""The embedded PostgreSQL: starts and stops with the service and listens only on a private socket."""

from app.process.embedded.places import EmbeddedPostgresError, home_of, server_account
from app.process.embedded.server import EmbeddedPostgres, running_url

__all__ = ["EmbeddedPostgres", "EmbeddedPostgresError", "home_of", "running_url", "server_account"]
