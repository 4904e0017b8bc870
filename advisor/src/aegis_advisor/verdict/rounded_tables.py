"""The separately rounded tables of an entry, and the sums that they show."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from aegis_advisor.arrays import IntArray
from aegis_advisor.atoms import coarsening
from aegis_advisor.evidence import AttributeEvidence, PairCounts, Perturbation
from aegis_advisor.evidence.rounded_sums import sum_variances
from aegis_advisor.verdict.model import Path, PublishedCounts
from aegis_advisor.verdict.rounded import Look


@dataclass(frozen=True, slots=True, eq=False)
class RoundedTable:
    """A table of rounded counts.

    Attributes:
        path: its place in the document.
        base: the base of the rounding; 1 for exact counts.
        counts: (rows, columns).
        mappings: the row of each value of the first attribute, and the column of each of the second or of the label.
        within: each count is off by less than this many bases.
        keeps_sums: whether rows and columns add up to the sums in other tables, so that they are no new look at these.
        once: whether it was rounded once with other tables of the attribute, so that their sums are one draw.
    """

    path: Path
    base: int
    counts: IntArray
    mappings: tuple[IntArray, IntArray]
    within: int = 1
    keeps_sums: bool = False
    once: bool = False

    @property
    def transposed(self) -> "RoundedTable":
        """The table with rows and columns exchanged."""
        return replace(self, counts=self.counts.T, mappings=self.mappings[::-1])

    def sums(self, rows: IntArray, columns: IntArray | None = None) -> "Sums | None":
        """The sums that the table shows of groups of values; None if a row or column has values of two groups.

        Args:
            rows: the group of each value of the first attribute.
            columns: the group of each value of the second; None for a single group.
        """
        group_of_row = coarsening(self.mappings[0], rows, self.counts.shape[0])
        other = np.zeros_like(self.mappings[1]) if columns is None else columns
        group_of_column = coarsening(self.mappings[1], other, self.counts.shape[1])
        if group_of_row is None or group_of_column is None:
            return None
        groups = int(other.max()) + 1
        return Sums(self, group_of_row[:, np.newaxis] * groups + group_of_column, (int(rows.max()) + 1) * groups)


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """Sums of the cells of a table.

    Attributes:
        table: the table.
        group_of: (rows, columns) the sum that each cell is part of.
        groups: the number of sums.
    """

    table: RoundedTable
    group_of: IntArray
    groups: int

    @property
    def least(self) -> IntArray:
        """(groups,) the minimum of each sum."""
        cells = np.maximum(0, self.table.counts - self.table.base * self.table.within + 1)
        return np.bincount(self.group_of.ravel(), cells.ravel(), self.groups).astype(np.int64)

    def looks(self, groups: IntArray) -> list[Look]:
        """The look of the table at each of these sums."""
        order = np.argsort(self.group_of, axis=None, kind="stable")
        ends = np.cumsum(np.bincount(self.group_of.ravel(), minlength=self.groups))
        counts = self.table.counts.ravel()[order]
        starts = ends - np.diff(ends, prepend=0)
        base, within = self.table.base, self.table.within
        return [Look.of(base, counts[starts[group] : ends[group]].tolist(), within) for group in groups.tolist()]


def tables_of(place: int, evidence: AttributeEvidence) -> list[RoundedTable]:
    """Return the rounded tables of an attribute with the label whose mappings are known.

    Those that were rounded once come first, and the finest of them before all others.
    """
    path, base, once, apart = ("attributes", place), evidence.rounded_once, list[RoundedTable | None](), []
    if evidence.joint is not None:
        once.append(_table((*path, "joint"), base or 1, evidence.joint, np.arange(evidence.values)))
    for index, one in enumerate(evidence.maskings):
        where = (*path, "maskings", index, "joint")
        if base is not None and one.perturbation.is_none:
            once.append(_table(where, base, one.joint, one.mapping))
        else:
            apart.append(_table(where, _base(one.perturbation), one.joint, one.mapping))
    drawn = sorted((table for table in once if table is not None), key=lambda each: -len(each.counts))
    return [*_drawn_once(evidence, drawn), *(table for table in apart if table is not None)]


def _drawn_once(evidence: AttributeEvidence, tables: Sequence[RoundedTable]) -> Iterator[RoundedTable]:
    """Yield the tables of one draw, the finest first. Those that cross a finer one are off by more."""
    if evidence.rounded_once is None:
        yield from tables
        return
    names = {one.mapping.tobytes(): one.id for one in evidence.maskings if one.mapping is not None}
    for place, table in enumerate(tables):
        crosses = any(other.sums(table.mappings[0]) is None for other in tables[:place])
        within = 1
        if crosses:
            most = float(sum_variances(evidence)[names[table.mappings[0].tobytes()]].max())
            within = ceil((6 * most / table.base**2) ** 0.5)
        yield replace(table, once=True, within=within)


def _base(perturbation: Perturbation) -> int | None:
    """The base of rounded counts, 1 of exact ones; None if the counts have other errors, too."""
    if perturbation.is_noisy or not perturbation.is_complete:
        return None
    return perturbation.rounded_to or 1


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
    """Return pair counts with a row and a column for all masked values that are counted together."""
    base = _base(pair.perturbation)
    masked = zip(pair.attributes, pair.maskings, strict=True)
    rows, columns = (evidence[attribute].mapping_of(masking) for attribute, masking in masked)
    if base is None or rows is None or columns is None:
        return None
    path, declared = ("pairs", place, "joint"), pair.perturbation.within
    kept = declared or 1, declared is not None
    if pair.counted_with is None:
        return RoundedTable(path, base, pair.joint, (rows, columns), *kept)
    row_of, column_of = pair.pooled(0), pair.pooled(1)
    counts = pair.joint[np.ix_(*map(np.unique, pair.counted_with))]
    return RoundedTable(path, base, counts, (row_of[rows], column_of[columns]), *kept)
