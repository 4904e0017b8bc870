"""The probability of small counts to a reader of counts that were rounded at random, without bias.

A count n is published as the multiple p of the base b with probability `1 - |n - p| / b`. To a reader for whom all
tables of counts are equally probable, the probability of n is proportional to that. It is at most 1/2 if the count may
be 0, so a single rounded count never discloses it. Several tables with sums of the same records may. For a sum of k
cells, `sum_n prod_i (1 - |n_i - p_i| / b)` over all k counts with the sum t, divided by their number, is the likelihood
of t. The likelihoods of separately rounded tables multiply. Counts of one draw that sum those of a finer table add no
information.

The separately rounded tables of an entry, and the sums that they show.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import ceil
from typing import Final

import numpy as np
import scipy

from aegis_advisor.arrays import FloatArray, IntArray
from aegis_advisor.atoms import coarsening
from aegis_advisor.evidence import AttributeEvidence, PairCounts, Perturbation
from aegis_advisor.evidence.rounded import sum_variances
from aegis_advisor.verdict.model import LIKELY, SMALL, Path, PublishedCounts

_MOVED: Final = 0.1
"""The share of counts that are off by a base or more, in tables with such counts."""

RECORDS_PER_VALUE: Final = 1.11
"""With this many records per value, one of many listed values has a single record with a probability of about 0.9."""

MOST: Final = 400
"""The largest sum distinguished, or twice the largest small one; sums that may be small are far below it."""


@dataclass(frozen=True, slots=True)
class Look:
    """Published counts of the cells that make up a sum.

    Attributes:
        cells: each published count, and the number of cells with it.
        within: each count is off by less than this many bases.
    """

    base: int
    cells: tuple[tuple[int, int], ...]
    within: int = 1

    @classmethod
    def of(cls, base: int, counts: Iterable[int], within: int = 1) -> "Look":
        """Look at these counts."""
        return cls(base, tuple(sorted(Counter(counts).items())), within)

    @property
    def size(self) -> int:
        """The number of cells."""
        return sum(cells for _, cells in self.cells)

    @property
    def least(self) -> int:
        """The minimum of the sum."""
        return sum(max(0, count - self.base * self.within + 1) * cells for count, cells in self.cells)

    @property
    def most(self) -> int:
        """The maximum of the sum."""
        return sum((count + self.base * self.within - 1) * cells for count, cells in self.cells)

    def without(self, count: int) -> "Look":
        """Leave out one cell with this count."""
        left = tuple((each, cells - (each == count)) for each, cells in self.cells)
        return replace(self, cells=tuple(item for item in left if item[1]))


@lru_cache(maxsize=4096)
def knows_small(looks: tuple[Look, ...], small: int, least: int = 0) -> bool:
    """Whether a reader of these looks at a sum knows it as a particular small count.

    Args:
        looks: its values in separately rounded tables, at least one.
        small: the largest small count.
        least: its certain minimum.
    """
    return _largest_small(of_sum(looks, least, small), small) > LIKELY


@lru_cache(maxsize=4096)
def knows_single(looks: tuple[Look, ...], listed: int, labels: int) -> bool:
    """Whether a reader of these looks at a masked value knows that one of its listed values has one record.

    Each listed value has a record, so with as many listed values as records, each has one.

    Args:
        looks: its records in separately rounded tables, at least one.
        listed: the number of its listed values.
    """
    if listed > MOST // 2:
        return min(look.most for look in looks) <= RECORDS_PER_VALUE * listed
    sums = of_sum(looks, listed)
    return float(sums @ single_shares(listed, labels, sums.size - 1)) > LIKELY


def single_shares(listed: int, labels: int, most: int) -> FloatArray:
    """(sums,) the probability that a listed value has one record, by the number of records of all, up to `most`.

    All tables of listed values, each with a record, and label values are equally probable: a value with `n` records has
    `(n + labels - 1) choose (labels - 1)` of them.
    """
    tilt = 0.2 / (labels + 1)  # values with two records get a tenth of the weight of those with one
    one = np.exp(_log_ways(labels, most) + np.arange(most + 1) * np.log(tilt))
    one[0] = 0.0
    one /= max(one.sum(), np.finfo(np.float64).tiny)
    others = _to_power(one, listed - 1)
    single, every = _times(np.where(np.arange(most + 1) == 1, one, 0.0), others), _times(one, others)
    return np.asarray(np.divide(single, every, out=np.zeros(most + 1), where=every > 0))


@lru_cache(maxsize=4096)
def known_cells(own: Look, others: tuple[Look, ...], small: int, least: int = 0) -> int:
    """Return the number of cells of a look that a reader knows as a particular small count.

    Args:
        own: the cells of a sum.
        others: the sum in other tables.
        small: the largest small count.
        least: the certain minimum of the sum.
    """
    sums = _log_weights(others, _most([own, *others], small), least)
    return sum(cells for count, cells in own.cells if _largest_small(of_cell(own, count, sums), small) > LIKELY)


def of_sum(looks: Sequence[Look], least: int, small: int = SMALL) -> FloatArray:
    """(sums,) the probability of each sum, from 0."""
    logs = _log_weights(looks, _most(looks, small), least)
    return np.asarray(np.exp(logs - scipy.special.logsumexp(logs))) if np.isfinite(logs).any() else np.zeros(logs.shape)


def of_cell(own: Look, count: int, sums: FloatArray) -> FloatArray:
    """(counts,) the probability of each count of a cell, given the logarithms (sums,) of the weights of its sum."""
    if not np.isfinite(sums).any():
        return np.zeros(sums.shape)
    most = sums.size - 1
    drawn = np.exp(sums - sums.max()) / np.exp(_log_prior(own.size, most))
    rest = _product(own.without(count), own.size, most)
    shares = _one(count, own, own.size, most) * np.convolve(rest[::-1], drawn)[most:]
    return np.asarray(shares / max(float(shares.sum()), np.finfo(np.float64).tiny))


def _log_weights(looks: Sequence[Look], most: int, least: int) -> FloatArray:
    """(sums,) the logarithm of the weight of each sum up to `most`, up to a constant; minus infinity below `least`."""
    logs = np.where(np.arange(most + 1) >= least, 0.0, -np.inf)
    for look in looks:
        logs = logs + _log_likelihood(look, most)
    return logs


def _most(looks: Sequence[Look], small: int) -> int:
    return min(max(MOST, 2 * small), *(look.most for look in looks))


def _log_likelihood(look: Look, most: int) -> FloatArray:
    """(sums,) the logarithm of the likelihood of each sum up to `most`."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(_product(look, look.size, most)) - _log_prior(look.size, most))


