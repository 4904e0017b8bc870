"""Messages of the Dataspace Protocol 2025-1: its schemas as models, read as plain JSON, which the protocol allows.

Contexts are names here. Nothing is fetched, and since the terms of the protocol's context are protected, no other
context can give them another meaning. Members that the protocol does not have are skipped.
"""

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, Any, Final, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from aegis_sdk.wire.values import Identifier, JsonObject, Text
from aegis_sdk.wire.webhooks import LONGEST_URL

CONTEXT: Final = "https://w3id.org/dspace/2025/1/context.jsonld"
"""The context that every message names."""

VERSION: Final = "2025-1"

PULL: Final = "HttpData-PULL"
"""The format of a transfer in which the consumer fetches the file."""

HTTP: Final = "https://w3id.org/idsa/v4.1/HTTP"
"""The type of endpoint of a file that is fetched by HTTP."""

POLL: Final = "urn:aegis:poll"
"""The callback address of a consumer that nobody can reach: it reads the process instead. An extension of Aegis."""

VERSIONS_PATH: Final = "/.well-known/dspace-version"

_MOST_RULES: Final = 1_000
_MOST_REASONS: Final = 100
_MOST_CONTEXTS: Final = 20


class NegotiationState(StrEnum):
    """The state of a contract negotiation."""

    REQUESTED = "REQUESTED"
    OFFERED = "OFFERED"
    ACCEPTED = "ACCEPTED"
    AGREED = "AGREED"
    VERIFIED = "VERIFIED"
    FINALIZED = "FINALIZED"
    TERMINATED = "TERMINATED"


class TransferState(StrEnum):
    """The state of a transfer process."""

    REQUESTED = "REQUESTED"
    STARTED = "STARTED"
    SUSPENDED = "SUSPENDED"
    COMPLETED = "COMPLETED"
    TERMINATED = "TERMINATED"


def _named(contexts: list[str]) -> list[str]:
    if CONTEXT not in contexts:
        message = f"Name the context {CONTEXT}"
        raise ValueError(message)
    return contexts


Contexts = Annotated[list[Identifier], Field(max_length=_MOST_CONTEXTS), AfterValidator(_named)]
Rules = Annotated[list[JsonObject], Field(min_length=1, max_length=_MOST_RULES)]
Url = Annotated[str, Field(min_length=1, max_length=LONGEST_URL)]


class _Part(BaseModel):
    """A part of a message."""

    model_config = ConfigDict(strict=True, frozen=True, extra="ignore", serialize_by_alias=True)

    def written(self) -> dict[str, Any]:
        """The part as JSON, without the members that it lacks."""
        return self.model_dump(mode="json", exclude_none=True)


class Message(_Part):
    """A message: it names the context."""

    context: Contexts = Field(alias="@context")

    @classmethod
    def of(cls, **members: object) -> Self:
        """The message with these members, by their names in the protocol."""
        return cls.model_validate({"@context": [CONTEXT], "@type": cls.__name__, **members}, strict=False)


class Policy(_Part):
    """An offer or an agreement (ODRL). Its rules are any JSON: the service states its own, and grants no others."""

    id: Identifier = Field(alias="@id")
    type: Literal["Offer", "Agreement"] = Field(alias="@type")
    target: Identifier | None = None
    assigner: Identifier | None = None
    assignee: Identifier | None = None
    timestamp: Text | None = None
    profile: Identifier | list[Identifier] | None = None
    permission: Rules | None = None
    prohibition: Rules | None = None
    obligation: Rules | None = None

    @model_validator(mode="after")
    def _has_rules(self) -> Self:
        if self.permission is None and self.prohibition is None:
            message = "Has neither a permission nor a prohibition"
            raise ValueError(message)
        return self

    @property
    def constraints(self) -> Iterator[dict[str, Any]]:
        """The constraints of its permissions. Any JSON may be in their place, which is skipped."""
        for rule in self.permission or ():
            stated = rule.get("constraint")
            yield from (one for one in (stated if isinstance(stated, list) else ()) if isinstance(one, dict))


class Distribution(_Part):
    """How a dataset is transferred, and by what service."""

    type: Literal["Distribution"] = Field(default="Distribution", alias="@type")
    format: Identifier
    access_service: Any = Field(alias="accessService")


class DataService(_Part):
    """The place of the protocol's endpoints."""

    id: Identifier = Field(alias="@id")
    type: Literal["DataService"] = Field(default="DataService", alias="@type")
    endpoint: Url = Field(alias="endpointURL")


class Dataset(_Part):
    """An entry, with an offer for each configuration."""

    context: Contexts | None = Field(default=None, alias="@context")
    id: Identifier = Field(alias="@id")
    type: Literal["Dataset"] = Field(default="Dataset", alias="@type")
    title: Text | None = Field(default=None, alias="dct:title")
    description: Text | None = Field(default=None, alias="dct:description")
    policies: list[Policy] = Field(alias="hasPolicy", min_length=1)
    distributions: list[Distribution] = Field(alias="distribution", min_length=1)


class Catalog(Message):
    """A page of the datasets that the caller may request."""

    id: Identifier = Field(alias="@id")
    type: Literal["Catalog"] = Field(alias="@type")
    participant: Identifier = Field(alias="participantId")
    services: list[DataService] | None = Field(default=None, alias="service")
    datasets: list[Dataset] | None = Field(default=None, alias="dataset")


class Auth(_Part):
    """How the endpoints are secured."""

    protocol: str
    version: str
    profile: list[str] | None = None


class ProtocolVersion(_Part):
    """A version of the protocol, and where its endpoints are."""

    version: str
    path: str
    binding: Literal["HTTPS"]
    service_id: str | None = Field(default=None, alias="serviceId")
    identifier_type: str | None = Field(default=None, alias="identifierType")
    auth: Auth | None = None


