"""The Dataspace Protocol's processes: negotiations, which are data requests, and transfers, which are deliveries.

A request has its own state, which both sides see in the API. Here is only what the counterpart knows of it: the state
that it has acknowledged. What it does not know yet follows from both (`NEGOTIATION_STEPS`, `TRANSFER_STEPS`), so there
is no queue of messages, and a message that is no longer true is never sent.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from hashlib import sha256
from typing import Final, Generic, TypeVar

from app.platform.errors import ActionNotPossibleError
from app.requests.model.data_requests import DataRequest, Handover
from app.requests.model.data_requests import State as RequestState
from app.webhooks.model import SCHEDULE


class NegotiationState(StrEnum):
    """The state of a negotiation that both sides know."""

    REQUESTED = "REQUESTED"
    OFFERED = "OFFERED"
    ACCEPTED = "ACCEPTED"
    AGREED = "AGREED"
    VERIFIED = "VERIFIED"
    FINALIZED = "FINALIZED"
    TERMINATED = "TERMINATED"


class TransferState(StrEnum):
    """The state of a transfer that both sides know."""

    REQUESTED = "REQUESTED"
    STARTED = "STARTED"
    SUSPENDED = "SUSPENDED"
    COMPLETED = "COMPLETED"
    TERMINATED = "TERMINATED"


class Message(StrEnum):
    """A message of a provider."""

    OFFER = "offer"
    AGREE = "agree"
    FINALIZE = "finalize"
    START = "start"
    SUSPEND = "suspend"
    COMPLETE = "complete"
    TERMINATE = "terminate"


_GRANTED: Final = (RequestState.APPROVED, RequestState.DELIVERED, RequestState.RECEIVED, RequestState.DISPUTED)
_OVER: Final = (
    RequestState.DECLINED,
    RequestState.WITHDRAWN,
    RequestState.EXPIRED,
    RequestState.FAILED,
    RequestState.ENDED,
)

OPEN_NEGOTIATION: Final = tuple(
    state for state in NegotiationState if state not in (NegotiationState.FINALIZED, NegotiationState.TERMINATED)
)
"""The states in which a negotiation can still change."""

OPEN_TRANSFER: Final = (TransferState.REQUESTED, TransferState.STARTED, TransferState.SUSPENDED)
"""The states in which a transfer can still change."""

_Negotiated = tuple[NegotiationState, RequestState]
_Transferred = tuple[TransferState, RequestState]

NEGOTIATION_STEPS: Final[Mapping[_Negotiated, tuple[Message, NegotiationState]]] = {
    (NegotiationState.REQUESTED, RequestState.COUNTERED): (Message.OFFER, NegotiationState.OFFERED),
    # A consumer may also accept in the API, so OFFERED is as good as ACCEPTED.
    **{
        (state, granted): (Message.AGREE, NegotiationState.AGREED)
        for state in (NegotiationState.REQUESTED, NegotiationState.OFFERED, NegotiationState.ACCEPTED)
        for granted in _GRANTED
    },
    **{(NegotiationState.VERIFIED, granted): (Message.FINALIZE, NegotiationState.FINALIZED) for granted in _GRANTED},
    **{(state, over): (Message.TERMINATE, NegotiationState.TERMINATED) for state in OPEN_NEGOTIATION for over in _OVER},
}
"""By the state that the counterpart knows and that of the request: the message that is due, and the state after it."""

TRANSFER_STEPS: Final[Mapping[_Transferred, tuple[Message, TransferState]]] = {
    **{
        (state, request): (Message.START, TransferState.STARTED)
        for state in (TransferState.REQUESTED, TransferState.SUSPENDED)
        for request in (RequestState.DELIVERED, RequestState.RECEIVED)
    },
    (TransferState.STARTED, RequestState.RECEIVED): (Message.COMPLETE, TransferState.COMPLETED),
    **{
        (state, over): (Message.TERMINATE, TransferState.TERMINATED)
        for state in OPEN_TRANSFER
        for over in (*_OVER, RequestState.DISPUTED)
    },
}
"""The same for transfers. A link that is replaced suspends a started one (`Transfer.step`)."""


AnyState = TypeVar("AnyState", NegotiationState, TransferState)


@dataclass(frozen=True, slots=True, kw_only=True)
class Process(Generic[AnyState]):
    """What negotiations and transfers have in common.

    Attributes:
        id: the provider's id of it.
        consumer_pid: the consumer's.
        callback: where its messages go; `POLL` if it reads them.
        is_sending: whether a worker is sending the next message, so that the counterpart may know it already.
        claim: the time by which that worker has to finish; None if there is none.
        attempts: the failed attempts to send the next message.
        request: the data request.
        state: the state that the counterpart knows.
    """

    id: str
    consumer_pid: str
    callback: str
    is_sending: bool
    claim: datetime | None
    attempts: int
    request: DataRequest
    state: AnyState

    @property
    def pid(self) -> str:
        """The provider's id as the counterpart knows it."""
        return f"{_PID}{self.id}"

    @property
    def step(self) -> tuple[Message, AnyState] | None:
        """The message that is due, and the state after it; None if the counterpart knows all."""
        raise NotImplementedError

    @property
    def shown(self) -> AnyState:
        """The state for the counterpart: what is over, is over before it acknowledges that."""
        step = self.step
        return step[1] if step is not None and step[0] is Message.TERMINATE else self.state

    def require(self, action: str, *states: AnyState) -> None:
        """Refuse an action that this is not the time for.

        Raises:
            ActionNotPossibleError: the state is another one.
        """
        reached = {self.shown, self.step[1]} if self.step and self.is_sending else {self.shown}
        if not reached.intersection(states):
            raise ActionNotPossibleError(self.shown, action, ())


