"""Small counts that follow from all exact tables of an attribute with the label, for certain or most likely.

What is most likely is the share of a uniform sample of the tables of whole numbers with the sums. A Markov chain adds a
multiple of a move to the table: a table of whole numbers that changes no exact sum. The multiple is uniform over all
that leave no cell negative and every sum within its limits, so the chain's stationary distribution is uniform (Diaconis
& Sturmfels 1998, "Algebraic algorithms for sampling from conditional distributions"). The moves are a basis of the
integer kernel and sums of two of them, which need not connect all tables; so chains start at tables that integer
programs find in random directions.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import lcm
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import scipy

from aegis_advisor.arrays import BoolArray, FloatArray, IntArray, fold
from aegis_advisor.atoms import per_atom
from aegis_advisor.cell_bounds import CellBounds
from aegis_advisor.cell_bounds.certain_sums import CertainSums, LinearSystem
from aegis_advisor.cell_bounds.linear_programs import CLOSE, InfeasibleError, Simplex
from aegis_advisor.errors import ContradictoryViewsError
from aegis_advisor.evidence import AttributeEvidence, Masking
from aegis_advisor.verdict.model import LIKELY, Finding, Path, Reason, is_exact, is_small
from aegis_advisor.verdict.rounded import RECORDS_PER_VALUE, Look, knows_single

LARGEST: Final = 2_000
"""The most cells of a part that is sampled."""

CHAINS: Final = 32
SWEEPS: Final = 60
"""The mean number of times that a chain tries each move; the first half is discarded."""

_SEED: Final = 20260
"""A fixed seed: the same entry gets the same verdict."""


def tables_of(part: LinearSystem) -> FloatArray | None:
    """Return tables (tables, cells) of whole numbers with the sums of a part; None if the search yields none."""
    random = np.random.default_rng(_SEED)
    exact = part.least == part.most
    # (moves, cells) a basis of the whole-number tables that change no exact sum
    tables, moves = _starts(part, random), _kernel(np.asarray(part.matrix[exact].todense(), dtype=np.int64))
    inexact = part.matrix[~exact]
    limited = replace(
        part, matrix=inexact, transposed=inexact.T.tocsr(), least=part.least[~exact], most=part.most[~exact]
    )
    if not tables.size or not moves.size:
        return None
    kept = []
    for sweep in range(SWEEPS):
        for _ in range(len(moves)):
            _step(tables, _move(moves, random), limited, random)
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


Objects = npt.NDArray[Any]
"""Numbers of any size."""


def _kernel(matrix: IntArray) -> FloatArray:
    """(vectors, columns) whole-number vectors that span the kernel of a matrix (rows, columns), by elimination."""
    columns = matrix.shape[1]
    rows = matrix.astype(object)  # whole numbers as long as all pivots are 1 or -1, then fractions
    pivots: list[int] = []
    for column in range(columns):
        place = len(pivots)
        below = np.flatnonzero(rows[place:, column])
        if below.size:
            rows[[place, place + below[0]]] = rows[[place + below[0], place]]
            _eliminate(rows, place, column)
            pivots.append(column)
    free = [column for column in range(columns) if column not in set(pivots)]
    return np.array([_vector(rows, pivots, column, columns) for column in free], dtype=np.float64).reshape(-1, columns)


def _eliminate(rows: Objects, place: int, column: int) -> None:
    """Make a pivot 1, and all else in its column 0."""
    scale = rows[place, column]
    rows[place] *= scale if scale in (1, -1) else Fraction(1, scale)
    others = np.flatnonzero(rows[:, column])
    others = others[others != place]
    used = np.flatnonzero(rows[place])
    rows[np.ix_(others, used)] -= np.outer(rows[others, column], rows[place, used])


def _vector(rows: Objects, pivots: list[int], free: int, columns: int) -> list[int]:
    vector = [Fraction(0)] * columns
    vector[free] = Fraction(1)
    for place, pivot in enumerate(pivots):
        vector[pivot] = -Fraction(rows[place, free])
    scale = lcm(*(number.denominator for number in vector))
    return [int(number * scale) for number in vector]


def _move(moves: FloatArray, random: np.random.Generator) -> FloatArray:
    """A basis vector, or the sum or difference of two."""
    first, second = moves[random.integers(len(moves), size=2)]
    both: FloatArray = first + random.integers(-1, 2) * second
    return both if both.any() else first


def _step(tables: FloatArray, move: FloatArray, limited: LinearSystem, random: np.random.Generator) -> None:
    """Add a random multiple of a move (cells,) to each table (tables, cells), within the limits of inexact sums."""
    used, change = np.flatnonzero(move), limited.matrix @ move
    sums = np.flatnonzero(change)
    held = (tables @ limited.transposed)[:, sums] if sums.size else np.empty((len(tables), 0))
    moved = np.concatenate([move[used], change[sums], -change[sums]])
    slack = np.concatenate([tables[:, used], held - limited.least[sums], limited.most[sums] - held], axis=1)
    steps = slack / np.abs(moved)
    most = np.floor(steps[:, moved < 0].min(axis=1, initial=_FAR))
    least = -np.floor(steps[:, moved > 0].min(axis=1, initial=_FAR))
    times = least + np.floor(random.random(len(tables)) * (most - least + 1))
    tables[:, used] += times[:, np.newaxis] * move[used]


SAMPLING_ERROR = 0.03
"""The sampling error of a share of tables; cells within this of `LIKELY` fail."""

_PROGRAMS: Final = 2_000
"""The most linear programs for sums of an attribute; the remaining sums are undecided."""

_LARGEST_SUMS: Final = 10_000_000
"""Sums with more cells in all (10 MB) are undecided. They only occur with separately rounded tables."""

Bound = Callable[[AttributeEvidence], CellBounds]
"""Computes the bounds of every cell of an attribute's table."""


