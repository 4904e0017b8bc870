"""The counts of a delivered table, made by the same engine as for entries, and the listed masked value of each text.

An entry lists masked values, but by default merges rare ones under a name such as `[10,20)` or `a or others`. If a text
could belong to several of these, they are compared as one group, to avoid false differences.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from itertools import product
from typing import Any, Final, Self

import numpy as np
import scipy

from aegis_provider.counting.counts import Counts, Partition, Places, Tally, tally
from aegis_provider.errors import UnmaskableValueError
from aegis_provider.masking.function import MaskingFunction
from aegis_provider.masking.lookup import Mapped
from aegis_provider.masking.numbers import EdgeBuckets, EqualBuckets, Round, TopBottom
from aegis_provider.masking.texts import Blur, BlurPositions, Suppress
from aegis_provider.privacy.cells import STAR
from aegis_provider.table import Table
from aegis_provider.table.formulas import Escaped, Formulas, are_escaped
from aegis_provider.table.values import MISSING, Domain, ValueType, decimal_of, key_of
from aegis_sdk.texts import INTERVAL, TOGETHER, Span, is_formula, span_of
from aegis_sdk.wire import Evidence

Parameters = Mapping[str, Any]

_INVALID = (ArithmeticError, AttributeError, KeyError, TypeError, ValueError, UnmaskableValueError)
"""Errors raised by unknown parameters or values of a function."""


def can_be_output(text: str, function: Mapping[str, Any] | None, value_type: ValueType) -> bool:
    """Return whether the published function can produce this masked value; true if unknown.

    Round, blur and the like map their masked values to themselves; for an interval, a number in it is masked.
    """
    masking = None if function is None else _function(function["name"], function.get("parameters") or {})
    if masking is None or text == MISSING:
        return True
    # Masked values may be numbers even if the entry's type is integer: 7.5 may be a multiple of 2.5.
    kinds = dict.fromkeys((value_type, ValueType.NUMBER, ValueType.STRING))
    values, span = [text], span_of(text)
    if span is not None and span.low != span.high:
        within = span.low if span.low.is_finite() else span.high - 1
        values += [f"{within:f}"] if within.is_finite() else []
    for value, kind in product(values, kinds):
        with suppress(*_INVALID):
            if masking.mask(Domain.of([value], kind)) == [text]:
                return True
    return False


def _number(value: object) -> Decimal:
    """Return a parameter as a number; the publisher may have written anything."""
    return Decimal(value) if value in ("-inf", "inf") and isinstance(value, str) else decimal_of(str(value))


def _function(name: str, parameters: Parameters) -> MaskingFunction | None:
    """Return the published function; `None` if it is not known, or has parameters that it cannot have."""
    made: MaskingFunction | None = None
    with suppress(*_INVALID):
        if name == Round.name:
            made = Round(_number(parameters["to"]))
        elif name == Suppress.name:
            made = Suppress()
        elif name == TopBottom.name:
            top, bottom = parameters.get("top"), parameters.get("bottom")
            made = TopBottom(None if top is None else _number(top), None if bottom is None else _number(bottom))
        elif name == EqualBuckets.name and "edges" in parameters:
            made = EdgeBuckets(tuple(map(_number, parameters["edges"])))
        elif name == EqualBuckets.name:
            made = EqualBuckets(_number(parameters["width"]), _number(parameters.get("origin", 0)))
        elif name == Blur.name and "positions" in parameters:
            made = BlurPositions(tuple(parameters["positions"]), parameters.get("character", "*"))
        elif name == Blur.name:
            made = Blur(parameters["keep"], parameters.get("character", "*"), parameters.get("at", "start"))
    return made


STARRED: Final = -1
"""The place of a suppressed cell."""
UNKNOWN: Final = -2
"""The place of a text that is not listed."""

_LOOKED_UP: Final = (Mapped.name, "hierarchy")
"""Functions whose masked values can be any texts, even unrelated values of the attribute."""


@dataclass(frozen=True)
class Listed:
    """A column as described in an entry.

    `function`: the masking function; `None` for an unmasked column; `exact`: whether every masked value is listed
    unmerged.
    """

    texts: Sequence[str]
    value_type: ValueType = ValueType.STRING
    function: Mapping[str, Any] | None = None
    exact: bool = True


@dataclass(frozen=True, eq=False)
class Placing:
    """The listed masked values in groups that are compared together, and the group of each text of a column."""

    groups: Partition
    of_text: Mapping[str, int]

    @property
    def unknown(self) -> list[str]:
        """The texts that are not listed."""
        return [text for text, group in self.of_text.items() if group == UNKNOWN]


def placed(listed: Listed, texts: Iterable[str]) -> Placing:
    """Return the placing of a column's texts."""
    texts = list(dict.fromkeys(texts))
    own = _literal(listed, texts)
    left = [text for text in texts if text not in own and text != STAR]
    places: dict[str, Collection[int]] = {text: (place,) for text, place in own.items()}
    merged = (INTERVAL.fullmatch(text) or TOGETHER.fullmatch(text) for text in listed.texts)
    if left and not listed.exact and any(merged):
        places |= _elsewhere(listed, own, left)
    # The finest partition of places that puts the places of each text into one group.
    pairs = [(min(at), place) for at in places.values() for place in at]
    first, second = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
    shape = (len(listed.texts), len(listed.texts))
    links = scipy.sparse.coo_array((np.ones(len(first), dtype=np.int8), (first, second)), shape=shape)
    groups = Partition.of(scipy.sparse.csgraph.connected_components(links, directed=False)[1].astype(np.intp))
    of_text = {text: int(groups.groups[min(at)]) for text, at in places.items() if at}
    missing = {text: STARRED if text == STAR else UNKNOWN for text in texts if text not in of_text}
    return Placing(groups, of_text | missing)


