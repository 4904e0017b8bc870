"""The store of data requests, with their history, which the audit log also records."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import (
    ARRAY,
    ColumnElement,
    Row,
    Select,
    Uuid,
    and_,
    any_,
    delete,
    distinct,
    exists,
    false,
    func,
    insert,
    literal,
    null,
    or_,
    select,
    text,
    tuple_,
    union,
    update,
)
from sqlalchemy.orm import aliased

from app.advice.model import Status
from app.advice.tables import AdviceRow
from app.audit.tables import AuditRecordRow
from app.entries.model.entries import Audience, Head
from app.entries.tables import EntryRow, EntryVersionRow
from app.platform.callers import Caller
from app.platform.database.base import Store, read_token, write_token
from app.platform.members import model_of
from app.platform.queue.model import Problem
from app.requests.model.composition import Granted
from app.requests.model.data_requests import (
    OPEN,
    Action,
    Change,
    Cost,
    DataRequest,
    DataRequestPage,
    NewDataRequest,
    Side,
    State,
)
from app.requests.tables import DataRequestChangeRow, DataRequestRow, HandoverRow, LeaseRow
from app.tenants.store import tenant_id
from app.tenants.tables import TenantRow

#: The most requests that the service changes in a transaction.
PART: Final = 100


@dataclass(frozen=True, slots=True)
class Wanted:
    """The filters of a listing; None for an unused one.

    Attributes:
        side: the role of the caller's tenant, `consumer` or `provider`.
    """

    state: State | None = None
    entry_id: uuid.UUID | None = None
    side: Side | None = None


class DataRequestStore(Store):
    """Requests by id, by entry and by advice."""

    async def add(
        self,
        caller: Caller,
        head: Head,
        asked: NewDataRequest,
        question_id: str,
        advice_id: str,
        *,
        is_coarse: bool,
        table: str | None,
    ) -> str:
        """Add a request for a version of an entry, and return its id.

        Args:
            caller: the consumer.
            head: the version as its provider sees it.
            asked: the new request.
            question_id: the id of the advice for callers.
            advice_id: the catalogue's internal id of the advice.
            is_coarse: whether it is asked in the coarse view of the advice.
            table: the table that the version says it is about.
        """
        request_id = uuid.uuid4()
        await self._session.execute(
            insert(DataRequestRow).values(
                id=request_id,
                entry_id=uuid.UUID(head.id),
                entry_name=head.name,
                table_name=table,
                version=head.version,
                version_id=head.version_id,
                digest=head.digest,
                keyed_digest=head.keyed_digest,
                provider_id=await tenant_id(self._session, head.tenant),
                consumer_id=await tenant_id(self._session, caller.tenant),
                question_id=uuid.UUID(question_id),
                advice_id=uuid.UUID(advice_id),
                is_coarse=is_coarse,
                state=State.REQUESTED.value,
                **asdict(asked),
            )
        )
        return str(request_id)

    async def find(self, request_id: str, *, lock: bool = False) -> DataRequest | None:
        """The request with this id. `lock` locks it for the transaction."""
        try:
            wanted = uuid.UUID(request_id)
        except ValueError:
            return None
        is_it = DataRequestRow.id == wanted
        requests = await (self._locked(is_it) if lock else self._all(is_it))
        return requests[0] if requests else None

    async def page(self, caller: Caller, wanted: Wanted, limit: int, page_token: str | None) -> DataRequestPage:
        """The requests that the caller may see and that match the filters, newest first.

        Raises:
            InvalidDocumentError: the page token is invalid.
        """
        conditions = _readable(caller)
        if wanted.state is not None:
            conditions.append(DataRequestRow.state == wanted.state.value)
        if wanted.entry_id is not None:
            conditions.append(DataRequestRow.entry_id == wanted.entry_id)
        if page_token is not None:
            place = tuple_(DataRequestRow.created_at, DataRequestRow.id)
            conditions.append(place < tuple_(*read_token(page_token)))
        first = [
            select(DataRequestRow.id, DataRequestRow.created_at)
            .where(*conditions, *of_side)
            .order_by(*_NEWEST_FIRST)
            .limit(limit + 1)
            .subquery()
            for of_side in _sides(caller, wanted.side)
        ]
        # A query per side uses its index; one for both would read all requests of the tenant.
        ids = union(*(select(one.c.id) for one in first)).subquery()
        listed = _REQUESTS.join(ids, ids.c.id == DataRequestRow.id).order_by(*_NEWEST_FIRST).limit(limit + 1)
        requests = list(map(_to_request, await self._session.execute(listed)))
        last = requests[limit - 1] if len(requests) > limit else None
        token = None if last is None else write_token(last.created_at, uuid.UUID(last.id))
        return DataRequestPage(tuple(requests[:limit]), token)

    async def count_open(self, consumer: str) -> int:
        """The number of a tenant's open requests. Concurrent calls wait until this transaction ends."""
        await self._session.execute(_ONE_BY_ONE, {"tenant": consumer})
        counted = (
            select(func.count())
            .select_from(DataRequestRow)
            .join(TenantRow, TenantRow.id == DataRequestRow.consumer_id)
            .where(TenantRow.name == consumer, _IS_OPEN)
        )
        return (await self._session.execute(counted)).scalar_one()

    async def count_granted(self, request: DataRequest, time: timedelta) -> int:
        """The number of requests that a request's provider approved for its consumer within `time`, in any state now.

        Concurrent calls wait until this transaction ends.
        """
        tenants = {"provider": request.provider, "consumer": request.consumer}
        await self._session.execute(_GRANTS_ONE_BY_ONE, tenants)
        one = aliased(DataRequestRow)
        granted = (
            select(func.count(distinct(DataRequestChangeRow.request_id)))
            .join(DataRequestRow, DataRequestRow.id == DataRequestChangeRow.request_id)
            .join(
                one, (one.provider_id == DataRequestRow.provider_id) & (one.consumer_id == DataRequestRow.consumer_id)
            )
            .where(one.id == uuid.UUID(request.id))
            .where(DataRequestChangeRow.state == State.APPROVED.value, DataRequestChangeRow.at > func.now() - time)
        )
        return (await self._session.execute(granted)).scalar_one()

    async def granted(self, request: DataRequest, *, lock: bool) -> tuple[Granted, ...]:
        """What a request's consumer was granted of the same table by other requests, newest first.

        Args:
            request: its provider and its table are meant, over entries and versions.
            lock: concurrent calls that lock wait until this transaction ends.
        """
        if lock:
            tenants = {"provider": request.provider, "consumer": request.consumer}
            await self._session.execute(_GRANTS_ONE_BY_ONE, tenants)
        # An earlier version of the entry may not have named the table.
        names = {request.table_name or request.entry_name, request.entry_name}
        one, of_it = aliased(DataRequestRow), HandoverRow.request_id == DataRequestRow.id
        # Looked up for each: the table of handovers is long.
        delivered_at = select(HandoverRow.delivered_at).where(of_it).scalar_subquery()
        at = func.coalesce(delivered_at, DataRequestRow.changed_at)
        rows = await self._session.execute(
            select(DataRequestRow, delivered_at.is_not(None), at)
            .join(one, (one.id == uuid.UUID(request.id)) & (one.id != DataRequestRow.id))
            .where(DataRequestRow.provider_id == one.provider_id, DataRequestRow.consumer_id == one.consumer_id)
            .where(func.coalesce(DataRequestRow.table_name, DataRequestRow.entry_name).in_(names))
            .where(or_(DataRequestRow.state == State.APPROVED.value, delivered_at.is_not(None)))
            .order_by(at.desc(), DataRequestRow.id)
        )
        granted: dict[tuple[str, str | None], Granted] = {}
        for row, is_delivered, when in rows:
            about = {"request_id": str(row.id), "at": when, "is_delivered": is_delivered}
            granted.setdefault((row.digest, row.configuration), model_of(Granted, row, **about))
        return tuple(granted.values())

    async def answered(self) -> list[DataRequest]:
        """Some requests whose advice is finished or deleted, locked. Waits for locked ones."""
        is_finished = AdviceRow.status.in_([Status.SUCCEEDED, Status.FAILED])
        finished = exists().where(AdviceRow.id == DataRequestRow.advice_id, is_finished)
        is_over = DataRequestRow.advice_id.is_(None) | finished
        return await self._locked(DataRequestRow.state == State.REQUESTED.value, is_over)

    async def untouched(self, age: timedelta) -> list[DataRequest]:
        """Some open requests without an action for `age`, locked. Skips locked ones."""
        return await self._locked(_IS_OPEN, DataRequestRow.changed_at < func.now() - age, skip_locked=True)

    async def end_for(self, entry_id: str, reason: str) -> list[str]:
        """End all open requests for an entry and return their ids."""
        wanted = select(DataRequestRow.id).where(DataRequestRow.entry_id == uuid.UUID(entry_id), _IS_OPEN)
        locked = await self._session.execute(wanted.order_by(DataRequestRow.id).with_for_update())
        ids = list(locked.scalars())
        if ids:
            await self._add_changes(ids, Change(Action.END, State.ENDED, Side.SERVICE, reason=reason))
            await self._session.execute(
                update(DataRequestRow)
                .where(DataRequestRow.id == any_(literal(ids, ARRAY(Uuid))))
                .values(state=State.ENDED.value, changed_at=func.clock_timestamp())
            )
        return list(map(str, ids))

    async def change(
        self, request_id: str, change: Change, *, cost: Cost | None = None, problem: Problem | None = None
    ) -> None:
        """Store a change. The request must be locked. A configuration replaces the previous one and its cost."""
        at = await self._add_changes([uuid.UUID(request_id)], change)
        values: dict[str, object] = {"state": change.state.value, "changed_at": at}
        if change.configuration is not None:
            values |= {"configuration": change.configuration, "cost": None if cost is None else asdict(cost)}
        if problem is not None:
            values["problem"] = asdict(problem)
        await self._session.execute(
            update(DataRequestRow).where(DataRequestRow.id == uuid.UUID(request_id)).values(values)
        )

    async def _add_changes(self, ids: Sequence[uuid.UUID], change: Change) -> datetime:
        """Add a change to the history of requests and to the audit log, and return its latest time.

        All changes of requests pass through here, so that the log is complete.
        """
        at = await self._audited(ids, change)
        values = {name: value for name, value in asdict(change).items() if name != "at"}
        await self._session.execute(
            insert(DataRequestChangeRow), [{"request_id": one, "at": at[one]} | values for one in ids]
        )
        # Only an approved request is fulfilled, so any change ends its lease.
        await self._session.execute(delete(LeaseRow).where(LeaseRow.request_id == any_(literal(ids, ARRAY(Uuid)))))
        return max(at.values())

    async def _audited(self, ids: Sequence[uuid.UUID], change: Change) -> Mapping[uuid.UUID, datetime]:
        """Log a change of stored data requests; return its time by request.

        From the first delivery on, every record has the digest of the file.
        """
        columns = {
            DataRequestRow.id: "request_id",
            DataRequestRow.entry_id: "entry_id",
            DataRequestRow.version: "version",
            DataRequestRow.digest: "digest",
            DataRequestRow.terms: "terms",
            HandoverRow.sha256: "file_sha256",
            func.coalesce(_value(change.configuration), DataRequestRow.configuration): "configuration",
            literal(f"request.{change.action}"): "action",
            literal(change.state.value): "state",
            literal(change.side.value): "side",
            _value(change.tenant): "tenant",
            _value(change.subject): "subject",
            _value(change.beside and f"beside {change.beside}"): "value",
        }
        changed = (
            select(*columns)
            .outerjoin(HandoverRow, HandoverRow.request_id == DataRequestRow.id)
            .where(DataRequestRow.id == any_(literal(list(ids), ARRAY(Uuid))))
            .order_by(DataRequestRow.id)
        )
        added = insert(AuditRecordRow).from_select([*columns.values()], changed)
        rows = await self._session.execute(added.returning(AuditRecordRow.request_id, AuditRecordRow.at))
        return {row.request_id: row.at for row in rows}

    async def changes(self, request_id: str) -> list[Change]:
        """The history of a request, oldest first."""
        rows = await self._session.execute(
            select(DataRequestChangeRow)
            .where(DataRequestChangeRow.request_id == uuid.UUID(request_id))
            .order_by(DataRequestChangeRow.id)
        )
        return [model_of(Change, row) for row in rows.scalars()]

    async def erase_contact(self, request_id: str) -> bool:
        """Delete the contact of a request; False if it was deleted before."""
        erased = await self._session.execute(
            update(DataRequestRow)
            .where(DataRequestRow.id == uuid.UUID(request_id), DataRequestRow.contact.is_not(None))
            .values(contact=None)
            .returning(DataRequestRow.id)
        )
        return erased.first() is not None

    async def _locked(self, *conditions: ColumnElement[bool], skip_locked: bool = False) -> list[DataRequest]:
        """Some requests, locked before they are read, so that they do not change, and in one order for all."""
        wanted = select(DataRequestRow.id).where(*conditions).order_by(DataRequestRow.id).limit(PART)
        locked = await self._session.execute(wanted.with_for_update(skip_locked=skip_locked))
        return await self._all(DataRequestRow.id.in_(locked.scalars().all()), *conditions)

    async def _all(self, *conditions: ColumnElement[bool]) -> list[DataRequest]:
        rows = await self._session.execute(_REQUESTS.where(*conditions), execution_options={"populate_existing": True})
        return list(map(_to_request, rows))


