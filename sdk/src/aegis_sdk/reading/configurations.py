"""The configurations of an entry, however it lists them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from aegis_sdk.wire import EntryDocument

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
    table = entry.configuration_table
    for row, name in enumerate(table.ids if table else ()):
        maskings = {attribute: column[row] for attribute, column in table.maskings.items()}
        vouched = {name: column[row] for name, column in (table.privacy or {}).items()}
        yield Listed(name, maskings, {name: number for name, number in vouched.items() if number is not None})
