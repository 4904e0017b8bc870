"""What the service answers about entries and measures."""

from typing import Any

from pydantic import ConfigDict, Field

from aegis_sdk.wire.documents import Answer
from aegis_sdk.wire.examples import EXAMPLE_ENTRY, EXAMPLE_HEAD, EXAMPLE_MEASURE, EXAMPLE_TERMS
from aegis_sdk.wire.values import UtcTime, Uuid
from aegis_sdk.wire.verdict import Verdict


class EntryVersion(Answer):
    """One immutable version of an entry."""

    id: Uuid = Field(description="Id of the entry")
    version: int = Field(description="Version number, from 1")
    digest: str = Field(
        description="For providers and reviewers of its tenant and operators: SHA-256 of the entry's RFC 8785 JSON "
        "without `visibility`. For others: a keyed digest of that (`hmac-sha256:`), which cannot confirm a guess of "
        "the counts",
    )


class SeenBy(Answer):
    """The tenants that see an entry besides its own."""

    tenants: list[str] = Field(description="Tenants that see the entry besides its own")


class Head(EntryVersion):
    """The summary of an entry that listings show."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE_HEAD]})

    name: str = Field(description="Unique within its tenant")
    title: str = Field(default="", description="One line for people")
    description: str = Field(default="", description="What the table is")
    keywords: list[str] = Field(default_factory=list, description="Words to search for")
    license: str = Field(default="", description="Licence of the masked tables")
    terms: str | None = Field(
        default=None,
        description="Digest of the terms that a request accepts: SHA-256 of the RFC 8785 JSON of an object with the "
        "entry's `license` and `terms`",
    )
    label: str = Field(description="Name of the class label")
    tenant: str = Field(description="Tenant that owns the entry")
    visibility: str | SeenBy = Field(description="`private`, `all`, or the tenants that see the entry besides its own")
    created_at: UtcTime = Field(description="When the entry was first published (RFC 3339, UTC)")
    changed_at: UtcTime | None = Field(
        default=None,
        description="When what others see of the entry last changed: the version, or its visibility; null: the service "
        "does not say",
    )
    accepted_small_counts: bool | None = Field(
        default=None,
        description="Whether this version has exact counts of 1 to 4 that were accepted, by whoever published it or by "
        "a setting of the service; null: not told to callers who may not read the counts. False for versions from "
        "before anybody was asked",
    )
    awaits_sign_off: bool = Field(
        default=False, description="Whether others do not see this version until a reviewer has signed it off"
    )
    published_by: str | None = Field(
        default=None,
        description="Who published this version: the prefix of a key, or the subject of a token; null: not known, or "
        "not told to callers who may not read the counts",
    )
    signed_off_by: str | None = Field(
        default=None, description="Who signed it off, likewise; null: also if nobody had to"
    )
    alone: float | None = Field(
        default=None,
        description="The largest share of records that a configuration leaves alone, as its `alone` says; null: none "
        "says so, or this version is neither the latest nor the one that others see",
    )


class PublishedHead(Head):
    """The head of an entry that was just published."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE_HEAD | {"warnings": []}]})

    warnings: list[str] = Field(
        default_factory=list, description="What its provider should know, for people, one sentence or a few each"
    )


_EXAMPLE_SCHEMA = {
    **EXAMPLE_ENTRY,
    "label": {"name": "health", "domain": EXAMPLE_ENTRY["label"]["domain"]},
    "attributes": [
        {
            "name": "age",
            "type": "integer",
            "domain": EXAMPLE_ENTRY["attributes"][0]["domain"],
            "maskings": [
                {"id": "age-2", "domain": ["10-45", "46-80"], "mapping": [0, 0, 0, 1, 1, 1, 1, 1]},
            ],
        }
    ],
}


_EXAMPLE_VERDICT = {
    "passed": False,
    "findings": [{"reason": "shown", "pointer": "/attributes/0/maskings/0/joint", "cells": 2}],
}


class EntryHead(Head):
    """A head with the entry's schema, which is the entry without any histogram or joint counts."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [EXAMPLE_HEAD | {"verdict": _EXAMPLE_VERDICT, "schema": _EXAMPLE_SCHEMA}]},
        serialize_by_alias=True,
        validate_by_name=True,
        validate_by_alias=True,
    )

    verdict: Verdict | None = Field(
        default=None,
        description="Whether the counts give small ones away; null until a job has decided that. `findings` are for "
        "providers and reviewers of its tenant and operators, and empty for others",
    )
    entry_schema: dict[str, Any] = Field(alias="schema", description="The entry without any `histogram` or `joint`")


class HeadPage(Answer):
    """A page of heads."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"items": [EXAMPLE_HEAD], "next_page_token": None, "total": None}]}
    )

    items: list[Head] = Field(description="The heads")
    next_page_token: str | None = Field(default=None, description="Token for the next page; null on the last page")
    total: int | None = Field(default=None, description="How many there are on all pages; null: not asked for")


class PublishingTerms(Answer):
    """What a service asks of the entries of a tenant, before any is sent."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE_TERMS]})

    tenant: str = Field(description="Tenant that the caller would publish for")
    named: Head | None = Field(
        default=None, description="The entry of this tenant that has the `name` asked about already; null: none"
    )
    require: dict[str, float] = Field(
        default_factory=dict,
        description="Privacy that configurations must vouch for to be advised, by criterion: the stricter limits of "
        "the service and of the tenant",
    )
    small_counts: str = Field(
        description="What becomes of exact counts of 1 to 4: `refuse`; `confirm`: refused unless the call accepts "
        "them; `accept`",
    )
    min_cell: int | None = Field(default=None, description="No count except 0 may be below this; null: no such limit")
    require_noise: bool = Field(default=False, description="Whether every count must have noise")
    max_epsilon: float | None = Field(
        default=None, description="The largest differential privacy budget that an entry may declare; null: none needed"
    )
    sign_off: bool = Field(
        default=False, description="Whether a reviewer must sign off each version before others see it"
    )
    max_bytes: int = Field(description="The largest body, in bytes")


class Measure(Answer):
    """A measure of how much an attribute tells about the label."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE_MEASURE]})

    id: str = Field(description="Id to use in a question")
    unit: str | None = Field(default=None, description="`bit`, `fraction` or null")
    better: str = Field(description="Which values are better: `higher` or `lower`")
    monotone: bool = Field(description="Whether masking can never improve it; exact rankings rely on that")
    formula: str = Field(description="Formula, in terms of the joint counts")
    guarantee: str | None = Field(
        default=None, description="`exact`: its rankings can be proven to be the true ones; `none`: they cannot"
    )
    reason: str | None = Field(default=None, description="Why it has or lacks the guarantee, in one sentence")
    source: str | None = Field(default=None, description="The work that it is taken from")
    bias_correction: bool = Field(default=False, description="Whether a question may ask for its `bias_correction`")
    corrected_by_default: bool = Field(
        default=False, description="Whether its bias is corrected if the question leaves `bias_correction` out"
    )


class MeasureList(Answer):
    """The measures that advice can be asked for."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"items": [EXAMPLE_MEASURE]}]})

    items: list[Measure] = Field(description="The measures")
