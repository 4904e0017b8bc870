"""The configurations of an entry, however it lists them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from aegis_sdk.wire import ConfigurationTable, EntryDocument

AT_LEAST = frozenset({"k", "l", "entropy_l"})
"""The names of privacy of which more is more private; of the others less is."""


@dataclass(frozen=True)
class Listed:
    """
    A configuration of an entry.

    `maskings`: masking id by attribute; `privacy`: what its provider vouches for, by name; `suppressed`: records left
    out of the release, `None` if the entry says nothing of it.
    """

    id: str
    maskings: Mapping[str, str]
    privacy: Mapping[str, float] = field(default_factory=dict)
    suppressed: int | None = None


def configurations_of(entry: EntryDocument) -> Iterator[Listed]:
    """Every configuration, in the order of the entry, be it a list or a table of columns."""
    for each in entry.configurations or ():
        yield Listed(each.id, each.maskings, each.privacy or {}, each.suppressed)
    if entry.configuration_table is not None:
        yield from _rows(entry.configuration_table)


def _rows(table: ConfigurationTable) -> Iterator[Listed]:
    privacy = table.privacy or {}
    for row, name in enumerate(table.ids):
        maskings = {attribute: column[row] for attribute, column in table.maskings.items()}
        vouched = {each: number for each, column in privacy.items() if (number := column[row]) is not None}
        yield Listed(name, maskings, vouched)
