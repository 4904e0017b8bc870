"""Reads and signs the audit log, and reports the health of the log and the database, for operators."""

import base64
import binascii
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import rfc8785
from anyio import to_thread
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from pydantic import SecretStr

from app.audit.model import Place, SignedHead, WantedRecords, head_claims
from app.audit.store import AuditLogStore
from app.platform.callers import Caller, administered_tenant
from app.platform.database.migrations import SchemaStore, newest_revision
from app.platform.errors import Fault, InvalidDocumentError, RoleNotAllowedError

#: The header `typ` of the two kinds of signed document, so that one cannot pass for the other. The SDK repeats these
#: and the thumbprint (`aegis_sdk.receipts`), since neither package imports the other.
HEAD, RECEIPT = "aegis-audit-head", "aegis-receipt"

#: Base64url differs from base64 in two characters.
_AS_BASE64: Final = str.maketrans("-_", "+/")


class Signer:
    """Signs with a private key; `key_id` is the id of the public key."""

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key
        self.public_key = encoded(key.public_key().public_bytes_raw())
        self.key_id = thumbprint(self.public_key)

    def sign(self, kind: str, claims: Mapping[str, Any]) -> str:
        """A JWS of the claims, as RFC 8785 JSON."""
        header = {"alg": "EdDSA", "kid": self.key_id, "typ": kind}
        signed = ".".join(encoded(rfc8785.dumps(dict(part))) for part in (header, claims))
        return f"{signed}.{encoded(self._key.sign(signed.encode()))}"


def signer_of(text: SecretStr | None, file: Path | None = None) -> Signer | None:
    """The signer of a key, or of the one in a file; None if there is neither.

    Raises:
        ValueError: not a key, or the file cannot be read.
    """
    if text is not None:
        return Signer(_key_in(text.get_secret_value(), "the audit key"))
    if file is None:
        return None
    try:
        return Signer(_key_in(file.read_text(encoding="utf-8"), f"what is in {file}"))
    except (OSError, UnicodeDecodeError) as error:
        message = f"the audit key cannot be read from {file}: {getattr(error, 'strerror', None) or 'not UTF-8'}"
        raise ValueError(message) from None


def draw_key_text() -> str:
    """A new private key as PEM."""
    key = Ed25519PrivateKey.generate()
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def thumbprint(public_key: str) -> str:
    """The id of a public key: its thumbprint by RFC 7638 and RFC 8037, appendix A.3."""
    return encoded(sha256(rfc8785.dumps({"crv": "Ed25519", "kty": "OKP", "x": public_key})).digest())


