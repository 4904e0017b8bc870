"""A PostgreSQL of our own: started beside the service, gone with it, behind a private socket."""

from app.process.embedded.places import EmbeddedPostgresError
from app.process.embedded.server import EmbeddedPostgres, running_url

__all__ = ["EmbeddedPostgres", "EmbeddedPostgresError", "running_url"]
