"""Rounded pair counts in which masked values with few records are counted with others."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from aegis_advisor.evidence import fewest_counted
from aegis_provider.control.dependent_rounding import RandomBytes, rounded_once, rounded_up
from aegis_provider.counting.counts import Counts, Partition, Places

_THIN: Final = 4
"""A row of pair counts is thin if it has less than this many times the fewest records of a row."""


def counted_together(
    counts: Counts, views: Sequence[Partition], base: int, random_bytes: RandomBytes, times: int = 1
) -> Mapping[str, Any]:
    """Return the members of a pair that tell its rounded counts.

    Neighbouring masked values are counted together until they have enough records (`fewest_counted`), at the place of
    the last of them. What is left at the end is counted with the last of these.

    Args:
        counts: (first, second) the exact counts.
        views: partitions of the cells, row by row, whose sums are rounded as well.
        base: The base of the multiples.
        random_bytes: The source of randomness.
        times: How many times as many records are enough.
    """
    rows, columns = (
        _places(counts.sum(axis=1 - axis), times * fewest_counted(counts.shape[1 - axis], base)) for axis in (0, 1)
    )
    pooled = np.zeros_like(counts)
    np.add.at(pooled, (rows[:, np.newaxis], columns[np.newaxis]), counts)
    up = rounded_up(np.array([pooled.sum()]), base, random_bytes)
    rounded = rounded_once(pooled.reshape(-1, 1), [_thin(pooled, base), *views], base, up, random_bytes)
    return {"rounded_to": base, "joint": rounded.reshape(counts.shape).tolist()} | (
        {"counted_with": [rows.tolist(), columns.tolist()]} if (pooled != counts).any() else {}
    )


def _places(records: Counts, fewest: int) -> Places:
    """(n,) The place where each masked value is counted, by the records (n,) of each."""
    places, begin, together = np.full(records.size, records.size - 1), 0, 0
    for place, number in enumerate(records.tolist()):
        together += number
        if together >= fewest:
            places[begin : place + 1] = place
            begin, together = place + 1, 0
    if begin > 0:
        places[begin:] = begin - 1
    return places


def _thin(counts: Counts, base: int) -> Partition:
    """Return the cells, row by row, in groups: those of a row with few records, or else of a column with few, together.

    The sum of such a group is then rounded as well, so that not many of its small counts can be rounded up by chance:
    each would be known to be 1.
    """
    of_rows, of_columns = (_THIN * fewest_counted(size, base) for size in counts.shape[::-1])
    rows, columns = counts.sum(axis=1) < of_rows, counts.sum(axis=0) < of_columns
    groups = np.arange(counts.size).reshape(counts.shape)
    groups = np.where(columns, counts.size + np.arange(columns.size), groups)
    groups = np.where(rows[:, np.newaxis], counts.size + columns.size + np.arange(rows.size)[:, np.newaxis], groups)
    return Partition.of(groups.ravel())
