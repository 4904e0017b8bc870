"""Changes of data requests in the audit log."""

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ARRAY, Uuid, any_, func, insert, literal, null, select
from sqlalchemy.ext.asyncio import AsyncSession

from app.audit.tables import AuditRecordRow
from app.requests.model.data_requests import Change
from app.requests.tables.data_request import DataRequestRow
from app.requests.tables.handover import HandoverRow


async def record_change(
    session: AsyncSession, request_ids: Sequence[uuid.UUID], change: Change
) -> Mapping[uuid.UUID, datetime]:
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
    rows = await session.execute(added.returning(AuditRecordRow.request_id, AuditRecordRow.at))
    return {row.request_id: row.at for row in rows}


def _text(value: str | None) -> Any:  # noqa: ANN401 -- a parameter, or NULL
    return null() if value is None else literal(value)
