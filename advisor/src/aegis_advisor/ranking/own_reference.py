"""The reference `own` of the paper: each masking is compared with a reconstruction from only its own counts.

These are Algorithms 1 and 2 of the paper, read literally. For a deterministic masking the fit has a closed form that
makes attribute and label independent within each masked value. Mutual information, chi-square, g2 and g3 of the
reconstruction equal those of the masked table, and every deviation is 0 apart from the randomised rounding. It exists
for reproduction; `docs/model.md` says why it must not be the default.
"""

import hashlib
from collections.abc import Collection
from dataclasses import replace

import numpy as np

from aegis_advisor.arrays import FloatArray, IntArray
from aegis_advisor.atoms import AtomStatistics
from aegis_advisor.errors import OwnReferenceError
from aegis_advisor.evidence import DROP, IDENTITY, AttributeEvidence
from aegis_advisor.measures import Measure
from aegis_advisor.ranking.deviation import AttributeAssessment, MaskingDeviation, assess, drop_table
from aegis_advisor.reconstruction import Certificate, Reference
from aegis_advisor.reconstruction.exact import share_out
from aegis_advisor.reconstruction.problem import Margin


def own_reference(
    evidence: AttributeEvidence, mapping: IntArray, joint: FloatArray
) -> tuple[FloatArray, AtomStatistics]:
    """Reconstruct from one masked table (groups, labels), with its groups as the atoms.

    The constraints are the histogram if it is known (type 1), and the masked counts (types 2 and 3).

    Returns:
        The reconstruction collapsed to atoms (groups, labels), which is the masked table itself, and the sums over the
        values of each atom.
    """
    atom_of_value, counts = mapping.astype(np.int32), evidence.value_counts
    if counts is None:
        return joint, AtomStatistics.uniform(atom_of_value, joint.sum(axis=1))
    return joint, AtomStatistics.counted(atom_of_value, joint.shape[0], counts)


def rounded_own_reference(
    evidence: AttributeEvidence, mapping: IntArray, joint: FloatArray, seed: int, masking: str
) -> FloatArray:
    """The reconstruction of one masked table as whole counts (values, labels), by randomised rounding.

    Every entry is rounded up with the probability of its fraction, independently (the paper, section 4.2).
    The generator is keyed by (seed, attribute, masking), so the order of evaluation does not matter.
    """
    counts = evidence.value_counts
    prior = np.ones(evidence.values) if counts is None else counts.astype(np.float64)
    table = share_out(Margin(np.arange(evidence.values), mapping, joint), prior)
    whole = np.floor(table)
    key = "\0".join((str(seed), evidence.name, masking)).encode()
    draws = np.random.default_rng(int.from_bytes(hashlib.sha256(key).digest())).random(table.shape)
    return whole + (draws < table - whole)


def assess_own(
    evidence: AttributeEvidence,
    reference: Reference,
    measure: Measure,
    used: Collection[str],
    seed: int | None,
) -> AttributeAssessment:
    """Measure an attribute as `assess` does, but each masking against its own reconstruction.

    `drop` is the masking with one masked value. The reference utility and the bounds are facts about the attribute, so
    they are those of the pooled reference. The certificate is that of the reconstructions before any rounding.

    Args:
        seed: the seed of the randomised rounding; None keeps fractions.

    Raises:
        OwnReferenceError: the mapping or the exact counts of a masking that is used are not known.
    """
    pooled = assess(evidence, reference, measure, [IDENTITY] if IDENTITY in used else [])
    maskings = dict(pooled.maskings)
    for used_id in used:
        if used_id != IDENTITY:
            maskings[used_id] = _deviation(evidence, measure, used_id, seed)
    certificate = Certificate("own", evidence.values, 0, 0.0, converged=True)
    return replace(pooled, maskings=maskings, certificate=certificate)


def _deviation(evidence: AttributeEvidence, measure: Measure, used_id: str, seed: int | None) -> MaskingDeviation:
    mapping, joint = _mask(evidence, used_id)
    utility = measure(joint)
    if seed is None:
        reference_utility = measure(*own_reference(evidence, mapping, joint))
    else:
        reference_utility = measure(rounded_own_reference(evidence, mapping, joint, seed, used_id))
    return MaskingDeviation(utility, abs(reference_utility - utility), "definition" if used_id == DROP else "counts")


def _mask(evidence: AttributeEvidence, used_id: str) -> tuple[IntArray, FloatArray]:
    if used_id == DROP:
        return np.zeros(evidence.values, dtype=np.int64), drop_table(evidence)
    masking = evidence.masking(used_id)
    if masking.mapping is None or masking.joint is None or masking.is_fitted:
        raise OwnReferenceError(evidence.name, used_id)
    return masking.mapping, masking.joint.astype(np.float64)
