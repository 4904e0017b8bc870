"""The embedded PostgreSQL: starts and stops with the service and listens only on a private socket."""

from app.process.embedded.places import EmbeddedPostgresError
from app.process.embedded.server import EmbeddedPostgres, running_url

__all__ = ["EmbeddedPostgres", "EmbeddedPostgresError", "running_url"]
