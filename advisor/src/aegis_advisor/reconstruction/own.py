"""The reconstruction as published: one per masking, from that masking's own counts alone.

Algorithms 1 and 2 of the paper, read literally. For a deterministic masking the fit has a closed form that
makes attribute and label independent within each masked value: mutual information, chi-square, g2 and g3 of
the reconstruction equal those of the masked table, and every deviation is 0 but for the randomised rounding.
It is here for reproduction; why it must not be the default: model, section 3.
"""

import hashlib

import numpy as np

from aegis_advisor.arrays import FloatArray, IntArray
from aegis_advisor.atoms import AtomStatistics
from aegis_advisor.evidence import AttributeEvidence
from aegis_advisor.reconstruction.exact import share_out
from aegis_advisor.reconstruction.problem import Margin


def own_reference(
    evidence: AttributeEvidence, mapping: IntArray, joint: FloatArray
) -> tuple[FloatArray, AtomStatistics]:
    """Reconstruct from one masked table (groups, labels): its groups are the atoms.

    Constraints: the histogram where it is known (type 1), the masked counts (types 2 and 3).

    Returns:
        The reconstruction collapsed to atoms (groups, labels), which is the masked table itself, and what is
        left of the single values.
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
    The generator is keyed by (seed, attribute, masking), so that the order of evaluation does not matter.
    """
    counts = evidence.value_counts
    prior = np.ones(evidence.values) if counts is None else counts.astype(np.float64)
    table = share_out(Margin(np.arange(evidence.values), mapping, joint), prior)
    whole = np.floor(table)
    draws = _generator(seed, evidence.name, masking).random(table.shape)
    return whole + (draws < table - whole)


def _generator(seed: int, attribute: str, masking: str) -> np.random.Generator:
    key = "\0".join((str(seed), attribute, masking)).encode()
    return np.random.default_rng(int.from_bytes(hashlib.sha256(key).digest()))
