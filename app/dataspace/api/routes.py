"""The Dataspace Protocol 2025-1 as provider: its version, the catalogue, negotiations and transfers.

`docs/dataspace.md` describes them.
"""

from typing import Annotated, Any, Final, TypeVar

import structlog
from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel

from aegis_sdk._links import link_faults
from aegis_sdk.wire import dataspace as dsp
from aegis_sdk.wire.data_requests import LONGEST_PURPOSE, LONGEST_REASON
from app.advice.service.advice import QuestionRules
from app.dataspace.api.refusals import CatalogRoute, NegotiationRoute, TransferRoute, described
from app.dataspace.model.offers import Offered, entry_of, offered_by, words_of
from app.dataspace.model.processes import Negotiation, Transfer, process_id_of
from app.dataspace.service.messages import BASE, catalogue, dataset, is_read, negotiation_state, transfer_state
from app.dataspace.service.negotiations import NegotiationService, Wanted
from app.dataspace.service.transfers import TransferService
from app.dataspace.store import NewProcess
from app.edge.dependencies import CallerDependency, FactoryDependency, SmallBodyDependency, require_room
from app.edge.state import State, StateDependency
from app.platform.errors import Fault, InvalidDocumentError, NotFoundError
from app.platform.http.bodies import validated
from app.platform.http.operations import JsonResponse, PageToken, body, links

_log = structlog.get_logger(__name__)

catalog = APIRouter(tags=["dataspace"], route_class=CatalogRoute)
negotiations = APIRouter(prefix=f"{BASE}/negotiations", tags=["dataspace"], route_class=NegotiationRoute)
transfers = APIRouter(prefix=f"{BASE}/transfers", tags=["dataspace"], route_class=TransferRoute)

#: The entries on a page of the catalogue.
_PAGE: Final = 20


def _catalog(model: type[BaseModel], description: str, *others: int) -> dict[int | str, dict[str, Any]]:
    return described(dsp.CatalogError, 200, model, description, *others)


def _negotiation(status: int = 200, *others: int) -> dict[int | str, dict[str, Any]]:
    about = dsp.ContractNegotiationError, status, dsp.ContractNegotiation
    return described(*about, "The negotiation", *others)


def _transfer(status: int = 200, *others: int) -> dict[int | str, dict[str, Any]]:
    return described(dsp.TransferError, status, dsp.TransferProcess, "The transfer", *others)


AnyMessage = TypeVar("AnyMessage", bound=dsp.ContractRequestMessage | dsp.TransferRequestMessage | dsp.OfProcess)


@catalog.get(
    dsp.VERSIONS_PATH,
    summary="Read the versions of the Dataspace Protocol",
    responses=_catalog(dsp.VersionResponse, "The versions"),
)
async def read_versions() -> Response:
    """The version of the protocol, and where it is spoken."""
    auth = dsp.Auth(protocol="OAuth", version="2", profile=["bearer"])
    version = dsp.ProtocolVersion(version=dsp.VERSION, path=BASE, binding="HTTPS", serviceId="aegis", auth=auth)
    return JsonResponse(dsp.VersionResponse(protocolVersions=[version]).written())


@catalog.post(
    f"{BASE}/catalog/request",
    summary="Request the catalogue",
    openapi_extra=body(dsp.CatalogRequestMessage),
    responses=_catalog(dsp.Catalog, "A page of the catalogue", 413, 415),
)
async def request_catalog(
    request: Request,
    caller: CallerDependency,
    document: SmallBodyDependency,
    state: StateDependency,
    factory: FactoryDependency,
    page_token: PageToken = None,
) -> Response:
    """A page of the catalogue; the header `Link` has the next one."""
    asked = await validated(dsp.CatalogRequestMessage, document)
    if asked.filter:
        raise InvalidDocumentError("Filters are not supported.", (Fault("/filter", "Leave it out, or empty."),))
    required = state.admission.required
    entries, token = await factory.offers().page(caller, required, _PAGE, page_token)
    page = catalogue(entries, _service(request), str(request.base_url))
    return JsonResponse(page.written(), headers={"Link": links(request, token)})


