"""Answers about entries and measures: heads, verdicts on small counts, and the counts a delivered table must have."""

from typing import Any, Final

from pydantic import ConfigDict, Field

from aegis_sdk.wire.documents import Answer, Uuid
from aegis_sdk.wire.examples import EXAMPLE_ENTRY, EXAMPLE_HEAD, EXAMPLE_MEASURE, EXAMPLE_TERMS
from aegis_sdk.wire.values import UtcTime
from aegis_sdk.wire.worth import Worth


class VerdictFinding(Answer):
    """A place in the entry that fails."""

    reason: str = Field(
        description="`shown`: a table shows exact counts of 1 to 4, or two numbers of suppressed records differ by "
        "one of these. `certain`: such counts follow from several tables. `likely`: a reader who knows the "
        "declared controls infers one with a probability above 0.9. `undecided`: no decision was reached, which "
        "is not a pass"
    )
    pointer: str = Field(description="JSON Pointer to the place in the entry")
    cells: int = Field(description="Number of cells of 1 to 4 records concerned; if undecided, an upper bound on it")


class Verdict(Answer):
    """Whether the counts of an entry disclose small ones."""

    passed: bool = Field(
        description="No exact small count is disclosed: none is shown, follows from all tables together, or has a "
        "probability above 0.9, and everything was decided. Small are 1 to 4 records, or 1 to 4 `rows_per_person`"
    )
    findings: tuple[VerdictFinding, ...] = Field(description="Every place that fails; empty after a pass")
    few: int | None = Field(
        default=None,
        description="Number of listed values that certainly have a small count of records, without their exact counts "
        "being known; null: not counted, or hidden from callers who may not read the counts",
    )
    rows_per_person: int | None = Field(
        default=None,
        exclude_if=lambda rows: rows is None,
        description="The most records of one person, where privacy counts people",
    )


class EntryVersion(Answer):
    """One immutable version of an entry."""

    id: Uuid = Field(description="Id of the entry")
    version: int = Field(description="Version number, from 1")
    digest: str = Field(
        description="For providers and reviewers of its tenant and operators: SHA-256 of the entry's RFC 8785 JSON "
        "without `visibility`. For others: a keyed digest (`hmac-sha256:`), which cannot confirm a guess of the "
        "counts",
    )


class SeenBy(Answer):
    """The tenants that see an entry besides its own."""

    tenants: list[str] = Field(description="Tenants that see the entry besides its own")


class Head(EntryVersion):
    """The summary of an entry that listings show."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE_HEAD]})

    name: str = Field(description="Unique within its tenant")
    title: str = Field(default="", description="Title, in one line")
    description: str = Field(default="", description="Description of the table")
    keywords: list[str] = Field(default_factory=list, description="Search terms")
    license: str = Field(default="", description="Licence of the masked tables")
    terms: str | None = Field(
        default=None,
        description="Digest of the terms that a request accepts: SHA-256 of the RFC 8785 JSON of an object with the "
        "entry's `license` and `terms`",
    )
    label: str = Field(description="Name of the class label; of several, the default one")
    labels: list[str] = Field(
        default_factory=list, description="Names of all labels that questions may be about, the default one first"
    )
    tenant: str = Field(description="Tenant that owns the entry")
    visibility: str | SeenBy = Field(description="`private`, `all`, or the tenants that see the entry besides its own")
    created_at: UtcTime = Field(description="When the entry was first published (RFC 3339, UTC)")
    changed_at: UtcTime | None = Field(
        default=None,
        description="Time of the last change that others see: a new version or visibility; null: the service does "
        "not say",
    )
    accepted_small_counts: bool | None = Field(
        default=None,
        description="Whether this version has exact counts of 1 to 4, accepted by its publisher or by a setting of "
        "the service; null: hidden from callers who may not read the counts. False for versions published before "
        "acceptance was required",
    )
    awaits_sign_off: bool = Field(
        default=False, description="Whether this version is hidden from others until a reviewer signs it off"
    )
    published_by: str | None = Field(
        default=None,
        description="Publisher of this version: the prefix of a key, or the subject of a token; null: not known, or "
        "hidden from callers who may not read the counts",
    )
    signed_off_by: str | None = Field(
        default=None, description="Who signed it off, likewise; null also if no sign-off was required"
    )
    alone: float | None = Field(
        default=None,
        description="The largest `alone` of any configuration; null: none states it, or this version is neither the "
        "latest nor the one that others see",
    )
    records: int | None = Field(
        default=None,
        description="Number of records of the table; null: this version is neither the latest nor the one that others "
        "see, or was published before listings had this number",
    )
    unit: str | None = Field(default=None, description="What privacy counts: `person`; null: records")
    people: int | None = Field(
        default=None, description="Number of people that the records are about; null: privacy counts records"
    )
    rows_per_person: int | None = Field(
        default=None, description="The most records of one person that are counted; null: likewise"
    )
    columns: int | None = Field(default=None, description="Number of attributes; null: as for `records`")
    worth: Worth | None = Field(
        default=None,
        exclude_if=lambda worth: worth is None,
        description="What its best table is worth for the label and the k of the search, in listings by worth",
    )
    k: float | None = Field(
        default=None,
        description="The largest `k` that a configuration promises, in people if `unit` says so; null: none does, or "
        "as for `records`",
    )


class PublishedHead(Head):
    """The head of a newly published entry."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE_HEAD | {"warnings": []}]})

    warnings: list[str] = Field(
        default_factory=list, description="Warnings for the provider, of one or a few sentences each"
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
    """A head with the entry's schema: the entry without its histograms and joint counts."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [EXAMPLE_HEAD | {"verdict": _EXAMPLE_VERDICT, "schema": _EXAMPLE_SCHEMA}]},
        serialize_by_alias=True,
        validate_by_name=True,
        validate_by_alias=True,
    )

    verdict: Verdict | None = Field(
        default=None,
        description="Whether the counts disclose small ones; null until a job has decided. `findings` are for "
        "providers and reviewers of the entry's tenant and for operators, and empty for others",
    )
    entry_schema: dict[str, Any] = Field(alias="schema", description="The entry without any `histogram` or `joint`")


class HeadPage(Answer):
    """A page of heads."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"items": [EXAMPLE_HEAD], "next_page_token": None, "total": None}]}
    )

    items: list[Head] = Field(description="The heads")
    next_page_token: str | None = Field(default=None, description="Token for the next page; null on the last page")
    total: int | None = Field(default=None, description="Number of heads on all pages; null: not asked for")