def _literal(listed: Listed, texts: Sequence[str]) -> dict[str, int]:
    """Return the places of texts that are listed, possibly in another spelling of the same value."""
    places = {text: place for place, text in enumerate(listed.texts)}
    own = {text: places[text] for text in texts if text in places}
    if listed.function is None and listed.value_type is not ValueType.STRING:
        keys = {_key(text, listed.value_type): place for text, place in places.items()}
        keys.pop(None, None)
        known = {text: keys.get(_key(text, listed.value_type)) for text in texts if text not in own}
        own |= {text: place for text, place in known.items() if place is not None}
    return own


def _key(text: str, value_type: ValueType) -> object:
    try:
        return None if text == MISSING else key_of(text, value_type)
    except UnmaskableValueError:
        return None


def _elsewhere(listed: Listed, own: Mapping[str, int], left: Sequence[str]) -> dict[str, Collection[int]]:
    """Return the possible places of each unlisted text; none if it cannot be a masked value."""
    if listed.function is not None and listed.function["name"] in _LOOKED_UP:
        # Listed names are names of values here, so even a text equal to one may stand for another.
        every = range(len(listed.texts))
        return dict.fromkeys([*own, *left], every)
    spans = [span_of(text) for text in listed.texts]
    free = [place for place in range(len(listed.texts)) if place not in set(own.values())]
    return {text: _candidates(listed, text, spans, free) for text in left}


def _candidates(listed: Listed, text: str, spans: Sequence[Span | None], free: Sequence[int]) -> Collection[int]:
    if not can_be_output(text, listed.function, listed.value_type):
        return ()
    if text == MISSING:
        return [place for place in free if "missing" in listed.texts[place]] or free
    mine = span_of(text)
    made = (
        None if listed.function is None else _function(listed.function["name"], listed.function.get("parameters") or {})
    )
    if mine is not None and isinstance(made, Round):  # it can stand for any value that is rounded to it
        mine = Span(mine.low - made.to / 2, mine.high + made.to / 2)
    near = [] if mine is None else [n for n, span in enumerate(spans) if span is not None and span.overlaps(mine)]
    return near or free


