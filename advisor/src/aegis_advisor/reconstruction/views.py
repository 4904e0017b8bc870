"""What each counted view says of the atoms, as a margin of the table that is looked for."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from aegis_advisor.arrays import AtomArray, FloatArray, IntArray
from aegis_advisor.atoms import per_atom
from aegis_advisor.evidence import AttributeEvidence, Masking
from aegis_advisor.reconstruction.alone import counts_of, restored
from aegis_advisor.reconstruction.margin import Margin

LEAST_DEVIATION = 1e-3
"""Counts are whole numbers: to know one to a thousandth of a record is to know it."""

RESOLUTION = 1e-8
"""The part of the records that a fit can tell apart, with some digits to spare."""


def label_margin(evidence: AttributeEvidence, atoms: int) -> Margin:
    """The label's histogram as the margin of all atoms; where it is not certain, its counts vary as is declared."""
    counts, everything = evidence.label_counts[np.newaxis, :].astype(np.float64), np.arange(atoms)
    margin = Margin(everything, np.zeros(atoms, dtype=np.int64), counts)
    if evidence.knows_label:
        return margin
    variance = np.full(counts.shape, evidence.label_perturbation.count_variance)
    return _margin(replace(margin, variance=variance), evidence.records)


def view_margins(evidence: AttributeEvidence, atom_of_value: AtomArray, estimate: FloatArray) -> Iterator[Margin]:
    """The margin of each view that speaks of values, in their order; none tells the values of an atom apart.

    `estimate` (atoms, labels) is a first guess at the table, for the variance of what chance decides.
    """
    for masking in evidence.traceable:
        if masking.transition is not None:
            yield _drawn(masking, masking.transition, evidence, atom_of_value, estimate)
        elif masking.mapping is not None:
            yield _mapped(masking, masking.mapping, evidence, atom_of_value, estimate.shape[0])


def _mapped(
    masking: Masking, mapping: IntArray, evidence: AttributeEvidence, atom_of_value: AtomArray, atoms: int
) -> Margin:
    """The margin of a function of the value, exact unless something else is declared."""
    group_of, everything = per_atom(mapping, atom_of_value, atoms), np.arange(atoms)
    joint = counts_of(masking)
    if masking.perturbation.is_none:
        return Margin(everything, group_of, joint.astype(np.float64))
    # Noise in a masked value that nothing is mapped to says nothing.
    used, group_of = np.unique(group_of, return_inverse=True)
    counts, variance = restored(masking, joint[used], evidence)
    return _margin(Margin(everything, group_of, counts, None, variance), evidence.records)


def _drawn(
    masking: Masking,
    transition: FloatArray,
    evidence: AttributeEvidence,
    atom_of_value: AtomArray,
    estimate: FloatArray,
) -> Margin:
    """The margin of a masking that draws the masked value: its counts have the variance of the draws.

    Given the true table F, a count is a sum of independent draws, `sum_a F(a, y) P(a'|a) (1 - P(a'|a))` its variance.
    Where chance has a say it is taken to be that of a single record at least: an estimate of no records is only one.
    """
    share = np.zeros((estimate.shape[0], masking.groups))
    share[atom_of_value] = transition
    used = np.flatnonzero(share.any(axis=0))
    share = share[:, used]
    counts, variance = restored(masking, counts_of(masking)[used], evidence)
    chance = share * (1.0 - share)
    held = chance[estimate.any(axis=1)]
    variance += np.maximum(chance.T @ estimate, held.max(axis=0, initial=0.0)[:, np.newaxis])
    atoms, group_of = np.nonzero(share)
    return _margin(Margin(atoms, group_of, counts, share[atoms, group_of], variance), evidence.records)


def _margin(margin: Margin, records: int) -> Margin:
    """The margin, exact after all where nothing varies: noise of no scale, draws without chance.

    Otherwise no count is taken to be more certain than matters, next to others that vary.
    """
    variance = margin.variance
    if variance is None or not variance.any():
        whole = margin.share is None or bool((margin.share == 1.0).all())
        return Margin(margin.atoms, margin.group_of, margin.counts, None if whole else margin.share)
    least = (LEAST_DEVIATION + RESOLUTION * records) ** 2
    return replace(margin, variance=np.maximum(variance, least))
