"""The store that adds to the audit log. What it adds is committed with what it records, or not at all."""

import uuid
from dataclasses import asdict
from typing import Any

from sqlalchemy import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.audit.model import AuditRecord
from app.audit.tables import AuditRecordRow
from app.platform.callers import Caller


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


_IDS = ("entry_id", "request_id")
