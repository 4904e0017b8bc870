"""A release as its reader sees it: for every record and column, the set of possible original values.

A generated value stands for itself, a masked one for all values with this masked value, and `*` for every value. So the
same attacks apply to generated and masked tables.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final, Literal, Self, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from aegis_provider.records import Column, Records
from aegis_provider.synth.released.meanings import Meaning, Members, meanings_of, spans_of
from aegis_provider.table.formulas import are_escaped
from aegis_sdk.texts import unescaped

Scale: TypeAlias = Literal["rank", "range"]
"""The distance of numbers: the share of records between them, or their difference divided by the range."""

Distances: TypeAlias = NDArray[np.float32]

CELLS: Final = 1 << 22
"""Approximate number of distances in a block."""


NEGLIGIBLE: Final = 0.01
"""Maximum share of a column's cells that may remain not understood."""

_EXAMPLES, _LONGEST_LOOK = 5, 40


@dataclass(frozen=True)
class NotUnderstood:
    """The values of a released column that are not understood, and so count as uninformative.

    Attributes:
        looks: The patterns of some of their texts, with `a` for a letter and `9` for a digit, since they may be real
            values in another spelling.
    """

    share: float
    looks: tuple[str, ...]

    @property
    def is_too_much(self) -> bool:
        """Whether the release cannot be judged because of it."""
        return self.share > NEGLIGIBLE


@dataclass(frozen=True, eq=False)
class ReleasedColumn:
    """A column of the release. A text stands for a union of spans of neighbours in the original domain.

    Attributes:
        positions: (values,) The position of each original value: numbers in [0, 1], missing ones NaN; categories at
            their places.
        meanings: (texts,) Their meanings.
        codes: (released,) The text of each released record.
        first: (spans,) The place of the first value of each span; greater than `last` for an empty span.
        starts: (texts,) The first span of each text.
        missing: (texts,) Whether the text may stand for a missing number.
    """

    original: Column
    positions: NDArray[np.float64]
    texts: tuple[str, ...]
    meanings: tuple[Meaning, ...]
    codes: NDArray[np.intp]
    first: NDArray[np.intp]
    last: NDArray[np.intp]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    starts: NDArray[np.intp]
    missing: NDArray[np.bool_]

    @property
    def name(self) -> str:
        """The name of the column."""
        return self.original.name

    @property
    def is_numeric(self) -> bool:
        """Whether its values are numbers or dates."""
        return self.original.numbers is not None

    @cached_property
    def only(self) -> NDArray[np.intp]:
        """(texts,) The place of the single value of each text; -1 if it stands for several or none."""
        ends = np.append(self.starts[1:], len(self.first))
        first, last = self.first[self.starts], self.last[self.starts]
        single = (ends - self.starts == 1) & (first == last) & ~self.missing
        if self.is_numeric:
            single &= self.low[self.starts] == self.positions[np.clip(first, 0, len(self.positions) - 1)]
        places = np.where(single, first, -1)
        if self.is_numeric and self.original.missing is not None:
            places[self.missing & (first > last)] = self.original.missing
        return places

    def distances(self, places: NDArray[np.intp]) -> Distances:
        """(targets, texts) The distance of each original value to the nearest value of each text, 0 to 1."""
        at = self.positions[places][:, None]
        gaps = np.maximum(self.low - at, at - self.high).clip(0.0, 1.0)
        if len(self.first) > len(self.starts):
            gaps = np.minimum.reduceat(gaps, self.starts, axis=1)
        if not self.is_numeric:
            return (gaps > 0).astype(np.float32)
        if self.original.missing is not None:
            gaps[places == self.original.missing] = ~self.missing
        return gaps.astype(np.float32)

    def shares(self, groups: NDArray[np.intp], size: int) -> NDArray[np.float64]:
        """(texts, size) The share of each text's values in each group of values (values,); 0 if it stands for none."""
        up_to = np.zeros((len(groups) + 1, size))
        np.cumsum(np.eye(size)[groups], axis=0, out=up_to[1:])
        counts = np.add.reduceat(up_to[np.maximum(self.last + 1, self.first)] - up_to[self.first], self.starts, axis=0)
        if self.is_numeric and self.original.missing is not None:
            counts[self.missing, groups[self.original.missing]] += 1
        return np.asarray(counts / np.maximum(counts.sum(axis=1, keepdims=True), 1))

    @cached_property
    def middles(self) -> NDArray[np.float64]:
        """(texts,) The mean position of each text's numbers; for several spans, the mean of spans."""
        counts = np.maximum(self.last - self.first + 1, 0)
        sums = np.append(0.0, np.cumsum(np.nan_to_num(self.positions)))
        totals = np.where(counts == 1, self.low, sums[np.maximum(self.last + 1, self.first)] - sums[self.first])
        totals = np.where(np.isfinite(totals), totals, 0.0)
        number = np.add.reduceat(counts, self.starts)
        means = np.add.reduceat(np.where(counts > 0, totals, 0.0), self.starts) / np.maximum(number, 1)
        return np.where(number > 0, means, 0.5)


