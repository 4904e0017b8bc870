"""The masking configurations of an entry, one by one or as a table of columns."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Final, Literal, TypeVar

from pydantic import AfterValidator, Field

from aegis_sdk.wire.bounded import LONG_LIST, LONG_OBJECT
from aegis_sdk.wire.documents import Request
from aegis_sdk.wire.faults import Fault, refuse
from aegis_sdk.wire.values import Count, DistinctIdentifiers, Identifier, Identifiers, Number, repeats

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
}
"""What a provider may vouch for, in the order in which it is listed, and which numbers of it are better: it vouches for
at least a number where higher ones are, or else for at most one.
"""

_Vouched = TypeVar("_Vouched")


def _privacy_only(value: dict[str, _Vouched]) -> dict[str, _Vouched]:
    """The numbers in one order, or a fault per name that privacy does not have."""
    unknown = (name for name in value if name not in PRIVACY_CRITERIA)
    refuse("privacy", (((name,), f"Privacy is vouched for by {', '.join(PRIVACY_CRITERIA)}") for name in unknown))
    return {name: value[name] for name in PRIVACY_CRITERIA if name in value}


_NAMES_SCHEMA = Field(json_schema_extra={"propertyNames": {"enum": list(PRIVACY_CRITERIA)}})

Privacy = Annotated[dict[str, Number], LONG_OBJECT, AfterValidator(_privacy_only), _NAMES_SCHEMA]
"""Privacy by name, as `PRIVACY_CRITERIA` lists them."""

PrivacyColumns = Annotated[
    dict[str, Annotated[list[Number | None], LONG_LIST]], LONG_OBJECT, AfterValidator(_privacy_only), _NAMES_SCHEMA
]
"""Privacy by name, a number or null per configuration."""


class Configuration(Request):
    """One masking per attribute; the provider is willing to share the table masked so."""

    id: Identifier = Field(description="Unique in the entry")
    maskings: Annotated[dict[str, str], LONG_OBJECT] = Field(
        description="For every attribute a masking id, `identity` or `drop`"
    )
    privacy: Privacy | None = Field(default=None, description="What the provider vouches for")
    suppressed: Count | None = Field(default=None, description="Records left out of this release")


class ConfigurationTable(Request):
    """Many configurations, as columns of equal length."""

    ids: DistinctIdentifiers = Field(description="Ids of the configurations")
    maskings: Annotated[dict[str, Identifiers], LONG_OBJECT] = Field(
        description="For every attribute a column of masking ids"
    )
    privacy: PrivacyColumns | None = Field(default=None, description="Columns of numbers; null = not vouched")


def configurations_faults(configurations: list[Configuration], known: Mapping[str, frozenset[str]]) -> Iterator[Fault]:
    """The faults of a list of configurations against the known masking ids of each attribute."""
    for location, detail in repeats([configuration.id for configuration in configurations]):
        yield (*location, "id"), detail
    for index, configuration in enumerate(configurations):
        for name, detail in _masking_faults(configuration.maskings, known):
            yield (index, "maskings", name), detail


def _masking_faults(maskings: dict[str, str], known: Mapping[str, frozenset[str]]) -> Iterator[tuple[str, str]]:
    for name, masking in maskings.items():
        if name not in known:
            yield name, "The entry has no such attribute"
        elif masking not in known[name]:
            yield name, "The attribute has no such masking"
    for name in known.keys() - maskings.keys():
        yield name, "The configuration does not say how this attribute is masked"


def table_faults(table: ConfigurationTable, known: Mapping[str, frozenset[str]]) -> Iterator[Fault]:
    """The faults of a table of configurations against the known masking ids of each attribute."""
    for name in known.keys() - table.maskings.keys():
        yield ("maskings", name), "The table does not say how this attribute is masked"
    for name, column in table.maskings.items():
        yield from _column_length(("maskings", name), len(column), len(table.ids))
        if name not in known:
            yield ("maskings", name), "The entry has no such attribute"
        elif unknown := set(column) - known[name]:
            rows = (row for row, masking in enumerate(column) if masking in unknown)
            yield from ((("maskings", name, row), "The attribute has no such masking") for row in rows)
    for name, numbers in (table.privacy or {}).items():
        yield from _column_length(("privacy", name), len(numbers), len(table.ids))


def _column_length(location: tuple[str, str], length: int, expected: int) -> Iterator[Fault]:
    if length != expected:
        yield location, f"The column has {length} items where there are {expected} configurations"
