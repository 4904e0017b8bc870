"""The sums that the counted views of an attribute determine jointly.

Every count of a masked value is a sum over atoms: sets of values that no counted view separates. Linear combinations of
these sums are known, too: where bins overlap, the records between their cuts are a difference.

Atoms that depend on each other through the counted views, and the known counts of sets of them.

Counts that follow from known sums one by one, without solving equations.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
import scipy

from aegis_advisor.arrays import BoolArray, FloatArray, IntArray, fold
from aegis_advisor.atoms import coarsening, common_refinement
from aegis_advisor.evidence.row_space import NEAR, RowSpace


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Atoms whose counts are not all known by themselves.

    Attributes:
        atoms: (atoms,) their indices among all atoms.
        group_of_atom: (views, atoms) the group of each atom in each view; groups of all views are numbered together.
        space: the known combinations of sums over these atoms.
    """

    atoms: IntArray
    group_of_atom: IntArray
    space: RowSpace

    def totals(self, group_of_atom: IntArray) -> dict[int, IntArray] | None:
        """The counts (labels,) of groups of atoms (atoms,), where -1 stands for none; None if one is not known."""
        groups, local = np.unique(group_of_atom, return_inverse=True)
        sets = (local[:, np.newaxis] == np.flatnonzero(groups >= 0)).astype(np.float64)
        known, totals = self.space.totals(sets)
        return dict(zip(groups[groups >= 0].tolist(), totals, strict=True)) if known.all() else None

    def finest_partitions(self) -> list[IntArray]:
        """The finest partitions (atoms,) with known counts: the views, split by other views.

        Each class is numbered by one of its atoms.
        """
        vector = self.space.null_vector(np.random.default_rng(0))
        views = [self._numbered(view) for view in self.group_of_atom]
        if self._may_split(vector):
            others = [*views, np.arange(self.atoms.size)]
            for other in others:
                views = [self._split(view, other, vector) for view in views]
        return _finest(views)

    def _numbered(self, view: IntArray) -> IntArray:
        """Number the classes of a partition (atoms,) by their first atoms."""
        _, first, place = np.unique(view, return_index=True, return_inverse=True)
        return first[place]

    def _may_split(self, vector: FloatArray) -> bool:
        """Whether the counts of an atom, or of an intersection of two groups, may be known."""
        if np.abs(vector).min() < NEAR:
            return True
        groups = int(self.group_of_atom.max()) + 1
        for at, view in enumerate(self.group_of_atom):
            for other in self.group_of_atom[:at]:
                common = view * groups + other
                sums = np.bincount(common, vector)
                size = np.bincount(common)
                if (np.abs(sums[size > 0]) < NEAR).any():
                    return True
        return False

    def _split(self, view: IntArray, other: IntArray, vector: FloatArray) -> IntArray:
        """Split the classes of a partition (atoms,) by those of another, where the counts are known."""
        _, first, piece = np.unique(view * self.atoms.size + other, return_index=True, return_inverse=True)
        whole = np.bincount(piece) == np.bincount(view, minlength=self.atoms.size)[view[first]]
        candidates = np.flatnonzero(~whole & (np.abs(np.bincount(piece, vector)) < NEAR))
        if not candidates.size:
            return view
        known, _ = self.space.totals((piece[:, np.newaxis] == candidates).astype(np.float64))
        chosen = np.isin(piece, candidates[known])
        return self._numbered(np.where(chosen, self.atoms.size + piece, view))


def _finest(partitions: list[IntArray]) -> list[IntArray]:
    """Leave out partitions (atoms,) that another one refines, and duplicates."""
    finest: list[IntArray] = []
    for partition in partitions:
        atoms = partition.size
        if any(coarsening(kept, partition, atoms) is not None for kept in finest):
            continue
        finest = [kept for kept in finest if coarsening(partition, kept, atoms) is None]
        finest.append(partition)
    return finest


UNKNOWN = -1
"""Marks an undetermined count."""