_Provider, _Consumer = aliased(TenantRow), aliased(TenantRow)
_NEWEST_FIRST = (DataRequestRow.created_at.desc(), DataRequestRow.id.desc())
_GRANTS_ONE_BY_ONE = text(
    "SELECT pg_advisory_xact_lock(hashtextextended('grants of ' || :provider || ' to ' || :consumer, 0))"
)
_ONE_BY_ONE = text("SELECT pg_advisory_xact_lock(hashtextextended('data requests of ' || :tenant, 0))")
_IS_SEEN = or_(
    DataRequestRow.consumer_id == DataRequestRow.provider_id,
    EntryRow.audience == Audience.ALL.value,
    and_(EntryRow.audience == Audience.TENANTS.value, any_(EntryRow.audience_tenants) == _Consumer.name),
)
# A request in the full view is for all keys of its tenant if its version opens that view to everyone. Of a deleted
# version this is not known: own tenants' requests are taken for those of readers of its counts.
_OPEN_ANSWERS = (
    select(EntryVersionRow.open_answers).where(EntryVersionRow.id == DataRequestRow.version_id).scalar_subquery()
)
_IS_SHARED = or_(
    DataRequestRow.is_coarse, func.coalesce(_OPEN_ANSWERS, DataRequestRow.consumer_id != DataRequestRow.provider_id)
)
_SHOWN_VERSION = func.coalesce(EntryRow.released_version, EntryRow.latest_version)
_IS_OPEN = DataRequestRow.state.in_([state.value for state in OPEN])
_REQUESTS: Select[DataRequestRow, str, str, bool, bool] = (
    select(
        DataRequestRow,
        _Provider.name,
        _Consumer.name,
        _IS_SHARED,
        # Whether others see a later version; not if the entry is deleted or hidden from the consumer.
        func.coalesce(_IS_SEEN & (DataRequestRow.version < _SHOWN_VERSION), false()),
    )
    .join(_Provider, _Provider.id == DataRequestRow.provider_id)
    .join(_Consumer, _Consumer.id == DataRequestRow.consumer_id)
    .outerjoin(EntryRow, EntryRow.id == DataRequestRow.entry_id)
)