@catalog.get(
    f"{BASE}/catalog/datasets/{{dataset_id}}",
    summary="Read a dataset",
    responses=_catalog(dsp.Dataset, "The dataset"),
)
async def read_dataset(
    request: Request, dataset_id: str, caller: CallerDependency, state: StateDependency, factory: FactoryDependency
) -> Response:
    """An entry as a dataset."""
    entry = await factory.offers().find(caller, state.admission.required, entry_of(dataset_id))
    shown = dataset(entry, _service(request), **{"@context": [dsp.CONTEXT]})
    return JsonResponse(dsp.Dataset.model_validate(shown).written())


def _service(request: Request) -> str:
    return f"{str(request.base_url).rstrip('/')}{BASE}"


async def get_negotiations(state: StateDependency, factory: FactoryDependency) -> NegotiationService:
    """The service for negotiations."""
    return factory.negotiations(state.recent)


async def get_transfers(state: StateDependency, factory: FactoryDependency) -> TransferService:
    """The service for transfers."""
    return factory.transfers(state.recent)


NegotiationsDependency = Annotated[NegotiationService, Depends(get_negotiations)]
TransfersDependency = Annotated[TransferService, Depends(get_transfers)]


async def _read(request: Request, model: type[AnyMessage], document: bytes) -> AnyMessage:
    """A message, whose sender's id a refusal repeats."""
    message = await validated(model, document)
    request.state.consumer_pid = message.consumer_pid
    return message


def _refuse_callback(callback: str | None, state: State) -> str:
    """The callback address of a new process.

    Raises:
        InvalidDocumentError: nothing may be sent there.
    """
    if callback is None:
        fault = Fault("/callbackAddress", "State where messages go.")
        raise InvalidDocumentError("A new process needs a callback address.", (fault,))
    if callback == dsp.POLL:
        return callback
    details = [*link_faults(callback, allow_private=state.webhooks_allow_private)]
    details += ["The URL cannot have a query."] if "?" in callback else []
    if details:
        faults = tuple(Fault("/callbackAddress", detail) for detail in details)
        raise InvalidDocumentError("Nothing can be sent to this callback address.", faults)
    return callback


def _offered(offer: dsp.Policy) -> Offered | None:
    """What a consumer's offer is about; None if it is none of the catalogue.

    Raises:
        InvalidDocumentError: its target is another dataset.
    """
    offered = offered_by(offer.id)
    if offered is not None and offer.target not in (None, offered.target, offered.entry_id):
        fault = Fault("/offer/target", f"The offer is one of the dataset {offered.target}.")
        raise InvalidDocumentError("The offer belongs to another dataset.", (fault,))
    return offered


def _purpose(offer: dsp.Policy) -> str | None:
    """The purpose that a consumer's offer states: a constraint of a permission, as ODRL has it."""
    for rule in offer.permission or ():
        constraints = rule.get("constraint")
        for one in constraints if isinstance(constraints, list) else ():
            if isinstance(one, dict) and one.get("leftOperand") == "purpose" and one.get("operator") == "eq":
                purpose = one.get("rightOperand")
                return purpose[:LONGEST_PURPOSE].replace("\0", "") if isinstance(purpose, str) and purpose else None
    return None


def _rules(state: State) -> QuestionRules:
    return QuestionRules(state.question_budget, state.admission.required)


@negotiations.post(
    "/request",
    summary="Request a contract",
    status_code=201,
    dependencies=[Depends(require_room)],
    openapi_extra=body(dsp.ContractRequestMessage),
    responses=_negotiation(201, 413, 415, 507),
)
async def request_contract(
    request: Request,
    caller: CallerDependency,
    document: SmallBodyDependency,
    state: StateDependency,
    service: NegotiationsDependency,
) -> Response:
    """Begins a negotiation: a data request for the configuration of an offer."""
    asked = await _read(request, dsp.ContractRequestMessage, document)
    if asked.provider_pid is not None:
        fault = Fault("/providerPid", "Leave it out: the provider gives it.")
        raise InvalidDocumentError("A new negotiation has no providerPid.", (fault,))
    new = NewProcess(asked.consumer_pid, _refuse_callback(asked.callback, state))
    if (offered := _offered(asked.offer)) is None:
        raise NotFoundError(f"There is no offer {asked.offer.id}, or you may not see it.")
    negotiation = await service.request(caller, new, Wanted(offered, _purpose(asked.offer)), _rules(state))
    _log.info("negotiation begun", negotiation=negotiation.id, data_request=negotiation.request.id, by=caller.subject)
    return JsonResponse(negotiation_state(negotiation).written(), 201)


