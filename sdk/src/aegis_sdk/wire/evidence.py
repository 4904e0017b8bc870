"""The counts that a delivered table must have: those of the approved configuration only."""

from typing import Any, Final

from pydantic import ConfigDict, Field

from aegis_sdk.wire.catalogue import EntryVersion
from aegis_sdk.wire.documents import Answer
from aegis_sdk.wire.examples import EXAMPLE_HEAD
from aegis_sdk.wire.values import Uuid

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
    privacy: dict[str, float] = Field(default_factory=dict, description="Privacy that the entry promises")
    require: dict[str, float] = Field(default_factory=dict, description="Privacy that the request requires")
    attributes: list[EvidenceTable] = Field(description="The attributes that the configuration shares")
    pairs: list[EvidencePair] = Field(default_factory=list, description="Counts of pairs of attributes")
