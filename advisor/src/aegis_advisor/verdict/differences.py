"""Small differences of two nested sums of records, which separately rounded tables show repeatedly.

Each separately rounded table is one more look at the records of its masked values, and at all their unions. Two
maskings that cut an attribute in two places have unions that differ by the records between the cuts. With enough looks,
both unions are known almost exactly, and so is their difference. A difference of sums of one draw is one look, and one
look never determines a count (`rounded`), so only tables that were rounded separately, and do not preserve published
sums, matter here.

The probability of small counts to a reader of separately rounded tables who adds up their columns.

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
from functools import lru_cache
from typing import Final

import numpy as np

from aegis_advisor.arrays import BoolArray, FloatArray, IntArray, fold
from aegis_advisor.atoms import common_refinement, per_atom
from aegis_advisor.evidence import AttributeEvidence
from aegis_advisor.reconstruction.ipf import never
from aegis_advisor.verdict.model import LIKELY, Path
from aegis_advisor.verdict.rounded import RoundedTable

_MOST_TERMS: Final = 64
"""More roundings in one sum carry no more information than these."""

_WIDEST: Final = 100
"""With a larger base, a small difference would need some 20,000 looks: (base / 0.3)^2 / 6."""

_MOST_UNIONS: Final = 4_000
"""Beyond this many, which no entry has had so far, differences are undecided."""

_MOST_CELLS: Final = 5 * 10**7
"""They are also undecided beyond this product of the numbers of unions, atoms and maskings."""

_MOST_CLOSE: Final = 50_000
"""They are also undecided if more pairs of unions than this are so close that their difference may be small."""


@dataclass(frozen=True, slots=True, eq=False)
class _Unions:
    """Unions of masked values, and their records by each table.

    Attributes:
        atoms: (unions, atoms) whether a union contains the atom: the values that no masking separates.
        values: (atoms,) the number of values of each atom.
        sums: (unions, tables) the records of each union by each table; -1 where a table does not show them.
        cells: (unions, tables) the number of counts in that sum.
        bases: (tables,) the base of each table.
    """

    atoms: BoolArray
    values: IntArray
    sums: IntArray
    cells: IntArray
    bases: IntArray

    @classmethod
    def of(cls, tables: Sequence[RoundedTable]) -> "_Unions | None":
        """Return all masked values and, where they are runs of values, all up to each; None if these are too many."""
        distinct = {table.mappings[0].tobytes(): table for table in tables}
        atom_of = common_refinement([table.mappings[0] for table in distinct.values()], tables[0].mappings[0].size)
        values = np.bincount(atom_of)
        most = sum(2 * len(table.counts) for table in distinct.values())
        if most > _MOST_UNIONS or most * values.size * len(distinct) > _MOST_CELLS:
            return None
        rows = {name: per_atom(table.mappings[0], atom_of, values.size) for name, table in distinct.items()}
        atoms = np.unique(np.concatenate([_unions(row) for row in rows.values()]), axis=0)
        counted = {name: _counted(row, len(distinct[name].counts), atoms) for name, row in rows.items()}
        sums, cells = zip(*(_shown(table, *counted[table.mappings[0].tobytes()]) for table in tables), strict=True)
        bases = np.array([table.base for table in tables])
        return cls(atoms, values, np.stack(sums, axis=1), np.stack(cells, axis=1), bases)


def known_differences(tables: Sequence[RoundedTable], small: int, stop: Callable[[], bool] = never) -> int | None:
    """Return the number of small differences of unions of masked values that a reader of an attribute's tables knows.

    Args:
        tables: all tables of the attribute, its values in the rows.
        small: the largest small count.
        stop: called for each union, and for each two close ones.

    Returns:
        None if undecided: there are too many unions, or too many close ones, looks contradict each other, or `stop` is
        true.
    """
    looking = [table for table in tables if not table.keeps_sums and not table.once and table.base <= _WIDEST]
    if not any(table.base > 1 for table in looking):
        return 0
    drawn = [table for table in tables if table.once and table.within == 1 and table.base <= _WIDEST][:1]
    unions = _Unions.of([*drawn, *looking])
    close = None if unions is None else _close(unions, small, stop)
    if unions is None or close is None:
        return None
    posteriors: dict[int, tuple[int, FloatArray] | None] = {}
    known = set()
    for inner, outer in close:
        for place in (inner, outer):
            if place not in posteriors:
                posteriors[place] = _posterior(unions, place)
        less, more = posteriors[inner], posteriors[outer]
        if less is None or more is None or stop():
            return None
        between = unions.atoms[outer] & ~unions.atoms[inner]
        is_known = _is_known(less, more, int(unions.values[between].sum()), small)
        if is_known is None:
            return None
        if is_known:
            known.add(between.tobytes())
    return len(known)


def _unions(mapping: IntArray) -> BoolArray:
    """(unions, atoms) Each group of a mapping (atoms,) and, if the groups are runs, the union up to each."""
    each = np.asarray(mapping == np.unique(mapping)[:, np.newaxis])
    begins = np.argmax(each, axis=1)
    runs = np.count_nonzero(np.diff(mapping)) == len(each) - 1
    return np.concatenate([each, np.cumsum(each[np.argsort(begins)], axis=0) > 0]) if runs else each


def _counted(row_of: IntArray, rows: int, atoms: BoolArray) -> tuple[BoolArray, BoolArray]:
    """(unions, rows) which rows are in each union, and (unions,) whether no row is only partly in it."""
    inside = fold(atoms.T.astype(np.int64), row_of, rows).T
    whole = inside == np.bincount(row_of, minlength=rows)
    return whole & (inside > 0), np.asarray((whole | (inside == 0)).all(axis=1))


def _shown(table: RoundedTable, counted: BoolArray, is_shown: BoolArray) -> tuple[IntArray, IntArray]:
    """(unions,) The records of each union by a table, -1 where it shows none, and the number of their counts."""
    sums = np.where(is_shown, counted @ table.counts.sum(axis=1), -1)
    return sums, counted.sum(axis=1) * table.counts.shape[1]


def _close(unions: _Unions, small: int, stop: Callable[[], bool]) -> list[tuple[int, int]] | None:
    """Return the pairs of nested unions whose published records differ so little that the difference may be small.

    Only unions with similar records are compared. None if there are too many pairs, or `stop` is true.
    """
    shown: BoolArray = unions.sums >= 0
    records = np.where(shown, unions.sums, 0).sum(axis=1) / np.maximum(shown.sum(axis=1), 1)
    order = np.argsort(records, kind="stable")
    order = order[shown[order].any(axis=1)]
    near = small + 2 * int(unions.bases.max())
    firsts = np.searchsorted(records[order], records[order] - near, side="left")
    ends = np.searchsorted(records[order], records[order] + near, side="right")
    packed, close = np.packbits(unions.atoms, axis=1), list[tuple[int, int]]()
    for outer, first, end in zip(order.tolist(), firsts.tolist(), ends.tolist(), strict=True):
        others = order[first:end]
        inside = others[~(packed[others] & ~packed[outer]).any(axis=1)]
        close += [(inner, outer) for inner in inside.tolist() if inner != outer]
        if len(close) > _MOST_CLOSE or stop():
            return None
    return close


def _posterior(unions: _Unions, place: int) -> tuple[int, FloatArray] | None:
    """Return the least number of records of a union, and (numbers,) the probability of each; None if looks disagree.

    The number of roundings in a sum is not declared: the one that explains the looks best is used, from one on.
    """
    seen = unions.sums[place] >= 0
    sums, cells, bases = unions.sums[place][seen], unions.cells[place][seen], unions.bases[seen]
    best, posterior = -np.inf, None
    for terms in (1 << power for power in range(int(cells.max()).bit_length())):
        least, logs = _log_likelihood(sums, np.minimum(cells, min(terms, _MOST_TERMS)), bases)
        total = float(np.logaddexp.reduce(logs, initial=-np.inf))
        if total > best:
            best, posterior = total, (least, np.exp(logs - total))
    return posterior


def _log_likelihood(sums: IntArray, terms: IntArray, bases: IntArray) -> tuple[int, FloatArray]:
    """Return the smallest number that all looks allow, and (numbers,) the logarithm of the likelihood from there on."""
    off = terms * (bases - 1)
    least = int((sums - off).max())
    numbers = np.arange(least, int((sums + off).min()) + 1)
    logs = np.zeros(numbers.size)
    for look, added, base, most in zip(sums, terms, bases, off, strict=True):
        logs += _log_errors(int(base), int(added))[numbers - look + most]
    return least, logs


@lru_cache(maxsize=256)
def _log_errors(base: int, terms: int) -> FloatArray:
    """(errors,) the logarithm of the probability of each error of a sum of rounded counts, in ascending order."""
    one = np.maximum(0.0, 1 - np.abs(np.arange(1 - base, base)) / base) / base
    return np.log(one if terms == 1 else np.convolve(np.exp(_log_errors(base, terms - 1)), one))


def _is_known(inner: tuple[int, FloatArray], outer: tuple[int, FloatArray], least: int, small: int) -> bool | None:
    """Whether a difference of at least `least` is most likely one small count; None if it cannot be that large."""
    shares = np.convolve(outer[1], inner[1][::-1])
    numbers = np.arange(shares.size) + outer[0] - inner[0] - (inner[1].size - 1)
    possible = np.where(numbers >= least, shares, 0.0)
    if not possible.any():
        return None
    few = (numbers >= 1) & (numbers <= small)
    return bool(possible[few].max(initial=0.0) > LIKELY * possible.sum())


_MOST_WORK: Final = 10_000_000
"""The most multiplications per turn; larger tables are skipped, as sums of many cells say next to nothing about one."""

_TURNS: Final = 6
_CHANGE: Final = 1e-4
_ERROR: Final = 0.02
"""The error of a probability; cells within this of `LIKELY` fail."""


def known_by_label(
    evidence: AttributeEvidence, tables: Sequence[RoundedTable], small: int, stop: Callable[[], bool]
) -> Counter[Path] | None:
    """Count the cells and sums of an attribute's separately rounded tables that a reader who knows the label knows.

    Args:
        small: the largest small count.
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
        if (grid.least <= small).any():
            listed = np.bincount(same[0].mappings[0], minlength=len(grid.least))
            label = evidence.label_histogram, off.rounded_to or evidence.rounded_once or 1
            cells = _known(grid, listed, label, small)
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


