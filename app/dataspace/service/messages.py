"""Messages, offers and states in the protocol's form, which routes answer and workers send."""

from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from aegis_sdk.wire import dataspace as dsp
from aegis_sdk.wire.configuration import PRIVACY_CRITERIA
from app.audit.model import moment
from app.dataspace.model.offers import Offer, OfferedEntry, dataset_of, participant_of, rules_of
from app.dataspace.model.processes import Message, Negotiation, NegotiationState, Transfer, TransferState
from app.dataspace.service.sending import Due
from app.requests.model.data_requests import Handover

BASE = f"/dsp/{dsp.VERSION}"
"""The path of the protocol's endpoints."""


def dataset(entry: OfferedEntry, service: str, **context: object) -> dict[str, Any]:
    """An entry as a dataset.

    Args:
        service: the URL of the protocol's endpoints.
        context: `@context` for a dataset that stands alone.
    """
    shown = len(entry.offers)
    rest = f" ({shown} of {entry.considered} offers)" if entry.considered > shown else ""
    access = {"@id": service, "@type": "DataService", "endpointURL": service}
    return {
        **context,
        "@id": dataset_of(entry.head.id),
        "@type": "Dataset",
        "dct:title": entry.head.title or entry.head.name,
        "dct:description": f"{entry.head.description}{rest}".strip() or None,
        "hasPolicy": [policy(offer) for offer in entry.offers],
        "distribution": [{"@type": "Distribution", "format": dsp.PULL, "accessService": access}],
    }


def catalogue(entries: Iterable[OfferedEntry], service: str, participant: str) -> dsp.Catalog:
    """A page of the catalogue."""
    datasets = [dataset(entry, service) for entry in entries]
    return dsp.Catalog.of(
        **{"@id": f"{service}/catalog"},
        participantId=participant,
        service=[{"@id": service, "@type": "DataService", "endpointURL": service}],
        dataset=datasets or None,
    )


def policy(offer: Offer) -> dict[str, Any]:
    """An offer, as it stands in a dataset."""
    rules = {name: list(one) for name, one in asdict(rules_of(offer, PRIVACY_CRITERIA)).items() if one}
    return {"@id": offer.about.id, "@type": "Offer", **rules}


def _offer(due: Due[Negotiation] | Due[Transfer]) -> dict[str, Any]:
    return {} if due.offer is None else policy(due.offer) | {"target": due.offer.about.target}


def _agreement(due: Due[Negotiation]) -> dict[str, Any]:
    request, negotiation = due.process.request, due.process
    return _offer(due) | {
        "@id": negotiation.agreement,
        "@type": "Agreement",
        "assigner": participant_of(request.provider),
        "assignee": participant_of(request.consumer),
        "timestamp": moment(due.agreed_at or datetime.now(UTC)),
    }


def data_address(handover: Handover, request_id: str) -> dict[str, Any]:
    """The place of a delivered file, with what it must be. `request` is the data request, which has the evidence."""
    told = {
        "sha256": handover.sha256,
        "size": handover.size,
        "records": handover.records,
        "mediaType": handover.media_type,
        "configuration": handover.configuration,
        "expires": None if handover.expires_at is None else moment(handover.expires_at),
        "request": request_id,
    }
    properties = [
        {"@type": "EndpointProperty", "name": name, "value": str(value)}
        for name, value in told.items()
        if value is not None
    ]
    return {
        "@type": "DataAddress",
        "endpointType": dsp.HTTP,
        "endpoint": handover.url,
        "endpointProperties": properties,
    }


def is_read(process: Negotiation | Transfer) -> bool:
    """Whether the consumer reads the process, instead of being sent messages."""
    return process.callback == dsp.POLL


def _pids(process: Negotiation | Transfer) -> dict[str, str]:
    return {"providerPid": process.pid, "consumerPid": process.consumer_pid}


def negotiation_message(due: Due[Negotiation]) -> tuple[str, dict[str, Any]]:
    """The path below the consumer's own of a message about a negotiation, and the message."""
    pids = _pids(due.process)
    match due.message:
        case Message.OFFER:
            return "offers", dsp.ContractOfferMessage.of(**pids, offer=_offer(due)).written()
        case Message.AGREE:
            return "agreement", dsp.ContractAgreementMessage.of(**pids, agreement=_agreement(due)).written()
        case Message.FINALIZE:
            return "events", dsp.ContractNegotiationEventMessage.of(**pids, eventType="FINALIZED").written()
        case _:
            return "termination", dsp.ContractNegotiationTerminationMessage.of(**pids, **_why(due)).written()


def transfer_message(due: Due[Transfer]) -> tuple[str, dict[str, Any]]:
    """The same about a transfer."""
    pids, handover = _pids(due.process), due.process.handover
    match due.message:
        case Message.START if handover is not None:
            address = data_address(handover, due.process.request.id)
            return "start", dsp.TransferStartMessage.of(**pids, dataAddress=address).written()
        case Message.SUSPEND:
            why = {"code": "relink", "reason": ["The link to the file is replaced."]}
            return "suspension", dsp.TransferSuspensionMessage.of(**pids, **why).written()
        case Message.COMPLETE:
            return "completion", dsp.TransferCompletionMessage.of(**pids).written()
        case _:
            return "termination", dsp.TransferTerminationMessage.of(**pids, **_why(due)).written()


def _why(due: Due[Negotiation] | Due[Transfer]) -> dict[str, Any]:
    return {"code": due.process.request.state.value, "reason": None if due.reason is None else [due.reason]}


def negotiation_state(process: Negotiation, due: Due[Negotiation] | None = None) -> dsp.ContractNegotiation:
    """The state of a negotiation; with `due`, also what a consumer that polls would be sent."""
    told: dict[str, Any] = {}
    if due is not None and due.offer is not None:
        if process.shown is NegotiationState.OFFERED:
            told = {"offer": _offer(due)}
        elif process.shown in (NegotiationState.AGREED, NegotiationState.VERIFIED, NegotiationState.FINALIZED):
            told = {"agreement": _agreement(due)}
    if due is not None and due.reason is not None and process.shown is NegotiationState.TERMINATED:
        told = {"reason": [due.reason]}
    return dsp.ContractNegotiation.of(**_pids(process), state=process.shown.value, **told)


def transfer_state(process: Transfer, due: Due[Transfer] | None = None) -> dsp.TransferProcess:
    """The state of a transfer; with `due`, also where the file is, or why it has ended."""
    told: dict[str, Any] = {}
    if due is not None and process.handover is not None and process.shown is TransferState.STARTED:
        told = {"dataAddress": data_address(process.handover, process.request.id)}
    elif due is not None and due.reason is not None and process.shown is TransferState.TERMINATED:
        told = {"reason": [due.reason]}
    return dsp.TransferProcess.of(**_pids(process), state=process.shown.value, **told)
