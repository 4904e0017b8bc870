"""The problem: find the table of least information that fits every known margin.

A margin contains known sums over atoms, as each counted view gives them. If the view masks the label as well, they are
sums over blocks: the cells of a group of atoms and a class of labels.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import scipy

from aegis_advisor.arrays import AtomArray, BoolArray, FloatArray, IntArray, fold
from aegis_advisor.atoms import per_atom
from aegis_advisor.evidence import AttributeEvidence, Masking

HOPELESS = 10.0
"""A count whose standard deviation is this many times the number of records carries next to no information."""


@dataclass(frozen=True, slots=True, eq=False)
class Margin:
    """Known sums over some atoms: those of a masked view, or of some of its groups.

    Attributes:
        atoms: (members,) the atoms that it covers.
        group_of: (members,) the group of each member, below the number of groups.
        counts: (groups, labels) the sums over the atoms of each group.
        share: (members,) the share of an atom's records that is in the group, for a random masking: the entries of its
            transition matrix. An atom can then be a member of several groups. None if every share is 1.
        variance: (groups, labels) the variance of each count, 0 for exact ones; None if all are exact.
        column_of: (labels,) the first label of each label's class, whose column has the counts of the class; the
            columns of the other labels are 0. None if every label is a class.
    """

    atoms: IntArray
    group_of: IntArray
    counts: FloatArray
    share: FloatArray | None = None
    variance: FloatArray | None = None
    column_of: IntArray | None = None

    @property
    def groups(self) -> int:
        """The number of groups."""
        return int(self.counts.shape[0])

    def of(self, table: FloatArray) -> FloatArray:
        """Compute these sums (groups, labels) for a table (atoms, labels)."""
        held = table[self.atoms]
        return self.merged(
            fold(held if self.share is None else held * self.share[:, np.newaxis], self.group_of, self.groups)
        )

    def merged(self, sums: FloatArray) -> FloatArray:
        """Add up the columns (groups, labels) of each class of labels, in the column of its first label."""
        if self.column_of is None:
            return sums
        return fold(np.ascontiguousarray(sums.T), self.column_of, self.column_of.size).T

    def spread(self, columns: FloatArray) -> FloatArray:
        """Give each label the column (groups, labels) of its class."""
        return columns if self.column_of is None else columns[:, self.column_of]

    def refines_label_of(self, other: "Margin") -> bool:
        """Whether each of its classes of labels lies within one of the other's."""
        if self.column_of is None or other.column_of is None:
            return self.column_of is None
        return bool((other.column_of[self.column_of] == other.column_of).all())

    def tempered(self, records: float) -> Self:
        """Move counts with very large noise into the range of the records.

        If the standard deviation of a count is many times the number of records, only the slope of its likelihood
        between 0 and all records matters. That slope is preserved. Rounding errors of the original count would exceed
        the tolerance of a fit.
        """
        if self.variance is None:
            return self
        variance = np.minimum(self.variance, (HOPELESS * records) ** 2)
        part = np.divide(variance, self.variance, out=np.ones_like(variance), where=self.variance > 0)
        middle = records / 2
        return replace(self, counts=middle + (self.counts - middle) * part, variance=variance)

    @property
    def is_exact(self) -> bool:
        """Whether it must be met exactly: its sums are over whole atoms, and all its counts are certain."""
        return self.share is None and self.variance is None

    def residual(self, table: FloatArray) -> float:
        """The largest difference between an exact count and that of a table (atoms, labels), in records."""
        gaps = np.abs(self.of(table) - self.counts)
        return float(gaps.max(initial=0.0, where=True if self.variance is None else self.variance == 0))


def counts_of(masking: Masking) -> IntArray:
    """The counts (groups, labels) of a masking as published.

    Raises:
        ValueError: the masking has no counts.
    """
    if masking.joint is None:
        raise ValueError(f"masking {masking.id!r} has no counts")
    return masking.joint


def restored(masking: Masking, joint: IntArray, evidence: AttributeEvidence) -> tuple[FloatArray, FloatArray]:
    """Estimated counts (groups, labels) of all records and their variances, by the masking's declarations."""
    label = evidence.label_counts
    if masking.label_mapping is not None:
        label = fold(label, masking.label_mapping, joint.shape[1])
    return masking.perturbation.restored(joint, label)


LEAST_DEVIATION = 1e-3
"""The lowest standard deviation of an inexact count: counts are whole, so a thousandth of a record is exact enough."""

RESOLUTION = 1e-8
"""The precision of a fit, as a share of the records, with some digits to spare."""


