"""The stores of the audit log: one adds records, the other reads them and adds signed heads and public keys."""

import uuid
from collections.abc import AsyncIterator
from dataclasses import asdict
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy import ColumnElement, Select, Text, func, insert, select, text
from sqlalchemy.dialects.postgresql import insert as insert_or_not

from app.audit.model import OVERLAP, AuditRecord, Place, SignedHead, SigningKey, WantedRecords
from app.audit.tables import AuditHeadRow, AuditKeyRow, AuditLinkRow, AuditRecordRow
from app.platform.callers import Caller
from app.platform.database.base import Store


class AuditStore(Store):
    """Adds records. The database sets their time and, at commit, their place in the chain."""

    async def add(self, record: AuditRecord, by: Caller | None) -> None:
        """Add a record of an action by a caller; by the service itself if None."""
        values: dict[str, Any] = asdict(record)
        values |= {name: None if values[name] is None else uuid.UUID(values[name]) for name in _IDS}
        if by is not None:
            values |= {"tenant": by.tenant, "subject": by.subject}
        await self._session.execute(insert(AuditRecordRow).values(values))


_IDS = ("entry_id", "request_id")

#: Records read at a time.
PART: Final = 2_000

_SNAPSHOT = text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
_ONE_SIGNS = text("SELECT pg_try_advisory_xact_lock(hashtextextended('audit heads', 0))")
_NOW = select(func.clock_timestamp())
_IS_CHANGEABLE = text("SELECT has_table_privilege('audit_record', 'UPDATE, DELETE, TRUNCATE')")


class AuditLogStore(Store):
    """Records with their places, signed heads, and keys."""

    async def is_changeable(self) -> bool:
        """Whether the role of this session could change existing records."""
        return bool((await self._session.execute(_IS_CHANGEABLE)).scalar())

    async def freeze(self) -> None:
        """Give the transaction one snapshot of the database; must be its first statement."""
        await self._session.execute(_SNAPSHOT)

    async def now(self) -> datetime:
        """The database's time, by which all records are dated."""
        now: datetime = (await self._session.execute(_NOW)).scalar_one()
        return now

    async def page(self, wanted: WantedRecords, limit: int, before: int | None) -> list[tuple[int, str]]:
        """Some records, newest first, by number and as RFC 8785 JSON."""
        conditions = _wanted(wanted)
        if before is not None:
            conditions.append(AuditLinkRow.sequence < before)
        listed = _RECORDS.where(*conditions).order_by(AuditLinkRow.sequence.desc()).limit(limit)
        return [(row.sequence, row.form) for row in await self._session.execute(listed)]

    async def all(self) -> AsyncIterator[str]:
        """All records as RFC 8785 JSON in the order of the chain, read in batches."""
        rows = await self._session.stream(_RECORDS.order_by(AuditLinkRow.sequence).execution_options(yield_per=PART))
        async for row in rows:
            yield row.form

    async def following(self, after: int, limit: int) -> list[str]:
        """The records after number `after` as RFC 8785 JSON, in the order of the chain."""
        listed = _RECORDS.where(AuditLinkRow.sequence > after).order_by(AuditLinkRow.sequence).limit(limit)
        return [row.form for row in await self._session.execute(listed)]

    async def last(self) -> Place | None:
        """The place of the last record; None if there is none."""
        return await self._place(select(AuditLinkRow.sequence, AuditLinkRow.hash))

    async def last_change_of(self, request_id: UUID) -> Place | None:
        """The place of the last change of a data request; None if the log began later."""
        changes = select(AuditLinkRow.sequence, AuditLinkRow.hash).join(
            AuditRecordRow, AuditRecordRow.id == AuditLinkRow.record_id
        )
        return await self._place(
            changes.where(AuditRecordRow.request_id == request_id, AuditRecordRow.state.is_not(None))
        )

    async def _place(self, places: Select[int, str]) -> Place | None:
        rows = await self._session.execute(places.order_by(AuditLinkRow.sequence.desc()).limit(1))
        return next((Place(row.sequence, row.hash) for row in rows), None)

    async def try_to_sign(self) -> bool:
        """Take the right to sign a head until the transaction ends; False if another process has it."""
        return bool((await self._session.execute(_ONE_SIGNS)).scalar())

    async def heads(self, limit: int, before: int | None) -> list[SignedHead]:
        """Some signed heads, newest first."""
        listed = select(AuditHeadRow).order_by(AuditHeadRow.id.desc()).limit(limit)
        if before is not None:
            listed = listed.where(AuditHeadRow.id < before)
        return list(map(_to_head, (await self._session.execute(listed)).scalars()))

    async def heads_of(self, after: int, until: int | None) -> list[SignedHead]:
        """The signed heads of the records after `after`, up to `until` unless that is None."""
        listed = select(AuditHeadRow).where(AuditHeadRow.sequence > after).order_by(AuditHeadRow.id)
        if until is not None:
            listed = listed.where(AuditHeadRow.sequence <= until)
        return list(map(_to_head, (await self._session.execute(listed)).scalars()))

    async def add_head(self, sequence: int, key_id: str, signed_at: datetime, jws: str) -> None:
        """Add a signed head."""
        values = {"sequence": sequence, "key_id": key_id, "signed_at": signed_at, "jws": jws}
        await self._session.execute(insert(AuditHeadRow).values(values))

    async def keys(self) -> list[SigningKey]:
        """All keys, oldest first. Every key but the last ends some time after its successor begins."""
        rows = (await self._session.execute(select(AuditKeyRow).order_by(AuditKeyRow.valid_from))).scalars().all()
        ends = [*(row.valid_from + OVERLAP for row in rows[1:]), None][: len(rows)]
        return [SigningKey(row.id, row.public_key, row.valid_from, end) for row, end in zip(rows, ends, strict=True)]

    async def add_key(self, key_id: str, public_key: str) -> None:
        """Add a key unless it exists. A trigger logs the addition."""
        added = insert_or_not(AuditKeyRow).values(id=key_id, public_key=public_key)
        await self._session.execute(added.on_conflict_do_nothing())


_FORM = func.audit_form(
    text("audit_record"), AuditLinkRow.sequence, AuditLinkRow.previous, AuditLinkRow.hash, type_=Text
).label("form")
_RECORDS = select(AuditLinkRow.sequence, _FORM).join(AuditRecordRow, AuditRecordRow.id == AuditLinkRow.record_id)


def _to_head(row: AuditHeadRow) -> SignedHead:
    return SignedHead(row.id, row.sequence, row.key_id, row.signed_at, row.jws)


def _wanted(wanted: WantedRecords) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if wanted.since is not None:
        conditions.append(AuditRecordRow.at >= wanted.since)
    if wanted.until is not None:
        conditions.append(AuditRecordRow.at < wanted.until)
    if wanted.entry_id is not None:
        conditions.append(AuditRecordRow.entry_id == wanted.entry_id)
    if wanted.request_id is not None:
        conditions.append(AuditRecordRow.request_id == wanted.request_id)
    return conditions
