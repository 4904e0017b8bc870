"""Data requests: the consumer's request, the provider's decision, and the outcome."""

from typing import Annotated, Any, Final, Literal, Self, get_args

from pydantic import ConfigDict, Field, ModelWrapValidatorHandler, RootModel, ValidationError, model_validator

from aegis_sdk.wire.advice import ABOUT
from aegis_sdk.wire.catalogue import EntryVersion
from aegis_sdk.wire.delivery import (
    EXAMPLE_DESCRIPTOR,
    EXAMPLE_VERDICT,
    Delivery,
    DeliveryDescriptor,
    DeliveryVerdict,
    Link,
    Verification,
)
from aegis_sdk.wire.documents import Answer, Problem, Request, Uuid, raised, refuse
from aegis_sdk.wire.examples import EXAMPLE_HEAD
from aegis_sdk.wire.questions import Question
from aegis_sdk.wire.values import COUNT_MAX, Identifier, Text, UtcTime

LONGEST_PURPOSE: Final = 2_000
LONGEST_REASON: Final = 2_000
LONGEST_CONTACT: Final = 300

_EXAMPLE_QUESTION: Final[dict[str, Any]] = {
    "measure": "joint",
    "attributes": ["age", "zip"],
    "weights": None,
    "require": {"k": 5},
}

_EXAMPLE_NEW: Final[dict[str, Any]] = {
    "measure": "joint",
    "attributes": ["age", "zip"],
    "require": {"k": 5},
    "purpose": "Predict self-rated health by age and place, for a study of local care",
    "contact": "data@insurer.example",
    "terms": EXAMPLE_HEAD["terms"],
}

_EXAMPLE_CHANGE: Final[dict[str, Any]] = {
    "at": "2026-03-01T12:00:00Z",
    "action": "request",
    "state": "requested",
    "side": "consumer",
    "tenant": "insurer",
    "by": "aegis_30a4a6be",
    "reason": None,
    "configuration": None,
    "beside": None,
}

_EXAMPLE_HEAD: Final[dict[str, Any]] = {
    "id": "5c1e97f3-7d60-4a51-8a51-3f0f9a6a2b11",
    "state": "advised",
    "entry": {
        "id": EXAMPLE_HEAD["id"],
        "version": 1,
        "digest": "hmac-sha256:0f7c3f2d9c1b5a6e8d4f7a2b3c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f",
        "name": "health-survey",
        "tenant": "hospital",
    },
    "stale": False,
    "consumer": "insurer",
    "request": _EXAMPLE_QUESTION,
    "purpose": _EXAMPLE_NEW["purpose"],
    "contact": _EXAMPLE_NEW["contact"],
    "terms": EXAMPLE_HEAD["terms"],
    "advice": "0197f3a2-7b42-7c0d-9e15-6a1d2c3b4e5f",
    "configuration": "c17",
    "about": "age in 8 bands, zip by 3 characters",
    "cost": {"rank": 1, "utility_share": 0.97, "deviation_share": 0.03, "deviation": None},
    "problem": None,
    "possible": ["withdraw"],
    "created_at": "2026-03-01T12:00:00Z",
    "changed_at": "2026-03-01T12:00:01Z",
    "expires_at": "2026-03-31T12:00:01Z",
}

EXAMPLE_DATA_REQUEST: Final[dict[str, Any]] = _EXAMPLE_HEAD | {
    "delivery": None,
    "verification": None,
    "full_rank": None,
    "composition": None,
    "changes": [_EXAMPLE_CHANGE],
}
"""A request with its history."""

Reason = Annotated[Text, Field(min_length=1, max_length=LONGEST_REASON)]


class NewDataRequest(Question):
    """Asks for the masked table of the configuration that loses the least utility for the consumer, or a given one."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE_NEW]})

    purpose: Annotated[Text, Field(min_length=1, max_length=LONGEST_PURPOSE)] = Field(description="Purpose of the data")
    contact: Annotated[Identifier, Field(max_length=LONGEST_CONTACT)] = Field(
        description="Contact for the provider, such as a mail address; can be erased later"
    )
    terms: Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")] = Field(
        description="Acceptance of the entry's terms: their digest, `terms` of the entry's head"
    )
    configuration: Identifier | None = Field(
        default=None,
        description="Configuration to ask for, which meets `require`; null: the first of your advice on the question",
    )


class _Decision(Request):
    reason: Reason | None = Field(default=None, description="Reason, for the other side and for the record")


class _Refusal(Request):
    reason: Reason = Field(description="Reason, for the other side and for the record")


class GrantLimit(Request):
    """The largest number of requests of one tenant that are granted within some days."""

    requests: Annotated[int, Field(ge=0, le=COUNT_MAX)] = Field(
        description="Number of granted requests, including this one"
    )
    days: Annotated[int, Field(ge=1, le=3_660)] = Field(default=30, description="Number of days")


def _examples(action: str, asked: dict[str, Any]) -> ConfigDict:
    return ConfigDict(json_schema_extra={"examples": [{"action": action} | asked]})


_ACCEPTS: Final = Field(
    default=False,
    description="Whether to grant it although the policy `composition` forbids it beside what the consumer has of the "
    "table; kept in the audit log",
)


class Approve(_Decision):
    """Grants the configuration that the advice recommends. For the entry's provider."""

    model_config = _examples("approve", {"reason": "Care is what it is for", "limit": {"requests": 20, "days": 30}})

    action: Literal["approve"]
    limit: GrantLimit | None = Field(
        default=None,
        description="Approve only below this limit on requests that your tenant has granted to the "
        "consumer's tenant; null: no limit",
    )
    accept_composition: bool = _ACCEPTS


