"""Small counts that follow from all exact tables of an attribute jointly, for certain or most likely."""

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Final

import numpy as np

from aegis_advisor.arrays import BoolArray, FloatArray, fold
from aegis_advisor.atoms import per_atom
from aegis_advisor.cell_bounds import CellBounds
from aegis_advisor.cell_bounds.certain_sums import CertainSums
from aegis_advisor.cell_bounds.linear_programs import CLOSE, InfeasibleError, Simplex
from aegis_advisor.cell_bounds.linear_system import LinearSystem
from aegis_advisor.errors import ContradictoryViewsError
from aegis_advisor.evidence import AttributeEvidence, Masking
from aegis_advisor.verdict.model import LIKELY, SMALL, Finding, Path, Reason, is_exact, is_small
from aegis_advisor.verdict.rounded import RECORDS_PER_VALUE, Look, knows_single
from aegis_advisor.verdict.sampled import LARGEST, tables_of

SAMPLING_ERROR = 0.03
"""The sampling error of a share of tables; cells within this of `LIKELY` fail."""

_PROGRAMS: Final = 200
"""The most linear programs for sums of an attribute; the remaining sums are undecided."""

_LARGEST_SUMS: Final = 10_000_000
"""Sums with more cells in all (10 MB) are undecided. They only occur with separately rounded tables."""

Bound = Callable[[AttributeEvidence], CellBounds]
"""Computes the bounds of every cell of an attribute's table."""


def find_certain(place: int, evidence: AttributeEvidence, bound: Bound) -> Iterator[Finding]:
    """Yield the small counts that the tables of an attribute determine jointly.

    Counts that were rounded once determine nothing. The published tables are consistent, so they may be the provider's
    own, and so may tables with one record more or less in any cell: these differ from the published ones by less than
    the base, in that cell and in each sum.

    Args:
        place: the attribute's place in the document.
        evidence: the evidence on it.
        bound: computes the bounds of its cells.
    """
    path: Path = ("attributes", place)
    if evidence.rounded_once is not None or evidence.joint is not None:
        return
    try:
        bounds = bound(evidence)
    except ContradictoryViewsError:  # no table of whole numbers fits, so nothing is determined
        yield Finding(Reason.UNDECIDED, path, evidence.values * evidence.labels)
        return
    known = bounds.lower == bounds.upper
    yield from _finding(Reason.CERTAIN, path, known & is_small(bounds.lower))
    yield from _single_records(path, evidence)
    yield from _of_rounded_sums(path, evidence, bounds)
    yield from _of_open_cells(path, evidence, bounds, ~known & (bounds.lower <= SMALL) & (bounds.upper > 0))


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


def _of_rounded_sums(path: Path, evidence: AttributeEvidence, bounds: CellBounds) -> Iterator[Finding]:
    """Yield the small counts of masked values, rounded in their own tables, that all tables determine jointly."""
    atoms, labels = bounds.lower.shape
    rounded = [one for one in evidence.maskings if one.mapping is not None and _is_rounded(one)]
    if sum(_may_be_small(one, bounds) for one in rounded) * atoms * labels > _LARGEST_SUMS:
        yield Finding(Reason.UNDECIDED, path, evidence.values * labels)
        return
    sums = _rounded_sums(rounded, bounds)
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
    yield from _finding(Reason.CERTAIN, path, ~undecided & one & (count >= 1) & (count <= SMALL))


def _is_rounded(one: Masking) -> bool:
    return one.joint is not None and one.perturbation.rounded_to is not None and not one.perturbation.is_noisy


def _may_be_small(one: Masking, bounds: CellBounds) -> int:
    """An upper bound of the small counts and rows of a masking, by the lower bounds of their cells."""
    if one.mapping is None:
        return 0
    least = fold(bounds.lower, per_atom(one.mapping, bounds.atom_of_value, len(bounds.lower)), one.groups)
    return int(np.count_nonzero(least <= SMALL) + np.count_nonzero(least.sum(axis=1) <= SMALL))


def _rounded_sums(rounded: Sequence[Masking], bounds: CellBounds) -> BoolArray:
    """(sums, cells) the cells of the rounded counts of several atoms, and of rows, that may be small."""
    atoms, labels = bounds.lower.shape
    sums: dict[bytes, BoolArray] = {}
    for one in rounded:
        if one.mapping is None:
            continue
        group_of = per_atom(one.mapping, bounds.atom_of_value, atoms)
        for group in range(one.groups):
            inside = group_of == group
            counts = [np.arange(labels) == label for label in range(labels) if inside.sum() > 1]
            for count in (np.ones(labels, dtype=bool), *counts):
                cells = np.outer(inside, count)
                if bounds.lower[cells].sum() <= SMALL and (bounds.lower < bounds.upper)[cells].any():
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


def _of_open_cells(path: Path, evidence: AttributeEvidence, bounds: CellBounds, open_: BoolArray) -> Iterator[Finding]:
    """Yield the cells that may be small and are, or may be, known with a probability above `LIKELY`.

    A cell bounded only by inexact counts is left to the checks of these.
    """
    exact = [one for one in evidence.maskings if one.constrains]
    if not open_.any() or not exact:
        return
    if not bounds.complete or (bounds.undecided & open_).any():
        yield from _finding(Reason.UNDECIDED, path, open_)
        return
    likely, undecided = np.zeros(open_.shape, dtype=bool), np.zeros(open_.shape, dtype=bool)
    for part in _parts(evidence, bounds):
        if not open_.flat[part.cells].any():
            continue
        tables = tables_of(part) if part.cells.size <= LARGEST else None
        # A cell with several possible counts but a single sampled one shows that the sample is too small.
        undecided.flat[part.cells] = True if tables is None else (tables == tables[:1]).all(axis=0)
        likely.flat[part.cells] = False if tables is None else _share_of_one_value(tables) > LIKELY - SAMPLING_ERROR
    yield from _finding(Reason.LIKELY, path, likely & ~undecided & open_)
    yield from _finding(Reason.UNDECIDED, path, undecided & open_)


def _parts(evidence: AttributeEvidence, bounds: CellBounds) -> Iterator[LinearSystem]:
    atoms, labels = bounds.lower.shape
    known = CertainSums.of(evidence, bounds.atom_of_value, atoms)
    system = LinearSystem.of(list(known.sums), known.exact.rows, atoms, labels)
    if system is not None:
        yield from (part for part in system.parts() if part.cells.size > 1)


def _share_of_one_value(tables: FloatArray) -> FloatArray:
    """(cells,) the largest share of the tables (tables, cells) with the same small count in a cell."""
    shares = [(tables == count).mean(axis=0) for count in range(1, SMALL + 1)]
    return np.asarray(np.max(shares, axis=0))
