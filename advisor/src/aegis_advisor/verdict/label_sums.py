"""The probability of small counts to a reader of separately rounded tables who adds up their columns.

The records of each label value are published, exactly or rounded separately. So the sum of a column is known, and the
sum of a row is at least the number of its listed values. The weight of a table of counts is the product of the
likelihoods of its cells, by all tables with the same rows, and of the sums of its rows and columns. The probabilities
of cells and sums follow by belief propagation (Pearl 1988): the message from the other cells of a row or column to a
cell is a convolution, and rows and columns pass messages in turns. With column sums alone this is exact; with rows it
is not, so probabilities a little below `LIKELY` count, too.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from aegis_advisor.arrays import FloatArray, IntArray
from aegis_advisor.evidence import AttributeEvidence
from aegis_advisor.verdict.model import LIKELY, SMALL, Path
from aegis_advisor.verdict.rounded_tables import RoundedTable

_MOST_WORK: Final = 10_000_000
"""The most multiplications per turn; larger tables are skipped, as sums of many cells say next to nothing about one."""

_TURNS: Final = 6
_CHANGE: Final = 1e-4
_ERROR: Final = 0.02
"""The error of a probability; cells within this of `LIKELY` fail."""


def known_by_label(
    evidence: AttributeEvidence, tables: Sequence[RoundedTable], stop: Callable[[], bool]
) -> Counter[Path] | None:
    """Count the cells and sums of an attribute's separately rounded tables that a reader who knows the label knows.

    Args:
        evidence: The evidence on the attribute.
        tables: Its tables with the label.
        stop: Called for each set of tables with the same rows.

    Returns:
        The counts by the first table with these rows; None if tables contradict each other, or `stop` is true.
    """
    known: Counter[Path] = Counter()
    off = evidence.label_perturbation
    if off.noise_scale is not None or not off.is_complete:
        return known
    by_rows: dict[bytes, list[RoundedTable]] = {}
    for table in (_in_order(each) for each in tables if not each.once):
        by_rows.setdefault(table.mappings[0].tobytes(), []).append(table)
    for same in (
        by_row for by_row in by_rows.values() if max(table.base for table in by_row) > 1 and _is_cheap(by_row)
    ):
        grid = _Grid.of(same)
        if (grid.least <= SMALL).any():
            listed = np.bincount(same[0].mappings[0], minlength=len(grid.least))
            cells = _known(grid, listed, evidence.label_histogram, off.rounded_to or evidence.rounded_once or 1)
            if cells is None or stop():
                return None
            known[same[0].path] = cells
    return known


def _in_order(table: RoundedTable) -> RoundedTable:
    """The same table with its rows in the order of their first values; rows without a value are left out."""
    rows, first, row_of = np.unique(table.mappings[0], return_index=True, return_inverse=True)
    order = np.argsort(first)
    return replace(table, counts=table.counts[rows[order]], mappings=(np.argsort(order)[row_of], table.mappings[1]))


def _is_cheap(same: Sequence[RoundedTable]) -> bool:
    """Whether the sums of tables with the same rows are affordable."""
    rows, columns = same[0].counts.shape
    counts = 2 * min(table.base for table in same) - 1
    return bool(rows * columns * max(rows, columns) * counts**2 <= _MOST_WORK)


@dataclass(frozen=True, slots=True, eq=False)
class _Grid:
    """The weights of the counts of the cells of a table.

    Attributes:
        least: (rows, columns) the least count of each cell.
        weights: (rows, columns, counts) those of the least count and of the ones that follow.
    """

    least: IntArray
    weights: FloatArray

    @classmethod
    def of(cls, tables: Sequence[RoundedTable]) -> "_Grid":
        """Combine tables with the same rows."""
        least = np.max([np.maximum(0, table.counts - table.base + 1) for table in tables], axis=0)
        most = np.min([table.counts + table.base - 1 for table in tables], axis=0)
        counts = least[..., np.newaxis] + np.arange(max(1, int((most - least).max()) + 1))
        weights = np.ones(counts.shape)
        for table in tables:
            weights *= np.maximum(0.0, 1 - np.abs(counts - table.counts[..., np.newaxis]) / table.base)
        return cls(least, weights)


def _known(grid: _Grid, listed: IntArray, label: IntArray, base: int) -> int | None:
    """Count the cells and sums of a grid that are most likely one small count; None if nothing fits."""
    by_row, by_column = np.ones_like(grid.weights), np.ones_like(grid.weights)
    rows = [_Line(grid.least[row], grid.weights[row], int(listed[row])) for row in range(len(listed))]
    columns = [
        _Line(grid.least[:, column], grid.weights[:, column], 1, (total, base))
        for column, total in enumerate(label.tolist())
    ]
    for _ in range(_TURNS):
        before = by_column
        by_column = np.stack([each.says(by_row[:, column]) for column, each in enumerate(columns)], axis=1)
        by_row = np.stack([each.says(by_column[row]) for row, each in enumerate(rows)])
        if np.abs(by_column - before).max() < _CHANGE:
            break
    beliefs = grid.weights * by_row * by_column
    if not beliefs.any(axis=-1).all():
        return None
    counts = grid.least[..., np.newaxis] + np.arange(grid.weights.shape[-1])
    cells = sum(map(_is_known, counts.reshape(-1, counts.shape[-1]), beliefs.reshape(-1, counts.shape[-1])))
    of_rows = sum(_is_known(each.sums, each.shares(by_column[row])) for row, each in enumerate(rows))
    return (
        cells
        + of_rows
        + sum(_is_known(each.sums, each.shares(by_row[:, column])) for column, each in enumerate(columns) if base > 1)
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Line:
    """A row or column.

    Attributes:
        least: (cells,) the least count of each cell.
        weights: (cells, counts) those of the least count and of the ones that follow.
        listed: the minimum number of records of the sum.
        published: the sum, and the base that it was rounded by; None for a row.
    """

    least: IntArray
    weights: FloatArray
    listed: int
    published: tuple[int, int] | None = None

    @property
    def sums(self) -> IntArray:
        """(sums,) the possible sums of the cells."""
        return np.asarray(np.arange(len(self.least) * (self.weights.shape[1] - 1) + 1) + self.least.sum())

    @property
    def likelihood(self) -> FloatArray:
        """(sums,) the likelihood of each sum."""
        sums = self.sums
        likely = np.asarray(sums >= self.listed, dtype=np.float64)
        if self.published is not None:
            likely *= np.maximum(0.0, 1 - np.abs(sums - self.published[0]) / self.published[1])
        return likely

    def says(self, others: FloatArray) -> FloatArray:
        """(cells, counts) The message to each cell: the likelihood of its counts by the sum and the other cells'
        messages.
        """
        before, after = [np.ones(1)], [self.likelihood]
        weights = self.weights * others
        for weight in weights[:-1]:
            before.append(_scaled(np.convolve(before[-1], weight)))
        for weight in weights[:0:-1]:
            after.append(_scaled(np.correlate(after[-1], weight, mode="valid")))
        both = zip(before, reversed(after), strict=True)
        return np.array([_scaled(np.correlate(rest, first, mode="valid")) for first, rest in both])

    def shares(self, others: FloatArray) -> FloatArray:
        """(sums,) The weight of each sum, given the messages `others` to the cells."""
        weights = np.ones(1)
        for each in self.weights * others:
            weights = _scaled(np.convolve(weights, each))
        return weights * self.likelihood


def _scaled(weights: FloatArray) -> FloatArray:
    return np.asarray(weights / max(float(weights.max()), np.finfo(np.float64).tiny))


def _is_known(counts: IntArray, weights: FloatArray) -> bool:
    small = (counts >= 1) & (counts <= SMALL)
    return bool(weights[small].max(initial=0.0) > (LIKELY - _ERROR) * max(float(weights.sum()), 1e-300))
