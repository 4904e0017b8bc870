"""The stores of leases, handovers and verifications: at most one of each per data request."""

import uuid
from dataclasses import asdict
from datetime import timedelta
from typing import Any

from sqlalchemy import delete, func, insert, select, update
from sqlalchemy.dialects import postgresql
from sqlalchemy.ext.asyncio import AsyncSession

from app.platform.members import model_of
from app.requests.model.handovers import Handover, Lease, Link, Verification
from app.requests.tables import HandoverRow, LeaseRow, VerificationRow
from app.tenants.model import RequiredPrivacy


class LeaseStore:
    """Leases by the id of their request."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

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


class HandoverStore:
    """Handovers by the id of their request."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def add(self, request_id: str, handover: Handover) -> None:
        """Store the delivery for a request, which must be locked."""
        await self._session.execute(
            insert(HandoverRow).values(
                request_id=uuid.UUID(request_id),
                **asdict(handover.link),
                **_stored(handover, "link", "delivered_at"),
            )
        )

    async def find(self, request_id: str) -> Handover | None:
        """The delivery for a request; None if there is none."""
        rows = await self._session.execute(
            select(HandoverRow).where(HandoverRow.request_id == uuid.UUID(request_id)),
            execution_options={"populate_existing": True},
        )
        return next(
            (
                model_of(
                    Handover, row, link=Link(row.url, row.expires_at), reached=RequiredPrivacy.from_json(row.reached)
                )
                for row in rows.scalars()
            ),
            None,
        )

    async def set_link(self, request_id: str, link: Link) -> None:
        """Replace the link to the file."""
        await self._session.execute(
            update(HandoverRow)
            .where(HandoverRow.request_id == uuid.UUID(request_id))
            .values(url=link.url, expires_at=link.expires_at)
        )


class VerificationStore:
    """Verifications by the id of their request."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def add(self, request_id: str, verification: Verification) -> None:
        """Store a consumer's verification; the request must be locked."""
        await self._session.execute(
            insert(VerificationRow).values(
                request_id=uuid.UUID(request_id),
                **_stored(verification, "verified_at"),
            )
        )

    async def find(self, request_id: str) -> Verification | None:
        """The consumer's verification of the delivery for a request; None if there is none."""
        rows = await self._session.execute(
            select(VerificationRow).where(VerificationRow.request_id == uuid.UUID(request_id))
        )
        return next(
            (model_of(Verification, row, measured=RequiredPrivacy.from_json(row.measured)) for row in rows.scalars()),
            None,
        )


def _stored(described: Handover | Verification, *others: str) -> dict[str, Any]:
    """The members as columns of the same names, but for these others."""
    return {name: value for name, value in asdict(described).items() if name not in others}