def find_certain(place: int, evidence: AttributeEvidence, bound: Bound, small: int) -> Iterator[Finding]:
    """Yield the counts up to `small` that the tables of an attribute determine jointly.

    Counts that were rounded once determine nothing. The published tables are consistent, so they may be the provider's
    own, and so may tables with one record more or less in any cell: these differ from the published ones by less than
    the base, in that cell and in each sum.
    """
    path: Path = ("attributes", place)
    if evidence.rounded_once is not None or evidence.joint is not None:
        return
    yield from _single_records(path, evidence)
    rounded = [one for one in evidence.maskings if one.perturbation.rounded_to is not None]
    rounded = [one for one in rounded if one.joint is not None and not one.perturbation.is_noisy]
    yield from find_determined(path, evidence, bound, small, rounded)


def find_determined(
    path: Path, evidence: AttributeEvidence, bound: Bound, small: int, unknown: Sequence[Masking]
) -> Iterator[Finding]:
    """Yield the cells with counts up to `small` that all tables determine jointly, and the sums of `unknown` maskings.

    Args:
        path: where findings are placed.
        unknown: maskings whose own counts are not exact, or not published.
    """
    try:
        bounds = bound(evidence)
    except ContradictoryViewsError:  # no table of whole numbers fits, so nothing is determined
        yield Finding(Reason.UNDECIDED, path, evidence.values * evidence.labels)
        return
    known = bounds.lower == bounds.upper
    yield from _finding(Reason.CERTAIN, path, known & is_small(bounds.lower, small))
    yield from _of_sums(path, evidence, bounds, small, unknown)
    open_ = ~known & (bounds.lower <= small) & (bounds.upper > 0)
    yield from _of_open_cells(path, evidence, bounds, open_, small)


def _finding(reason: Reason, path: Path, cells: BoolArray) -> Iterator[Finding]:
    if count := int(np.count_nonzero(cells)):
        yield Finding(reason, path, count)


def _single_records(path: Path, evidence: AttributeEvidence) -> Iterator[Finding]:
    """Yield masked values with hardly more records than listed values: as each of these has a record, most have one."""
    if evidence.histogram is not None:
        return
    for index, masking in enumerate(evidence.maskings):
        if masking.joint is None or masking.mapping is None or not is_exact(masking.perturbation):
            continue
        place: Path = (*path, "maskings", index, "joint")
        values, records = np.bincount(masking.mapping, minlength=masking.groups), masking.joint.sum(axis=1)
        alone = (values > 1) & (records == values)
        if cells := int(values[alone].sum()):
            yield Finding(Reason.CERTAIN, place, cells)
        few = np.flatnonzero((values > 1) & ~alone & (records <= RECORDS_PER_VALUE * values))
        known = [
            one for one in few if knows_single((Look.of(1, [int(records[one])]),), int(values[one]), evidence.labels)
        ]
        if known:
            yield Finding(Reason.LIKELY, place, int(values[known].sum()))


def _of_sums(
    path: Path, evidence: AttributeEvidence, bounds: CellBounds, small: int, unknown: Sequence[Masking]
) -> Iterator[Finding]:
    """Yield the small counts of masked values, not known from their own tables, that all tables determine jointly."""
    atoms, labels = bounds.lower.shape
    if sum(_may_be_small(one, bounds, small) for one in unknown) * atoms * labels > _LARGEST_SUMS:
        yield Finding(Reason.UNDECIDED, path, evidence.values * labels)
        return
    sums = _sums(unknown, bounds, small)
    if not len(sums):
        return
    known = CertainSums.of(evidence, bounds.atom_of_value, atoms)
    system = LinearSystem.of(list(known.sums), known.exact.rows, atoms, labels)
    if system is None:
        return
    try:
        least, most, undecided = _ranges(system, sums[:, system.cells])
    except InfeasibleError:  # no table fits all rounded counts, to the solver's tolerance, so nothing follows
        return
    count = np.ceil(least - CLOSE)
    one = np.floor(most + CLOSE) <= count
    yield from _finding(Reason.UNDECIDED, path, undecided & one)
    yield from _finding(Reason.CERTAIN, path, ~undecided & one & (count >= 1) & (count <= small))


