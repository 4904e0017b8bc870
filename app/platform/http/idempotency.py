"""The store of idempotency keys: requests that are executed once, and their responses."""

import secrets
import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Final

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from sqlalchemy import Index, LargeBinary, and_, any_, delete, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Mapped, mapped_column

from app.platform.callers import Caller
from app.platform.database.base import Base, Store, created_at
from app.platform.errors import InFlightError, KeyReusedError


class IdempotencyKeyRow(Base):
    """A request with an idempotency key, by a hash of the caller and the key.

    `answer` is encrypted with the key itself, which is not stored, since it may contain a secret. It is NULL while the
    request is executed; `created_at` is then the last sign of life of its process.
    """

    __tablename__ = "idempotency_key"
    __table_args__ = (Index("ix_idempotency_key_created_at", "created_at"),)

    name: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    fingerprint: Mapped[bytes] = mapped_column(LargeBinary)
    claim: Mapped[uuid.UUID]
    answer: Mapped[bytes | None] = mapped_column(LargeBinary)
    created_at: Mapped[datetime] = created_at()


#: How long a response is stored.
KEPT: Final = timedelta(hours=24)

#: A process renews its claims every three seconds, and counts as dead after so long a silence. That may be wrong (it
#: was suspended, or the database was away), but nothing is done twice: the silent process cannot commit.
BEAT: Final = 3.0
LAPSED: Final = timedelta(seconds=15)

_NONCE: Final = 12


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to execute a request.

    Attributes:
        name: a hash of the caller and its idempotency key, the key of the row.
        cipher: encrypts the response. Its key is derived from the idempotency key, which is not stored, so readers of
            the database do not learn the secrets in a response.
    """

    name: bytes
    cipher: AESGCM
    number: uuid.UUID


class IdempotencyService(Store):
    """Claims requests and stores their responses."""

    async def claim(self, caller: Caller, key: str, fingerprint: bytes) -> Claim | bytes:
        """Claim a request, or return its response if it has already been executed.

        A key is free again after a day, or without a response after 15 seconds without renewal: its process has died.

        Args:
            caller: two callers may use the same key.
            fingerprint: a hash of the whole request.

        Raises:
            KeyReusedError: the caller has used the key for another request.
            InFlightError: the request is being executed.
        """
        name, cipher = _hash(b"name", caller, key), AESGCM(_hash(b"answer", caller, key))
        row = IdempotencyKeyRow
        is_dead = and_(row.answer.is_(None), row.created_at < func.now() - LAPSED)
        fresh = {"fingerprint": fingerprint, "claim": uuid.uuid4(), "answer": None, "created_at": func.now()}
        claimed = await self._session.execute(
            insert(row)
            .values(name=name, **fresh)
            .on_conflict_do_update(
                index_elements=["name"], set_=fresh, where=or_(row.created_at < func.now() - KEPT, is_dead)
            )
            .returning(row.claim)
        )
        number: uuid.UUID | None = claimed.scalar()
        if number is not None:
            return Claim(name, cipher, number)
        known = await self._session.get(row, name)
        if known is not None and known.fingerprint != fingerprint:
            raise KeyReusedError("This Idempotency-Key was used for another request. Use a new one for each request.")
        if known is None or known.answer is None:
            raise InFlightError("The same request is being executed. Ask again for its response after Retry-After.", 1)
        return cipher.decrypt(known.answer[:_NONCE], known.answer[_NONCE:], name)

    async def hold(self, claim: Claim) -> None:
        """Renew a claim, without waiting for a transaction that stores the response."""
        row = IdempotencyKeyRow
        held = select(row.name).where(row.name == claim.name, row.claim == claim.number, row.answer.is_(None))
        await self._session.execute(
            update(row)
            .where(row.name.in_(held.with_for_update(skip_locked=True)))
            .values(created_at=func.now())
            .execution_options(synchronize_session=False)
        )

    async def keep(self, claim: Claim, answer: bytes) -> None:
        """Store the response, in the transaction of the request's changes: both are stored or neither.

        Raises:
            InFlightError: the claim expired, and another process executes the request.
        """
        nonce = secrets.token_bytes(_NONCE)
        kept = await self._session.execute(
            update(IdempotencyKeyRow)
            .where(IdempotencyKeyRow.name == claim.name, IdempotencyKeyRow.claim == claim.number)
            .values(answer=nonce + claim.cipher.encrypt(nonce, answer, claim.name))
            .returning(IdempotencyKeyRow.name)
        )
        if kept.first() is None:
            raise InFlightError("This took so long that the same request is being executed again.", 1)

    async def release(self, claim: Claim) -> None:
        """Give up a claim: the request has changed nothing and may be sent again.

        A stored response stays, since the caller may not know of it.
        """
        row = IdempotencyKeyRow
        given_up = delete(row).where(row.name == claim.name, row.claim == claim.number, row.answer.is_(None))
        await self._session.execute(given_up)

    async def forget(self, part: int) -> int:
        """Delete some expired responses; return their number."""
        old = select(IdempotencyKeyRow.name).where(IdempotencyKeyRow.created_at < func.now() - KEPT).limit(part)
        # An array is looked up by the index; a subquery could be joined to the whole table.
        is_old = IdempotencyKeyRow.name == any_(func.array(old.scalar_subquery()))
        deleted = await self._session.execute(delete(IdempotencyKeyRow).where(is_old).returning(IdempotencyKeyRow.name))
        return len(deleted.all())


def _hash(purpose: bytes, caller: Caller, key: str) -> bytes:
    """A hash (32 bytes) for one purpose, from which neither the key nor the other hashes can be derived."""
    parts = (purpose, caller.tenant.encode(), (caller.subject or "").encode(), key.encode())
    return sha256(b"".join(len(part).to_bytes(4, "big") + part for part in parts)).digest()