def peel(sums_of: IntArray, sums: IntArray) -> IntArray | None:
    """Determine repeatedly each cell that is the only unknown one of a sum, until there is none.

    The cells of a sum with nothing left are 0, since counts are not negative. Each cell is determined once, so
    the time is proportional to the number of cells in all sums.

    Args:
        sums_of: (views, cells) the sum that contains each cell, one per view.
        sums: (sums,) int64, the total of the cells of each sum.

    Returns:
        (cells,) int64 counts, `UNKNOWN` where peeling does not determine them; None if no counts have these sums.
    """
    peeling = _Peeling(sums_of, sums)
    touched = np.arange(sums.size)
    while touched.size:
        if not peeling.is_possible(touched):
            return None
        touched = peeling.subtract(peeling.determine(touched))
    return peeling.cells


class _Peeling:
    """The rest of each sum: its total, the number of its unknown cells, and the sum of their indices."""

    def __init__(self, sums_of: IntArray, sums: IntArray) -> None:
        views, cells = sums_of.shape
        indices = np.tile(np.arange(cells, dtype=np.float64), views)  # exact: far below 2^53
        self._sums_of = sums_of
        self._left = sums.copy()
        self._open = np.bincount(sums_of.ravel(), minlength=sums.size)
        self._indices = np.bincount(sums_of.ravel(), indices, minlength=sums.size).astype(np.int64)
        self.cells: IntArray = np.full(cells, UNKNOWN, dtype=np.int64)

    def determine(self, touched: IntArray) -> IntArray:
        """Determine the cells that follow from the changed sums (touched,), and return them."""
        alone = touched[self._open[touched] == 1]
        last = self._indices[alone]
        self.cells[last] = self._left[alone]  # if two sums disagree, `is_possible` fails for the other one
        used_up = touched[(self._left[touched] == 0) & (self._open[touched] > 1)]
        empty = self._unknown_in(used_up) if used_up.size else used_up
        self.cells[empty] = 0
        return np.union1d(last, empty)

    def _unknown_in(self, sums: IntArray) -> IntArray:
        chosen: BoolArray = np.zeros(self._left.size, dtype=bool)
        chosen[sums] = True
        return np.flatnonzero(chosen[self._sums_of].any(axis=0) & (self.cells == UNKNOWN))

    def subtract(self, determined: IntArray) -> IntArray:
        """Subtract determined cells from their sums, and return these sums."""
        # Not by broadcasting: `subtract.at` of NumPy 2.4 then reads past the end of the shorter array.
        views, concerned = len(self._sums_of), self._sums_of[:, determined].ravel()
        np.subtract.at(self._left, concerned, np.tile(self.cells[determined], views))
        np.subtract.at(self._open, concerned, 1)
        np.subtract.at(self._indices, concerned, np.tile(determined, views))
        return np.unique(concerned)

    def is_possible(self, sums: IntArray) -> bool:
        """Whether the rest of these sums allows non-negative counts."""
        left = self._left[sums]
        return bool(np.all(left >= 0) and np.all(left[self._open[sums] == 0] == 0))


View = tuple[IntArray, IntArray]
"""A partition (values,) of the domain, and the counts (groups, labels) of its groups."""

LARGEST = 5_000_000
"""The largest table to be peeled: cells of atoms and labels, times views."""

LARGEST_PART = 500_000_000
"""The most groups times atoms, times the lesser of both, of a part whose equations are solved: some tenths of a
second."""


