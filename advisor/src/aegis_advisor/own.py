"""Deviations against a masking's own reconstruction, as published."""

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from aegis_advisor.arrays import FloatArray, IntArray
from aegis_advisor.deviation import (
    DROP,
    IDENTITY,
    AttributeAssessment,
    MaskingDeviation,
    assess,
    drop_table,
)
from aegis_advisor.errors import OwnReferenceError
from aegis_advisor.evidence import AttributeEvidence
from aegis_advisor.measures import Measure
from aegis_advisor.reconstruction import Certificate, Reference
from aegis_advisor.reconstruction.own import own_reference, rounded_own_reference


def assess_own(
    evidence: AttributeEvidence,
    reference: Reference,
    measure: Measure,
    used: Collection[str],
    seed: int | None,
) -> AttributeAssessment:
    """Measure an attribute as `assess` does, but each masking against its own reconstruction.

    `drop` is the masking with one masked value. Reference utility and bounds are facts about the attribute,
    hence those of the pooled reference. The certificate speaks of the reconstructions before any rounding.

    Args:
        seed: of the randomised rounding; None leaves fractions as they are.

    Raises:
        OwnReferenceError: mapping or counts of a used masking are not known.
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
        own = measure(*own_reference(evidence, mapping, joint))
    else:
        own = measure(rounded_own_reference(evidence, mapping, joint, seed, used_id))
    return MaskingDeviation(utility, abs(own - utility), "definition" if used_id == DROP else "counts")


def _mask(evidence: AttributeEvidence, used_id: str) -> tuple[IntArray, FloatArray]:
    if used_id == DROP:
        return np.zeros(evidence.values, dtype=np.int64), drop_table(evidence)
    masking = evidence.masking(used_id)
    if masking.mapping is None or masking.joint is None or masking.is_fitted:
        raise OwnReferenceError(evidence.name, used_id)
    return masking.mapping, masking.joint.astype(np.float64)
