"""The stores of negotiations and transfers, and of what is due to be sent.

A process is locked before its data request, here and in all services.
"""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, ClassVar, Final, Generic, TypeVar

from sqlalchemy import ColumnElement, Select, and_, exists, false, func, or_, select, true, tuple_, update
from sqlalchemy.dialects import postgresql
from sqlalchemy.orm import aliased

from app.dataspace.model.processes import (
    CLAIM,
    NEGOTIATION_STEPS,
    OPEN_NEGOTIATION,
    OPEN_TRANSFER,
    TRANSFER_STEPS,
    Negotiation,
    Transfer,
    TransferState,
    link_of,
)
from app.dataspace.tables import NegotiationRow, TransferRow
from app.platform.database.base import Store
from app.platform.members import model_of
from app.requests.model.data_requests import State as RequestState
from app.requests.store.data_requests import DataRequestStore
from app.requests.store.handovers import HandoverStore
from app.requests.tables import DataRequestRow, HandoverRow
from app.tenants.store import tenant_id

Row = NegotiationRow | TransferRow
AnyProcess = TypeVar("AnyProcess", Negotiation, Transfer)


@dataclass(frozen=True, slots=True)
class NewProcess:
    """What a consumer says of a new process."""

    consumer_pid: str
    callback: str


_FRESH: Final[Mapping[str, object]] = {
    "attempts": 0,
    "next_attempt_at": func.clock_timestamp(),
    "claimed_until": None,
}


class ProcessStore(Store, Generic[AnyProcess]):
    """Processes of one kind by their ids. `_due` is the condition that a message is due, whether or not it is time."""

    _table: ClassVar[type[Row]]
    _due: ClassVar[ColumnElement[bool]]

    async def _made(self, row: Any, *, lock: bool) -> AnyProcess:  # noqa: ANN401 -- a row of the kind
        raise NotImplementedError

    async def find(self, process_id: str, *, lock: bool = False) -> AnyProcess | None:
        """The process with this id, with its request; `lock` locks both for the transaction."""
        try:
            wanted = uuid.UUID(process_id)
        except ValueError:
            return None
        return await self._first(self._table.id == wanted, lock=lock)

    async def of_consumer(self, tenant: str, consumer_pid: str) -> AnyProcess | None:
        """The process to which a tenant has given this id."""
        owner = await tenant_id(self._session, tenant)
        return await self._first(self._table.consumer_id == owner, self._table.consumer_pid == consumer_pid, lock=False)

    async def _first(self, *conditions: ColumnElement[bool], lock: bool) -> AnyProcess | None:
        is_sending = func.coalesce(self._table.claimed_until > func.now(), false())
        statement = select(self._table, is_sending).where(*conditions)
        statement = statement.with_for_update(of=self._table) if lock else statement
        rows = await self._session.execute(statement, execution_options={"populate_existing": True})
        row = rows.first()
        return None if row is None else await self._made(row, lock=lock)

    async def _add(self, tenant: str, new: NewProcess, **members: object) -> str | None:
        """Add a process and return its id; None if the tenant has given its id to another."""
        owner = await tenant_id(self._session, tenant)
        values = {"id": uuid.uuid4(), "consumer_id": owner, "consumer_pid": new.consumer_pid, "callback": new.callback}
        row = postgresql.insert(self._table).values(**values, state="REQUESTED", **members).on_conflict_do_nothing()
        added = (await self._session.execute(row.returning(self._table.id))).scalar()
        return None if added is None else str(added)

    async def set_state(self, process_id: str, state: str, **members: object) -> None:
        """Store a state that both sides know from now on. What is being sent is void, and what is due then, is new."""
        await self._update(process_id, {**_FRESH, "state": state, **members})

    async def claim(self) -> str | None:
        """Claim the process that has waited longest with a due message, and return its id; None if there is none.

        One at a time of a tenant's processes is served, so that no slow counterpart takes all places.
        """
        sibling = aliased(self._table)
        is_served = exists().where(sibling.consumer_id == self._table.consumer_id, sibling.claimed_until > func.now())
        is_time = or_(self._table.next_attempt_at <= func.now(), DataRequestRow.changed_at > self._table.attempted_at)
        is_free = func.coalesce(self._table.claimed_until <= func.now(), true())
        wanted = self._joined().where(self._due, is_time, is_free, ~is_served).order_by(self._table.next_attempt_at)
        locked = wanted.limit(1).with_for_update(of=self._table, skip_locked=True)
        claimed = (await self._session.execute(locked)).scalar()
        if claimed is None:
            return None
        now = func.clock_timestamp()
        await self._update(str(claimed), {"claimed_until": now + CLAIM, "attempted_at": now})
        return str(claimed)

    def _joined(self) -> Select[uuid.UUID]:
        raise NotImplementedError

    async def acknowledged(self, process: AnyProcess, state: str) -> None:
        """Store that the counterpart has acknowledged the message that leads to a state, if it is still due."""
        known = {**_FRESH, "state": state, **self._known(process)}
        await self._update(process.id, known, self._is_claim_of(process))

    def _known(self, process: AnyProcess) -> Mapping[str, object]:  # noqa: ARG002 -- of a negotiation, nothing more
        """What else the counterpart knows now."""
        return {}

    async def failed(self, process: AnyProcess, wait: timedelta) -> None:
        """Store a failed attempt; the next is after `wait`."""
        then = {"attempts": self._table.attempts + 1, "next_attempt_at": func.clock_timestamp() + wait}
        await self._update(process.id, then | {"claimed_until": None}, self._is_claim_of(process))

    def _is_claim_of(self, process: AnyProcess) -> ColumnElement[bool]:
        return and_(self._table.state == process.state.value, self._table.claimed_until == process.claim)

    async def _update(self, process_id: str, values: Mapping[str, object], *conditions: ColumnElement[bool]) -> None:
        is_it = self._table.id == uuid.UUID(process_id)
        await self._session.execute(update(self._table).where(is_it, *conditions).values(**values))


