"""Certain sums, and certain limits of sums, of an attribute's table, from all published counts.

Limits of sums as rows of a matrix, part by part. Cells that are empty because a sum is 0 are left out.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import scipy

from aegis_advisor.arrays import AtomArray, BoolArray, FloatArray, IntArray, fold
from aegis_advisor.atoms import per_atom
from aegis_advisor.evidence import AttributeEvidence, Masking, Perturbation
from aegis_advisor.reconstruction.problem import Margin, Problem


@dataclass(frozen=True, slots=True, eq=False)
class SumLimits:
    """Sums over the atoms of each group, label by label, with limits that are certain.

    Attributes:
        atoms: (members,) the atoms covered; an atom may be a member of several groups.
        group_of: (members,) the group of each member.
        least: (groups, labels) whole numbers as float64.
        most: (groups, labels) likewise; infinite where nothing limits the sum.
    """

    atoms: IntArray
    group_of: IntArray
    least: FloatArray
    most: FloatArray

    @classmethod
    def of_margin(cls, margin: Margin) -> Self:
        """Return sums that are known exactly."""
        return cls(margin.atoms, margin.group_of, margin.counts, margin.counts)

    def of(self, table: FloatArray) -> FloatArray:
        """Compute these sums (groups, labels) for a table (atoms, labels)."""
        return fold(table[self.atoms], self.group_of, self.least.shape[0])


@dataclass(frozen=True, slots=True, eq=False)
class CertainSums:
    """All that is certain about the table (atoms, labels) of an attribute.

    Attributes:
        exact: the sums that are known exactly: the rows (variant I) and margins.
        limits: sums that are known only within limits.
    """

    exact: Problem
    limits: tuple[SumLimits, ...]

    @classmethod
    def of(cls, evidence: AttributeEvidence, atom_of_value: AtomArray, atoms: int) -> Self:
        """Collect what the histograms and all views make certain; counts with noise add nothing (`interval`)."""
        counts, rows = evidence.value_counts, None
        if counts is not None:
            rows = fold(counts, atom_of_value, atoms).astype(np.float64)
        prior = np.bincount(atom_of_value, minlength=atoms).astype(np.float64) if rows is None else rows
        sums = [*_of_label(evidence, atoms), *_of_views(evidence, atom_of_value, atoms)]
        # Margins: each atom is in exactly one group, and every sum is known exactly.
        covering = [one for one in sums if np.array_equal(one.atoms, np.arange(atoms))]
        exact = [one for one in covering if np.array_equal(one.least, one.most)]
        margins = tuple(Margin(one.atoms, one.group_of, one.least) for one in exact)
        problem = Problem(prior, rows, margins, evidence.labels, float(evidence.records))
        return cls(problem, tuple(one for one in sums if all(one is not other for other in exact)))

    @property
    def sums(self) -> Iterator[SumLimits]:
        """All sums except the rows."""
        yield from map(SumLimits.of_margin, self.exact.margins)
        yield from self.limits

    def admits(self, lower: FloatArray, upper: FloatArray) -> bool:
        """Whether the bounds (atoms, labels) are in order and allow every sum."""
        rows = self.exact.rows
        fits = bool(np.all(lower <= upper))
        if rows is not None:
            fits = fits and bool(np.all((lower.sum(axis=1) <= rows) & (upper.sum(axis=1) >= rows)))
        return fits and all(
            bool(np.all((one.of(lower) <= one.most) & (one.of(upper) >= one.least))) for one in self.sums
        )


def interval(perturbation: Perturbation, counts: IntArray, records: int | None) -> tuple[FloatArray, FloatArray]:
    """The limits of the true sums behind these published counts.

    Rounding changes a count by less than its base. A sum can miss at most the left-out records; `records` is the total,
    or None if uncertain. Noise is unbounded, so a count with noise implies nothing for certain, unless the scale is too
    small to change any count.

    Returns:
        The least and the most, in the shape of the counts.
    """
    least = most = counts.astype(np.float64)
    if perturbation.is_noisy:
        return np.zeros_like(least), np.full_like(most, np.inf)
    if perturbation.rounded_to is not None:
        least, most = least - (perturbation.rounded_to - 1), most + (perturbation.rounded_to - 1)
    if perturbation.records is not None:
        most = most + (np.inf if records is None else records - perturbation.records)
    return np.maximum(least, 0.0), most


def label_limits(evidence: AttributeEvidence) -> tuple[FloatArray, FloatArray]:
    """The limits of the records (labels,) of each label; exact counts of any masking determine them."""
    if evidence.knows_label:
        counts = evidence.label_counts.astype(np.float64)
        return counts, counts
    return interval(evidence.label_perturbation, evidence.label_histogram, None)


def _of_label(evidence: AttributeEvidence, atoms: int) -> Iterator[SumLimits]:
    least, most = label_limits(evidence)
    if np.isfinite(most).any() or least.any():
        everything = np.zeros(atoms, dtype=np.int64)
        yield SumLimits(np.arange(atoms), everything, least[np.newaxis], most[np.newaxis])


def _of_views(evidence: AttributeEvidence, atom_of_value: AtomArray, atoms: int) -> Iterator[SumLimits]:
    """The sums of each traceable view without noise."""
    records = evidence.records if evidence.knows_label else None
    for masking in evidence.traceable:
        joint = masking.joint
        if joint is None or masking.perturbation.is_noisy:
            continue
        least, most = interval(masking.perturbation, joint, records)
        if masking.mapping is not None:
            yield SumLimits(np.arange(atoms), per_atom(masking.mapping, atom_of_value, atoms), least, most)
        else:
            yield from _of_chance(masking, atom_of_value, atoms, least, most)


def _of_chance(
    masking: Masking, atom_of_value: AtomArray, atoms: int, least: FloatArray, most: FloatArray
) -> Iterator[SumLimits]:
    """Certain limits from a random masking, which follow only from the masked values possible for each atom.

    The records of a masked value come from atoms that can have it, which limits their sum from below. The records of
    atoms have only masked values that are possible for them, which limits their sum from above. There is a limit of the
    second kind for each set of masked values possible for some atom: it covers all atoms whose possible masked values
    are all in the set. Other sets of masked values are left out (by Hall's theorem all sets would be needed).
    """
    possible = np.zeros((atoms, masking.groups), dtype=bool)
    possible[atom_of_value] = True if masking.transition is None else masking.transition > 0
    members, group_of = np.nonzero(possible)
    yield SumLimits(members, group_of, least, np.full_like(most, np.inf))
    kinds = np.unique(possible, axis=0)
    kind, inside = np.nonzero(_within(possible, kinds))
    all_of_kind = np.stack([most[one].sum(axis=0) for one in kinds])
    yield SumLimits(inside, kind, np.zeros_like(all_of_kind), all_of_kind)


def _within(possible: BoolArray, kinds: BoolArray) -> BoolArray:
    """(kinds, atoms) whether a kind (kinds, groups) includes all groups possible for an atom (atoms, groups)."""
    outside: IntArray = (~kinds).astype(np.int64) @ possible.T.astype(np.int64)
    return np.asarray(outside == 0)


@dataclass(frozen=True, slots=True, eq=False)
class LinearSystem:
    """`least <= matrix @ cells <= most`, with every coefficient 0 or 1, and `0 <= cells <= upper`.

    Attributes:
        cells: (cells,) their indices in the flattened table (atoms, labels).
        matrix: (sums, cells).
        transposed: (cells, sums).
        least: (sums,) whole numbers as float64.
        most: (sums,) likewise; possibly infinite.
        upper: (cells,) the smallest upper limit of the sums that contain each cell.
    """

    cells: IntArray
    matrix: "scipy.sparse.csr_array"
    transposed: "scipy.sparse.csr_array"
    least: FloatArray
    most: FloatArray
    upper: FloatArray

    @classmethod
    def of(cls, limits: Sequence[SumLimits], rows: FloatArray | None, atoms: int, labels: int) -> Self | None:
        """Return all sums of a table (atoms, labels) with these rows (atoms,), over the cells that can have records.

        None if a sum with records has no such cell, so that no table fits.
        """
        matrix, least, most = _incidence(limits, rows, atoms, labels)
        upper = _smallest(matrix, most)
        cells = np.flatnonzero(upper > 0)
        matrix = matrix[:, cells]
        used = np.diff(matrix.indptr) > 0
        if np.any(least[~used] > 0):
            return None
        return cls(cells, matrix[used], matrix[used].T.tocsr(), least[used], most[used], upper[cells])

    @property
    def largest(self) -> float:
        """The largest finite limit."""
        limits = np.concatenate((self.least, self.most))
        return float(limits.max(initial=0.0, where=np.isfinite(limits)))

    def of_cell(self, cell: int) -> IntArray:
        """The sums that a cell is part of."""
        start, stop = self.transposed.indptr[cell : cell + 2]
        return np.asarray(self.transposed.indices[start:stop], dtype=np.int64)

    def admits(self, table: FloatArray) -> bool:
        """Whether a table of whole numbers (cells,) has these sums and no negative cell."""
        sums = self.matrix @ table
        return bool(np.all(table >= 0) and np.all(sums >= self.least) and np.all(sums <= self.most))

    def parts(self) -> Iterator[Self]:
        """Yield the parts of the system that share neither sums nor cells."""
        sums, cells = self.matrix.shape
        link = self.matrix.tocoo()
        graph = scipy.sparse.coo_array((link.data, (link.row, link.col + sums)), shape=(sums + cells, sums + cells))
        count, part_of = scipy.sparse.csgraph.connected_components(graph.tocsr(), directed=False)
        order = np.argsort(part_of[sums:], kind="stable")
        for chosen in np.split(order, np.cumsum(np.bincount(part_of[sums:], minlength=count))[:-1]):
            part = self.transposed[chosen]
            used = np.unique(part.indices)
            part = part[:, used]
            yield type(self)(
                self.cells[chosen], part.T.tocsr(), part, self.least[used], self.most[used], self.upper[chosen]
            )


def _smallest(matrix: "scipy.sparse.csr_array", most: FloatArray) -> FloatArray:
    """(cells,) the least upper limit (sums,) of the sums that contain each cell; infinite if none does."""
    smallest = np.full(matrix.shape[1], np.inf)
    np.minimum.at(smallest, matrix.indices, np.repeat(most, np.diff(matrix.indptr)))
    return smallest


def _incidence(
    limits: Sequence[SumLimits], rows: FloatArray | None, atoms: int, labels: int
) -> "tuple[scipy.sparse.csr_array, FloatArray, FloatArray]":
    """The incidence matrix of sums and cells of the flattened table (sums, atoms * labels), and the limits (sums,)."""
    label = np.arange(labels)
    sums, cells, least, most, offset = [], [], [], [], 0
    for one in limits:
        sums.append(offset + (one.group_of[:, np.newaxis] * labels + label).ravel())
        cells.append((one.atoms[:, np.newaxis] * labels + label).ravel())
        least.append(one.least.ravel())
        most.append(one.most.ravel())
        offset += one.least.size
    if rows is not None:
        everything = np.arange(atoms * labels)
        sums.append(offset + everything // labels)
        cells.append(everything)
        least.append(rows)
        most.append(rows)
        offset += atoms
    row, column = np.concatenate(sums), np.concatenate(cells)
    matrix = scipy.sparse.coo_array((np.ones(row.size), (row, column)), shape=(offset, atoms * labels)).tocsr()
    return matrix, np.concatenate(least), np.concatenate(most)
