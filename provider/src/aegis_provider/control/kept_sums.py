"""Rounding of a table to sums of rows and columns that are published already: controlled rounding with fixed margins.

Each cell is drawn up or down by itself, without bias; then as few and as likely cells as possible are drawn again so
that all sums are met. That is a flow from rows to columns (Causey, Cox & Ernst 1985, "Applications of transportation
theory to statistical problems"), so the linear program has a solution in whole multiples of the base.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from aegis_provider.control.dependent_rounding import RandomBytes, rounded_once, rounded_up, uniform
from aegis_provider.counting.counts import Counts, Partition, Places

_Floats: TypeAlias = NDArray[np.float64]

_BEYOND: Final = 1e3
"""The price of a cell that is off by a base or more; single cells cost a few units."""
_NOT_ZERO: Final = 2e3
"""That of one without records that gets some."""
_FURTHER: Final = 1e6
"""That of each further base."""

_PARTS: Final = 2**40
"""A price is drawn with so many equal steps."""


@dataclass(frozen=True, eq=False)
class _Steps:
    """By how many multiples cells may differ from the multiple below them: variables of the linear program.

    Attributes:
        cells: (steps,) the cell, row by row.
        signs: (steps,) 1, or -1 for steps down.
        most: (steps,) how many steps there may be.
        prices: (steps,) what each costs.
    """

    cells: Places
    signs: Counts
    most: _Floats
    prices: _Floats

    @classmethod
    def together(cls, *several: "_Steps") -> Self:
        """Return all of several."""
        members = ("cells", "signs", "most", "prices")
        return cls(*(np.concatenate([getattr(each, name) for each in several]) for name in members))


def rounded_to_sums(
    counts: Counts, sums: tuple[Counts, Counts], views: Sequence[Partition], base: int, random_bytes: RandomBytes
) -> tuple[Counts, int]:
    """Round counts to multiples of a base with given sums of rows and columns.

    Where it is possible, every count becomes the next multiple below or above, and a multiple stays. Otherwise the
    fewest cells are off by more, those without records last. The expected error of a cell is not quite 0, since the
    sums are off themselves: up to half a record in small tables, a tenth in most (docs/model.md).

    Args:
        counts: (rows, columns).
        sums: (rows,) and (columns,) multiples of the base with one total.
        views: Partitions of the cells, row by row, whose sums should be rounded as well as possible.
        base: The base of the multiples.
        random_bytes: The source of randomness.

    Returns:
        The rounded counts (rows, columns), and of how many bases each is off by less.
    """
    below = counts // base
    drawn = _drawn(counts, views, base, random_bytes)
    steps, missing = _of_one_base(counts % base, drawn, base, random_bytes), _missing(below, sums, base)
    found = _nearest(steps, missing, counts.shape[1])
    if found is None:
        steps = _Steps.together(steps, _of_more(counts, below, random_bytes))
        found = _nearest(steps, missing, counts.shape[1])
    if found is None:
        raise ValueError("the sums of the rows and of the columns have different totals")
    multiples = below.copy().reshape(-1)
    np.add.at(multiples, steps.cells, steps.signs * found)
    rounded: Counts = multiples.reshape(counts.shape) * base
    return rounded, int(np.max(np.abs(rounded - counts), initial=0)) // base + 1


def _drawn(counts: Counts, views: Sequence[Partition], base: int, random_bytes: RandomBytes) -> NDArray[np.bool_]:
    """(rows, columns) whether each cell is rounded up before the sums are looked at."""
    up = rounded_up(np.array([counts.sum()]), base, random_bytes)
    return rounded_once(counts.reshape(-1, 1), views, base, up, random_bytes).reshape(counts.shape) > counts


def _of_one_base(remainders: Counts, drawn: NDArray[np.bool_], base: int, random_bytes: RandomBytes) -> _Steps:
    """Return the steps to the next multiple: cheap as they were drawn, dearer the less likely the other way is."""
    cells = np.flatnonzero(remainders)
    up, chance = drawn.reshape(-1)[cells], remainders.reshape(-1)[cells] / base
    price = _exponential(cells.size, random_bytes) - np.log(np.where(up, 1 - chance, chance))
    return _Steps(cells, np.ones(cells.size, np.int64), np.ones(cells.size), np.where(up, -price, price))


def _of_more(counts: Counts, below: Counts, random_bytes: RandomBytes) -> _Steps:
    """Return the steps by which cells are off by a base or more."""
    size, many = counts.size, np.flatnonzero(below)
    first = np.where(counts.reshape(-1) == 0, _NOT_ZERO, _BEYOND) + _exponential(size, random_bytes)
    every = np.arange(size)
    return _Steps(
        np.concatenate([every, every, many]),
        np.repeat([1, -1], [2 * size, many.size]),
        np.concatenate([np.ones(size), np.full(size, np.inf), below.reshape(-1)[many]]),
        np.concatenate([first, np.full(size, _FURTHER), _BEYOND + _exponential(many.size, random_bytes)]),
    )


def _missing(below: Counts, sums: tuple[Counts, Counts], base: int) -> Counts:
    """(rows + columns,) How many multiples each sum lacks if every cell is rounded down."""
    rows, columns = sums
    return np.concatenate([rows // base - below.sum(axis=1), columns // base - below.sum(axis=0)])


def _nearest(steps: _Steps, missing: Counts, columns: int) -> Counts | None:
    """(steps,) The cheapest numbers of steps that make up for what the sums lack; None if there are none."""
    rows = missing.size - columns
    if not steps.cells.size:
        return None if missing.any() else np.zeros(0, dtype=np.int64)
    ends = np.concatenate([steps.cells // columns, rows + steps.cells % columns])
    each = np.arange(steps.cells.size)
    of_sums = sparse.csc_matrix((np.tile(steps.signs, 2), (ends, np.tile(each, 2))), shape=(missing.size, each.size))
    found = milp(
        steps.prices,
        bounds=Bounds(0, steps.most),
        constraints=LinearConstraint(of_sums, missing, missing),
        options={"presolve": False},  # it takes longer than these programs do
    )
    return None if found.x is None else np.rint(found.x).astype(np.int64)


def _exponential(size: int, random_bytes: RandomBytes) -> _Floats:
    """(size,) Exponential numbers with mean 1."""
    parts = uniform(np.full(size, _PARTS, dtype=np.int64), random_bytes)
    return np.asarray(-np.log((parts + 0.5) / _PARTS))