def _known(grid: _Grid, listed: IntArray, label: tuple[IntArray, int], small: int) -> int | None:
    """Count the cells and sums of a grid that are most likely one small count; None if nothing fits.

    `label`: the records of each label value, and the base that they were rounded by.
    """
    totals, base = label
    by_row, by_column = np.ones_like(grid.weights), np.ones_like(grid.weights)
    rows = [_Line(grid.least[row], grid.weights[row], int(listed[row])) for row in range(len(listed))]
    columns = [
        _Line(grid.least[:, column], grid.weights[:, column], 1, (total, base))
        for column, total in enumerate(totals.tolist())
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
    each_cell = zip(counts.reshape(-1, counts.shape[-1]), beliefs.reshape(-1, counts.shape[-1]), strict=True)
    cells = sum(_is_known_by_label(of_cell, weights, small) for of_cell, weights in each_cell)
    of_rows = sum(_is_known_by_label(each.sums, each.shares(by_column[row]), small) for row, each in enumerate(rows))
    return (
        cells
        + of_rows
        + sum(
            _is_known_by_label(each.sums, each.shares(by_row[:, column]), small)
            for column, each in enumerate(columns)
            if base > 1
        )
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
        """(cells, counts) The message to each cell: the likelihood of its counts by the sum and others' messages."""
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


def _is_known_by_label(counts: IntArray, weights: FloatArray, small: int) -> bool:
    few = (counts >= 1) & (counts <= small)
    return bool(weights[few].max(initial=0.0) > (LIKELY - _ERROR) * max(float(weights.sum()), 1e-300))