def label_margin(evidence: AttributeEvidence, atoms: int) -> Margin:
    """The label's histogram as a margin of all atoms; if it is not certain, its counts have the declared variance."""
    counts, everything = evidence.label_counts[np.newaxis, :].astype(np.float64), np.arange(atoms)
    margin = Margin(everything, np.zeros(atoms, dtype=np.int64), counts)
    if evidence.knows_label:
        return margin
    variance = np.full(counts.shape, evidence.label_perturbation.count_variance)
    return _margin(replace(margin, variance=variance), evidence.records)


def view_margins(evidence: AttributeEvidence, atom_of_value: AtomArray, estimate: FloatArray) -> Iterator[Margin]:
    """Yield the margin of each traceable view, in order; no view may separate the values of an atom.

    Args:
        atom_of_value: (values,).
        estimate: (atoms, labels) a first estimate of the table, for the variances of random maskings.
    """
    for masking in (*evidence.traceable, *evidence.blocks):
        if masking.transition is not None:
            yield _drawn(masking, masking.transition, evidence, atom_of_value, estimate)
        elif masking.mapping is not None:
            yield _mapped(masking, masking.mapping, evidence, atom_of_value, estimate.shape[0])


def _mapped(
    masking: Masking, mapping: IntArray, evidence: AttributeEvidence, atom_of_value: AtomArray, atoms: int
) -> Margin:
    """The margin of a function of the value, which is exact unless declared otherwise."""
    group_of, everything = per_atom(mapping, atom_of_value, atoms), np.arange(atoms)
    joint = counts_of(masking)
    if masking.perturbation.is_none:
        return _in_columns(Margin(everything, group_of, joint.astype(np.float64)), masking.label_mapping)
    # Noise in a masked value that no value is mapped to carries no information.
    used, group_of = np.unique(group_of, return_inverse=True)
    counts, variance = restored(masking, joint[used], evidence)
    margin = _margin(Margin(everything, group_of, counts, None, variance), evidence.records)
    return _in_columns(margin, masking.label_mapping)


def _in_columns(margin: Margin, class_of: IntArray | None) -> Margin:
    """Move counts (groups, classes) to the columns of the first label of each class, by the class (labels,) of each."""
    if class_of is None:
        return margin
    classes, first, place = np.unique(class_of, return_index=True, return_inverse=True)

    def moved(counts: FloatArray) -> FloatArray:
        columns = np.zeros((margin.groups, class_of.size))
        columns[:, first] = counts[:, classes]
        return columns

    variance = None if margin.variance is None else moved(margin.variance)
    return replace(margin, counts=moved(margin.counts), variance=variance, column_of=first[place])


def _drawn(
    masking: Masking,
    transition: FloatArray,
    evidence: AttributeEvidence,
    atom_of_value: AtomArray,
    estimate: FloatArray,
) -> Margin:
    """The margin of a random masking, whose counts have the variance of the draws.

    Given the true table F, a count is a sum of independent draws with variance `sum_a F(a, y) P(a'|a) (1 - P(a'|a))`.
    A count that chance can change has at least the variance of a single record, since F is only estimated, even where
    the estimate is 0.
    """
    share = _chances(transition, evidence, atom_of_value, estimate.shape[0])
    used = np.flatnonzero(share.any(axis=0))
    share = share[:, used]
    counts, variance = restored(masking, counts_of(masking)[used], evidence)
    chance = share * (1.0 - share)
    variance += np.maximum(chance.T @ estimate, chance.max(axis=0, initial=0.0)[:, np.newaxis])
    atoms, group_of = np.nonzero(share)
    return _margin(Margin(atoms, group_of, counts, share[atoms, group_of], variance), evidence.records)


def _chances(transition: FloatArray, evidence: AttributeEvidence, atom_of_value: AtomArray, atoms: int) -> FloatArray:
    """The share (atoms, groups) of each atom's records that is in each group, by a transition matrix (values, groups).

    The draws of a value without records are irrelevant, but would seem to make counts random. So such a value always
    gets its likeliest masked value.
    """
    empty = _empty_values(evidence)
    share = np.zeros((atoms, transition.shape[1]))
    share[atom_of_value[empty]] = np.eye(transition.shape[1])[transition[empty].argmax(axis=1)]
    share[atom_of_value[~empty]] = transition[~empty]
    return share


