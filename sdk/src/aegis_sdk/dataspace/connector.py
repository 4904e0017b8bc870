"""A consumer in the Dataspace Protocol: it reads a provider's catalogue, negotiates, and gets the place of a file."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, Self, TypeVar
from urllib.parse import quote
from uuid import uuid4

import httpx
from pydantic import BaseModel, ValidationError

from aegis_sdk._errors import AegisError, ServiceUnreachableError, SettingsError, UnexpectedAnswerError
from aegis_sdk.dataspace.inbox import AnyProcess, Inbox, Negotiation, Transfer
from aegis_sdk.wire import NotJsonError, read_json
from aegis_sdk.wire import dataspace as dsp
from aegis_sdk.wire.dataspace import NegotiationState, TransferState

_LARGEST: Final = 16 * 1024 * 1024
_MOST_PAGES: Final = 10_000
_POLL_SECONDS: Final = 1.0
_OK: Final = (200, 201)

AnyAnswer = TypeVar("AnyAnswer", bound=BaseModel)


class DataspaceError(AegisError):
    """A provider refuses a message, ends a process, or does not keep to an offer."""


class StillOpenError(DataspaceError):
    """A process is not finished in time. `pid` and the id of its offer continue it."""

    def __init__(self, pid: str, state: str, offer: str) -> None:
        super().__init__(f"the negotiation is still {state}; continue it with --offer {offer} --pid {pid}")
        self.pid = pid


@dataclass
class Connector:
    """A consumer's side of a provider's endpoints.

    Attributes:
        base: The URL of the endpoints of this version of the protocol.
        callback: Where the provider sends messages; `POLL` if nobody can reach this machine, which Aegis answers.
        inbox: What it has sent.
    """

    base: str
    http: httpx.Client
    callback: str = dsp.POLL
    inbox: Inbox = field(default_factory=Inbox)
    pause: Callable[[float], None] = time.sleep

    @classmethod
    def at(cls, url: str, http: httpx.Client, callback: str = dsp.POLL, inbox: Inbox | None = None) -> Self:
        """The connector of a provider at a URL, where it says which versions it speaks.

        Raises:
            DataspaceError: It does not speak this version.
            ServiceUnreachableError: Nothing answers there.
            UnexpectedAnswerError: What answers is not a connector.
        """
        root = url.rstrip("/")
        said = _read(http, "GET", f"{root}{dsp.VERSIONS_PATH}", dsp.VersionResponse)
        paths = [one.path for one in said.versions if one.version == dsp.VERSION]
        if not paths:
            spoken = ", ".join(one.version for one in said.versions)
            raise DataspaceError(f"the provider does not speak version {dsp.VERSION}, but {spoken}")
        return cls(f"{root}/{paths[0].strip('/')}".rstrip("/"), http, callback, inbox or Inbox())

    def datasets(self) -> Iterator[dsp.Dataset]:
        """The provider's datasets, page by page.

        Raises:
            DataspaceError: A page leads to another host, or there are too many.
        """
        url, asked = f"{self.base}/catalog/request", dsp.CatalogRequestMessage.of().written()
        for _ in range(_MOST_PAGES):
            page, following = _read_page(self.http, url, asked)
            yield from page.datasets or ()
            if following is None:
                return
            url = _on_same_host(self.base, following)
        raise DataspaceError(f"the catalogue has more than {_MOST_PAGES} pages")

    def dataset(self, dataset_id: str) -> dsp.Dataset:
        """A dataset by its id."""
        return _read(self.http, "GET", f"{self.base}/catalog/datasets/{quote(dataset_id, safe=':')}", dsp.Dataset)

    def request(
        self, offer: dsp.Policy, dataset: str, pid: str | None = None, purpose: str | None = None
    ) -> Negotiation:
        """Begin a negotiation about an offer of a dataset, or continue the one with this id."""
        negotiation = Negotiation(pid or f"urn:uuid:{uuid4()}", offer=offer)
        self.inbox.negotiations[negotiation.consumer_pid] = negotiation
        sent = _ask(negotiation, offer, dataset, purpose) | {"callbackAddress": self.callback}
        answer = self._post("negotiations/request", dsp.ContractRequestMessage.of(**sent), dsp.ContractNegotiation)
        negotiation.provider_pid = answer.provider_pid
        return negotiation

    def counter(self, negotiation: Negotiation, offer: dsp.Policy, dataset: str) -> None:
        """Answer the provider's offer with another wish."""
        sent = _ask(negotiation, offer, dataset) | {"providerPid": negotiation.provider_pid}
        message = dsp.ContractRequestMessage.of(**sent)
        self._tell(negotiation, NegotiationState.REQUESTED, "request", message)
        negotiation.offer = offer

    def accept(self, negotiation: Negotiation) -> None:
        """Accept the provider's offer."""
        event = dsp.ContractNegotiationEventMessage.of(**_pids(negotiation), eventType="ACCEPTED")
        self._tell(negotiation, NegotiationState.ACCEPTED, "events", event)

    def verify(self, negotiation: Negotiation) -> None:
        """Confirm the agreement.

        Raises:
            DataspaceError: Its rules are not those of the offer.
        """
        offer, agreement = negotiation.offer, negotiation.agreement
        if offer is None or agreement is None or _rules(offer) != _rules(agreement):
            self.terminate(negotiation, "The agreement has other rules than the offer.")
            raise DataspaceError("the agreement has other rules than the offer, so it was refused")
        verified = dsp.ContractAgreementVerificationMessage.of(**_pids(negotiation))
        self._tell(negotiation, NegotiationState.VERIFIED, "agreement/verification", verified)

    def transfer(self, negotiation: Negotiation) -> Transfer:
        """Ask for the file of an agreement."""
        agreement = "" if negotiation.agreement is None else negotiation.agreement.id
        return self.request_transfer(agreement, f"{negotiation.consumer_pid}:file")

    def request_transfer(self, agreement: str, pid: str | None = None) -> Transfer:
        """Ask for the file of an agreement by its id; `pid`: the consumer's id of the transfer."""
        transfer = Transfer(pid or f"urn:uuid:{uuid4()}")
        self.inbox.transfers[transfer.consumer_pid] = transfer
        sent = {"agreementId": agreement, "format": dsp.PULL, "consumerPid": transfer.consumer_pid}
        message = dsp.TransferRequestMessage.of(**sent, callbackAddress=self.callback)
        transfer.provider_pid = self._post("transfers/request", message, dsp.TransferProcess).provider_pid
        return transfer

    def complete(self, transfer: Transfer) -> None:
        """Say that the file has arrived as described."""
        self._tell(transfer, TransferState.COMPLETED, "completion", dsp.TransferCompletionMessage.of(**_pids(transfer)))

    def suspend(self, transfer: Transfer) -> None:
        """Interrupt a transfer."""
        self._tell(transfer, TransferState.SUSPENDED, "suspension", dsp.TransferSuspensionMessage.of(**_pids(transfer)))

    def resume(self, transfer: Transfer) -> None:
        """Go on with a transfer that was interrupted."""
        self._tell(transfer, TransferState.STARTED, "start", dsp.TransferStartMessage.of(**_pids(transfer)))

    def terminate(self, process: Negotiation | Transfer, reason: str | None = None) -> None:
        """End a process; a transfer with a reason disputes the file."""
        why: dict[str, Any] = {"code": "consumer", "reason": None if reason is None else [reason]}
        if isinstance(process, Negotiation):
            ended = dsp.ContractNegotiationTerminationMessage.of(**_pids(process), **why)
            self._tell(process, NegotiationState.TERMINATED, "termination", ended)
        else:
            stopped = dsp.TransferTerminationMessage.of(**_pids(process), **why)
            self._tell(process, TransferState.TERMINATED, "termination", stopped)

    def wait(self, process: Negotiation | Transfer, states: tuple[str, ...], seconds: float) -> str:
        """Wait until a process is in one of these states; return its state, another one after so many seconds."""
        until = time.monotonic() + seconds
        while process.state not in states and (left := until - time.monotonic()) > 0:
            if self.callback == dsp.POLL:
                self._poll(process)
                if process.state not in states:
                    self.pause(min(_POLL_SECONDS, left))
            elif isinstance(process, Negotiation):
                self.inbox.wait(process, lambda one: one.state in states, left)
            else:
                self.inbox.wait(process, lambda one: one.state in states, left)
        return str(process.state)

    def _poll(self, process: Negotiation | Transfer) -> None:
        """Read a process, as Aegis shows it to a consumer that nobody can reach."""
        if isinstance(process, Negotiation):
            read = _read(self.http, "GET", self._url(process), dsp.ContractNegotiation)
            process.state, process.agreement = read.state, read.agreement or process.agreement
            process.offer, process.reasons = read.offer or process.offer, read.reason or []
        else:
            moved = _read(self.http, "GET", self._url(process), dsp.TransferProcess)
            process.state, process.address = moved.state, moved.data_address or process.address
            process.reasons = moved.reason or []

    def _url(self, process: Negotiation | Transfer) -> str:
        kind = "negotiations" if isinstance(process, Negotiation) else "transfers"
        return f"{self.base}/{kind}/{quote(process.provider_pid, safe=':')}"

    def _tell(self, process: AnyProcess, then: Any, path: str, message: dsp.Message) -> None:  # noqa: ANN401 - its state
        """Send a message that leads to a state. It changes before, since the next message may overtake the answer."""
        with self.inbox.changed:
            before, process.state = process.state, then
        try:
            _sent(self.http, "POST", f"{self._url(process)}/{path}", message.written())
        except AegisError:
            with self.inbox.changed:
                process.state = before if process.state is then else process.state
            raise

    def _post(self, path: str, message: dsp.Message, answer: type[AnyAnswer]) -> AnyAnswer:
        return _read(self.http, "POST", f"{self.base}/{path}", answer, message.written())


