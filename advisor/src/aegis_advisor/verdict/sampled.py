"""A uniform sample of the tables of whole numbers with given sums.

A Markov chain adds a multiple of a move to the table: a table of whole numbers that changes no exact sum. The multiple
is uniform over all that leave no cell negative and every sum within its limits, so the chain's stationary distribution
is uniform (Diaconis & Sturmfels 1998, "Algebraic algorithms for sampling from conditional distributions"). The moves
are a basis of the integer kernel and sums of two of them, which need not connect all tables; so chains start at
tables that integer programs find in random directions.
"""

from fractions import Fraction
from math import lcm
from typing import Final

import numpy as np
import scipy

from aegis_advisor.arrays import FloatArray, IntArray
from aegis_advisor.cell_bounds.linear_system import LinearSystem

LARGEST: Final = 200
"""The most cells of a part that is sampled."""

CHAINS: Final = 32
SWEEPS: Final = 60
"""The mean number of times that a chain tries each move; the first half is discarded."""

_SEED: Final = 20260
"""A fixed seed: the same entry gets the same verdict."""


def tables_of(part: LinearSystem) -> FloatArray | None:
    """Return tables (tables, cells) of whole numbers with the sums of a part; None if the search yields none."""
    random = np.random.default_rng(_SEED)
    tables, moves = _starts(part, random), _moves(part)
    if not tables.size or not moves.size:
        return None
    kept = []
    for sweep in range(SWEEPS):
        for _ in range(len(moves)):
            _step(tables, _move(moves, random), part, random)
        if sweep >= SWEEPS // 2:
            kept.append(tables.copy())
    return np.concatenate(kept)


_FAR: Final = 1e6
"""The largest multiple of a move, where nothing limits it."""


def _starts(part: LinearSystem, random: np.random.Generator) -> FloatArray:
    """(chains, cells) tables at random corners."""
    sums = scipy.optimize.LinearConstraint(part.matrix, part.least, part.most)
    limits = scipy.optimize.Bounds(0, np.where(np.isfinite(part.upper), part.upper, np.inf))
    cells = part.cells.size
    solutions = [
        scipy.optimize.milp(
            random.normal(size=cells),
            integrality=np.ones(cells, dtype=np.int64),
            bounds=limits,
            constraints=sums,
            options={"node_limit": 1_000, "mip_rel_gap": 0.5},
        )
        for _ in range(CHAINS)
    ]
    tables = [np.round(solution.x) for solution in solutions if solution.x is not None]
    return np.array([table for table in tables if part.admits(table)]).reshape(-1, cells)


def _moves(part: LinearSystem) -> FloatArray:
    """(moves, cells) a basis of the whole-number tables that change no exact sum."""
    exact = part.least == part.most
    return _kernel(np.asarray(part.matrix[exact].todense(), dtype=np.int64))


def _kernel(matrix: IntArray) -> FloatArray:
    """(vectors, columns) whole-number vectors that span the kernel of a matrix (rows, columns), by elimination."""
    columns = matrix.shape[1]
    rows = [[Fraction(int(number)) for number in row] for row in matrix]
    pivots: list[int] = []
    for column in range(columns):
        place = len(pivots)
        pivot = next((index for index in range(place, len(rows)) if rows[index][column]), None)
        if pivot is None:
            continue
        rows[place], rows[pivot] = rows[pivot], rows[place]
        _eliminate(rows, place, column)
        pivots.append(column)
    free = [column for column in range(columns) if column not in set(pivots)]
    return np.array([_vector(rows, pivots, column, columns) for column in free], dtype=np.float64).reshape(-1, columns)


def _eliminate(rows: list[list[Fraction]], place: int, column: int) -> None:
    """Make a pivot 1, and all else in its column 0."""
    scale = rows[place][column]
    rows[place] = [each / scale for each in rows[place]]
    for index, row in enumerate(rows):
        if index != place and (factor := row[column]):
            rows[index] = [number - factor * own for number, own in zip(row, rows[place], strict=True)]


def _vector(rows: list[list[Fraction]], pivots: list[int], free: int, columns: int) -> list[int]:
    vector = [Fraction(0)] * columns
    vector[free] = Fraction(1)
    for place, pivot in enumerate(pivots):
        vector[pivot] = -rows[place][free]
    scale = lcm(*(number.denominator for number in vector))
    return [int(number * scale) for number in vector]


def _move(moves: FloatArray, random: np.random.Generator) -> FloatArray:
    """A basis vector, or the sum or difference of two."""
    first, second = moves[random.integers(len(moves), size=2)]
    both: FloatArray = first + random.integers(-1, 2) * second
    return both if both.any() else first


def _step(tables: FloatArray, move: FloatArray, part: LinearSystem, random: np.random.Generator) -> None:
    """Add a random multiple of a move (cells,) to each table (tables, cells)."""
    change = part.matrix @ move
    sums = tables @ part.transposed
    moved = np.concatenate([move, change, -change])
    slack = np.concatenate([tables, sums - part.least, part.most - sums], axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        steps = slack / np.abs(moved)
    most = np.floor(np.where(moved < 0, steps, _FAR).min(axis=1))
    least = -np.floor(np.where(moved > 0, steps, _FAR).min(axis=1))
    tables += (least + np.floor(random.random(len(tables)) * (most - least + 1)))[:, np.newaxis] * move
