"""The store that adds to the audit log. What it adds is committed with what it records, or not at all."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import ARRAY, Uuid, any_, func, insert, literal, null, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.audit.model import AuditAction, AuditRecord
from app.audit.tables import AuditRecordRow
from app.entries.tables.entry_version import EntryVersionRow
from app.platform.callers import Caller
from app.requests.model.data_requests import Change
from app.requests.tables.data_request import DataRequestRow
from app.requests.tables.handover import HandoverRow


class AuditStore:
    """Adds records. The database gives each its time, and its place in the chain when it is committed."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def add(self, record: AuditRecord, by: Caller | None) -> None:
        """Add a record of what a caller has done, or the service itself if None."""
        values: dict[str, Any] = asdict(record)
        values |= {name: None if values[name] is None else uuid.UUID(values[name]) for name in _IDS}
        if by is not None:
            values |= {"tenant": by.tenant, "subject": by.subject}
        await self._session.execute(insert(AuditRecordRow).values(values))

    async def add_verdict(self, version_id: int, value: str) -> None:
        """Add that the service has judged a version."""
        columns = (EntryVersionRow.entry_id, EntryVersionRow.version, EntryVersionRow.digest)
        judged = select(literal(AuditAction.JUDGE_ENTRY.value), *columns, literal(value))
        names = ["action", *(column.key for column in columns), "value"]
        await self._session.execute(
            insert(AuditRecordRow).from_select(names, judged.where(EntryVersionRow.id == version_id))
        )

    async def add_change(self, request_ids: Sequence[uuid.UUID], change: Change) -> Mapping[uuid.UUID, datetime]:
        """Add a change of data requests, which are stored, and return when it was, by request.

        From the first delivery on, each record has the digest of the file, whatever the change is.
        """
        told = {
            DataRequestRow.id: "request_id",
            DataRequestRow.entry_id: "entry_id",
            DataRequestRow.version: "version",
            DataRequestRow.digest: "digest",
            DataRequestRow.terms: "terms",
            HandoverRow.sha256: "file_sha256",
            func.coalesce(_text(change.configuration), DataRequestRow.configuration): "configuration",
            literal(f"request.{change.action}"): "action",
            literal(change.state.value): "state",
            literal(change.side.value): "side",
            _text(change.tenant): "tenant",
            _text(change.subject): "subject",
        }
        changed = (
            select(*told)
            .outerjoin(HandoverRow, HandoverRow.request_id == DataRequestRow.id)
            .where(DataRequestRow.id == any_(literal(list(request_ids), ARRAY(Uuid))))
            .order_by(DataRequestRow.id)
        )
        added = insert(AuditRecordRow).from_select([*told.values()], changed)
        rows = await self._session.execute(added.returning(AuditRecordRow.request_id, AuditRecordRow.at))
        return {row.request_id: row.at for row in rows}


_IDS = ("entry_id", "request_id")


def _text(value: str | None) -> Any:  # noqa: ANN401 -- a parameter, or NULL
    return null() if value is None else literal(value)