class Decline(_Refusal):
    """Declines the request, with a reason; also takes an approval back before delivery. For the entry's provider."""

    model_config = _examples("decline", {"reason": "Not for advertising"})

    action: Literal["decline"]


class Counter(_Decision):
    """Offers another configuration that meets the requirements, with its cost. For the entry's provider."""

    model_config = _examples("counter", {"configuration": "c03", "reason": "k = 10 for this purpose"})

    action: Literal["counter"]
    configuration: Identifier = Field(description="A configuration that meets the consumer's requirements")
    accept_composition: bool = _ACCEPTS


class Accept(_Decision):
    """Accepts the provider's counter-offer. For the tenant that made the request."""

    model_config = _examples("accept", {"reason": "The ethics board has agreed"})

    action: Literal["accept"]


class Deliver(DeliveryDescriptor):
    """Gives the link and the description of the approved table, which the service never fetches. For the entry's
    provider.
    """

    model_config = _examples("deliver", EXAMPLE_DESCRIPTOR)

    action: Literal["deliver"]


class Relink(Link):
    """Replaces the link to the delivered file, for example an expired one. For the entry's provider."""

    model_config = _examples("relink", {name: EXAMPLE_DESCRIPTOR[name] for name in ("url", "expires_at")})

    action: Literal["relink"]


class Receive(DeliveryVerdict):
    """Confirms that the delivered file is the agreed one. For the tenant that made the request."""

    model_config = _examples("receive", EXAMPLE_VERDICT | {"cells_differing": 0, "differences": []})

    action: Literal["receive"]


class Dispute(DeliveryVerdict):
    """Disputes the delivered file, with proof. For the tenant that made the request."""

    model_config = _examples("dispute", EXAMPLE_VERDICT)

    action: Literal["dispute"]


class Withdraw(_Decision):
    """Withdraws a request before anything is delivered. For the tenant that made it."""

    model_config = _examples("withdraw", {"reason": "The study is over"})

    action: Literal["withdraw"]


class End(_Refusal):
    """Ends an open request, with a reason. For operators."""

    model_config = _examples("end", {"reason": "Both tenants have left"})

    action: Literal["end"]


Step = Approve | Decline | Counter | Accept | Deliver | Relink | Receive | Dispute | Withdraw | End
"""An action of a provider, a consumer or an operator on a request."""


_ACTIONS: Final = ", ".join(get_args(one.model_fields["action"].annotation)[0] for one in get_args(Step))


class RequestAction(RootModel[Annotated[Step, Field(discriminator="action")]]):
    """An action on a request; `action` determines the other members."""

    model_config = _examples("approve", {"reason": "Care is what it is for"})

    @model_validator(mode="wrap")
    @classmethod
    def _at_its_members(cls, value: object, handler: ModelWrapValidatorHandler[Self]) -> Self:
        try:
            return handler(value)
        except ValidationError as error:
            # Pydantic prefixes the location of each fault with the action, unless the action is unknown.
            faults = [(place[1:], detail) for place, detail in raised(error) if place]
            if not faults and isinstance(value, dict):
                faults = [(("action",), f"Give one of {_ACTIONS}")]
            refuse("action", faults)
            raise


class RequestedEntry(EntryVersion):
    """The version of an entry that was requested; the entry may have been deleted since."""

    name: str = Field(description="Name of the entry")
    tenant: str = Field(description="Tenant that owns the entry: the provider")


class Cost(Answer):
    """The cost of a configuration according to the consumer's advice; null: the answer does not show it."""

    rank: int = Field(description="Rank by loss; 1 is the best")
    utility_share: float | None = Field(default=None, description="Share of the utility that is kept")
    deviation_share: float | None = Field(default=None, description="Share that is lost")
    deviation: float | None = Field(default=None, description="Loss in the measure's unit")


class FullRank(Answer):
    """The place of a configuration in the full view of the advice."""

    rank: int | None = Field(default=None, description="Rank by loss; 1 is the best; null: not listed")
    considered: int = Field(description="Number of configurations that compete")
    best: str = Field(description="A configuration that loses the least")
    about: str | None = Field(default=None, description=f"Of `best`: {ABOUT[0].lower()}{ABOUT[1:]}")


