"""The store that tells by which migration the database was last changed, and whether this version works with it."""

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from app.platform.database.compatibility import SCHEMA, mismatch

_SCHEMA = text(SCHEMA)
_REVISION = text("SELECT version_num FROM alembic_version")


class SchemaStore:
    """The schema of the database."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def revision(self) -> str | None:
        """The revision that the database has."""
        return (await self._session.execute(_REVISION)).scalar()

    async def mismatch(self) -> str | None:
        """Why this version of the service does not work with the schema; None if it does."""
        compatible, revision = (await self._session.execute(_SCHEMA)).one()
        return mismatch(compatible, revision)
