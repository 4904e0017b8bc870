"""Counts that follow from known sums one by one, without solving equations."""

import numpy as np

from aegis_advisor.arrays import BoolArray, IntArray

UNKNOWN = -1
"""Marks an undetermined count."""


def peel(sums_of: IntArray, sums: IntArray) -> IntArray | None:
    """Determine repeatedly each cell that is the only unknown one of a sum, until there is none.

    The cells of a sum with nothing left are 0, since counts are not negative. Each cell is determined once, so
    the time is proportional to the number of cells in all sums.

    Args:
        sums_of: (views, cells) the sum that contains each cell, one per view.
        sums: (sums,) int64, the total of the cells of each sum.

    Returns:
        (cells,) int64 counts, `UNKNOWN` where peeling does not determine them; None if no counts have these sums.
    """
    peeling = _Peeling(sums_of, sums)
    touched = np.arange(sums.size)
    while touched.size:
        if not peeling.is_possible(touched):
            return None
        touched = peeling.subtract(peeling.determine(touched))
    return peeling.cells


class _Peeling:
    """The rest of each sum: its total, the number of its unknown cells, and the sum of their indices."""

    def __init__(self, sums_of: IntArray, sums: IntArray) -> None:
        views, cells = sums_of.shape
        indices = np.tile(np.arange(cells, dtype=np.float64), views)  # exact: far below 2^53
        self._sums_of = sums_of
        self._left = sums.copy()
        self._open = np.bincount(sums_of.ravel(), minlength=sums.size)
        self._indices = np.bincount(sums_of.ravel(), indices, minlength=sums.size).astype(np.int64)
        self.cells: IntArray = np.full(cells, UNKNOWN, dtype=np.int64)

    def determine(self, touched: IntArray) -> IntArray:
        """Determine the cells that follow from the changed sums (touched,), and return them."""
        alone = touched[self._open[touched] == 1]
        last = self._indices[alone]
        self.cells[last] = self._left[alone]  # if two sums disagree, `is_possible` fails for the other one
        used_up = touched[(self._left[touched] == 0) & (self._open[touched] > 1)]
        empty = self._unknown_in(used_up) if used_up.size else used_up
        self.cells[empty] = 0
        return np.union1d(last, empty)

    def _unknown_in(self, sums: IntArray) -> IntArray:
        chosen: BoolArray = np.zeros(self._left.size, dtype=bool)
        chosen[sums] = True
        return np.flatnonzero(chosen[self._sums_of].any(axis=0) & (self.cells == UNKNOWN))

    def subtract(self, determined: IntArray) -> IntArray:
        """Subtract determined cells from their sums, and return these sums."""
        # Not by broadcasting: `subtract.at` of NumPy 2.4 then reads past the end of the shorter array.
        views, concerned = len(self._sums_of), self._sums_of[:, determined].ravel()
        np.subtract.at(self._left, concerned, np.tile(self.cells[determined], views))
        np.subtract.at(self._open, concerned, 1)
        np.subtract.at(self._indices, concerned, np.tile(determined, views))
        return np.unique(concerned)

    def is_possible(self, sums: IntArray) -> bool:
        """Whether the rest of these sums allows non-negative counts."""
        left = self._left[sums]
        return bool(np.all(left >= 0) and np.all(left[self._open[sums] == 0] == 0))