def _log_ways(cells: int, most: int) -> FloatArray:
    """(sums,) the logarithm of the number of tables of this many cells with each sum."""
    sums = np.arange(most + 1)
    return np.asarray(
        scipy.special.gammaln(sums + cells) - scipy.special.gammaln(sums + 1) - scipy.special.gammaln(cells)
    )


def _tilt(cells: int, most: int) -> float:
    """The factor of each record in the weight of a table; it makes sums near `most` probable, for finite weights.

    It is the same for all tables with a sum, so no probability depends on it.
    """
    return max(most, 1) / (max(most, 1) + cells)


def _log_prior(cells: int, most: int) -> FloatArray:
    """(sums,) the log-probability of each sum of cells, with counts n of probability proportional to tilt^n."""
    tilt = _tilt(cells, most)
    return np.asarray(_log_ways(cells, most) + np.arange(most + 1) * np.log(tilt) + cells * np.log1p(-tilt))


@lru_cache(maxsize=4096)
def _product(look: Look, size: int, most: int) -> FloatArray:
    """(sums,) the joint probability of each sum and the published counts, with the tilt of a look of `size` cells."""
    product = np.zeros(most + 1)
    product[0] = 1.0
    for count, cells in look.cells:
        product = _times(product, _power(count, replace(look, cells=()), cells, size, most))
    return product


@lru_cache(maxsize=4096)
def _power(count: int, rounding: Look, cells: int, size: int, most: int) -> FloatArray:
    """(sums,) the same for several cells with one published count, by repeated squaring."""
    one = _one(count, rounding, size, most)
    if cells == 1:
        return one
    half = _power(count, rounding, cells // 2, size, most)
    square = _times(half, half)
    return _times(square, one) if cells % 2 else square


def _one(count: int, rounding: Look, size: int, most: int) -> FloatArray:
    """(counts,) the joint probability of each count and the published one."""
    tilt, counts = _tilt(size, most), np.arange(most + 1)
    off = np.abs(counts - count) / rounding.base
    likelihood = np.maximum(0.0, 1.0 - off)
    if rounding.within > 1:
        likelihood = (1 - _MOVED) * likelihood + _MOVED * np.maximum(0.0, 1.0 - off / rounding.within)
    return np.asarray((1 - tilt) * tilt**counts * likelihood)


def _to_power(one: FloatArray, times: int) -> FloatArray:
    """(sums,) the convolution of `times` equal distributions."""
    if times == 0:
        return np.asarray(np.arange(one.size) == 0, dtype=np.float64)
    half = _to_power(one, times // 2)
    square = _times(half, half)
    return _times(square, one) if times % 2 else square


def _times(one: FloatArray, other: FloatArray) -> FloatArray:
    return np.convolve(one, other)[: one.size]


def _largest_small(shares: FloatArray, small: int) -> float:
    return float(shares[1 : small + 1].max(initial=0.0))


@dataclass(frozen=True, slots=True, eq=False)
class RoundedTable:
    """A table of rounded counts.

    Attributes:
        base: the base of the rounding; 1 for exact counts.
        counts: (rows, columns).
        mappings: the row of each value of the first attribute, and the column of each of the second or of the label.
        within: each count is off by less than this many bases.
        keeps_sums: whether rows and columns add up to the sums in other tables, and so say nothing new about these.
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
        group_of: (rows, columns) the sum that each cell is part of.
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
