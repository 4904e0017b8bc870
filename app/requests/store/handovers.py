"""The stores of what follows the approval of a data request: leases, handovers and verifications."""

import uuid
from dataclasses import asdict
from datetime import datetime, timedelta

from sqlalchemy import delete, func, insert, select, update
from sqlalchemy.dialects import postgresql

from app.platform.database.base import Store
from app.platform.members import model_of
from app.requests.model.data_requests import Handover, Lease, Verification
from app.requests.tables import HandoverRow, LeaseRow, VerificationRow
from app.tenants.model import RequiredPrivacy


class LeaseStore(Store):
    """Leases by the id of their request."""

    async def find(self, request_id: str) -> Lease | None:
        """The current lease of a request; None if there is none."""
        is_it = LeaseRow.request_id == uuid.UUID(request_id)
        rows = await self._session.execute(
            select(LeaseRow.id, LeaseRow.expires_at).where(is_it, LeaseRow.expires_at > func.clock_timestamp())
        )
        return next((Lease(str(one), expires_at) for one, expires_at in rows), None)

    async def put(self, request_id: str, lease_id: str, length: timedelta) -> Lease:
        """Store a lease of a request, from now on."""
        values = {"id": uuid.UUID(lease_id), "expires_at": func.clock_timestamp() + length}
        row = postgresql.insert(LeaseRow).values(request_id=uuid.UUID(request_id), **values)
        stored = await self._session.execute(
            row.on_conflict_do_update(index_elements=[LeaseRow.request_id], set_=values).returning(LeaseRow.expires_at)
        )
        return Lease(lease_id, stored.scalar_one())

    async def end(self, request_id: str) -> None:
        """End a request's lease."""
        await self._session.execute(delete(LeaseRow).where(LeaseRow.request_id == uuid.UUID(request_id)))


class HandoverStore(Store):
    """Handovers and their verifications, by the id of their request."""

    async def add(self, request_id: str, described: Handover | Verification) -> None:
        """Store the delivery for a request, or the consumer's verification of it. The request must be locked."""
        # The database sets what is not known yet.
        known = {name: value for name, value in asdict(described).items() if value is not None}
        table = HandoverRow if isinstance(described, Handover) else VerificationRow
        await self._session.execute(insert(table).values(request_id=uuid.UUID(request_id), **known))

    async def find(self, request_id: str) -> Handover | None:
        """The delivery for a request; None if there is none."""
        wanted = select(HandoverRow).where(HandoverRow.request_id == uuid.UUID(request_id))
        row = (await self._session.execute(wanted, execution_options={"populate_existing": True})).scalar()
        return None if row is None else model_of(Handover, row, reached=RequiredPrivacy.from_json(row.reached))

    async def verification(self, request_id: str) -> Verification | None:
        """The consumer's verification of the delivery for a request; None if there is none."""
        wanted = select(VerificationRow).where(VerificationRow.request_id == uuid.UUID(request_id))
        row = (await self._session.execute(wanted)).scalar()
        return None if row is None else model_of(Verification, row, measured=RequiredPrivacy.from_json(row.measured))

    async def set_link(self, request_id: str, url: str, expires_at: datetime | None) -> None:
        """Replace the link to the file."""
        is_it = HandoverRow.request_id == uuid.UUID(request_id)
        await self._session.execute(update(HandoverRow).where(is_it).values(url=url, expires_at=expires_at))