class Change(Answer):
    """A change of a request."""

    at: UtcTime = Field(description="Time (RFC 3339, UTC)")
    action: str = Field(description="The action")
    state: str = Field(description="State of the request after the action")
    side: str = Field(description="Side of the actor: `consumer`, `provider`, `operator` or `service`")
    tenant: str | None = Field(default=None, description="Tenant of the actor; null: the service")
    by: str | None = Field(
        default=None,
        description="The actor: the prefix of a key, or the subject of a token; null: the service, or not known",
    )
    reason: str | None = Field(default=None, description="Reason; null: none given")
    configuration: str | None = Field(default=None, description="The configuration concerned; null: none")
    beside: str | None = Field(
        default=None,
        description="What the consumer had, where the provider accepted that the policy `composition` forbids this "
        "configuration beside it; null otherwise",
    )


class Granted(Answer):
    """A configuration of the same table that the consumer was granted by another request."""

    request: Uuid = Field(description="Id of the latest request for it")
    entry: str = Field(description="Name of the entry")
    version: int = Field(description="Version of the entry")
    configuration: str = Field(description="The configuration")
    delivered: bool = Field(description="Whether it was delivered; otherwise it is approved")
    at: UtcTime = Field(description="Time of the delivery, or of the approval (RFC 3339, UTC)")
    relation: Literal["same", "coarser", "finer", "other"] = Field(
        description="How the requested configuration groups the values, compared with it: `same`; `coarser`: nothing "
        "new leaves; `finer`; or `other`: neither contains the other, or their maps are not known"
    )


class Composition(Answer):
    """A requested configuration beside those of the same table that the consumer was granted by other requests.

    Compared are the published maps, so records that only one version has, or that only one configuration leaves out,
    are not considered.
    """

    policy: Literal["nested", "one", "any"] = Field(
        description="Which configurations of one table the consumer may have, by the provider's policy"
    )
    kept: bool = Field(description="Whether granting the configuration keeps this policy")
    allowed: str | None = Field(
        default=None, description="First configuration of the consumer's advice that keeps it; null: none, or decided"
    )
    granted: list[Granted] = Field(description="What the consumer was granted, newest first")


class DataRequestHead(Answer):
    """A data request, as listings show it."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE_HEAD]})

    id: Uuid = Field(description="Id of the request")
    state: str = Field(
        description="`requested`, `advised`, `countered`, `approved` or `delivered`; or one of the final states "
        "`received`, `disputed`, `failed`, `declined`, `withdrawn`, `expired` or `ended`"
    )
    entry: RequestedEntry = Field(description="The requested version of the entry")
    stale: bool = Field(default=False, description="Whether the consumer sees a newer version of the entry")
    consumer: str = Field(description="Tenant that made the request")
    request: dict[str, Any] = Field(
        title="Question", description="The question to rank configurations by, with all defaults filled in"
    )
    purpose: str = Field(description="Purpose of the data")
    contact: str | None = Field(default=None, description="Contact for the provider; null: erased")
    terms: str = Field(description="Digest of the terms that the consumer has accepted")
    advice: Uuid | None = Field(default=None, description="Id of the consumer's advice; null: no longer stored")
    configuration: str | None = Field(
        default=None,
        description="The configuration asked for, offered or agreed upon; null: none was named, and no advice yet",
    )
    about: str | None = Field(default=None, description=ABOUT)
    cost: Cost | None = Field(default=None, description="Cost of this configuration in the view it was asked in")
    problem: Problem | None = Field(default=None, description="Reason why there is no advice; null otherwise")
    possible: list[str] = Field(default_factory=list, description="Actions that you may take now")
    created_at: UtcTime = Field(description="Time of the request (RFC 3339, UTC)")
    changed_at: UtcTime = Field(description="Time of the last change (RFC 3339, UTC)")
    expires_at: UtcTime | None = Field(
        default=None, description="Time at which it expires unless somebody acts; null: it has ended"
    )


class DataRequest(DataRequestHead):
    """A data request with its history."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE_DATA_REQUEST]})

    delivery: Delivery | None = Field(default=None, description="The delivery; null: none yet")
    verification: Verification | None = Field(
        default=None, description="Outcome of the consumer's verification of the delivered file; null: none yet"
    )
    full_rank: FullRank | None = Field(
        default=None, description="Place of the configuration in the full view of the advice; null: you do not have it"
    )
    composition: Composition | None = Field(
        default=None,
        description="What the consumer was granted of the same table besides; null: nothing, or nothing was agreed",
    )
    changes: list[Change] = Field(default_factory=list, description="History, oldest first")


class DataRequestPage(Answer):
    """A page of requests, newest first."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"items": [_EXAMPLE_HEAD], "next_page_token": None}]})

    items: list[DataRequestHead] = Field(description="The requests")
    next_page_token: str | None = Field(default=None, description="Token for the next page; null on the last page")
