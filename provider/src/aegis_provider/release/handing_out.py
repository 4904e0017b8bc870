"""Hands the masked values of a draw out to the records, block by block."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from aegis_provider.counting.counts import Counts
from aegis_provider.counting.partition import Places


class ExhaustedError(Exception):
    """More records of a value and a label came than the draw has masked values for."""


class Urns:
    """For every pair of value and label an urn of masked values, from which its records draw without replacement.

    When all records have come, every urn is empty: the counts are those of the draw exactly. All orders in which the
    records of a pair can get its masked values are equally likely, as if the urn were shuffled and dealt out.
    """

    def __init__(self, counts: Counts, random: np.random.Generator) -> None:
        """`counts`: (values, labels, masked values) how many; (1, ...) where the urn is the same for all values."""
        self._values, self._labels, masked = counts.shape
        self._left = counts.reshape(-1, masked).astype(np.int64)
        self._random = random

    def draw(self, values: Places, labels: Places) -> Places:
        """(records,) a masked value for each of these records. Raises `ExhaustedError`."""
        cells = labels if self._values == 1 else values * self._labels + labels
        found = np.empty(len(cells), dtype=np.intp)
        for cell, records in _groups(cells):
            found[records] = self._draw(self._left[cell], len(records))
        return found

    def _draw(self, urn: Counts, many: int) -> Places:
        """Takes this many out of an urn, in the order in which they are drawn.

        The urn's content is numbered, and numbers are drawn: NumPy's own draws from an urn end at 10^9.
        """
        ends = np.cumsum(urn)
        if many > ends[-1]:
            raise ExhaustedError
        numbers = self._random.choice(ends[-1], many, replace=False)
        drawn = np.searchsorted(ends, numbers, side="right")
        urn -= np.bincount(drawn, minlength=len(urn))
        return drawn


def _groups(cells: Places) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """Every cell that occurs, ascending, and the records that are in it."""
    order = np.argsort(cells, kind="stable")
    found, starts = np.unique(cells[order], return_index=True)
    yield from zip(found.tolist(), np.split(order, starts[1:]), strict=True)
