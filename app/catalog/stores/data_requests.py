"""The store of requests for data and their history."""

import uuid
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Final

from sqlalchemy import ColumnElement, Select, and_, func, insert, or_, select, tuple_, update
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from app.catalog.stores.page_tokens import read_token, write_token
from app.catalog.stores.tenants import tenant_id
from app.catalog.tables import AdviceRow, DataRequestChangeRow, DataRequestRow, EntryRow, TenantRow
from app.domain.advice import AdviceQuestion, Problem, Status
from app.domain.callers import Caller
from app.domain.data_requests import OPEN, Change, Cost, DataRequest, DataRequestPage, NewDataRequest, Side, State
from app.domain.entries import Head

#: How many requests the service changes in a transaction.
PART: Final = 100


@dataclass(frozen=True, slots=True)
class Wanted:
    """The criteria of a listing; None for one that is not used.

    Attributes:
        side: whether the caller's tenant asks (`consumer`) or is asked (`provider`).
    """

    state: State | None = None
    entry_id: uuid.UUID | None = None
    side: Side | None = None


class DataRequestStore:
    """Requests by id, by entry and by advice."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def add(
        self, caller: Caller, head: Head, asked: NewDataRequest, question_id: str, advice_id: str, *, is_coarse: bool
    ) -> str:
        """Add a request for a version of an entry, and return its id.

        Args:
            caller: who asks.
            head: the version, as its provider sees it.
            asked: what is asked.
            question_id: the id of the advice for callers.
            advice_id: the catalogue's internal id of the advice.
            is_coarse: whether the caller reads the coarse view of it.
        """
        request_id = uuid.uuid4()
        await self._session.execute(
            insert(DataRequestRow).values(
                id=request_id,
                entry_id=uuid.UUID(head.id),
                entry_name=head.name,
                version=head.version,
                version_id=head.version_id,
                digest=head.digest,
                keyed_digest=head.keyed_digest,
                provider_id=await tenant_id(self._session, head.tenant),
                consumer_id=await tenant_id(self._session, caller.tenant),
                question=asdict(asked.question),
                question_id=uuid.UUID(question_id),
                advice_id=uuid.UUID(advice_id),
                is_coarse=is_coarse,
                purpose=asked.purpose,
                contact=asked.contact,
                terms=asked.terms,
                state=State.REQUESTED.value,
                created_by=caller.subject,
            )
        )
        return str(request_id)

    async def find(self, request_id: str, *, lock: bool = False) -> DataRequest | None:
        """The request of this id. `lock` locks it for the transaction."""
        try:
            wanted = uuid.UUID(request_id)
        except ValueError:
            return None
        requests = await self._all(DataRequestRow.id == wanted, lock=lock)
        return requests[0] if requests else None

    async def page(self, caller: Caller, wanted: Wanted, limit: int, page_token: str | None) -> DataRequestPage:
        """The requests that the caller may see and wants, newest first.

        Raises:
            InvalidDocumentError: the page token is invalid.
        """
        conditions = [*_visible_to(caller, wanted.side)]
        if wanted.state is not None:
            conditions.append(DataRequestRow.state == wanted.state.value)
        if wanted.entry_id is not None:
            conditions.append(DataRequestRow.entry_id == wanted.entry_id)
        if page_token is not None:
            place = tuple_(DataRequestRow.created_at, DataRequestRow.id)
            conditions.append(place < tuple_(*read_token(page_token)))
        newest_first = (DataRequestRow.created_at.desc(), DataRequestRow.id.desc())
        rows = await self._session.execute(_REQUESTS.where(*conditions).order_by(*newest_first).limit(limit + 1))
        requests = [_to_request(*row) for row in rows]
        last = requests[limit - 1] if len(requests) > limit else None
        token = None if last is None else write_token(last.created_at, uuid.UUID(last.id))
        return DataRequestPage(tuple(requests[:limit]), token)

    async def count_open(self, consumer: str) -> int:
        """How many open requests a tenant has made."""
        counted = (
            select(func.count())
            .select_from(DataRequestRow)
            .join(TenantRow, TenantRow.id == DataRequestRow.consumer_id)
            .where(TenantRow.name == consumer, _IS_OPEN)
        )
        return (await self._session.execute(counted)).scalar_one()

    async def answered(self) -> list[DataRequest]:
        """Some requests that wait for an advice that is finished, locked; those that others have locked are left."""
        finished = select(AdviceRow.id).where(AdviceRow.status.in_([Status.SUCCEEDED, Status.FAILED]))
        is_answered = and_(DataRequestRow.state == State.REQUESTED.value, DataRequestRow.advice_id.in_(finished))
        return await self._all(is_answered, lock=True, is_sweep=True)

    async def untouched(self, age: timedelta) -> list[DataRequest]:
        """Some open requests with which nobody has done anything for so long, locked; those locked before are left."""
        return await self._all(_IS_OPEN, DataRequestRow.changed_at < func.now() - age, lock=True, is_sweep=True)

    async def open_for(self, entry_id: str) -> list[DataRequest]:
        """The open requests for an entry, locked."""
        return await self._all(_IS_OPEN, DataRequestRow.entry_id == uuid.UUID(entry_id), lock=True)

    async def change(
        self, request_id: str, change: Change, *, cost: Cost | None = None, problem: Problem | None = None
    ) -> None:
        """Store a change. The request must be locked.

        Args:
            request_id: the request.
            change: the change; a configuration in it takes the place of the one before.
            cost: of this configuration.
            problem: why there is no advice.
        """
        told = {name: value for name, value in asdict(change).items() if name != "at"}
        added = insert(DataRequestChangeRow).values(request_id=uuid.UUID(request_id), **told)
        at = (await self._session.execute(added.returning(DataRequestChangeRow.at))).scalar_one()
        values: dict[str, object] = {"state": change.state.value, "changed_at": at}
        if change.configuration is not None:
            values |= {"configuration": change.configuration, "cost": None if cost is None else asdict(cost)}
        if problem is not None:
            values["problem"] = asdict(problem)
        await self._session.execute(
            update(DataRequestRow).where(DataRequestRow.id == uuid.UUID(request_id)).values(values)
        )

    async def changes(self, request_id: str) -> list[Change]:
        """The history of a request, oldest first."""
        rows = await self._session.execute(
            select(DataRequestChangeRow)
            .where(DataRequestChangeRow.request_id == uuid.UUID(request_id))
            .order_by(DataRequestChangeRow.id)
        )
        return [_to_change(row) for row in rows.scalars()]

    async def erase_contact(self, request_id: str) -> None:
        """Forget whom to ask about a request."""
        await self._session.execute(
            update(DataRequestRow).where(DataRequestRow.id == uuid.UUID(request_id)).values(contact=None)
        )

    async def _all(
        self, *conditions: ColumnElement[bool], lock: bool = False, is_sweep: bool = False
    ) -> list[DataRequest]:
        if lock:
            # Locked first and by themselves: what is read then is as it stays, and everybody locks in one order.
            locked = select(DataRequestRow.id).where(*conditions).order_by(DataRequestRow.id)
            locked = locked.limit(PART) if is_sweep else locked
            locked = locked.with_for_update(skip_locked=is_sweep)
            conditions = (DataRequestRow.id.in_((await self._session.execute(locked)).scalars().all()), *conditions)
        fresh = {"populate_existing": True}
        rows = await self._session.execute(_REQUESTS.where(*conditions), execution_options=fresh)
        return [_to_request(*row) for row in rows]


_Provider, _Consumer = aliased(TenantRow), aliased(TenantRow)
_IS_OPEN = DataRequestRow.state.in_([state.value for state in OPEN])
_REQUESTS: Select[DataRequestRow, str, str, int] = (
    select(
        DataRequestRow,
        _Provider.name,
        _Consumer.name,
        # The latest version that others see; none if the entry is deleted.
        func.coalesce(EntryRow.released_version, EntryRow.latest_version, 0),
    )
    .join(_Provider, _Provider.id == DataRequestRow.provider_id)
    .join(_Consumer, _Consumer.id == DataRequestRow.consumer_id)
    .outerjoin(EntryRow, EntryRow.id == DataRequestRow.entry_id)
)


def _visible_to(caller: Caller, side: Side | None) -> list[ColumnElement[bool]]:
    asks, is_asked = _Consumer.name == caller.tenant, _Provider.name == caller.tenant
    if side is not None:
        return [asks if side is Side.CONSUMER else is_asked]
    return [] if caller.is_operator else [or_(asks, is_asked)]


def _to_request(row: DataRequestRow, provider: str, consumer: str, shown_version: int) -> DataRequest:
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
        created_by=row.created_by,
        configuration=row.configuration,
        cost=None if row.cost is None else Cost(**row.cost),
        problem=None if row.problem is None else Problem(**row.problem),
        is_stale=row.version < shown_version,
    )


def _to_change(row: DataRequestChangeRow) -> Change:
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
