"""Names of masked values that reveal raw values of few records, and so who is in the table."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation
from itertools import chain
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from aegis_provider.counting.counted_table import LEAST, CountedAttribute, CountedTable
from aegis_provider.counting.counts import Counts
from aegis_provider.masking.function import MaskingFunction, NumberFunction
from aegis_provider.table.arithmetic import ROUND_DIGITS, is_round
from aegis_provider.table.discretization import Binned
from aegis_provider.table.values import MISSING, Domain, ValueType
from aegis_sdk.reading import shown, some

_WORD: Final = re.compile(r"\w+")
_NUMBER: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,4})?")
_THOUSANDS: Final = re.compile(r"(?<=\d)[,.'\u2019 \u00a0](?=\d{3}(?!\d))")
_DATE: Final = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_OTHER_DATE: Final = re.compile(r"(?<!\d)(\d{1,2})([./])(\d{1,2})\2(\d{4})(?!\d)")
_WHOLE_INTERVAL: Final = re.compile(r"(-?\d+)-(-?\d+)")
_NO_VALUES: Final = frozenset({(word,) for word in ("others", "other", "more", "and", "or", "missing", "unknown")})
_SHOWN: Final = 3

MENDED: Final = (
    "write `others` for these values in the plan, mask coarser (a shorter prefix, a larger unit or step), or remove "
    "the attribute there and draft it again"
)
"""The remedy for a name that reveals a rare value."""


@dataclass(frozen=True)
class TellingNames:
    """Masked values whose names reveal raw values of fewer than 20 people, or parts of them.

    Attributes:
        masking: The id of the masking.
        unit: What is counted: records, or people.
    """

    attribute: str
    masking: str
    names: tuple[str, ...]
    unit: str = "records"

    def in_words(self, *, published: bool = False) -> str:
        """Say which names reveal such values, with the remedy; where others may read it, only the number of names."""
        place, number = f"{shown(self.attribute)}, {shown(self.masking)}", len(self.names)
        if published:
            names = "1 name that tells" if number == 1 else f"{number:,} names that tell"
            return f"{place} has {names} values of fewer than {LEAST} {self.unit}; {MENDED}"
        names = some(self.names, _SHOWN)
        return f"{place} has names that tell values of fewer than {LEAST} {self.unit}: {names}; {MENDED}"


def telling_names(counted: CountedTable, maskings: Mapping[str, str] | None = None) -> list[TellingNames]:
    """Return the names that reveal rare values, of maskings of a table whose masked values have names.

    A masked value that is a single unchanged raw value is judged where the table is written. A name reveals a rare
    value if it contains it, or if fewer than 20 records have the name, and it is a part of their values: characters, a
    unit of dates, or a number to more than three digits.

    Args:
        maskings: By attribute, the id of the only masking to judge; all are by default.

    Raises:
        TableError: A masking rejects a value.
    """
    telling = []
    for one in counted.attributes:
        is_rare, name = one.people < LEAST, one.attribute.name
        if isinstance(counted.table.reading(name), Binned) or not is_rare.any():
            continue  # edges of bins are judged on creation
        rare = _rare_values(one.domain, is_rare)
        for masking in one.attribute.maskings:
            is_meant = maskings is None or maskings[name] == masking.id
            if not is_meant or not masking.is_by_value or masking.is_secret:
                continue
            masked = counted.masked(one, masking)
            parts = _parts(counted.function(one, masking), masked, one)
            stand_for = Counter(masked)
            unchanged = {text for text, values in stand_for.items() if values == 1 and text in one.domain.places}
            named = stand_for.keys() - unchanged - {MISSING}
            names = sorted(text for text in named if text in parts or (rare and _reveals(text, one.domain, rare)))
            if names:
                telling.append(TellingNames(name, masking.id, tuple(names), "records" if one.rows == 1 else "people"))
    return telling


def _parts(function: MaskingFunction, masked: Sequence[str], one: CountedAttribute) -> set[str]:
    """Return the names that fewer than 20 people may have, and that are a part of each value they stand for."""
    sizes: Counter[str] = Counter()
    for name, number in zip(masked, one.counts.histogram().tolist(), strict=True):
        sizes[name] += number
    if isinstance(function, NumberFunction):
        return {name for name, size in sizes.items() if size < one.least and _is_precise(name)}
    parts, others = set[str](), set[str]()
    for name, text in zip(masked, one.domain.texts, strict=True):
        if sizes[name] >= one.least:
            continue
        if function.keeps_parts:
            is_part = any(one == other and one.isalnum() for one, other in zip(name, text, strict=False))
        else:  # the value begins or ends with the name, without the asterisks of another tool's list
            word = name.strip("*")
            is_part = bool(_WORD.search(word)) and (text.startswith(word) or text.endswith(word))
        (parts if is_part else others).add(name)
    return parts - others


def _is_precise(name: str) -> bool:
    """Return whether a number, or an interval such as `1230-1234` or `[0.5,1.0)`, has more than three digits."""
    with suppress(InvalidOperation):  # `90+` is not a number
        if whole := _WHOLE_INTERVAL.fullmatch(name):
            low, high = Decimal(whole[1]), Decimal(whole[2]) + 1
        elif "," in name:
            low, high = map(Decimal, name[1:-1].split(","))
        else:
            return name != MISSING and not is_round(Decimal(name))
        return high - low < Decimal(1).scaleb(max(abs(low), abs(high)).adjusted() + 1 - ROUND_DIGITS)
    return False


def rare_texts(domain: Domain, people: Counts) -> frozenset[str]:
    """Return the case-folded texts of values of fewer than 20 people, which names must not contain.

    Round numbers and the first days of months are not among them: they reveal nothing.

    Args:
        people: (values,) How many have each, at least.
    """
    rare = _rare_values(domain, people < LEAST)
    return frozenset(text.casefold() for text in domain.texts if text != MISSING and _reveals(text, domain, rare))


def _rare_values(domain: Domain, rare: NDArray[np.bool_]) -> Collection[Any]:
    """Return the content that reveals each rare value: its words, or a number or date that is not round."""
    places = [place for place in np.flatnonzero(rare).tolist() if domain.texts[place] != MISSING]
    match domain.value_type:
        case ValueType.INTEGER | ValueType.NUMBER:
            return {key for key in map(domain.keys.__getitem__, places) if not is_round(key)}
        case ValueType.DATE:
            return {key for key in map(domain.keys.__getitem__, places) if key.day != 1}
        case ValueType.STRING:
            words = {_words(domain.texts[place]) for place in places}
            return words - _NO_VALUES - {()}
        case _:
            return ()


def _reveals(name: str, domain: Domain, rare: Collection[Any]) -> bool:
    """Return whether a name contains one of these values of the domain."""
    match domain.value_type:
        case ValueType.INTEGER | ValueType.NUMBER:
            return any(number in rare for number in _numbers(name))
        case ValueType.DATE:
            return any(each in rare for each in _dates(name))
        case _:
            words = _words(name)
            runs = (words[begin : begin + size] for size in {*map(len, rare)} for begin in range(len(words) - size + 1))
            return any(run in rare for run in runs)


def _words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(text.casefold()))


def _numbers(name: str) -> Iterator[Decimal]:
    """Yield the numbers in a name, and their amounts where a dash may stand before them; with thousands' marks, too.

    The interval from 1,000 to below 2,000 is called `1000-1999`, which reveals 1,999 no more than 2,000.
    """

    def with_round_end(match: re.Match[str]) -> str:
        low, high = match.groups()
        end = Decimal(high) + 1
        return f"{low} {end if is_round(end) else high}"

    ends = _WHOLE_INTERVAL.sub(with_round_end, name)
    for match in chain(_NUMBER.findall(ends), _NUMBER.findall(_THOUSANDS.sub("", ends))):
        yield from (Decimal(match), abs(Decimal(match)))


def _dates(name: str) -> Iterator[date]:
    """Yield the dates in a name, written as 2024-12-31, 31.12.2024 or 12/31/2024."""
    for year, month, day in _DATE.findall(name):
        yield from _date_of(year, month, day)
    for one, _, other, year in _OTHER_DATE.findall(name):
        yield from chain(_date_of(year, other, one), _date_of(year, one, other))


def _date_of(year: str, month: str, day: str) -> Iterator[date]:
    with suppress(ValueError):  # not a date
        yield date(int(year), int(month), int(day))
