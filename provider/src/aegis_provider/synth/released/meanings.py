"""The meaning of a released text: the set of values that it may stand for."""

import datetime as dt
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aegis_provider.errors import UnmaskableValueError
from aegis_provider.masking.hierarchy import DATE_UNITS
from aegis_provider.records import NUMERIC, Column
from aegis_provider.synth.released.spellings import Spelling, folded, is_missing, spelling_of
from aegis_provider.table.values import MISSING, Domain, ValueType, key_of

Members: TypeAlias = NDArray[np.intp]
"""The places of some values in their domain, ascending."""

Meaning: TypeAlias = Members | float
"""Values of the domain, or another number; dates are days."""

_NUMBER: Final = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_END: Final = rf"{_NUMBER}|[+-]?inf"
_BRACKETS: Final = re.compile(rf"([\[(])\s*({_END})\s*,\s*({_END})\s*([\])])")
_DASH: Final = re.compile(rf"({_NUMBER})\s*(?:-|–|to)\s*({_NUMBER})")  # noqa: RUF001 - some write ranges so
_FROM: Final = re.compile(rf"({_NUMBER})\s*\+")
_COMPARED: Final = re.compile(rf"(<=|>=|<|>|≤|≥)\s*({_NUMBER})")
_AND_MORE: Final = re.compile(r"(.*) and \d+ more")
_AGAIN: Final = re.compile(r"(.*) \(\d+\)")
_CUT: Final = "..."


@dataclass(frozen=True)
class Meanings:
    """The meanings of released texts.

    Attributes:
        not_understood: The texts with unknown meaning, which count as uninformative.
    """

    of_text: Sequence[Meaning]
    not_understood: tuple[str, ...]


def meanings_of(
    texts: Sequence[str],
    column: Column,
    known: Mapping[str, Members] | None = None,
    counts: Sequence[int] | None = None,
) -> Meanings:
    """Return the meanings of a column's released texts.

    Supported are values, also in other spellings, intervals in the usual notations, `*`, texts with `*` over some
    characters, units of dates, and the names of groups in drafted plans. If such a name omits values ("and 3 more"),
    these are the values that no other text stands for.

    Args:
        known: The known meanings of some texts, which take precedence.
        counts: The number of released records with each text, to choose the spelling; by default 1.
    """
    given = known or {}
    reader = _TextReader(column).spelt_as(dict(zip(texts, counts or [1] * len(texts), strict=True)), given)
    alike = {folded(text): members for text, members in given.items()}
    found = [given[text] if text in given else reader.read(text, alike.get(folded(text))) for text in texts]
    everything = np.arange(len(column.domain))
    uncovered = np.ones(len(everything), dtype=bool)
    for each in found:
        if isinstance(each, np.ndarray) and len(each) < len(everything):
            uncovered[each] = False
    completed: list[Meaning] = []
    for text, each in zip(texts, found, strict=True):
        if each is None and (named := reader.beginning_of_group(text)) is not None:
            completed.append(np.union1d(named, np.flatnonzero(uncovered)))
        else:
            completed.append(everything if each is None else each)
    unknown = [
        text
        for text, each in zip(texts, found, strict=True)
        if each is None and reader.beginning_of_group(text) is None
    ]
    return Meanings(completed, tuple(unknown))


