"""Array types, and the basic operation of this package: folding a table by a mapping."""

from typing import TypeVar

import numpy as np
import numpy.typing as npt
import scipy

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
AtomArray = npt.NDArray[np.int32]
Codes = npt.NDArray[np.integer]
"""(configurations, attributes), each the index of an option of the attribute."""

Number = TypeVar("Number", np.int64, np.float64)


def indicator(group_of: npt.NDArray[np.integer], groups: int, dtype: type[Number]) -> "scipy.sparse.csc_array":
    """The sparse matrix (groups, n) that sums the rows of a table by group.

    Args:
        group_of: (n,) indices below `groups`.
        groups: the number of groups.
        dtype: the type of the entries, which are 1.
    """
    n = group_of.size  # each column has a single entry, so nothing needs sorting
    return scipy.sparse.csc_array((np.ones(n, dtype=dtype), group_of, np.arange(n + 1)), shape=(groups, n))


SMALL = 3_000
"""Up to this many cells a table is folded cell by cell."""


def fold(table: npt.NDArray[Number], group_of: npt.NDArray[np.integer], groups: int) -> npt.NDArray[Number]:
    """Sum the rows of `table` (n, ...) by group, which gives the masked table of a masking function.

    Integers stay integers, so counts fold exactly as long as their total is below 2^63.

    Returns:
        (groups, ...), zero where a group has no row.
    """
    if table.size <= SMALL and table.ndim == 2:  # noqa: PLR2004 - the usual table; making a matrix would take longer
        labels = table.shape[1]
        small = np.zeros(groups * labels, dtype=table.dtype)
        np.add.at(small, (group_of[:, np.newaxis] * np.int64(labels) + np.arange(labels)).ravel(), table.ravel())
        return small.reshape(groups, labels)
    folded: npt.NDArray[Number] = indicator(group_of, groups, table.dtype.type) @ table
    return folded
