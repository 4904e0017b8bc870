"""When one masking function is a function of another, so that its tables follow from the other's by folding."""

import numpy as np

from app.advisor.arrays import IntArray


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