@negotiations.get("/{process_id}", summary="Read a negotiation", responses=_negotiation())
async def read_negotiation(
    process_id: str, caller: CallerDependency, factory: FactoryDependency, service: NegotiationsDependency
) -> Response:
    """The state of a negotiation."""
    negotiation = await service.find(caller, process_id)
    said = await factory.negotiation_messages().said(negotiation) if is_read(negotiation) else None
    return JsonResponse(negotiation_state(negotiation, said).written())


@negotiations.post(
    "/{process_id}/request",
    summary="Request another offer",
    dependencies=[Depends(require_room)],
    openapi_extra=body(dsp.ContractRequestMessage),
    responses=_negotiation(200, 413, 415, 507),
)
async def request_another_offer(
    request: Request,
    process_id: str,
    caller: CallerDependency,
    document: SmallBodyDependency,
    state: StateDependency,
    service: NegotiationsDependency,
) -> Response:
    """Answers the provider's offer with another wish."""
    asked = await _read(request, dsp.ContractRequestMessage, document)
    _refuse_other(process_id, asked.provider_pid)
    offered = _offered(asked.offer)
    wanted = None if offered is None else Wanted(offered, _purpose(asked.offer))
    return _answered(
        await service.counter(caller, process_id, asked.consumer_pid, wanted, _rules(state)), caller.subject
    )


@negotiations.post(
    "/{process_id}/events",
    summary="Accept an offer",
    openapi_extra=body(dsp.ContractNegotiationEventMessage),
    responses=_negotiation(200, 413, 415),
)
async def accept_offer(
    request: Request,
    process_id: str,
    caller: CallerDependency,
    document: SmallBodyDependency,
    service: NegotiationsDependency,
) -> Response:
    """Accepts the provider's offer."""
    event = await _read(request, dsp.ContractNegotiationEventMessage, document)
    _refuse_other(process_id, event.provider_pid)
    if event.event != "ACCEPTED":
        raise InvalidDocumentError("A consumer only accepts.", (Fault("/eventType", "ACCEPTED is expected."),))
    return _answered(await service.accept(caller, process_id, event.consumer_pid), caller.subject)


@negotiations.post(
    "/{process_id}/agreement/verification",
    summary="Verify an agreement",
    openapi_extra=body(dsp.ContractAgreementVerificationMessage),
    responses=_negotiation(200, 413, 415),
)
async def verify_agreement(
    request: Request,
    process_id: str,
    caller: CallerDependency,
    document: SmallBodyDependency,
    service: NegotiationsDependency,
) -> Response:
    """Confirms the agreement."""
    message = await _read(request, dsp.ContractAgreementVerificationMessage, document)
    _refuse_other(process_id, message.provider_pid)
    return _answered(await service.verify(caller, process_id, message.consumer_pid), caller.subject)


@negotiations.post(
    "/{process_id}/termination",
    summary="Terminate a negotiation",
    openapi_extra=body(dsp.ContractNegotiationTerminationMessage),
    responses=_negotiation(200, 413, 415),
)
async def terminate_negotiation(
    request: Request,
    process_id: str,
    caller: CallerDependency,
    document: SmallBodyDependency,
    service: NegotiationsDependency,
) -> Response:
    """Ends a negotiation."""
    message = await _read(request, dsp.ContractNegotiationTerminationMessage, document)
    _refuse_other(process_id, message.provider_pid)
    return _answered(
        await service.terminate(caller, process_id, message.consumer_pid, _reason(message.reason)), caller.subject
    )


def _refuse_other(process_id: str, named: str | None) -> None:
    """Refuse a message to another process than it names.

    Raises:
        InvalidDocumentError: it names another one, or none.
    """
    if named is None or process_id_of(named) != process_id_of(process_id):
        raise InvalidDocumentError(
            "The message is for another process.", (Fault("/providerPid", f"This is {process_id}."),)
        )


def _reason(reasons: list[Any] | None) -> str | None:
    return words_of(reasons or ())[:LONGEST_REASON].replace("\0", "") or None


def _answered(negotiation: Negotiation, by: str | None) -> Response:
    _log.info("negotiation changed", negotiation=negotiation.id, state=negotiation.state.value, by=by)
    return JsonResponse(negotiation_state(negotiation).written())


