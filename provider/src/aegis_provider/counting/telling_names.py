"""Names of masked values that tell raw values of few records: whoever reads them knows who is in the table."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from aegis_provider.counting.counted_table import CountedAttribute, CountedTable
from aegis_provider.counting.counts import Counts
from aegis_provider.counting.published_domain import LEAST
from aegis_provider.table.arithmetic import is_round
from aegis_provider.table.discretization import Binned
from aegis_provider.table.values import MISSING, Domain, ValueType
from aegis_sdk.reading import shown, some

_SEPARATOR: Final = re.compile(r"""\s*[|,;/+&()\[\]{}<>"':]\s*|\s+(?:or|and|to|-)\s+|^|$""", re.IGNORECASE)
_NUMBER: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,4})?")
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_NO_VALUES: Final = frozenset({"others", "other", "more", "and", "or", "missing", "rare values", "unknown"})
_SHOWN: Final = 3

MENDED: Final = "write `others` for these values in the plan, or remove the attribute there and draft it again"
"""What mends a name that tells a rare value."""


@dataclass(frozen=True)
class TellingNames:
    """Masked values whose names tell raw values that fewer than 20 records have.

    Attributes:
        attribute: The attribute.
        masking: The id of the masking.
        names: The names.
    """

    attribute: str
    masking: str
    names: tuple[str, ...]

    def in_words(self) -> str:
        """Say which names tell such values, and what mends it."""
        place = f"{shown(self.attribute)}, {shown(self.masking)}"
        return f"{place} has names that tell values of fewer than {LEAST} records: {some(self.names, _SHOWN)}; {MENDED}"


def telling_names(counted: CountedTable) -> list[TellingNames]:
    """Return the names that tell rare values, of all maskings of a table whose masked values have names.

    A masked value that is a raw value as it is has no other name: how many records show it is judged elsewhere.

    Raises:
        TableError: A masking rejects a value.
    """
    return [each for one in counted.attributes for each in _of_attribute(counted, one)]


def _of_attribute(counted: CountedTable, one: CountedAttribute) -> Iterator[TellingNames]:
    if isinstance(counted.table.reading(one.attribute.name), Binned):
        return  # edges of bins are judged where they are made
    rare = _rare_values(one.domain, one.counts.histogram() < LEAST)
    named = [each for each in one.attribute.maskings if each.is_by_value and not each.is_secret] if rare else []
    for masking in named:
        groups = set(counted.masked(one, masking)) - {MISSING}
        names = sorted(name for name in groups if name not in one.domain.places and _tells(name, one.domain, rare))
        if names:
            yield TellingNames(one.attribute.name, masking.id, tuple(names))


def rare_texts(domain: Domain, records: Counts) -> frozenset[str]:
    """Return the texts, case-folded, of values that no name may have: fewer than 20 records have them.

    Round numbers and the first days of months are not among them: they tell nothing.

    Args:
        domain: The values.
        records: (values,) The records of each.
    """
    rare = _rare_values(domain, records < LEAST)
    return frozenset(text.casefold() for text in domain.texts if text != MISSING and _tells(text, domain, rare))


def _rare_values(domain: Domain, rare: NDArray[np.bool_]) -> Collection[Any]:
    """Return what tells each rare value: its text, or a number or date that is not round."""
    places = [place for place in np.flatnonzero(rare).tolist() if domain.texts[place] != MISSING]
    match domain.value_type:
        case ValueType.INTEGER | ValueType.NUMBER:
            return {key for key in map(domain.keys.__getitem__, places) if not is_round(key)}
        case ValueType.DATE:
            return {key for key in map(domain.keys.__getitem__, places) if key.day != 1}
        case ValueType.STRING:
            return {domain.texts[place].strip().casefold() for place in places} - _NO_VALUES
        case _:
            return ()


def _tells(name: str, domain: Domain, rare: Collection[Any]) -> bool:
    """Return whether a name has one of these values of the domain in it."""
    match domain.value_type:
        case ValueType.INTEGER | ValueType.NUMBER:
            return any(_is_told(number, rare) for number in map(Decimal, _NUMBER.findall(name)))
        case ValueType.DATE:
            return any(each in rare for each in map(_date_of, _DATE.findall(name)))
        case _:
            return any(each in rare for each in _listed(name.casefold()))


def _is_told(number: Decimal, rare: Collection[Decimal]) -> bool:
    """Return whether a number, or its amount where a dash stands before it, is one of these and ends no round interval.

    The interval from 1,000 to below 2,000 is called `1000-1999`.
    """
    return any(each in rare and not is_round(each + 1) for each in (number, abs(number)))


def _listed(name: str) -> Iterator[str]:
    """Yield each part of a name between two separators, such as `|`, `,` and ` or `, which values may have, too."""
    separators = list(_SEPARATOR.finditer(name))
    for first, begin in enumerate(separators):
        for end in separators[first + 1 :]:
            yield name[begin.end() : end.start()].strip()


def _date_of(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None
