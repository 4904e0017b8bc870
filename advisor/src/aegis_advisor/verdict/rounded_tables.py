"""The tables of an entry that were rounded apart from each other, and the sums that they show."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from aegis_advisor.arrays import BoolArray, IntArray
from aegis_advisor.atoms import coarsening
from aegis_advisor.evidence import AttributeEvidence, PairCounts, Perturbation, most_hidden
from aegis_advisor.verdict.model import Path, PublishedCounts
from aegis_advisor.verdict.rounded import Look


@dataclass(frozen=True, slots=True, eq=False)
class RoundedTable:
    """A table of rounded counts.

    Attributes:
        path: its place in the document.
        base: the base to multiples of which it was rounded; 1 for exact counts.
        counts: (rows, columns).
        mappings: the row of each value of the first attribute, and the column of each of the second or of the label.
        hides: whether rows and columns with few records are 0 (`most_hidden`).
    """

    path: Path
    base: int
    counts: IntArray
    mappings: tuple[IntArray, IntArray]
    hides: bool = False

    @property
    def shown(self) -> BoolArray:
        """(rows, columns) the cells that are not hidden for certain: a row or column without counts may be."""
        if not self.hides:
            return np.ones(self.counts.shape, dtype=bool)
        return np.asarray(np.logical_and.outer(self.counts.any(axis=1), self.counts.any(axis=0)))

    @property
    def transposed(self) -> "RoundedTable":
        """The table with rows and columns exchanged."""
        return replace(self, counts=self.counts.T, mappings=self.mappings[::-1])

    def sums(self, rows: IntArray, columns: IntArray | None = None) -> "Sums | None":
        """The sums that the table shows of groups of values; None if a row or column has values of two groups.

        Args:
            rows: the group of each value of the first attribute.
            columns: that of each value of the second; without them, all are one group.
        """
        group_of_row = coarsening(self.mappings[0], rows, self.counts.shape[0])
        other = np.zeros_like(self.mappings[1]) if columns is None else columns
        group_of_column = coarsening(self.mappings[1], other, self.counts.shape[1])
        if group_of_row is None or group_of_column is None:
            return None
        groups = int(other.max()) + 1
        hides = most_hidden(self.counts.shape[1]) if self.hides and columns is None else 0
        return Sums(self, group_of_row[:, np.newaxis] * groups + group_of_column, (int(rows.max()) + 1) * groups, hides)


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """Sums of the cells of a table.

    Attributes:
        table: the table.
        group_of: (rows, columns) the sum that each cell is part of.
        groups: how many sums there are.
        hides: a sum over all columns is of more than this number of records, or the table does not show it.
    """

    table: RoundedTable
    group_of: IntArray
    groups: int
    hides: int

    @property
    def least(self) -> IntArray:
        """(groups,) the least that each sum can be."""
        cells = np.maximum(0, self.table.counts - self.table.base + 1)
        return np.bincount(self.group_of.ravel(), cells.ravel(), self.groups).astype(np.int64)

    @property
    def whole(self) -> BoolArray:
        """(groups,) whether no cell of each sum is hidden, or all are since the sum is small."""
        hidden = np.bincount(self.group_of[~self.table.shown], minlength=self.groups)
        of_one_row = np.bincount(self.group_of.ravel(), minlength=self.groups) == self.table.counts.shape[1]
        told = self.hides > 0 and bool(self.table.counts.any(axis=0).all())
        return np.asarray((hidden == 0) | (told & of_one_row))

    def looks(self, groups: IntArray) -> list[Look | None]:
        """What the table shows of each of these sums; None if it shows none of its cells."""
        shown = self.table.shown | self.whole[self.group_of]
        group_of, counts = self.group_of[shown], self.table.counts[shown]
        counts = counts[np.argsort(group_of, kind="stable")].tolist()
        ends = np.cumsum(np.bincount(group_of, minlength=self.groups)).tolist()
        starts = [0, *ends[:-1]]
        cells = [counts[starts[group] : ends[group]] for group in groups.tolist()]
        return [Look.of(self.table.base, each, self.hides) if each else None for each in cells]


def tables_of(place: int, evidence: AttributeEvidence) -> list[RoundedTable]:
    """Return the rounded tables of an attribute with the label, if it is known which values their rows are."""
    apart = [
        _table(("attributes", place, "maskings", index, "joint"), _base(one.perturbation), one.joint, one.mapping)
        for index, one in enumerate(evidence.maskings)
        if not (evidence.rounded_once and one.perturbation.is_none)
    ]
    return [table for table in [_finest(place, evidence), *apart] if table is not None]


def _base(perturbation: Perturbation) -> int | None:
    """The base of rounded counts, 1 of exact ones; None if nothing follows from the counts by rounding alone."""
    if perturbation.is_noisy or not perturbation.is_complete:
        return None
    return perturbation.rounded_to or 1


def _finest(place: int, evidence: AttributeEvidence) -> RoundedTable | None:
    """Return the unmasked counts, or else the finest that were rounded once: coarser ones add up its counts."""
    base, path = evidence.rounded_once, ("attributes", place)
    if evidence.joint is not None:
        return _table((*path, "joint"), base or 1, evidence.joint, np.arange(evidence.values))
    tables = [
        _table((*path, "maskings", index, "joint"), base, one.joint, one.mapping)
        for index, one in enumerate(evidence.maskings)
        if one.perturbation.is_none
    ]
    return max((one for one in tables if one is not None), key=lambda one: len(one.counts), default=None)


def _table(path: Path, base: int | None, counts: IntArray | None, mapping: IntArray | None) -> RoundedTable | None:
    if base is None or counts is None or mapping is None:
        return None
    return RoundedTable(path, base, counts, (mapping, np.arange(counts.shape[1])))


def tables_of_pairs(published: PublishedCounts) -> Iterator[tuple[tuple[int, int], RoundedTable]]:
    """Yield the rounded pair counts with the places of their attributes, the first before the second."""
    for place, pair in published.pairs.items():
        table, (first, second) = _pair_table(place, pair, published.evidence), pair.attributes
        if table is not None:
            yield ((first, second), table) if first < second else ((second, first), table.transposed)


def _pair_table(place: int, pair: PairCounts, evidence: Sequence[AttributeEvidence]) -> RoundedTable | None:
    base = _base(pair.perturbation)
    masked = zip(pair.attributes, pair.maskings, strict=True)
    rows, columns = (evidence[attribute].mapping_of(masking) for attribute, masking in masked)
    if base is None or rows is None or columns is None:
        return None
    hides = evidence[0].rounded_once is not None
    return RoundedTable(("pairs", place, "joint"), base, pair.joint, (rows, columns), hides)
