"""The audit log, for operators, and its signed heads."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from app.audit.model import SignedHead, SigningKey, WantedRecords, head_claims
from app.audit.service.signing import HEAD, Signer
from app.audit.store.reading import AuditLogStore
from app.platform.callers import Caller
from app.platform.errors import Fault, InvalidDocumentError, RoleNotAllowedError

#: The most heads that are read at a time, of 27 years.
_ALL_HEADS = 10_000


@dataclass(frozen=True, slots=True)
class LogPart:
    """Some records of the log, one after the other.

    Attributes:
        records: each as RFC 8785 JSON.
        heads: the signed heads of these records; of the last part, also those of records that are not there.
        length: the number of the last record of the whole log.
        is_end: whether this is the last part.
    """

    records: tuple[str, ...]
    heads: tuple[SignedHead, ...]
    length: int
    is_end: bool


class AuditService:
    """Reads the log, and signs what it ends with."""

    def __init__(self, log: AuditLogStore) -> None:
        self._log = log

    async def is_changeable(self) -> bool:
        """Whether the service's own role of the database could change the log."""
        return await self._log.is_changeable()

    async def page(
        self, caller: Caller, wanted: WantedRecords, limit: int, page_token: str | None
    ) -> tuple[list[str], str | None]:
        """Some records as RFC 8785 JSON, newest first, and the next page's token.

        Raises:
            RoleNotAllowedError: the caller is no operator.
            InvalidDocumentError: the page token is invalid.
        """
        _refuse_others(caller)
        listed = await self._log.page(wanted, limit + 1, _place(page_token))
        token = str(listed[limit - 1][0]) if len(listed) > limit else None
        return [form for _, form in listed[:limit]], token

    async def heads(
        self, caller: Caller, limit: int, page_token: str | None
    ) -> tuple[Sequence[SignedHead], str | None]:
        """Some signed heads, newest first, and the next page's token.

        Raises:
            RoleNotAllowedError: the caller is no operator.
            InvalidDocumentError: the page token is invalid.
        """
        _refuse_others(caller)
        listed = await self._log.heads(limit + 1, _place(page_token))
        return listed[:limit], str(listed[limit - 1].id) if len(listed) > limit else None

    async def keys(self) -> list[SigningKey]:
        """The public keys by which heads and receipts are checked, oldest first."""
        return await self._log.keys()

    async def export(self) -> AsyncIterator[str | SignedHead]:
        """The whole log as it is now: first the signed heads, then the records as RFC 8785 JSON, oldest first."""
        await self._log.freeze()
        for head in reversed(await self._log.heads(_ALL_HEADS, None)):
            yield head
        async for form in self._log.all():
            yield form

    async def part(self, caller: Caller, after: int, limit: int) -> LogPart:
        """The records after one, to be checked; this must begin the transaction.

        Raises:
            RoleNotAllowedError: the caller is no operator.
        """
        _refuse_others(caller)
        await self._log.freeze()
        records, last = await self._log.following(after, limit), await self._log.last()
        is_end = len(records) < limit
        heads = await self._log.heads_of(after, None if is_end else after + limit)
        return LogPart(tuple(records), tuple(heads), 0 if last is None else last.sequence, is_end=is_end)

    async def use(self, signer: Signer) -> None:
        """Make a key known by which this process signs from now on. The database records it in the log."""
        await self._log.add_key(signer.key_id, signer.public_key)

    async def sign_head(self, signer: Signer) -> bool:
        """Sign the last record, if none was signed today (UTC) with this key; whether it was signed.

        A key that was replaced signs no head any more.
        """
        if not await self._log.try_to_sign():
            return False
        keys, heads, last = await self._log.keys(), await self._log.heads(1, None), await self._log.last()
        now = await self._log.now()
        is_current = bool(keys) and keys[-1].id == signer.key_id
        is_done = bool(heads) and heads[0].key_id == signer.key_id and heads[0].signed_at.date() == now.date()
        if last is None or is_done or not is_current:
            return False
        jws = signer.sign(HEAD, head_claims(last, now))
        await self._log.add_head(last.sequence, signer.key_id, now, jws)
        return True


def _refuse_others(caller: Caller) -> None:
    if not caller.is_operator:
        raise RoleNotAllowedError("Only operators may read the audit log.")


def _place(page_token: str | None) -> int | None:
    """The place in a listing that a token names."""
    if page_token is None:
        return None
    if not (page_token.isascii() and page_token.isdigit() and len(page_token) < _LONGEST):
        fault = Fault("/page_token", "Not a page token; use the next_page_token of the previous page.")
        raise InvalidDocumentError("The page token is invalid.", (fault,))
    return int(page_token)


#: Digits of a number that fits a column.
_LONGEST = 19