def _pids(process: Negotiation | Transfer) -> dict[str, str]:
    return {"providerPid": process.provider_pid, "consumerPid": process.consumer_pid}


def _ask(negotiation: Negotiation, offer: dsp.Policy, dataset: str, purpose: str | None = None) -> dict[str, Any]:
    """What a request for an offer has; the purpose is a constraint of each permission."""
    asked = offer.written() | {"target": dataset}
    if purpose is not None:
        stated = {"leftOperand": "purpose", "operator": "eq", "rightOperand": purpose}
        asked["permission"] = [
            {**rule, "constraint": [*rule.get("constraint", []), stated]} for rule in asked.get("permission", [])
        ]
    return {"consumerPid": negotiation.consumer_pid, "offer": asked}


def _rules(policy: dsp.Policy) -> tuple[Any, ...]:
    """What a policy permits, forbids and demands."""
    return policy.permission, policy.prohibition, policy.obligation


def _on_same_host(base: str, link: str) -> str:
    """The address of a next page, which gets the key: only of the same host.

    Raises:
        DataspaceError: It is at another one.
    """
    url = httpx.URL(base).join(link)
    if (url.scheme, url.host, url.port) != (httpx.URL(base).scheme, httpx.URL(base).host, httpx.URL(base).port):
        raise DataspaceError(f"the catalogue's next page is at another host, {url.host}")
    return str(url)