def encoded(content: bytes) -> str:
    """Base64url without padding."""
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def _key_in(text: str, what: str) -> Ed25519PrivateKey:
    """The key in a text. The error does not quote the text: it may be a mistyped secret."""
    text = text.strip()
    try:
        if text.startswith("-----BEGIN"):
            key = load_pem_private_key(text.encode(), None)
        elif re.fullmatch(r"[0-9A-Fa-f]{64}", text):
            key = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(text))
        else:
            padded = text.rstrip("=") + "=" * (-len(text.rstrip("=")) % 4)
            raw = base64.b64decode(padded.translate(_AS_BASE64), validate=True)
            key = Ed25519PrivateKey.from_private_bytes(raw)
    except (ValueError, TypeError, binascii.Error, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        message = f"{what} is not an Ed25519 private key: give PEM, or 32 bytes as base64 or 64 hexadecimal digits"
        raise ValueError(message)  # noqa: TRY004 -- the value of a setting is wrong
    return key


#: The most heads read at a time: those of 27 years.
_ALL_HEADS = 10_000


@dataclass(frozen=True, slots=True)
class LogPart:
    """Consecutive records of the log.

    Attributes:
        records: each as RFC 8785 JSON.
        heads: the signed heads of these records; in the last part, also those of missing records.
        length: the number of the last record of the whole log.
    """

    records: tuple[str, ...]
    heads: tuple[SignedHead, ...]
    length: int
    is_end: bool


@dataclass(frozen=True, slots=True)
class AuditService:
    """Reads the log and signs its last record.

    Raises:
        RoleNotAllowedError: a caller who reads the log is not an operator.
    """

    log: AuditLogStore

    async def page(
        self, caller: Caller, wanted: WantedRecords, limit: int, page_token: str | None
    ) -> tuple[list[str], str | None]:
        """Some records as RFC 8785 JSON, newest first, and the next page's token.

        Raises:
            InvalidDocumentError: the page token is invalid.
        """
        _refuse_others(caller)
        listed = await self.log.page(wanted, limit + 1, _place(page_token))
        token = str(listed[limit - 1][0]) if len(listed) > limit else None
        return [form for _, form in listed[:limit]], token

    async def heads(
        self, caller: Caller, limit: int, page_token: str | None
    ) -> tuple[Sequence[SignedHead], str | None]:
        """Some signed heads, newest first, and the next page's token.

        Raises:
            InvalidDocumentError: the page token is invalid.
        """
        _refuse_others(caller)
        listed = await self.log.heads(limit + 1, _place(page_token))
        return listed[:limit], str(listed[limit - 1].id) if len(listed) > limit else None

    async def export(self) -> AsyncIterator[str | SignedHead]:
        """The current log: first the signed heads, then the records as RFC 8785 JSON, oldest first."""
        await self.log.freeze()
        for head in reversed(await self.log.heads(_ALL_HEADS, None)):
            yield head
        async for form in self.log.all():
            yield form

    async def part(self, caller: Caller, after: int, limit: int) -> LogPart:
        """The records after `after`, to be checked; must be the first call of the transaction."""
        _refuse_others(caller)
        await self.log.freeze()
        records, last = await self.log.following(after, limit), await self.log.last()
        is_end = len(records) < limit
        heads = await self.log.heads_of(after, None if is_end else after + limit)
        return LogPart(tuple(records), tuple(heads), 0 if last is None else last.sequence, is_end=is_end)

    async def use(self, signer: Signer) -> None:
        """Publish the key that this process signs with from now on. The database logs it."""
        await self.log.add_key(signer.key_id, signer.public_key)

    async def sign_head(self, signer: Signer) -> bool:
        """Sign the last record unless this key signed one today (UTC); return whether it did.

        A replaced key signs no more heads.
        """
        if not await self.log.try_to_sign():
            return False
        keys, heads, last = await self.log.keys(), await self.log.heads(1, None), await self.log.last()
        now = await self.log.now()
        is_current = bool(keys) and keys[-1].id == signer.key_id
        is_done = bool(heads) and heads[0].key_id == signer.key_id and heads[0].signed_at.date() == now.date()
        if last is None or is_done or not is_current:
            return False
        jws = signer.sign(HEAD, head_claims(last, now))
        await self.log.add_head(last.sequence, signer.key_id, now, jws)
        return True


def _refuse_others(caller: Caller) -> None:
    if not caller.is_operator:
        raise RoleNotAllowedError("Only operators may read the audit log.")


def _place(page_token: str | None) -> int | None:
    if page_token is None:
        return None
    if not (page_token.isascii() and page_token.isdigit() and len(page_token) < _LONGEST):
        fault = Fault("/page_token", "Not a page token; use the next_page_token of the previous page.")
        raise InvalidDocumentError("The page token is invalid.", (fault,))
    return int(page_token)


#: The most digits of a number that fits the column.
_LONGEST = 19


@dataclass(frozen=True, slots=True)
class Health:
    """The database's schema and its audit log.

    Attributes:
        expected: the migration that this version of the service needs.
    """

    revision: str | None
    expected: str | None
    is_changeable: bool
    last: Place | None
    head: SignedHead | None


@dataclass(frozen=True, slots=True)
class HealthService:
    """Looks at the database and at the audit log."""

    schema: SchemaStore
    log: AuditLogStore

    async def look(self, caller: Caller) -> Health:
        """The health of the database and the audit log.

        Raises:
            RoleNotAllowedError: the caller is not an administrator.
        """
        administered_tenant(caller, None)
        heads = await self.log.heads(1, None)
        return Health(
            await self.schema.revision(),
            await to_thread.run_sync(newest_revision),
            await self.log.is_changeable(),
            await self.log.last(),
            next(iter(heads), None),
        )
