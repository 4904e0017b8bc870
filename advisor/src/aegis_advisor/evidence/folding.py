"""Counts that follow from other counts by folding."""

import numpy as np

from aegis_advisor.arrays import BoolArray, IntArray, fold
from aegis_advisor.evidence.attribute import IDENTITY, AttributeEvidence, Masking


def exact_counts(evidence: AttributeEvidence, masking: Masking) -> IntArray | None:
    """The exact counts (groups, labels) of a deterministic masking; None if they are not certain.

    They are certain in four cases: they are published; the unmasked counts are published; every group is a union of
    groups of one counted, mapped view (possibly of different views for different groups); or the counted, mapped views
    determine them together (`KnownSums`). In the last two cases they are sums and differences of published counts,
    however well the reconstruction has converged. Counts of a masking that is not a function of the value are not those
    of a view, and never certain in this sense. Counts with noise, rounding or left-out records are not used.
    """
    if masking.exact:
        return masking.joint
    if masking.mapping is None:
        return None
    if evidence.joint is not None:
        return fold(evidence.joint, masking.mapping, masking.groups)
    united = _united_counts(evidence, masking.mapping, masking.groups)
    if united is not None or evidence.known_sums is None:
        return united
    return evidence.known_sums.counts_of(masking.mapping, masking.groups)


def masked_records(evidence: AttributeEvidence, masking: str) -> IntArray | None:
    """(groups,) the records of each masked value by the attribute's own counts; None if unknown."""
    if masking == IDENTITY:
        return evidence.value_counts
    known = evidence.masking(masking)
    if known.joint is not None and known.perturbation.is_complete:
        records: IntArray = known.joint.sum(axis=1)
        return records
    if known.mapping is None or evidence.value_counts is None:
        return None
    return fold(evidence.value_counts[:, np.newaxis], known.mapping, known.groups)[:, 0]


def _united_counts(evidence: AttributeEvidence, mapping: IntArray, groups: int) -> IntArray | None:
    counts = np.zeros((groups, evidence.labels), dtype=np.int64)
    missing = np.bincount(mapping, minlength=groups) > 0
    for view in evidence.maskings:
        if not missing.any():
            break
        if view.mapping is None or view.joint is None or not view.exact:
            continue
        group_of, whole = _whole_groups(view.mapping, mapping, view.groups)
        splitting = np.zeros(groups, dtype=bool)
        splitting[mapping[~whole[view.mapping]]] = True
        united = fold(view.joint[whole], group_of[whole], groups)
        whole_here = missing & ~splitting
        counts[whole_here] = united[whole_here]
        missing &= splitting
    return None if missing.any() else counts


def _whole_groups(view: IntArray, mapping: IntArray, groups: int) -> tuple[IntArray, BoolArray]:
    """For each group (groups,) of a view: a group of `mapping` that shares values with it, and whether it contains
    all.
    """
    target = np.zeros(groups, dtype=np.int64)
    target[view] = mapping
    whole = np.bincount(view, minlength=groups) > 0
    whole[view[target[view] != mapping]] = False
    return target, whole