def _value(value: str | None) -> Any:  # noqa: ANN401 -- a parameter, or NULL
    return null() if value is None else literal(value)


def _to_request(row: Row[DataRequestRow, str, str, bool, bool]) -> DataRequest:
    request, provider, consumer, is_shared, is_stale = row
    names = {"provider": provider, "consumer": consumer}
    return model_of(DataRequest, request, **names, is_shared=is_shared, is_stale=is_stale)


def _readable(caller: Caller) -> list[ColumnElement[bool]]:
    """The conditions for what the caller may read of the requests of its tenant's sides (`is_visible_to`)."""
    if caller.is_operator:
        return []
    if not caller.may_read_counts:
        return [_IS_SHARED]
    own = select(TenantRow.id).where(TenantRow.name == caller.tenant).scalar_subquery()
    return [or_(_IS_SHARED, DataRequestRow.provider_id == own)]


def _sides(caller: Caller, side: Side | None) -> list[list[ColumnElement[bool]]]:
    """The conditions for what the caller may see, separately for both sides of its tenant."""
    if side is None and caller.is_operator:
        return [[]]
    own = select(TenantRow.id).where(TenantRow.name == caller.tenant).scalar_subquery()
    columns = {Side.CONSUMER: DataRequestRow.consumer_id, Side.PROVIDER: DataRequestRow.provider_id}
    return [[column == own] for name, column in columns.items() if side in (None, name)]
