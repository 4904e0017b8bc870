"""What a consumer knows of its processes: the messages of providers change it, if they come at their time."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Condition
from typing import Any, Final, TypeVar

from pydantic import ValidationError

from aegis_sdk.wire import NotJsonError, faults_of, read_json
from aegis_sdk.wire import dataspace as dsp
from aegis_sdk.wire.dataspace import NegotiationState, TransferState

_N, _T = NegotiationState, TransferState

#: The states in which each message of a provider is possible, and the state after it.
_NEGOTIATION: Final[Mapping[str, tuple[tuple[NegotiationState, ...], NegotiationState]]] = {
    "offers": ((_N.REQUESTED,), _N.OFFERED),
    "agreement": ((_N.REQUESTED, _N.ACCEPTED), _N.AGREED),
    "events": ((_N.VERIFIED,), _N.FINALIZED),
    "termination": ((_N.REQUESTED, _N.OFFERED, _N.ACCEPTED, _N.AGREED, _N.VERIFIED), _N.TERMINATED),
}
_TRANSFER: Final[Mapping[str, tuple[tuple[TransferState, ...], TransferState]]] = {
    "start": ((_T.REQUESTED, _T.SUSPENDED), _T.STARTED),
    "suspension": ((_T.STARTED,), _T.SUSPENDED),
    "completion": ((_T.STARTED,), _T.COMPLETED),
    "termination": ((_T.REQUESTED, _T.STARTED, _T.SUSPENDED), _T.TERMINATED),
}


class MisplacedError(Exception):
    """A message cannot be taken: `status` is the answer to it."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


@dataclass
class Process:
    """A process of the consumer. `provider_pid` is empty until the provider has answered."""

    consumer_pid: str
    provider_pid: str = ""
    reasons: list[Any] = field(default_factory=list)


@dataclass
class Negotiation(Process):
    """A negotiation, with the provider's last offer and the agreement."""

    state: NegotiationState = _N.REQUESTED
    offer: dsp.Policy | None = None
    agreement: dsp.Policy | None = None


@dataclass
class Transfer(Process):
    """A transfer, with the place of the file."""

    state: TransferState = _T.REQUESTED
    address: dsp.DataAddress | None = None


AnyProcess = TypeVar("AnyProcess", Negotiation, Transfer)
AnyMessage = TypeVar("AnyMessage", bound=dsp.Message)


@dataclass
class Inbox:
    """The processes of a consumer by its ids. Messages arrive from other threads."""

    negotiations: dict[str, Negotiation] = field(default_factory=dict)
    transfers: dict[str, Transfer] = field(default_factory=dict)
    changed: Condition = field(default_factory=Condition)

    def wait(self, process: AnyProcess, is_there: Callable[[AnyProcess], bool], seconds: float) -> bool:
        """Wait until a process is as wanted; False if it is not after so many seconds."""
        with self.changed:
            return self.changed.wait_for(lambda: is_there(process), seconds)

    def read(self, kind: str, pid: str) -> dict[str, Any]:
        """The state of a process, as the provider may ask for it.

        Raises:
            MisplacedError: There is none.
        """
        process = self._process(kind, pid)
        pids = {"providerPid": process.provider_pid or _NOBODY, "consumerPid": process.consumer_pid}
        model = dsp.ContractNegotiation if isinstance(process, Negotiation) else dsp.TransferProcess
        return model.of(**pids, state=process.state.value).written()

    def take(self, kind: str, pid: str, what: str, body: bytes) -> None:
        """Take a message of a provider.

        Args:
            kind: `negotiations` or `transfers`.
            pid: The consumer's id of the process.
            what: The end of the path, such as `offers`.

        Raises:
            MisplacedError: It is not a message that this process can be sent now.
        """
        with self.changed:
            process = self._process(kind, pid)
            if isinstance(process, Negotiation):
                self._negotiated(process, what, body)
            else:
                self._transferred(process, what, body)
            self.changed.notify_all()

    def _process(self, kind: str, pid: str) -> Negotiation | Transfer:
        kinds: dict[str, Mapping[str, Negotiation | Transfer]]
        kinds = {"negotiations": dict(self.negotiations), "transfers": dict(self.transfers)}
        processes = kinds.get(kind, {})
        if pid not in processes:
            raise MisplacedError(404, f"There is no process {pid}.")
        return processes[pid]

    def _negotiated(self, process: Negotiation, what: str, body: bytes) -> None:
        then = _next(_NEGOTIATION, process.state, what)
        match what:
            case "offers":
                process.offer = _message(dsp.ContractOfferMessage, body, process).offer
            case "agreement":
                process.agreement = _message(dsp.ContractAgreementMessage, body, process).agreement
            case "events":
                if _message(dsp.ContractNegotiationEventMessage, body, process).event != "FINALIZED":
                    raise MisplacedError(400, "A provider only finalises.")
            case _:
                process.reasons = _message(dsp.ContractNegotiationTerminationMessage, body, process).reason or []
        process.state = then

    def _transferred(self, process: Transfer, what: str, body: bytes) -> None:
        then = _next(_TRANSFER, process.state, what)
        match what:
            case "start":
                started = _message(dsp.TransferStartMessage, body, process)
                process.address = started.data_address or process.address
            case "suspension":
                process.reasons = _message(dsp.TransferSuspensionMessage, body, process).reason or []
            case "completion":
                _message(dsp.TransferCompletionMessage, body, process)
            case _:
                process.reasons = _message(dsp.TransferTerminationMessage, body, process).reason or []
        process.state = then


_NOBODY: Final = "urn:uuid:00000000-0000-0000-0000-000000000000"

_State = TypeVar("_State", NegotiationState, TransferState)


def _next(steps: Mapping[str, tuple[tuple[_State, ...], _State]], state: _State, what: str) -> _State:
    """The state after a message.

    Raises:
        MisplacedError: There is no such message, or it is not possible in this state.
    """
    if what not in steps:
        raise MisplacedError(404, f"There is no message {what}.")
    possible, then = steps[what]
    if state not in possible:
        raise MisplacedError(400, f"The process is {state}, so {what} is not possible.")
    return then


def _message(model: type[AnyMessage], body: bytes, process: Process) -> AnyMessage:
    """A message about a process.

    Raises:
        MisplacedError: It is not as its schema says, or about another process.
    """
    try:
        message = model.model_validate(read_json(body))
    except NotJsonError as error:
        raise MisplacedError(400, f"The body is not JSON: {error}") from None
    except ValidationError as error:
        raise MisplacedError(400, "; ".join(f"{one.pointer}: {one.detail}" for one in faults_of(error))) from None
    named = getattr(message, "consumer_pid", None), getattr(message, "provider_pid", None)
    if named[0] not in (None, process.consumer_pid) or named[1] != (process.provider_pid or named[1]):
        raise MisplacedError(400, "The message is about another process.")
    return message
