"""The Dataspace Protocol 2025-1 as provider: its version, the catalogue, negotiations and transfers.

`docs/dataspace.md` describes them.
"""

from typing import Any, Final

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel

from aegis_sdk._links import link_faults
from aegis_sdk.wire import dataspace as dsp
from aegis_sdk.wire.data_requests import LONGEST_PURPOSE, LONGEST_REASON
from app.advice.service.advice import QuestionRules
from app.dataspace.api.processes import AnyMessage, Kind, ProcessRoutes, Received
from app.dataspace.api.refusals import CatalogRoute, NegotiationRoute, TransferRoute, described
from app.dataspace.model.offers import entry_of, offered_by, words_of
from app.dataspace.model.processes import Negotiation, Transfer
from app.dataspace.service.messages import BASE, catalogue, dataset, negotiation_state, transfer_state
from app.dataspace.service.negotiations import NegotiationService, Wanted
from app.dataspace.service.transfers import TransferService
from app.dataspace.store import NewProcess
from app.edge.dependencies import CallerDependency, FactoryDependency, SmallBodyDependency
from app.edge.state import State, StateDependency
from app.factory import Factory
from app.platform.errors import Fault, InvalidDocumentError, NotFoundError
from app.platform.http.bodies import validated
from app.platform.http.operations import JsonResponse, PageToken, body, links

catalog = APIRouter(tags=["dataspace"], route_class=CatalogRoute)
_negotiations = ProcessRoutes(
    Kind(
        "negotiation",
        dsp.ContractNegotiation,
        negotiation_state,
        Factory.negotiations,
        Factory.negotiation_messages,
    ),
    NegotiationRoute,
)
_transfers = ProcessRoutes(
    Kind("transfer", dsp.TransferProcess, transfer_state, Factory.transfers, Factory.transfer_messages),
    TransferRoute,
)

ToldNegotiation = Received[AnyMessage, NegotiationService]
ToldTransfer = Received[AnyMessage, TransferService]

#: The entries on a page of the catalogue.
_PAGE: Final = 20


def _catalog(model: type[BaseModel], description: str, *others: int) -> dict[int | str, dict[str, Any]]:
    return described(dsp.CatalogError, 200, model, description, *others)


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


def _wanted(offer: dsp.Policy) -> Wanted | None:
    """What a consumer's offer is about, and what for; None if it is none of the catalogue.

    Raises:
        InvalidDocumentError: its target is another dataset.
    """
    offered = offered_by(offer.id)
    if offered is not None and offer.target not in (None, offered.target, offered.entry_id):
        fault = Fault("/offer/target", f"The offer is one of the dataset {offered.target}.")
        raise InvalidDocumentError("The offer belongs to another dataset.", (fault,))
    return None if offered is None else Wanted(offered, _purpose(offer))


def _purpose(offer: dsp.Policy) -> str | None:
    """The purpose that a consumer's offer states: a constraint of a permission, as ODRL has it."""
    for one in offer.constraints:
        if one.get("leftOperand") == "purpose" and one.get("operator") == "eq":
            purpose = one.get("rightOperand")
            return purpose[:LONGEST_PURPOSE].replace("\0", "") if isinstance(purpose, str) and purpose else None
    return None


def _rules(state: State) -> QuestionRules:
    return QuestionRules(state.question_budget, state.admission.required)


def _reason(ending: dsp.Ending) -> str | None:
    return words_of(ending.reason or ())[:LONGEST_REASON].replace("\0", "") or None


@_negotiations.post("/request", "Request a contract", dsp.ContractRequestMessage, stores=True)
async def request_contract(told: ToldNegotiation[dsp.ContractRequestMessage]) -> Negotiation:
    """Begins a negotiation: a data request for the configuration of an offer."""
    asked = told.message
    if asked.provider_pid is not None:
        fault = Fault("/providerPid", "Leave it out: the provider gives it.")
        raise InvalidDocumentError("A new negotiation has no providerPid.", (fault,))
    new = NewProcess(asked.consumer_pid, _refuse_callback(asked.callback, told.state))
    if (wanted := _wanted(asked.offer)) is None:
        raise NotFoundError(f"There is no offer {asked.offer.id}, or you may not see it.")
    return await told.service.request(told.caller, new, wanted, _rules(told.state))