@transfers.post(
    "/request",
    summary="Request a transfer",
    status_code=201,
    dependencies=[Depends(require_room)],
    openapi_extra=body(dsp.TransferRequestMessage),
    responses=_transfer(201, 413, 415, 507),
)
async def request_transfer(
    request: Request,
    caller: CallerDependency,
    document: SmallBodyDependency,
    state: StateDependency,
    service: TransfersDependency,
) -> Response:
    """Begins a transfer of the table of an agreement."""
    asked = await _read(request, dsp.TransferRequestMessage, document)
    faults = []
    if asked.format != dsp.PULL:
        faults.append(Fault("/format", f"The only format is {dsp.PULL}."))
    if asked.data_address is not None:
        faults.append(Fault("/dataAddress", "Leave it out: the consumer fetches the file."))
    if faults:
        raise InvalidDocumentError("The table cannot be transferred like this.", tuple(faults))
    new = NewProcess(asked.consumer_pid, _refuse_callback(asked.callback, state))
    transfer = await service.request(caller, new, asked.agreement)
    _log.info("transfer begun", transfer=transfer.id, data_request=transfer.request.id, by=caller.subject)
    return JsonResponse(transfer_state(transfer).written(), 201)


@transfers.get("/{process_id}", summary="Read a transfer", responses=_transfer())
async def read_transfer(
    process_id: str, caller: CallerDependency, factory: FactoryDependency, service: TransfersDependency
) -> Response:
    """The state of a transfer."""
    transfer = await service.find(caller, process_id)
    said = await factory.transfer_messages().said(transfer) if is_read(transfer) else None
    return JsonResponse(transfer_state(transfer, said).written())


@transfers.post(
    "/{process_id}/start",
    summary="Resume a transfer",
    openapi_extra=body(dsp.TransferStartMessage),
    responses=_transfer(200, 413, 415),
)
async def start_transfer(
    request: Request,
    process_id: str,
    caller: CallerDependency,
    document: SmallBodyDependency,
    service: TransfersDependency,
) -> Response:
    """Goes on with a transfer that the consumer has suspended."""
    message = await _read(request, dsp.TransferStartMessage, document)
    _refuse_other(process_id, message.provider_pid)
    return _transferred(await service.start(caller, process_id, message.consumer_pid), caller.subject)


@transfers.post(
    "/{process_id}/suspension",
    summary="Suspend a transfer",
    openapi_extra=body(dsp.TransferSuspensionMessage),
    responses=_transfer(200, 413, 415),
)
async def suspend_transfer(
    request: Request,
    process_id: str,
    caller: CallerDependency,
    document: SmallBodyDependency,
    service: TransfersDependency,
) -> Response:
    """Interrupts a transfer."""
    message = await _read(request, dsp.TransferSuspensionMessage, document)
    _refuse_other(process_id, message.provider_pid)
    return _transferred(await service.suspend(caller, process_id, message.consumer_pid), caller.subject)


@transfers.post(
    "/{process_id}/completion",
    summary="Complete a transfer",
    openapi_extra=body(dsp.TransferCompletionMessage),
    responses=_transfer(200, 413, 415),
)
async def complete_transfer(
    request: Request,
    process_id: str,
    caller: CallerDependency,
    document: SmallBodyDependency,
    service: TransfersDependency,
) -> Response:
    """Says that the file has arrived."""
    message = await _read(request, dsp.TransferCompletionMessage, document)
    _refuse_other(process_id, message.provider_pid)
    return _transferred(await service.complete(caller, process_id, message.consumer_pid), caller.subject)


@transfers.post(
    "/{process_id}/termination",
    summary="Terminate a transfer",
    openapi_extra=body(dsp.TransferTerminationMessage),
    responses=_transfer(200, 413, 415),
)
async def terminate_transfer(
    request: Request,
    process_id: str,
    caller: CallerDependency,
    document: SmallBodyDependency,
    service: TransfersDependency,
) -> Response:
    """Ends a transfer."""
    message = await _read(request, dsp.TransferTerminationMessage, document)
    _refuse_other(process_id, message.provider_pid)
    return _transferred(
        await service.terminate(caller, process_id, message.consumer_pid, _reason(message.reason)), caller.subject
    )


def _transferred(transfer: Transfer, by: str | None) -> Response:
    _log.info("transfer changed", transfer=transfer.id, state=transfer.state.value, by=by)
    return JsonResponse(transfer_state(transfer).written())


ROUTERS: Final = (catalog, negotiations, transfers)