def _read_page(http: httpx.Client, url: str, asked: dict[str, Any]) -> tuple[dsp.Catalog, str | None]:
    content, links = _sent(http, "POST", url, asked)
    return _as(dsp.Catalog, content), links.get("next", {}).get("url")


def _read(
    http: httpx.Client, method: str, url: str, answer: type[AnyAnswer], sent: dict[str, Any] | None = None
) -> AnyAnswer:
    return _as(answer, _sent(http, method, url, sent)[0])


def _as(answer: type[AnyAnswer], content: bytes) -> AnyAnswer:
    try:
        return answer.model_validate(read_json(content))
    except (NotJsonError, ValidationError) as error:
        raise UnexpectedAnswerError(f"the provider's answer is not a {answer.__name__}: {error}") from None


def _sent(http: httpx.Client, method: str, url: str, message: dict[str, Any] | None) -> tuple[bytes, Any]:
    """The body and the links of an answer.

    Raises:
        DataspaceError: The provider refuses the message.
        ServiceUnreachableError: Nothing answers there.
    """
    try:
        with http.stream(method, url, json=message) as answer:
            content = b""
            for part in answer.iter_bytes():
                content += part
                if len(content) > _LARGEST:
                    raise DataspaceError(f"an answer of the provider has more than {_LARGEST:,} bytes")
    except httpx.InvalidURL as error:
        raise SettingsError(f"{url}: {error}") from None
    except httpx.HTTPError as error:
        raise ServiceUnreachableError(f"{url} does not answer: {error}") from None
    if answer.status_code not in _OK:
        raise DataspaceError(f"the provider refuses it ({answer.status_code}): {_why(content)}")
    return content, answer.links


def _why(content: bytes) -> str:
    """The reasons of a refusal."""
    try:
        refused = read_json(content)
    except NotJsonError:
        return "without a reason"
    reasons = refused.get("reason") if isinstance(refused, dict) else None
    return "; ".join(str(one)[:500] for one in reasons[:5]) if isinstance(reasons, list) else "without a reason"
