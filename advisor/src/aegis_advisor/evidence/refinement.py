"""Maskings by id, the identity among them, and when one is a function of another: then its tables follow by folding."""

import numpy as np

from aegis_advisor.arrays import IntArray
from aegis_advisor.evidence.attribute import IDENTITY, AttributeEvidence, Masking


def coarsening(finer: IntArray, coarser: IntArray, groups: int) -> IntArray | None:
    """The function that makes one mapping of another, if there is one.

    Two mappings of the same partition are each a function of the other. The identity, whose mapping is
    `arange(values)`, is finer than every mapping.

    Args:
        finer: (values,) groups below `groups`.
        coarser: (values,) groups.
        groups: how many the finer mapping has.

    Returns:
        (groups,) the coarser group of each finer one, 0 for those that no value maps to: they count nothing. None if
        the coarser mapping tells values apart that the finer one does not.
    """
    found = np.zeros(groups, dtype=np.int64)
    found[finer] = coarser
    return found if np.array_equal(found[finer], coarser) else None


def masking_of(evidence: AttributeEvidence, masking: str) -> Masking | None:
    """The masking of this id; None for the identity."""
    if masking == IDENTITY:
        return None
    return next(one for one in evidence.maskings if one.id == masking)


def groups_of(evidence: AttributeEvidence, masking: str) -> int:
    """How many masked values there are."""
    known = masking_of(evidence, masking)
    return evidence.values if known is None else known.groups


def mapping_of(evidence: AttributeEvidence, masking: str) -> IntArray | None:
    """The masked value (values,) of each value; None if it is not known."""
    known = masking_of(evidence, masking)
    return np.arange(evidence.values) if known is None else known.mapping