@dataclass(frozen=True)
class _TextReader:
    """Reads texts as sets of a column's values, which may be spelt differently."""

    column: Column
    spelling: Spelling | None = None

    def spelt_as(self, counts: Mapping[str, int], known: Mapping[str, Members]) -> "_TextReader":
        """Return the reader of a column with these texts, given their numbers of records and some known meanings."""
        asked = {text: n for text, n in counts.items() if text not in known}
        if asked.keys() <= self._domain.places.keys():
            return self
        understood = sum(n for text, n in asked.items() if isinstance(self._value(text), np.ndarray))
        return replace(self, spelling=spelling_of(asked, self._domain, understood))

    def read(self, text: str, known: Members | None = None) -> Meaning | None:
        """Return the meaning of a text; `known`: the meaning of a text that equals it up to spelling."""
        ways: tuple[Callable[[str], Meaning | None], ...] = (
            self._spelt,
            self._value,
            lambda _: known,
            lambda _: np.arange(len(self._domain)) if text and not text.strip("*") else None,
            self._interval,
            lambda _: np.unique(self._units[text]) if text in self._units else None,
            self._pattern,
            self._group,
            self._missing,
        )
        return next((meaning for way in ways if (meaning := way(text)) is not None), None)

    def beginning_of_group(self, text: str) -> Members | None:
        """Return the values at the beginning of a group's name, if it omits others."""
        again = _AGAIN.fullmatch(text)
        more = _AND_MORE.fullmatch(again.group(1) if again else text)
        return None if more is None else self._listed(more.group(1))

    @property
    def _domain(self) -> Domain:
        return self.column.domain

    @cached_property
    def _place_of_key(self) -> Mapping[object, int]:
        return {key: place for place, key in enumerate(self._domain.keys) if key is not None}

    @cached_property
    def _place_of_name(self) -> Mapping[str, int]:
        """The places of values by their spelling in names of groups."""
        return {" ".join(text.split()) or "missing": place for place, text in enumerate(self._domain.texts)}

    @cached_property
    def _units(self) -> Mapping[str, list[int]]:
        """The places of dates by the names of their units; empty if values are not dates."""
        units: dict[str, list[int]] = {}
        for named in DATE_UNITS.values() if self._domain.value_type is ValueType.DATE else ():
            for place, key in enumerate(self._domain.keys):
                if isinstance(key, dt.date):
                    units.setdefault(named(key), []).append(place)
        return units

    def _spelt(self, text: str) -> Meaning | None:
        if self.spelling is None or (self.spelling.exact_first and isinstance(self._value(text), np.ndarray)):
            return None
        key = self.spelling.read(text)
        if key in self.spelling.places:
            return np.array(self.spelling.places[key], dtype=np.intp)
        if key is None or isinstance(key, str):
            return None
        # A value that the table lacks: its number, if values are numbers.
        if self.column.numbers is None or isinstance(key, bool | tuple):
            return np.array([], dtype=np.intp)
        return float(key.toordinal() if isinstance(key, dt.date) else key)

    def _missing(self, text: str) -> Members | None:
        """Return the table's missing values for a usual word for missing; empty if the table has none."""
        if not is_missing(text):
            return None
        return np.array([place for name, place in self._domain.places.items() if is_missing(name)], dtype=np.intp)

    def _value(self, text: str) -> Meaning | None:
        if text in self._domain.places:
            return np.array([self._domain.places[text]])
        if text == MISSING:
            return self._missing(text)
        if self._domain.value_type is ValueType.STRING:
            return None
        try:
            key = key_of(text, ValueType.NUMBER if self._domain.value_type in NUMERIC else self._domain.value_type)
        except UnmaskableValueError:
            return None
        if key in self._place_of_key:
            return np.array([self._place_of_key[key]])
        return None if isinstance(key, bool) else float(key.toordinal() if isinstance(key, dt.date) else key)

    def _interval(self, text: str) -> Meaning | None:
        numbers = self.column.numbers
        ends = None if numbers is None or self._domain.value_type not in NUMERIC else _ends_of(text)
        if numbers is None or ends is None:
            return None
        low, high, has_low, has_high = ends
        above = numbers >= low if has_low else numbers > low
        within = np.flatnonzero(above & (numbers <= high if has_high else numbers < high))
        return within if len(within) else float(np.clip((low + high) / 2, -1e300, 1e300))

    def _pattern(self, text: str) -> Members | None:
        if "*" not in text:
            return None
        pattern = re.compile("".join("." if each == "*" else re.escape(each) for each in text), re.DOTALL)
        same, prefix = self._matching(pattern.fullmatch), text.rstrip("*")
        if len(same):
            return same
        begun = self._matching(lambda value: value.startswith(prefix) or None)
        return begun if len(begun) and "*" not in prefix else None

    def _matching(self, matches: Callable[[str], object | None]) -> Members:
        return np.array([n for n, text in enumerate(self._domain.texts) if matches(text) is not None], dtype=np.intp)

    def _group(self, text: str) -> Members | None:
        again = _AGAIN.fullmatch(text)
        listed = self._listed(text)
        return self._listed(again.group(1)) if listed is None and again else listed

    def _listed(self, text: str) -> Members | None:
        """Return the values listed between ` | `; a single one may be truncated."""
        parts = text.split(" | ")
        if all(part in self._place_of_name for part in parts):
            return np.unique([self._place_of_name[part] for part in parts])
        if len(parts) == 1 and text.endswith(_CUT):
            begun = [place for name, place in self._place_of_name.items() if name.startswith(text[: -len(_CUT)])]
            return np.array(begun, dtype=np.intp) if begun else None
        return None


def _ends_of(text: str) -> tuple[float, float, bool, bool] | None:
    """Return the ends of an interval, and whether it includes each."""
    if found := _BRACKETS.fullmatch(text):
        opening, low, high, closing = found.groups()
        return float(low), float(high), opening == "[", closing == "]"
    if found := _DASH.fullmatch(text):
        return float(found[1]), float(found[2]), True, True
    if found := _FROM.fullmatch(text):
        return float(found[1]), np.inf, True, True
    if found := _COMPARED.fullmatch(text):
        sign, end = found[1], float(found[2])
        has_end = sign not in {"<", ">"}
        return (-np.inf, end, True, has_end) if sign in {"<", "<=", "≤"} else (end, np.inf, has_end, True)
    return None


def spans_of(members: Members) -> Iterator[tuple[int, int]]:
    """Yield the first and the last place of each run of neighbours."""
    if len(members):
        for run in np.split(members, np.flatnonzero(np.diff(members) > 1) + 1):
            yield int(run[0]), int(run[-1])