@dataclass(frozen=True, slots=True, kw_only=True)
class Negotiation(Process[NegotiationState]):
    """A negotiation of a contract."""

    @property
    def step(self) -> tuple[Message, NegotiationState] | None:
        """The message that is due, by `NEGOTIATION_STEPS`."""
        return NEGOTIATION_STEPS.get((self.state, self.request.state))

    @property
    def agreement(self) -> str:
        """The id of its agreement, if it comes to one."""
        return f"urn:aegis:agreement:{self.id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer(Process[TransferState]):
    """A transfer of the file of an agreement.

    Attributes:
        link: the digest of the link that the counterpart knows; None if it knows none.
        is_paused: whether the consumer has suspended it.
        handover: the delivery, if there is one.
    """

    link: str | None
    is_paused: bool
    handover: Handover | None

    @property
    def step(self) -> tuple[Message, TransferState] | None:
        """The message that is due, by `TRANSFER_STEPS` and the link that the counterpart knows."""
        if self.request.state is RequestState.DELIVERED and self.handover is not None:
            if self.state is TransferState.SUSPENDED and self.is_paused:
                return None
            if self.state is TransferState.STARTED and self.link != link_of(self.handover):
                return Message.SUSPEND, TransferState.SUSPENDED
        return TRANSFER_STEPS.get((self.state, self.request.state))


_PID: Final = "urn:uuid:"


def process_id_of(pid: str) -> str:
    """The id of a process, by the provider's id as the counterpart knows it."""
    return pid.removeprefix(_PID)


def link_of(handover: Handover) -> str:
    """The digest of a delivery's link, which may be a secret."""
    return sha256(handover.url.encode()).hexdigest()


#: The longest time of an attempt to send a message, after which another worker tries.
CLAIM: Final = timedelta(seconds=30)

MOST_ATTEMPTS: Final = len(SCHEDULE)
"""A counterpart that is not reached so often in three days is given up."""


def wait_after(attempts: int) -> timedelta | None:
    """How long to wait after so many failed attempts; None: the counterpart is given up."""
    return SCHEDULE[attempts] if attempts < MOST_ATTEMPTS else None