def _may_be_small(one: Masking, bounds: CellBounds, small: int) -> int:
    """An upper bound of the small counts and rows of a masking, by the lower bounds of their cells."""
    if one.mapping is None:
        return 0
    least = fold(bounds.lower, per_atom(one.mapping, bounds.atom_of_value, len(bounds.lower)), one.groups)
    return int(np.count_nonzero(least <= small) + np.count_nonzero(least.sum(axis=1) <= small))


def _sums(unknown: Sequence[Masking], bounds: CellBounds, small: int) -> BoolArray:
    """(sums, cells) the cells of the counts of several atoms, and of rows, that may be small."""
    atoms, labels = bounds.lower.shape
    sums: dict[bytes, BoolArray] = {}
    open_ = bounds.lower < bounds.upper
    for mapping in (one.mapping for one in unknown if one.mapping is not None):
        group_of = per_atom(mapping, bounds.atom_of_value, atoms)
        for group in np.unique(group_of):
            inside = group_of == group
            counts = [np.arange(labels) == label for label in range(labels) if inside.sum() > 1]
            for cells in (np.outer(inside, count) for count in (np.ones(labels, dtype=bool), *counts)):
                if cells.sum() > 1 and bounds.lower[cells].sum() <= small and open_[cells].any():
                    sums[cells.tobytes()] = cells.ravel()
    return np.array(list(sums.values()), dtype=bool).reshape(-1, atoms * labels)


def _ranges(system: LinearSystem, sums: BoolArray) -> tuple[FloatArray, FloatArray, BoolArray]:
    """(sums,) the minimum and maximum of each sum over the tables tried, and whether it is undecided.

    A sum that differs by two or more between tables is not determined, and is not optimised any more.
    """
    simplex, least, most = Simplex(system), np.full(len(sums), np.inf), np.full(len(sums), -np.inf)
    undecided, programs = np.zeros(len(sums), dtype=bool), 0
    for place, sign in product(range(len(sums)), (1, -1)):
        if np.floor(most[place] + CLOSE) > np.ceil(least[place] - CLOSE):
            continue
        optimum = simplex.least(np.flatnonzero(sums[place]), sign) if programs < _PROGRAMS else None
        programs += 1
        if optimum is None:
            undecided[place] = True
        else:
            reached = sums @ optimum.point
            least, most = np.minimum(least, reached), np.maximum(most, reached)
    return least, most, undecided


def _of_open_cells(
    path: Path, evidence: AttributeEvidence, bounds: CellBounds, open_: BoolArray, small: int
) -> Iterator[Finding]:
    """Yield the cells that may be small and are, or may be, known with a probability above `LIKELY`.

    A cell bounded only by inexact counts is left to the checks of these.
    """
    exact = [one for one in evidence.maskings if one.constrains]
    if not open_.any() or not exact:
        return
    if not bounds.complete:
        yield from _finding(Reason.UNDECIDED, path, open_)
        return
    likely, undecided = np.zeros(open_.shape, dtype=bool), np.zeros(open_.shape, dtype=bool)
    for part in _parts(evidence, bounds):
        if not open_.flat[part.cells].any():
            continue
        tables = tables_of(part) if part.cells.size <= LARGEST else None
        if tables is None:
            undecided.flat[part.cells] = True
            continue
        # Two counts in the sample prove that a cell is not determined; one shows that the sample is too small.
        undecided.flat[part.cells] = (tables == tables[:1]).all(axis=0)
        counts = np.unique(tables[(tables >= 1) & (tables <= small)])
        of_count = [np.zeros(len(part.cells)), *((tables == count).mean(axis=0) for count in counts)]
        likely.flat[part.cells] = np.max(of_count, axis=0) > LIKELY - SAMPLING_ERROR
    yield from _finding(Reason.LIKELY, path, likely & ~undecided & open_)
    yield from _finding(Reason.UNDECIDED, path, undecided & open_)


def _parts(evidence: AttributeEvidence, bounds: CellBounds) -> Iterator[LinearSystem]:
    atoms, labels = bounds.lower.shape
    known = CertainSums.of(evidence, bounds.atom_of_value, atoms)
    system = LinearSystem.of(list(known.sums), known.exact.rows, atoms, labels)
    if system is not None:
        yield from (part for part in system.parts() if part.cells.size > 1)
