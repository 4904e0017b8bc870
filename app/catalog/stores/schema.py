"""The store that tells by which migration the database was last changed."""

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

_REVISION = text("SELECT version_num FROM alembic_version")


class SchemaStore:
    """The schema of the database."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def revision(self) -> str | None:
        """The revision that the database has."""
        return (await self._session.execute(_REVISION)).scalar()
