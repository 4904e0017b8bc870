"""Atoms: sets of values that no mapping distinguishes.

Within an atom the reference is proportional to the histogram (variant I) or uniform over the values
(variant II), so a domain of a million values collapses to its common refinement without loss. Measures that
depend on single values get a few sums per atom instead.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np
import scipy

from aegis_advisor.arrays import AtomArray, FloatArray, IntArray, fold


@dataclass(frozen=True, slots=True, eq=False)
class AtomStatistics:
    """Sums over the single values of each atom, from their counts `f(a)`. All arrays are (atoms,).

    Attributes:
        values: int64, the number of values.
        occupied: int64, the number of values with records.
        squares: float64, sum of f(a)^2, in records squared.
        logs: float64, sum of f(a) ln f(a), in records times nats.
    """

    values: IntArray
    occupied: IntArray
    squares: FloatArray
    logs: FloatArray

    @classmethod
    def counted(cls, atom_of_value: AtomArray, atoms: int, histogram: IntArray) -> Self:
        """Sum a known histogram (values,) over the atoms (variant I)."""
        counts = histogram.astype(np.float64)
        return cls(
            values=_sizes(atom_of_value, atoms),
            occupied=np.bincount(atom_of_value, histogram > 0, minlength=atoms).astype(np.int64),
            squares=fold(counts**2, atom_of_value, atoms),
            logs=fold(_xlogy(counts, counts), atom_of_value, atoms),
        )

    @classmethod
    def uniform(cls, atom_of_value: AtomArray, records: FloatArray) -> Self:
        """Spread the records (atoms,) of each atom evenly over its values (variant II)."""
        values = _sizes(atom_of_value, records.size)
        each = records / np.maximum(values, 1)  # a masked value that no value maps to has no records
        return cls(
            values=values, occupied=np.where(records > 0, values, 0), squares=records * each, logs=_xlogy(records, each)
        )


def common_refinement(mappings: Iterable[IntArray], values: int) -> AtomArray:
    """The coarsest partition of the domain that refines every mapping.

    Args:
        mappings: each (values,), indices of masked values.
        values: the size of the domain.

    Returns:
        (values,) the atom of each value, int32, numbered without gaps in the order of first occurrence. Atoms thus
        keep the order of the domain.
    """
    atom_of_value = np.zeros(values, dtype=np.int64)
    for mapping in mappings:
        groups = int(mapping.max(initial=0)) + 1
        atoms = int(atom_of_value.max(initial=0)) + 1
        if coarsening(atom_of_value, mapping, atoms) is not None:
            continue  # earlier mappings already refine this one, as in levels of a hierarchy
        atom_of_value = _renumber(atom_of_value * groups + mapping, atoms * groups)
    return _in_order_of_occurrence(atom_of_value).astype(np.int32)


def coarsening(finer: IntArray, coarser: IntArray, groups: int) -> IntArray | None:
    """Return the function that turns the finer mapping into the coarser one.

    Two mappings with the same partition are functions of each other. The identity, whose mapping is
    `arange(values)`, is finer than every mapping.

    Args:
        finer: (values,) groups below `groups`.
        coarser: (values,) groups.
        groups: the number of groups of the finer mapping.

    Returns:
        (groups,) the coarser group of each finer one; 0 for groups that no value maps to, since they have no records.
        None if there is no such function: the coarser mapping separates values that the finer one does not.
    """
    outer = np.zeros(groups, dtype=np.int64)
    outer[finer] = coarser
    return outer if np.array_equal(outer[finer], coarser) else None


def per_atom(mapping: IntArray, atom_of_value: AtomArray, atoms: int) -> IntArray:
    """The masked value (atoms,) of each atom, by a mapping (values,) that splits no atom."""
    group_of_atom = np.zeros(atoms, dtype=np.int64)
    group_of_atom[atom_of_value] = mapping
    return group_of_atom


def _renumber(codes: IntArray, span: int) -> IntArray:
    """Renumber the codes (n,) below `span` from 0 without gaps, in their order."""
    if span > 8 * codes.size:  # a lookup table of all codes would cost more than sorting
        return np.unique(codes, return_inverse=True)[1].astype(np.int64)
    used = np.zeros(span, dtype=np.int64)
    used[codes] = 1
    return (np.cumsum(used) - 1)[codes]


def _in_order_of_occurrence(atom_of_value: IntArray) -> IntArray:
    """Renumber the parts of a partition (values,) in the order of first occurrence."""
    values = atom_of_value.size
    first = np.full(int(atom_of_value.max(initial=-1)) + 1, values)
    first[atom_of_value[::-1]] = np.arange(values - 1, -1, -1)
    number = np.empty_like(first)
    number[np.argsort(first)] = np.arange(first.size)
    return number[atom_of_value]


def _xlogy(weights: FloatArray, counts: FloatArray) -> FloatArray:
    return np.asarray(scipy.special.xlogy(weights, counts), dtype=np.float64)


def _sizes(atom_of_value: AtomArray, atoms: int) -> IntArray:
    return np.bincount(atom_of_value, minlength=atoms).astype(np.int64)