@dataclass(frozen=True, eq=False)
class KnownSums:
    """Exact counts of atoms and of unions of atoms.

    Attributes:
        values: the size of the domain.
        held: (held,) the values that can have records.
        atom_of_held: (held,) the atom of each of them.
        group_of_atom: (views, atoms) the group of each atom in each view; groups of all views are numbered together.
        cells: (atoms, labels) int64, `UNKNOWN` where a count is not known by itself.
        parts: atoms that depend on each other, and are not all known by themselves.
    """

    values: int
    held: IntArray
    atom_of_held: IntArray
    group_of_atom: IntArray
    cells: IntArray
    parts: tuple[Part, ...]

    @classmethod
    def of(cls, views: Sequence[View], histogram: IntArray | None, values: int) -> Self | None:
        """Combine views with exact counts and, in variant I, the histogram (values,).

        Returns:
            None if there is no view, if the counts contradict each other, or if there are too many cells.
        """
        if not views:
            return None
        held = _held(views, histogram, values)
        atom_of_held = common_refinement((mapping[held] for mapping, _ in views), held.size).astype(np.int64)
        atoms = int(atom_of_held.max(initial=-1)) + 1
        sums = np.concatenate([counts for _, counts in views])
        if atoms * sums.shape[1] * len(views) > LARGEST:
            return None
        group_of_atom = _groups_of_atoms(views, held, atom_of_held, atoms)
        rows = None if histogram is None else fold(histogram[held], atom_of_held, atoms)
        cells = _peeled(group_of_atom, sums, rows)
        if cells is None:
            return None
        parts = _solve(group_of_atom, sums, cells)
        return None if parts is None else cls(values, held, atom_of_held, group_of_atom, cells, parts)

    def counts_of(self, mapping: IntArray, groups: int) -> IntArray | None:
        """The counts (groups, labels) of a mapping (values,) if all of them are known; else None."""
        group_of_atom = coarsening(self.atom_of_held, mapping[self.held], self._is_known.size)
        return None if group_of_atom is None else self._totals(group_of_atom, groups)

    @cached_property
    def refined_views(self) -> tuple[View, ...]:
        """The finest known partitions, without those that a single view already refines.

        Each splits a view's groups into atoms with known counts and, in other parts, into intersections with groups of
        other views. Values that cannot have records form the last group.
        """
        refined = (self._refined(partition) for partition in self._finest())
        return tuple(view for view in refined if view is not None)

    @cached_property
    def _is_known(self) -> BoolArray:
        """(atoms,) whether all counts of an atom are known by themselves."""
        return _all_known(self.cells)

    def _totals(self, group_of_atom: IntArray, groups: int) -> IntArray | None:
        """The counts (groups, labels) of groups of atoms (atoms,), if all are known."""
        is_open = np.asarray(self.cells == UNKNOWN)
        whole = fold(np.where(is_open, 0, self.cells), group_of_atom, groups)
        unknown = np.asarray(fold(is_open.astype(np.int64), group_of_atom, groups) > 0)
        if not unknown.any():
            return whole
        concerned: BoolArray = np.logical_or.reduce(unknown, axis=1)
        totals = fold(np.where(self._is_known[:, np.newaxis], self.cells, 0), group_of_atom, groups)
        left = concerned[group_of_atom] & ~self._is_known
        for part in self.parts:
            inside = concerned[group_of_atom[part.atoms]]
            counts = part.totals(np.where(inside, group_of_atom[part.atoms], -1))
            if counts is None:
                return None
            left[part.atoms] = False
            for group, total in counts.items():
                totals[group] += total
        return None if left.any() else np.where(unknown, totals, whole)

    def _finest(self) -> Iterator[IntArray]:
        """Yield partitions (atoms,): known atoms as singletons, and for every part one of its finest partitions."""
        choices = [part.finest_partitions() for part in self.parts]
        for choice in range(max(map(len, choices), default=1)):
            partition = np.arange(self._is_known.size)
            for part, partitions in zip(self.parts, choices, strict=True):
                chosen = partitions[min(choice, len(partitions) - 1)]
                partition[part.atoms] = part.atoms[chosen]
            yield partition

    def _refined(self, partition: IntArray) -> View | None:
        """The view of a partition (atoms,) of the atoms; None if another view refines it."""
        groups = int(self.group_of_atom.max(initial=-1)) + 1
        if any(coarsening(view, partition, groups) is not None for view in self.group_of_atom):
            return None
        names, group_of_atom = np.unique(partition, return_inverse=True)
        counts = self._totals(group_of_atom, names.size)
        if counts is None:
            return None
        mapping = np.full(self.values, names.size)
        mapping[self.held] = group_of_atom[self.atom_of_held]
        empty = np.zeros((int(self.held.size < self.values), counts.shape[1]), dtype=np.int64)
        return mapping, np.concatenate([counts, empty])


