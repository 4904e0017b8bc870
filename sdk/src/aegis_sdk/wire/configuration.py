"""The masking configurations of an entry, as a list or as a table of columns."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Final, Literal, Self, TypeVar

from pydantic import AfterValidator, Field, model_validator

from aegis_sdk.wire.bounded import LONG_LIST, LONG_OBJECT
from aegis_sdk.wire.documents import Request
from aegis_sdk.wire.estimate import Score
from aegis_sdk.wire.faults import Fault, fault, refuse
from aegis_sdk.wire.transfer import Transfer
from aegis_sdk.wire.values import Count, DistinctIdentifiers, Identifier, Identifiers, Number

PRIVACY_CRITERIA: Final[Mapping[str, Literal["higher", "lower"]]] = {
    "k": "higher",
    "l": "higher",
    "entropy_l": "higher",
    "t": "lower",
    "ordered_t": "lower",
    "alpha": "lower",
    "beta": "lower",
    "delta_disclosure": "lower",
    "epsilon": "lower",
    "reidentification": "lower",
    "attribute_disclosure": "lower",
    "membership": "lower",
}
"""The criteria that a provider may promise, in the order of listing, and which numbers of each are better.

Where higher numbers are better, the promise is at least the number; otherwise at most the number.
"""

ATTACKS: Final = ("reidentification", "attribute_disclosure", "membership")
"""The criteria that limit the success of an attack."""

SUPPRESSED: Final = ("suppressed", "suppressed_cells")
"""The numbers of suppressed records, and of suppressed cells in other records."""

_Vouched = TypeVar("_Vouched")


def _privacy_only(value: dict[str, _Vouched]) -> dict[str, _Vouched]:
    """Sort the criteria; refuse each unknown name."""
    unknown = (name for name in value if name not in PRIVACY_CRITERIA)
    refuse("privacy", (((name,), f"Unknown criterion; use one of {', '.join(PRIVACY_CRITERIA)}") for name in unknown))
    return {name: value[name] for name in PRIVACY_CRITERIA if name in value}


_NAMES_SCHEMA = Field(json_schema_extra={"propertyNames": {"enum": list(PRIVACY_CRITERIA)}})

Privacy = Annotated[dict[str, Number], LONG_OBJECT, AfterValidator(_privacy_only), _NAMES_SCHEMA]
"""Numbers by privacy criterion; `PRIVACY_CRITERIA` lists the names."""

PrivacyColumns = Annotated[
    dict[str, Annotated[list[Number | None], LONG_LIST]], LONG_OBJECT, AfterValidator(_privacy_only), _NAMES_SCHEMA
]
"""Columns by privacy criterion, with a number or null for each configuration."""


def stricter(criterion: str, one: float, other: float) -> float:
    """Return the stricter of two numbers of a criterion."""
    return max(one, other) if PRIVACY_CRITERIA[criterion] == "higher" else min(one, other)


def strictest(one: Mapping[str, float], other: Mapping[str, float]) -> dict[str, float]:
    """Merge two sets of numbers by criterion; where both have one, the stricter is taken."""
    return {**one, **{name: stricter(name, one.get(name, number), number) for name, number in other.items()}}


class Measured(Request):
    """The performance of a model that the provider trained on the masked table. It never affects a ranking."""

    model: Identifier = Field(description="The model, such as `gradient boosting`")
    auc: Score = Field(description="AUC on held-out records; 0.5 is chance")
    low: Score = Field(description="Lower limit of the AUC's 95 % interval")
    high: Score = Field(description="Upper limit of the AUC's 95 % interval")
    raw_auc: Score = Field(description="AUC of the same model on the unmasked table")

    @model_validator(mode="after")
    def _is_in_its_interval(self) -> Self:
        if not self.low <= self.auc <= self.high:
            raise fault(f"The AUC, {self.auc}, must lie in its interval, from {self.low} to {self.high}")
        return self


class Configuration(Request):
    """One masking for each attribute: a way in which the provider is willing to share the table."""

    id: Identifier = Field(description="Unique within the entry")
    kind: Literal["masked"] = Field(default="masked", description="A masked table; needs format 2 if it is given")
    maskings: Annotated[dict[str, str], LONG_OBJECT] = Field(
        description="For each attribute, a masking id, `identity` or `drop`"
    )
    privacy: Privacy | None = Field(default=None, description="Privacy that the provider promises")
    suppressed: Count | None = Field(default=None, description="Number of suppressed records")
    suppressed_cells: Count | None = Field(
        default=None,
        description="Number of suppressed cells in other records: they become `*`. The joint counts include the "
        "masked values that these cells had",
    )
    alone: Score | None = Field(
        default=None,
        description="Upper bound on the share of records that are alone: no other record agrees with them on all "
        "shared attributes, whichever of these are assumed to be known. 0: none is; other shares are rounded up, "
        "so that they disclose no count of 1 to 4; null: not stated",
    )
    measured: Measured | None = Field(
        default=None,
        description="Performance of a trained model (`aegis check`); others read `model` and `share`, the part of "
        "`raw_auc`'s distance from 0.5 that is kept",
    )
    transfer: Transfer | None = Field(
        default=None, description="Utility of rules learned from it on held-out real records; needs format 2"
    )


class ConfigurationTable(Request):
    """Many configurations, as columns of equal length."""

    ids: DistinctIdentifiers = Field(description="Ids of the configurations")
    maskings: Annotated[dict[str, Identifiers], LONG_OBJECT] = Field(
        description="For each attribute, a column of masking ids"
    )
    privacy: PrivacyColumns | None = Field(
        default=None, description="Privacy that the provider promises, as columns of numbers; null: no promise"
    )
    alone: Annotated[list[Score | None], LONG_LIST] | None = Field(
        default=None, description="A column of shares like `alone` of a single configuration; null: not stated"
    )


def masking_faults(maskings: dict[str, str], known: Mapping[str, frozenset[str]]) -> Iterator[Fault]:
    """The faults of a configuration's maskings, given the known masking ids of each attribute."""
    for name, masking in maskings.items():
        if name not in known:
            yield ("maskings", name), "The entry has no such attribute"
        elif masking not in known[name]:
            yield ("maskings", name), "The attribute has no such masking"
    for name in known.keys() - maskings.keys():
        yield ("maskings", name), "The configuration gives no masking for this attribute"


def table_faults(table: ConfigurationTable, known: Mapping[str, frozenset[str]]) -> Iterator[Fault]:
    """The faults of a table of configurations, given the known masking ids of each attribute."""
    for name in known.keys() - table.maskings.keys():
        yield ("maskings", name), "The table gives no maskings for this attribute"
    for name, column in table.maskings.items():
        yield from _column_length(("maskings", name), len(column), len(table.ids))
        if name not in known:
            yield ("maskings", name), "The entry has no such attribute"
        elif unknown := set(column) - known[name]:
            rows = (row for row, masking in enumerate(column) if masking in unknown)
            yield from ((("maskings", name, row), "The attribute has no such masking") for row in rows)
    for name, numbers in (table.privacy or {}).items():
        yield from _column_length(("privacy", name), len(numbers), len(table.ids))
    if table.alone is not None:
        yield from _column_length(("alone",), len(table.alone), len(table.ids))


def _column_length(location: tuple[str, ...], length: int, expected: int) -> Iterator[Fault]:
    if length != expected:
        yield location, f"The column has {length} items, but there are {expected} configurations"
