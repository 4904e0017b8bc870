"""Rows of data requests in the domain's form."""

from app.advice.model.advice import AdviceQuestion
from app.platform.queue.outcome import Problem
from app.requests.model.data_requests import Change, Cost, DataRequest, Side, State
from app.requests.tables.data_request import DataRequestChangeRow, DataRequestRow


def to_request(row: DataRequestRow, provider: str, consumer: str, shown_version: int) -> DataRequest:
    """A request as its row has it, with the names of its tenants and the latest version that the consumer sees."""
    return DataRequest(
        id=str(row.id),
        entry_id=str(row.entry_id),
        entry_name=row.entry_name,
        version=row.version,
        version_id=row.version_id,
        digest=row.digest,
        keyed_digest=row.keyed_digest,
        provider=provider,
        consumer=consumer,
        question=AdviceQuestion.from_json(row.question),
        question_id=None if row.question_id is None else str(row.question_id),
        advice_id=None if row.advice_id is None else str(row.advice_id),
        is_coarse=row.is_coarse,
        purpose=row.purpose,
        contact=row.contact,
        terms=row.terms,
        state=State(row.state),
        created_at=row.created_at,
        changed_at=row.changed_at,
        configuration=row.configuration,
        cost=None if row.cost is None else Cost(**row.cost),
        problem=None if row.problem is None else Problem(**row.problem),
        is_stale=row.version < shown_version,
    )


def to_change(row: DataRequestChangeRow) -> Change:
    """A change as its row has it."""
    return Change(
        at=row.at,
        action=row.action,
        state=State(row.state),
        side=Side(row.side),
        tenant=row.tenant,
        subject=row.subject,
        reason=row.reason,
        configuration=row.configuration,
    )
