"""Atoms that depend on each other through the counted views, and the known counts of sets of them."""

from dataclasses import dataclass

import numpy as np

from aegis_advisor.arrays import FloatArray, IntArray
from aegis_advisor.atoms import coarsening
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