_negotiations.add_reading()


@_negotiations.post("/{process_id}/request", "Request another offer", dsp.ContractRequestMessage, stores=True)
async def request_another_offer(told: ToldNegotiation[dsp.ContractRequestMessage]) -> Negotiation:
    """Answers the provider's offer with another wish."""
    return await told.service.counter(told.sender, _wanted(told.message.offer), _rules(told.state))


@_negotiations.post("/{process_id}/events", "Accept an offer", dsp.ContractNegotiationEventMessage)
async def accept_offer(told: ToldNegotiation[dsp.ContractNegotiationEventMessage]) -> Negotiation:
    """Accepts the provider's offer."""
    if told.message.event != "ACCEPTED":
        raise InvalidDocumentError("A consumer only accepts.", (Fault("/eventType", "ACCEPTED is expected."),))
    return await told.service.accept(told.sender)


@_negotiations.post(
    "/{process_id}/agreement/verification", "Verify an agreement", dsp.ContractAgreementVerificationMessage
)
async def verify_agreement(told: ToldNegotiation[dsp.ContractAgreementVerificationMessage]) -> Negotiation:
    """Confirms the agreement."""
    return await told.service.verify(told.sender)


@_negotiations.post("/{process_id}/termination", "Terminate a negotiation", dsp.ContractNegotiationTerminationMessage)
async def terminate_negotiation(told: ToldNegotiation[dsp.ContractNegotiationTerminationMessage]) -> Negotiation:
    """Ends a negotiation."""
    return await told.service.terminate(told.sender, _reason(told.message))


@_transfers.post("/request", "Request a transfer", dsp.TransferRequestMessage, stores=True)
async def request_transfer(told: ToldTransfer[dsp.TransferRequestMessage]) -> Transfer:
    """Begins a transfer of the table of an agreement."""
    asked = told.message
    faults = []
    if asked.format != dsp.PULL:
        faults.append(Fault("/format", f"The only format is {dsp.PULL}."))
    if asked.data_address is not None:
        faults.append(Fault("/dataAddress", "Leave it out: the consumer fetches the file."))
    if faults:
        raise InvalidDocumentError("The table cannot be transferred like this.", tuple(faults))
    new = NewProcess(asked.consumer_pid, _refuse_callback(asked.callback, told.state))
    return await told.service.request(told.caller, new, asked.agreement)


_transfers.add_reading()


@_transfers.post("/{process_id}/start", "Resume a transfer", dsp.TransferStartMessage)
async def start_transfer(told: ToldTransfer[dsp.TransferStartMessage]) -> Transfer:
    """Goes on with a transfer that the consumer has suspended."""
    return await told.service.start(told.sender)


@_transfers.post("/{process_id}/suspension", "Suspend a transfer", dsp.TransferSuspensionMessage)
async def suspend_transfer(told: ToldTransfer[dsp.TransferSuspensionMessage]) -> Transfer:
    """Interrupts a transfer."""
    return await told.service.suspend(told.sender)


@_transfers.post("/{process_id}/completion", "Complete a transfer", dsp.TransferCompletionMessage)
async def complete_transfer(told: ToldTransfer[dsp.TransferCompletionMessage]) -> Transfer:
    """Says that the file has arrived."""
    return await told.service.complete(told.sender)


@_transfers.post("/{process_id}/termination", "Terminate a transfer", dsp.TransferTerminationMessage)
async def terminate_transfer(told: ToldTransfer[dsp.TransferTerminationMessage]) -> Transfer:
    """Ends a transfer."""
    return await told.service.terminate(told.sender, _reason(told.message))


ROUTERS: Final = (catalog, _negotiations.router, _transfers.router)
