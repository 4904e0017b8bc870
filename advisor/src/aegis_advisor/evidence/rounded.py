"""Counts that were rounded once, as inexact counts of the provider's table."""

from dataclasses import replace

import numpy as np

from aegis_advisor.arrays import IntArray
from aegis_advisor.atoms import coarsening
from aegis_advisor.evidence.attribute import IDENTITY, AttributeEvidence, Masking
from aegis_advisor.evidence.perturbation import Perturbation


def with_declared_rounding(evidence: AttributeEvidence) -> AttributeEvidence:
    """Return evidence in which every table declares its rounding error.

    Every count of a value and a label value is off by less than the base. So is every sum over a group of values if all
    groups nest; sums over groups that cross others may be off by that much for each of their values. The histogram is
    left out: it is a sum of other counts.
    """
    base = evidence.rounded_once
    if base is None:
        return evidence
    mappings = [one.mapping for one in evidence.maskings if one.mapping is not None and one.perturbation.is_none]
    nested = all(_nest(one, other) for place, one in enumerate(mappings) for other in mappings[:place])
    maskings = [_declared(one, base, nested=nested) for one in evidence.maskings]
    if evidence.joint is not None:
        values = np.arange(evidence.values)
        maskings.append(Masking(IDENTITY, evidence.values, values, evidence.joint, True, Perturbation(rounded_to=base)))
    return replace(
        evidence,
        histogram=None,
        joint=None,
        maskings=tuple(maskings),
        label_perturbation=Perturbation(rounded_to=base),
        rounded_once=None,
    )


def _declared(masking: Masking, base: int, *, nested: bool) -> Masking:
    if masking.joint is None or not masking.perturbation.is_none:
        return masking
    values = 1 if nested or masking.mapping is None else int(np.bincount(masking.mapping).max())
    return replace(masking, perturbation=Perturbation(rounded_to=values * (base - 1) + 1))


def _nest(one: IntArray, other: IntArray) -> bool:
    """Whether one of two mappings (values,) is a function of the other."""
    first, second = int(one.max()) + 1, int(other.max()) + 1
    return coarsening(one, other, first) is not None or coarsening(other, one, second) is not None