class PublishingTerms(Answer):
    """A service's requirements for the entries of a tenant, before any is sent."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE_TERMS]})

    tenant: str = Field(description="Tenant of the caller")
    named: Head | None = Field(
        default=None, description="The entry of this tenant that already has the given `name`; null: none"
    )
    require: dict[str, float] = Field(
        default_factory=dict,
        description="Privacy that a configuration must promise to be recommended, by criterion: the stricter limits "
        "of the service and of the tenant",
    )
    unit: str | None = Field(default=None, description="`person`: `require` counts people; null: records, or people")
    small_counts: str = Field(
        description="Treatment of exact counts of 1 to 4: `refuse`; `confirm`: refused unless the call accepts them; "
        "`accept`",
    )
    min_cell: int | None = Field(
        default=None, description="The smallest count allowed, apart from 0; null: no such limit"
    )
    require_noise: bool = Field(default=False, description="Whether every count must have noise")
    max_epsilon: float | None = Field(
        default=None,
        description="The largest differential privacy budget that an entry may declare; null: no budget is required",
    )
    sign_off: bool = Field(
        default=False, description="Whether a reviewer must sign off each version before others see it"
    )
    max_bytes: int = Field(description="The largest body, in bytes")


class Measure(Answer):
    """A measure of an attribute's utility: how well it predicts the label."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE_MEASURE]})

    id: str = Field(description="Id, for questions")
    unit: str | None = Field(default=None, description="`bit`, `fraction` or null")
    better: str = Field(description="Which values are better: `higher` or `lower`")
    monotone: bool = Field(description="Whether masking can never improve the value; exact rankings rely on it")
    formula: str = Field(description="Formula in terms of the joint counts")
    guarantee: str | None = Field(
        default=None, description="`exact`: its rankings can be proven exact; `none`: they cannot"
    )
    reason: str | None = Field(default=None, description="Reason why it has or lacks the guarantee, in one sentence")
    label_guarantee: str | None = Field(
        default=None, description="The same as `guarantee` if configurations mask the label, too"
    )
    label_reason: str | None = Field(default=None, description="Reason for `label_guarantee`, in one sentence")
    source: str | None = Field(default=None, description="Source of the definition")
    bias_correction: bool = Field(default=False, description="Whether questions may ask for `bias_correction`")
    corrected_by_default: bool = Field(default=False, description="Whether its bias is corrected by default")