@dataclass(frozen=True, eq=False)
class Delivered:
    """A delivered table. `columns`: the approved attributes that it has."""

    table: Table
    label: str
    columns: Sequence[str]

    def formulas(self, header: Sequence[str]) -> Formulas:
        """Return the spreadsheet formulas in the counted columns and the header; only CSV has some."""
        if self.table.delimiter is None:
            return Formulas()
        tallies = {name: (each.texts, each.counts) for name, each in self.tallies.items()}
        columns = {**tallies, self.label: (np.array([*self.labels]), np.array([*self.labels.values()]))}
        cells = {
            name: int(counts[[is_formula(text) for text in texts.tolist()]].sum())
            for name, (texts, counts) in columns.items()
        }
        return Formulas.of(header, cells)

    def unescaped(self, evidence: Evidence) -> Self:
        """Return the same table, read without any apostrophes before formulas."""
        domains = {attribute.attribute: attribute.domain for attribute in evidence.attributes}
        columns = {self.label: self.labels, **{name: self.texts(name) for name in self.columns}}
        known = {**domains, self.label: evidence.label.domain}
        with_marks = {name: Escaped() for name, texts in columns.items() if are_escaped(texts, known[name])}
        return replace(self, table=self.table.read_as(with_marks)) if with_marks else self

    @cached_property
    def tallies(self) -> Mapping[str, Tally]:
        """The joint counts of each attribute with the label, from one pass; without attributes, counts of the label."""
        names = list(self.columns) or [self.label]
        return dict(zip(names, tally(self.table, names, self.label), strict=True))

    @cached_property
    def labels(self) -> Mapping[str, int]:
        """The number of records with each text of the label."""
        one = next(iter(self.tallies.values()))
        texts, places = np.unique(one.labels.astype(object), return_inverse=True)
        counts = np.bincount(places.reshape(-1), one.counts).astype(np.int64)
        return dict(zip(texts.tolist(), counts.tolist(), strict=True))

    @property
    def records(self) -> int:
        """The number of records."""
        return sum(self.labels.values())

    def texts(self, name: str) -> Sequence[str]:
        """Return the texts of an attribute."""
        return list(dict.fromkeys(self.tallies[name].texts.tolist()))

    def joint(self, name: str, placing: Placing, labels: Placing) -> Counts:
        """(groups, label groups) The joint counts, without suppressed cells and unknown texts."""
        counted = self.tallies[name]
        rows, columns = _places(counted.texts.tolist(), placing), _places(counted.labels.tolist(), labels)
        joint = np.zeros((placing.groups.size, labels.groups.size), dtype=np.int64)
        kept = (rows >= 0) & (columns >= 0)
        np.add.at(joint, (rows[kept], columns[kept]), counted.counts[kept])
        return joint

    def stars(self, name: str, placing: Placing, labels: Placing) -> Counts:
        """(label groups,) The suppressed cells of an attribute, by label."""
        counted = self.tallies[name]
        starred = _places(counted.texts.tolist(), placing) == STARRED
        columns = _places(counted.labels.tolist(), labels)
        stars = np.zeros(labels.groups.size, dtype=np.int64)
        kept = starred & (columns >= 0)
        np.add.at(stars, columns[kept], counted.counts[kept])
        return stars

    def pair(self, names: tuple[str, str], placings: tuple[Placing, Placing]) -> tuple[Counts, int]:
        """Return the (groups, groups) joint counts of two attributes, and the number of all other records."""
        counted = self.table.combinations(names)
        first, second = (_places(counted.column(n).to_pylist(), placing) for n, placing in enumerate(placings))
        counts = counted.column("n").to_numpy()
        joint = np.zeros((placings[0].groups.size, placings[1].groups.size), dtype=np.int64)
        kept = (first >= 0) & (second >= 0)
        np.add.at(joint, (first[kept], second[kept]), counts[kept])
        return joint, int(counts[~kept].sum())


def _places(texts: Sequence[str], placing: Placing) -> Places:
    return np.fromiter((placing.of_text[text] for text in texts), dtype=np.intp, count=len(texts))