def _held(views: Sequence[View], histogram: IntArray | None, values: int) -> IntArray:
    """The values (held,) that can have records: none of their known sums is 0."""
    possible = np.ones(values, dtype=bool) if histogram is None else histogram > 0
    for mapping, counts in views:
        possible = possible & (counts.sum(axis=1) > 0)[mapping]
    return np.flatnonzero(possible)


def _all_known(cells: IntArray) -> BoolArray:
    """(atoms,) whether all counts (atoms, labels) of an atom are known by themselves."""
    known: BoolArray = np.logical_and.reduce(cells != UNKNOWN, axis=1)
    return known


def _groups_of_atoms(views: Sequence[View], held: IntArray, atom_of_held: IntArray, atoms: int) -> IntArray:
    """(views, atoms) the group of each atom in each view; groups of all views are numbered together."""
    group_of_atom = np.empty((len(views), atoms), dtype=np.int64)
    start = 0
    for place, (mapping, counts) in enumerate(views):
        group_of_atom[place, atom_of_held] = mapping[held] + start
        start += len(counts)
    return group_of_atom


def _peeled(group_of_atom: IntArray, sums: IntArray, rows: IntArray | None) -> IntArray | None:
    """The counts (atoms, labels) that peeling determines; None if no counts have these sums.

    Args:
        group_of_atom: (views, atoms).
        sums: (groups, labels).
        rows: (atoms,) the records of each atom; None in variant II.
    """
    labels = sums.shape[1]
    views, atoms = group_of_atom.shape
    sums_of = (group_of_atom[:, :, np.newaxis] * labels + np.arange(labels)).reshape(views, atoms * labels)
    if rows is None:
        cells = peel(sums_of, sums.ravel())
    else:
        row_of_cell = sums.size + np.arange(atoms * labels) // labels
        cells = peel(np.vstack([sums_of, row_of_cell]), np.concatenate([sums.ravel(), rows]))
    return None if cells is None else cells.reshape(atoms, labels)


def _solve(group_of_atom: IntArray, sums: IntArray, cells: IntArray) -> tuple[Part, ...] | None:
    """Fill in the cells (atoms, labels) of uniquely determined parts, and return the other parts.

    None if the counts contradict each other. Parts that are too large are left out.
    """
    known = _all_known(cells)
    left = sums.copy()
    for groups in group_of_atom:
        left -= fold(cells[known], groups[known], len(sums))
    parts = []
    for atoms in _connected(group_of_atom, np.flatnonzero(~known), len(sums)):
        groups, local = np.unique(group_of_atom[:, atoms], return_inverse=True)
        if groups.size * atoms.size * min(groups.size, atoms.size) > LARGEST_PART:
            continue
        local = local.reshape(len(group_of_atom), atoms.size)
        indicators = np.zeros((groups.size, atoms.size))
        indicators[local, np.arange(atoms.size)] = 1.0
        space = RowSpace.of(indicators, left[groups])
        if space is None:
            return None
        table = space.only_table()
        if table is None:
            parts.append(Part(atoms, local, space))
        elif table.min() < 0:
            return None
        else:
            cells[atoms] = table
    return tuple(parts)


def _connected(group_of_atom: IntArray, atoms: IntArray, groups: int) -> list[IntArray]:
    """Sort atoms (n,) into sets that share groups, directly or through others."""
    if not atoms.size:
        return []
    members, place = group_of_atom[:, atoms].ravel(), np.tile(np.arange(atoms.size), len(group_of_atom))
    size = groups + atoms.size
    links = scipy.sparse.coo_array((np.ones(members.size), (members, groups + place)), shape=(size, size))
    part = scipy.sparse.csgraph.connected_components(links.tocsr(), directed=False)[1][groups:]
    order = np.argsort(part, kind="stable")
    return np.split(atoms[order], np.flatnonzero(np.diff(part[order])) + 1)
