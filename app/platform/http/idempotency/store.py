"""The store of requests that are carried out once."""

import uuid
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import and_, any_, delete, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.platform.http.idempotency.tables import IdempotencyKeyRow


@dataclass(frozen=True, slots=True)
class KnownRequest:
    """A request with an idempotency key that has been used before.

    Attributes:
        fingerprint: what the request was.
        answer: its answer, encrypted; None while it is carried out.
    """

    fingerprint: bytes
    answer: bytes | None


class IdempotencyStore:
    """Requests by the name of their idempotency key."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def claim(
        self, name: bytes, fingerprint: bytes, kept: timedelta, lapsed: timedelta
    ) -> uuid.UUID | KnownRequest:
        """Claim a name, or return the request that has it.

        Names are free again after `kept`, and without an answer if nobody has held them for `lapsed`: whoever claimed
        them has died.
        """
        row = IdempotencyKeyRow
        is_free = or_(
            row.created_at < func.now() - kept, and_(row.answer.is_(None), row.created_at < func.now() - lapsed)
        )
        fresh = {"fingerprint": fingerprint, "claim": uuid.uuid4(), "answer": None, "created_at": func.now()}
        claimed = await self._session.execute(
            insert(row)
            .values(name=name, **fresh)
            .on_conflict_do_update(index_elements=["name"], set_=fresh, where=is_free)
            .returning(row.claim)
        )
        claim: uuid.UUID | None = claimed.scalar()
        if claim is not None:
            return claim
        known = await self._session.get(row, name)
        return KnownRequest(known.fingerprint, known.answer) if known else KnownRequest(fingerprint, None)

    async def hold(self, name: bytes, claim: uuid.UUID) -> None:
        """Claim a name as if it were now. Whoever stores its answer at the same time is not waited for."""
        row = IdempotencyKeyRow
        held = select(row.name).where(row.name == name, row.claim == claim, row.answer.is_(None))
        await self._session.execute(
            update(row)
            .where(row.name.in_(held.with_for_update(skip_locked=True)))
            .values(created_at=func.now())
            .execution_options(synchronize_session=False)
        )

    async def keep(self, name: bytes, claim: uuid.UUID, answer: bytes) -> bool:
        """Store the answer to a claimed request; False if somebody else has claimed it since."""
        kept = await self._session.execute(
            update(IdempotencyKeyRow)
            .where(IdempotencyKeyRow.name == name, IdempotencyKeyRow.claim == claim)
            .values(answer=answer)
            .returning(IdempotencyKeyRow.name)
        )
        return kept.first() is not None

    async def release(self, name: bytes, claim: uuid.UUID) -> None:
        """Give a claimed name up, unless its answer is stored: whoever gives it up may not know."""
        row = IdempotencyKeyRow
        await self._session.execute(delete(row).where(row.name == name, row.claim == claim, row.answer.is_(None)))

    async def forget(self, kept: timedelta, part: int) -> int:
        """Delete some of what is older; how much it was."""
        old = select(IdempotencyKeyRow.name).where(IdempotencyKeyRow.created_at < func.now() - kept).limit(part)
        # An array is looked up by the index; a subquery may be joined to the whole table.
        is_old = IdempotencyKeyRow.name == any_(func.array(old.scalar_subquery()))
        deleted = await self._session.execute(delete(IdempotencyKeyRow).where(is_old).returning(IdempotencyKeyRow.name))
        return len(deleted.all())
