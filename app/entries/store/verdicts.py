"""The store of verdicts, one for each version."""

from sqlalchemy import literal, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from app.audit.model import AuditAction
from app.audit.tables import AuditRecordRow
from app.entries.model.verdicts import StoredVerdict
from app.entries.tables import EntryVersionRow, VerdictRow


class VerdictStore:
    """Verdicts by the id of their version."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def add(self, version_id: int, verdict: StoredVerdict) -> bool:
        """Store a verdict; False if another run of the same job has already stored one."""
        judged = {"passed": verdict.passed, "findings": list(verdict.findings), "few": verdict.few}
        values = {"version_id": version_id, **judged}
        added = insert(VerdictRow).values(values).on_conflict_do_nothing().returning(VerdictRow.version_id)
        return (await self._session.execute(added)).first() is not None

    async def find(self, version_id: int) -> StoredVerdict | None:
        """The verdict on a version; None if there is none yet."""
        statement = select(VerdictRow).where(VerdictRow.version_id == version_id)
        row = (await self._session.execute(statement)).scalar_one_or_none()
        return None if row is None else StoredVerdict(row.passed, tuple(row.findings), row.few)

    async def record(self, version_id: int, value: str) -> None:
        """Record the verdict on a version in the audit log."""
        columns = (EntryVersionRow.entry_id, EntryVersionRow.version, EntryVersionRow.digest)
        judged = select(literal(AuditAction.JUDGE_ENTRY.value), *columns, literal(value))
        names = ["action", *(column.key for column in columns), "value"]
        await self._session.execute(
            insert(AuditRecordRow).from_select(names, judged.where(EntryVersionRow.id == version_id))
        )