def _empty_values(evidence: AttributeEvidence) -> BoolArray:
    """Which values (values,) certainly have no records, by the histogram or by an exact view."""
    counts = evidence.value_counts
    empty: BoolArray = np.zeros(evidence.values, dtype=bool) if counts is None else counts == 0
    for masking in evidence.traceable:
        if masking.mapping is not None and masking.perturbation.is_none:
            held: BoolArray = counts_of(masking).sum(axis=1) > 0
            empty = empty | ~held[masking.mapping]
    return empty


def _margin(margin: Margin, records: int) -> Margin:
    """Mark a margin as exact if no count varies, because the noise is negligible or the draws are deterministic.

    Otherwise raise small variances to the minimum for the precision of a fit.
    """
    variance = margin.variance
    if variance is None or not variance.any():
        whole = margin.share is None or bool((margin.share == 1.0).all())
        return Margin(margin.atoms, margin.group_of, margin.counts, None if whole else margin.share)
    least = (LEAST_DEVIATION + RESOLUTION * records) ** 2
    return replace(margin, variance=np.maximum(variance, least))


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Minimise KL(F || prior) over tables F (atoms, labels) with these margins.

    Attributes:
        prior: (atoms,) the weight of each atom before any counts are used: its records in variant I, proportional to
            the number of its values in variant II. It spreads evenly over the labels.
        rows: (atoms,) the records of each atom (variant I), or None (variant II).
        records: the number of records in the whole table, to which residuals are relative.
    """

    prior: FloatArray
    rows: FloatArray | None
    margins: tuple[Margin, ...]
    labels: int
    records: float

    @classmethod
    def of(
        cls, evidence: AttributeEvidence, atom_of_value: AtomArray, atoms: int, estimate: FloatArray | None = None
    ) -> Self:
        """Return the problem of an attribute: its histogram, the label's histogram and all traceable counts.

        Args:
            atom_of_value: (values,) below `atoms`.
            atoms: the number of atoms.
            estimate: (atoms, labels) an estimate of the table; None assumes independence.
        """
        label = evidence.label_counts[np.newaxis, :].astype(np.float64)
        counts, rows = evidence.value_counts, None
        if counts is not None:
            rows = fold(counts, atom_of_value, atoms).astype(np.float64)
        prior = np.bincount(atom_of_value, minlength=atoms).astype(np.float64) if rows is None else rows
        if estimate is None:
            estimate = prior[:, np.newaxis] / max(float(prior.sum()), 1.0) * label
        margins = label_margin(evidence, atoms), *view_margins(evidence, atom_of_value, estimate)
        if rows is None and not margins[0].is_exact:  # otherwise the prior would not be scaled to the number of records
            prior *= evidence.records / prior.sum()
        return cls(prior, rows, margins, evidence.labels, float(evidence.records))

    @property
    def is_exact(self) -> bool:
        """Whether every margin must be met exactly."""
        return all(margin.is_exact for margin in self.margins)

    def start(self) -> FloatArray:
        """The table (atoms, labels) of the prior."""
        return np.repeat(self.prior[:, np.newaxis] / self.labels, self.labels, axis=1)

    def allowed(self) -> BoolArray:
        """Which cells (atoms, labels) are in no exact margin of 0."""
        allowed = np.repeat(self.prior[:, np.newaxis] > 0, self.labels, axis=1)
        for margin in self.margins:
            if margin.is_exact:
                allowed[margin.atoms] &= margin.spread(margin.counts)[margin.group_of] > 0
        return allowed

    def residual(self, table: FloatArray) -> float:
        """The largest absolute error of `table` (atoms, labels) in an exact margin, over the number of records."""
        gaps = [margin.residual(table) for margin in self.margins]
        if self.rows is not None:
            gaps.append(float(np.abs(table.sum(axis=1) - self.rows).max(initial=0.0)))
        return max(gaps) / max(self.records, 1.0)


def design_of(problem: Problem) -> "scipy.sparse.csr_array":
    """The share (atoms, groups) of each atom in each group, with the groups of all margins one after the other."""
    groups = np.cumsum([0, *(margin.groups for margin in problem.margins)])
    columns = np.concatenate([m.group_of + at for m, at in zip(problem.margins, groups, strict=False)])
    atoms = np.concatenate([margin.atoms for margin in problem.margins])
    shares = np.concatenate([_shares(margin) for margin in problem.margins])
    return scipy.sparse.csr_array((shares, (atoms, columns)), shape=(problem.prior.size, int(groups[-1])))


def _shares(margin: Margin) -> FloatArray:
    return np.ones(margin.atoms.size) if margin.share is None else margin.share