class VersionResponse(_Part):
    """The versions that a connector speaks."""

    versions: list[ProtocolVersion] = Field(alias="protocolVersions", min_length=1)


class CatalogRequestMessage(Message):
    """Asks for the catalogue."""

    type: Literal["CatalogRequestMessage"] = Field(alias="@type")
    filter: list[Any] | None = None


class OfProcess(Message):
    """A message about a process, with the ids that both sides give it."""

    provider_pid: Identifier = Field(alias="providerPid")
    consumer_pid: Identifier = Field(alias="consumerPid")


Reasons = Annotated[list[Any], Field(min_length=1, max_length=_MOST_REASONS)]


class Ending(OfProcess):
    """A message that ends or interrupts a process, or refuses a message, and says why."""

    code: Text | None = None
    reason: Reasons | None = None


class ContractRequestMessage(Message):
    """Asks for an agreement on an offer, first or in answer to another offer."""

    type: Literal["ContractRequestMessage"] = Field(alias="@type")
    consumer_pid: Identifier = Field(alias="consumerPid")
    provider_pid: Identifier | None = Field(default=None, alias="providerPid")
    callback: Url | None = Field(default=None, alias="callbackAddress")
    offer: Policy


class ContractOfferMessage(Message):
    """Offers something else than was asked for."""

    type: Literal["ContractOfferMessage"] = Field(alias="@type")
    provider_pid: Identifier = Field(alias="providerPid")
    consumer_pid: Identifier | None = Field(default=None, alias="consumerPid")
    callback: Url | None = Field(default=None, alias="callbackAddress")
    offer: Policy


class ContractAgreementMessage(OfProcess):
    """Grants what was asked for."""

    type: Literal["ContractAgreementMessage"] = Field(alias="@type")
    agreement: Policy


class ContractAgreementVerificationMessage(OfProcess):
    """Confirms an agreement."""

    type: Literal["ContractAgreementVerificationMessage"] = Field(alias="@type")


class ContractNegotiationEventMessage(OfProcess):
    """Accepts an offer (consumer), or finalises an agreement (provider)."""

    type: Literal["ContractNegotiationEventMessage"] = Field(alias="@type")
    event: Literal["ACCEPTED", "FINALIZED"] = Field(alias="eventType")


class ContractNegotiationTerminationMessage(Ending):
    """Ends a negotiation."""

    type: Literal["ContractNegotiationTerminationMessage"] = Field(alias="@type")


class ContractNegotiation(OfProcess):
    """The state of a negotiation. For consumers that poll, Aegis adds the offer or the agreement, and why it ended."""

    type: Literal["ContractNegotiation"] = Field(alias="@type")
    state: Annotated[NegotiationState, Field(strict=False)]
    offer: Policy | None = None
    agreement: Policy | None = None
    reason: Reasons | None = None


class EndpointProperty(_Part):
    """What a client of an endpoint needs to know besides."""

    type: Literal["EndpointProperty"] = Field(default="EndpointProperty", alias="@type")
    name: Identifier
    value: Annotated[Text, Field(max_length=4 * LONGEST_URL)]


class DataAddress(_Part):
    """Where the file is."""

    type: Literal["DataAddress"] = Field(default="DataAddress", alias="@type")
    endpoint_type: Identifier = Field(alias="endpointType")
    endpoint: Annotated[Text, Field(max_length=4 * LONGEST_URL)] | None = None
    properties: Annotated[list[EndpointProperty], Field(min_length=1, max_length=100)] | None = Field(
        default=None, alias="endpointProperties"
    )

    def named(self, name: str) -> str | None:
        """The value of a property; None if it has none of this name."""
        return next((one.value for one in self.properties or () if one.name == name), None)


class TransferRequestMessage(Message):
    """Asks for the file of an agreement."""

    type: Literal["TransferRequestMessage"] = Field(alias="@type")
    consumer_pid: Identifier = Field(alias="consumerPid")
    agreement: Identifier = Field(alias="agreementId")
    format: Identifier
    callback: Url = Field(alias="callbackAddress")
    data_address: DataAddress | None = Field(default=None, alias="dataAddress")


class TransferStartMessage(OfProcess):
    """Says that the file is there, and where."""

    type: Literal["TransferStartMessage"] = Field(alias="@type")
    data_address: DataAddress | None = Field(default=None, alias="dataAddress")


class TransferSuspensionMessage(Ending):
    """Interrupts a transfer."""

    type: Literal["TransferSuspensionMessage"] = Field(alias="@type")


class TransferCompletionMessage(OfProcess):
    """Says that the file has arrived."""

    type: Literal["TransferCompletionMessage"] = Field(alias="@type")


class TransferTerminationMessage(Ending):
    """Ends a transfer before the file has arrived."""

    type: Literal["TransferTerminationMessage"] = Field(alias="@type")


class TransferProcess(OfProcess):
    """The state of a transfer. For consumers that poll, Aegis adds the place of the file, and why it ended."""

    type: Literal["TransferProcess"] = Field(alias="@type")
    state: Annotated[TransferState, Field(strict=False)]
    data_address: DataAddress | None = Field(default=None, alias="dataAddress")
    reason: Reasons | None = None


class CatalogError(Message):
    """Why there is no catalogue."""

    type: Literal["CatalogError"] = Field(alias="@type")
    code: str | None = None
    reason: list[Any] | None = None


class ContractNegotiationError(Ending):
    """Why a message about a negotiation has no effect."""

    type: Literal["ContractNegotiationError"] = Field(alias="@type")


class TransferError(Ending):
    """Why a message about a transfer has no effect."""

    type: Literal["TransferError"] = Field(alias="@type")
