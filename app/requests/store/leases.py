"""The store of leases: at most one for each data request. The request must be locked for every call."""

import uuid
from datetime import timedelta

from sqlalchemy import delete, func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.requests.model.leases import Lease
from app.requests.tables.lease import LeaseRow


class LeaseStore:
    """Leases by the id of their request."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def find(self, request_id: str) -> Lease | None:
        """The lease of a request; None if nobody has it now."""
        is_it = LeaseRow.request_id == uuid.UUID(request_id)
        rows = await self._session.execute(
            select(LeaseRow.id, LeaseRow.expires_at).where(is_it, LeaseRow.expires_at > func.clock_timestamp())
        )
        return next((Lease(str(one), expires_at) for one, expires_at in rows), None)

    async def put(self, request_id: str, lease_id: str, length: timedelta) -> Lease:
        """Give a request's lease to whoever knows its id, from now on."""
        values = {"id": uuid.UUID(lease_id), "expires_at": func.clock_timestamp() + length}
        row = insert(LeaseRow).values(request_id=uuid.UUID(request_id), **values)
        stored = await self._session.execute(
            row.on_conflict_do_update(index_elements=[LeaseRow.request_id], set_=values).returning(LeaseRow.expires_at)
        )
        return Lease(lease_id, stored.scalar_one())

    async def end(self, request_id: str) -> None:
        """End a request's lease."""
        await self._session.execute(delete(LeaseRow).where(LeaseRow.request_id == uuid.UUID(request_id)))