class MeasureList(Answer):
    """The measures available for advice."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"items": [EXAMPLE_MEASURE]}]})

    items: list[Measure] = Field(description="The measures")


_EXAMPLE: Final[dict[str, Any]] = {
    "request": "5c1e97f3-7d60-4a51-8a51-3f0f9a6a2b11",
    "entry": {
        "id": EXAMPLE_HEAD["id"],
        "version": 1,
        "digest": "hmac-sha256:0f7c3f2d9c1b5a6e8d4f7a2b3c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f",
    },
    "configuration": "c17",
    "kind": "masked",
    "records": 100,
    "label": {"name": "health", "domain": ["bad", "good"], "joint": [[30, 70]], "off_by": 0, "noise": None},
    "disclosure_control": None,
    "suppressed": 2,
    "suppressed_cells": None,
    "privacy": {"k": 5},
    "require": {"k": 5},
    "attributes": [
        {
            "attribute": "age",
            "type": "integer",
            "masking": "age-2",
            "function": {"name": "bucketize", "parameters": {"width": 20}},
            "domain": ["0-19", "20-39"],
            "joint": [[10, 40], [20, 30]],
            "records": None,
            "off_by": 0,
            "noise": None,
        }
    ],
    "pairs": [],
}


class EvidenceNoise(Answer):
    """Noise in each count of a table."""

    scale: float = Field(description="Scale of the discrete Laplace noise on each published count, in records")
    terms: int = Field(description="The largest number of published counts that each of these counts is a sum of")


class Inexact(Answer):
    """The differences allowed between these counts and those of the delivered table."""

    off_by: int = Field(default=0, description="The largest change of a count by rounding; 0: not rounded")
    noise: EvidenceNoise | None = Field(default=None, description="Noise in each count; null: none")


class EvidenceLabel(Inexact):
    """The label and its counts."""

    name: str = Field(description="Name of the label")
    domain: list[str] = Field(description="Values, in order")
    joint: list[list[int]] = Field(description="One row: the number of records with each value")


class EvidenceTable(Inexact):
    """A masked attribute with the label."""

    attribute: str = Field(description="Name of the attribute")
    type: str = Field(description="Type of the values before masking")
    masking: str = Field(description="Id of the masking that the configuration uses, or `identity`")
    function: dict[str, Any] | None = Field(
        default=None, description="The masking function: name and parameters, as published"
    )
    domain: list[str] = Field(description="Masked values as the entry lists them; rare ones may be merged")
    joint: list[list[int]] | None = Field(
        default=None,
        description="Joint counts: a row for each masked value, a column for each label value; null: not published",
    )
    records: int | None = Field(default=None, description="Number of records counted, as the entry declares; null: all")


class EvidencePair(Inexact):
    """Two masked attributes together."""

    attributes: list[str] = Field(description="Names of the two attributes")
    maskings: list[str] = Field(description="Masking id of each, or `identity`")
    joint: list[list[int]] = Field(description="A row for each masked value of the first, a column for the second")
    counted_with: list[list[int]] | None = Field(
        default=None,
        description="For each of the two attributes, the index of the masked value with which each masked value is "
        "counted; null: by itself",
    )


class Evidence(Answer):
    """The published counts of a delivered configuration, and the differences allowed."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE]})

    request: Uuid = Field(description="Id of the request")
    entry: EntryVersion = Field(description="The version of the entry with these counts")
    configuration: str = Field(description="The approved configuration")
    kind: str = Field(description="`masked` or `generated`; a generated table has no masked attributes")
    records: int = Field(description="Number of records of the entry or, if generated, of the table")
    label: EvidenceLabel = Field(description="The label")
    disclosure_control: dict[str, Any] | None = Field(
        default=None, description="Controls applied to all counts, as published; null: none"
    )
    suppressed: int | None = Field(
        default=None, description="Number of records that the configuration suppresses, as published; null: not stated"
    )
    suppressed_cells: int | None = Field(
        default=None, description="Number of cells of other records that become `*`, as published; null: not stated"
    )
    unit: str | None = Field(
        default=None,
        exclude_if=lambda unit: unit is None,
        description="What `privacy` counts: `person`; without it, records. No masked table shows people",
    )
    privacy: dict[str, float] = Field(default_factory=dict, description="Privacy that the entry promises")
    require: dict[str, float] = Field(default_factory=dict, description="Privacy that the request requires")
    attributes: list[EvidenceTable] = Field(description="The attributes that the configuration shares")
    pairs: list[EvidencePair] = Field(default_factory=list, description="Counts of pairs of attributes")
