"""Requests that are carried out once, however often they are sent (`Idempotency-Key`)."""

import secrets
import uuid
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from typing import Final

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from app.platform.callers import Caller
from app.platform.errors import InFlightError, KeyReusedError
from app.platform.http.idempotency.store import IdempotencyStore

#: How long an answer is kept.
KEPT: Final = timedelta(hours=24)

#: Whoever carries a request out says so every three seconds, and counts as dead after so long a silence. That may be
#: wrong (a process was stopped, or the database was away), but nothing is done twice: the silent one cannot commit.
BEAT: Final = 3.0
LAPSED: Final = timedelta(seconds=15)

_NONCE: Final = 12


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to carry a request out.

    Attributes:
        name: a hash of the caller and its idempotency key, by which the request is stored.
        cipher: encrypts the answer. Its key comes from the idempotency key, which is not stored: whoever reads the
            database does not learn the secrets that an answer has.
        number: of this claim.
    """

    name: bytes
    cipher: AESGCM
    number: uuid.UUID


class IdempotencyService:
    """Claims requests and keeps their answers."""

    def __init__(self, requests: IdempotencyStore) -> None:
        self._requests = requests

    async def claim(self, caller: Caller, key: str, fingerprint: bytes) -> Claim | bytes:
        """Claim a request; if it has been carried out already, return its answer.

        Args:
            caller: who sends it. Two callers may use the same key.
            key: the idempotency key.
            fingerprint: a hash of everything that says what is asked.

        Raises:
            KeyReusedError: the caller has used the key for another request.
            InFlightError: the request is being carried out.
        """
        name, cipher = _hash(b"name", caller, key), AESGCM(_hash(b"answer", caller, key))
        known = await self._requests.claim(name, fingerprint, KEPT, LAPSED)
        if isinstance(known, uuid.UUID):
            return Claim(name, cipher, known)
        if known.fingerprint != fingerprint:
            raise KeyReusedError("This Idempotency-Key was used for another request. Use a new one for each request.")
        if known.answer is None:
            raise InFlightError("The same request is being carried out. Ask again for its answer after Retry-After.", 1)
        return cipher.decrypt(known.answer[:_NONCE], known.answer[_NONCE:], name)

    async def hold(self, claim: Claim) -> None:
        """Say that a request is still being carried out."""
        await self._requests.hold(claim.name, claim.number)

    async def keep(self, claim: Claim, answer: bytes) -> None:
        """Keep the answer. In the transaction of what the request changes, both are stored or neither is.

        Raises:
            InFlightError: it was silent for so long that somebody else carries the request out.
        """
        nonce = secrets.token_bytes(_NONCE)
        encrypted = nonce + claim.cipher.encrypt(nonce, answer, claim.name)
        if not await self._requests.keep(claim.name, claim.number, encrypted):
            raise InFlightError("This took so long that the same request is being carried out again.", 1)

    async def release(self, claim: Claim) -> None:
        """Give a claim up: the request has changed nothing, and may be sent again."""
        await self._requests.release(claim.name, claim.number)

    async def forget(self, part: int) -> int:
        """Delete some answers that have been kept long enough; how many they were."""
        return await self._requests.forget(KEPT, part)


def _hash(purpose: bytes, caller: Caller, key: str) -> bytes:
    """A hash of 32 bytes for one purpose; of it, nobody finds those for others, nor the key."""
    parts = (purpose, caller.tenant.encode(), (caller.subject or "").encode(), key.encode())
    return sha256(b"".join(len(part).to_bytes(4, "big") + part for part in parts)).digest()
