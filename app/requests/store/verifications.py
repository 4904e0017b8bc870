"""The store of verifications: at most one for each data request."""

import uuid
from dataclasses import asdict

from sqlalchemy import insert, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.requests.model.verifications import Verification
from app.requests.tables.verification import VerificationRow
from app.tenants.model import RequiredPrivacy


class VerificationStore:
    """Verifications by the id of their request."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def add(self, request_id: str, verification: Verification) -> None:
        """Store what a consumer says of a delivery; the request must be locked."""
        await self._session.execute(
            insert(VerificationRow).values(
                request_id=uuid.UUID(request_id),
                sha256=verification.sha256,
                size=verification.size,
                records=verification.records,
                measured=asdict(verification.measured),
                cells_compared=verification.cells_compared,
                cells_differing=verification.cells_differing,
                differences=list(verification.differences or ()),
            )
        )

    async def find(self, request_id: str) -> Verification | None:
        """What the consumer says of the delivery for a request; None if it has said nothing."""
        rows = await self._session.execute(
            select(VerificationRow).where(VerificationRow.request_id == uuid.UUID(request_id))
        )
        return next((_to_verification(row) for row in rows.scalars()), None)


def _to_verification(row: VerificationRow) -> Verification:
    return Verification(
        sha256=row.sha256,
        size=row.size,
        records=row.records,
        measured=RequiredPrivacy.from_json(row.measured),
        cells_compared=row.cells_compared,
        cells_differing=row.cells_differing,
        differences=tuple(row.differences),
        verified_at=row.verified_at,
    )