class NegotiationStore(ProcessStore[Negotiation]):
    """Negotiations by id, each with its data request."""

    _table = NegotiationRow
    _due = and_(
        NegotiationRow.state.in_(OPEN_NEGOTIATION),
        tuple_(NegotiationRow.state, DataRequestRow.state).in_(list(NEGOTIATION_STEPS)),
    )

    async def add(self, tenant: str, new: NewProcess, request_id: str) -> str | None:
        """Add a negotiation about a request and return its id; None if the tenant has given its id to another."""
        return await self._add(tenant, new, request_id=uuid.UUID(request_id))

    async def set_request(self, negotiation_id: str, request_id: str) -> None:
        """Negotiate about another request from now on."""
        await self._update(negotiation_id, {"request_id": uuid.UUID(request_id)})

    async def _made(self, row: Any, *, lock: bool) -> Negotiation:  # noqa: ANN401 -- a row
        negotiation, is_sending = row
        request = await DataRequestStore(self._session).find(str(negotiation.request_id), lock=lock)
        about = {"request": request, "is_sending": is_sending, "claim": negotiation.claimed_until}
        return model_of(Negotiation, negotiation, **about)

    def _joined(self) -> Select[uuid.UUID]:
        about = DataRequestRow.id == NegotiationRow.request_id
        return select(NegotiationRow.id).join(DataRequestRow, about)


_IS_DELIVERED: Final = DataRequestRow.state == RequestState.DELIVERED.value


class TransferStore(ProcessStore[Transfer]):
    """Transfers by id, each with its data request and the delivery."""

    _table = TransferRow
    _due = and_(
        TransferRow.state.in_(OPEN_TRANSFER),
        ~and_(TransferRow.state == TransferState.SUSPENDED.value, TransferRow.is_paused, _IS_DELIVERED),
        or_(
            tuple_(TransferRow.state, DataRequestRow.state).in_(list(TRANSFER_STEPS)),
            and_(
                TransferRow.state == TransferState.STARTED.value,
                _IS_DELIVERED,
                TransferRow.link.is_distinct_from(
                    func.encode(func.sha256(func.convert_to(HandoverRow.url, "UTF8")), "hex")
                ),
            ),
        ),
    )

    async def add(self, tenant: str, new: NewProcess, negotiation_id: str) -> str | None:
        """Add a transfer and return its id; None if its id is taken, or another transfer is open."""
        return await self._add(tenant, new, negotiation_id=uuid.UUID(negotiation_id))

    def _known(self, process: Transfer) -> Mapping[str, object]:
        return {} if process.handover is None else {"link": link_of(process.handover)}

    async def _made(self, row: Any, *, lock: bool) -> Transfer:  # noqa: ANN401 -- a row
        transfer, is_sending = row
        wanted = select(NegotiationRow.request_id).where(NegotiationRow.id == transfer.negotiation_id)
        request_id = str((await self._session.execute(wanted)).scalar_one())
        request = await DataRequestStore(self._session).find(request_id, lock=lock)
        handover = await HandoverStore(self._session).find(request_id)
        about = {"request": request, "handover": handover, "is_sending": is_sending, "claim": transfer.claimed_until}
        return model_of(Transfer, transfer, **about)

    def _joined(self) -> Select[uuid.UUID]:
        about = NegotiationRow.id == TransferRow.negotiation_id
        return (
            select(TransferRow.id)
            .join(NegotiationRow, about)
            .join(DataRequestRow, DataRequestRow.id == NegotiationRow.request_id)
            .outerjoin(HandoverRow, HandoverRow.request_id == DataRequestRow.id)
        )