@dataclass(frozen=True, eq=False)
class Released:
    """A release.

    Attributes:
        columns: Its columns that the original table has, too.
        not_read: The columns of the release that the original table lacks.
    """

    columns: tuple[ReleasedColumn, ...]
    not_understood: Mapping[str, NotUnderstood] = field(default_factory=dict)
    not_read: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        records: Records,
        texts: pa.Table,
        known: Mapping[str, Mapping[str, Members]] | None = None,
        scale: Scale = "rank",
    ) -> Self:
        """Return a release of a table.

        Args:
            texts: The released texts by column; columns that `records` lack are ignored.
        """
        columns: list[ReleasedColumn] = []
        unknown: dict[str, NotUnderstood] = {}
        for each in records.columns:
            if each.name in texts.column_names:
                given = (known or {}).get(each.name)
                column, not_understood = _released(each, texts.column(each.name).combine_chunks(), given, scale)
                columns.append(column)
                unknown |= {each.name: not_understood} if not_understood.share else {}
        return cls(tuple(columns), unknown)

    @classmethod
    def as_it_is(cls, records: Records, scale: Scale = "rank") -> Self:
        """Return the unmasked release of these records, whose domain may contain further values."""
        columns = []
        for column in records.columns:
            values = np.arange(len(column.domain))
            columns.append(
                _column(column, column.domain.texts, column.places, [values[n : n + 1] for n in values], scale)
            )
        return cls(tuple(columns))

    def __len__(self) -> int:
        return len(self.columns[0].codes)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)

    @property
    def not_judged(self) -> Mapping[str, NotUnderstood]:
        """The columns with too many values that are not understood to judge the release."""
        return {name: each for name, each in self.not_understood.items() if each.is_too_much}

    @property
    def is_masked(self) -> bool:
        """Whether a text stands for several values."""
        return any(
            len(column.first) > len(column.starts) or bool((column.last > column.first).any())
            for column in self.columns
        )

    def column(self, name: str) -> ReleasedColumn:
        """Return the column of that name."""
        return self.columns[self.names.index(name)]

    def stated(self, opaque: Collection[str]) -> Self:
        """Return the release with some columns declared uninformative, so that they need not be understood."""
        left = {name: each for name, each in self.not_understood.items() if name not in opaque}
        return replace(self, not_understood=left)

    def only(self, names: Collection[str]) -> Self:
        """Return the release of only these columns."""
        return replace(self, columns=tuple(column for column in self.columns if column.name in names))

    def take(self, rows: NDArray[Any]) -> Self:
        """Return some of the released records: by their places, or by a mask."""
        return replace(self, columns=tuple(replace(column, codes=column.codes[rows]) for column in self.columns))

    def shuffled(self, rng: np.random.Generator) -> Self:
        """Return the release with shuffled columns, which retain value frequencies only."""
        orders = ((column, rng.permutation(len(column.codes))) for column in self.columns)
        return replace(self, columns=tuple(replace(column, codes=column.codes[order]) for column, order in orders))

    def distances(self, targets: Records) -> Iterator[tuple[slice, Distances]]:
        """Yield the distances of original records, some at a time, to all released ones.

        The distance is the mean over the columns of 0 if the released value may be the target's, and otherwise of 1
        for categories and of the gap for numbers, as in Gower, A general coefficient of similarity (1971).

        Yields:
            The targets, and (targets, released) their distances.
        """
        step = max(1, CELLS // max(1, len(self), *(len(column.first) for column in self.columns)))
        for start in range(0, len(targets), step):
            rows = slice(start, min(start + step, len(targets)))
            total = np.zeros((rows.stop - start, len(self)), dtype=np.float32)
            for column in self.columns:
                places = targets.column(column.name).places[rows]
                total += np.take(column.distances(places), column.codes, axis=1)
            yield rows, total / np.float32(len(self.columns))


def _released(
    column: Column, texts: pa.StringArray, known: Mapping[str, Members] | None, scale: Scale
) -> tuple[ReleasedColumn, NotUnderstood]:
    coded = texts.dictionary_encode()
    distinct = tuple(coded.dictionary.to_pylist())
    if are_escaped(distinct, {*column.domain.places, *(known or ())}):
        distinct = tuple(map(unescaped, distinct))
    codes = coded.indices.to_numpy(zero_copy_only=False).astype(np.intp)
    counts = np.bincount(codes, minlength=len(distinct)).tolist()
    meanings = meanings_of(distinct, column, known, counts)
    of_text = dict(zip(distinct, counts, strict=True))
    unknown = sum(of_text[text] for text in meanings.not_understood)
    looks = tuple(dict.fromkeys(map(_look, meanings.not_understood)))[:_EXAMPLES]
    return _column(column, distinct, codes, meanings.of_text, scale), NotUnderstood(unknown / max(1, len(codes)), looks)


def _look(text: str) -> str:
    """Return the pattern of a text, with its letters and digits replaced."""
    return "".join("9" if each.isdigit() else "a" if each.isalpha() else each for each in text[:_LONGEST_LOOK])


def _column(
    column: Column, texts: Sequence[str], codes: NDArray[np.intp], meanings: Sequence[Meaning], scale: Scale
) -> ReleasedColumn:
    positions = positions_of(column, scale)
    missing = column.missing if column.numbers is not None else None
    spans: list[tuple[int, int, float, float]] = []
    starts, may_be_missing = [], []
    for meaning in meanings:
        starts.append(len(spans))
        mine = [] if isinstance(meaning, np.ndarray) else [_elsewhere(column, positions, meaning)]
        if isinstance(meaning, np.ndarray):
            members = meaning if missing is None else meaning[meaning != missing]
            mine = [(first, last, positions[first], positions[last]) for first, last in spans_of(members)]
        may_be_missing.append(
            isinstance(meaning, np.ndarray) and (not len(meaning) or (missing is not None and missing in meaning))
        )
        spans += mine or [(0, -1, np.inf, -np.inf)]
    first, last, low, high = (np.array(each) for each in zip(*spans, strict=True)) if spans else (np.zeros(0),) * 4
    return ReleasedColumn(
        column,
        positions,
        tuple(texts),
        tuple(meanings),
        codes,
        first.astype(np.intp),
        last.astype(np.intp),
        low.astype(np.float64),
        high.astype(np.float64),
        np.array(starts, dtype=np.intp),
        np.array(may_be_missing, dtype=bool),
    )


def positions_of(column: Column, scale: Scale = "rank") -> NDArray[np.float64]:
    """(values,) The positions of values.

    A number lies in [0, 1]: by rank, at the share of records below it plus half of those equal to it. A missing number
    is NaN. A category lies at its place.
    """
    numbers = column.numbers
    if numbers is None:
        return np.arange(len(column.domain), dtype=np.float64)
    present = ~np.isnan(numbers)
    if scale == "range":
        span = np.ptp(numbers[present]) if present.any() else 0.0
        return np.asarray((numbers - np.nanmin(numbers)) / span) if span else np.where(present, 0.5, np.nan)
    counts = np.where(present, column.counts, 0).astype(np.float64)
    return np.where(present, (np.cumsum(counts) - counts / 2) / max(counts.sum(), 1.0), np.nan)


def _elsewhere(column: Column, positions: NDArray[np.float64], number: float) -> tuple[int, int, float, float]:
    """Return the span of a number that is not an original value, positioned between its neighbours."""
    numbers = column.numbers
    present = np.flatnonzero(~np.isnan(numbers)) if numbers is not None else np.zeros(0, dtype=np.intp)
    if numbers is None or not len(present):
        return 0, -1, 0.5, 0.5
    at = float(np.interp(number, numbers[present], positions[present]))
    nearest = int(present[np.abs(numbers[present] - number).argmin()])
    # A position between two values; equal to a value's only beyond the smallest and the largest.
    return nearest, nearest, at, np.nextafter(at, 2.0)
