"""A PostgreSQL of our own: started beside the service, gone with it, behind a private socket."""

from app.catalog.embedded.errors import EmbeddedPostgresError
from app.catalog.embedded.server import EmbeddedPostgres, running_url

__all__ = ["EmbeddedPostgres", "EmbeddedPostgresError", "running_url"]
