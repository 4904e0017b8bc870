"""Rounded pair counts in which masked values with few records are counted with others."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from aegis_provider.control.dependent_rounding import RandomBytes, rounded_once, rounded_up
from aegis_provider.counting.counts import Counts, Partition, Places

_SMALL: Final = 4
_CELLS_PER_RECORD: Final = 14
_BASES: Final = 3
"""So many bases more have to be published than are needed, since any published count may be too large by a base."""
_THIN: Final = 4
"""A row of pair counts is thin if it has less than this many times the fewest records of a row."""

Margins: TypeAlias = tuple[Counts | None, Counts | None]
"""The published records of each masked value of the two attributes; None if none are published."""


def counted_together(
    counts: Counts, margins: Margins, views: Sequence[Partition], base: int, random_bytes: RandomBytes, times: int = 1
) -> Mapping[str, Any]:
    """Return the members of a pair that tell its rounded counts.

    Neighbouring masked values are counted together until they have enough records, at the place of the last of them.
    What is left at the end is counted with the last of these. Which values these are follows from published counts
    alone: if exact ones decided, a reader could conclude from the places how many records a value has.

    Args:
        counts: (first, second) the exact counts.
        margins: The published records of the masked values.
        views: Partitions of the cells, row by row, whose sums are rounded as well.
        base: The base of the multiples.
        random_bytes: The source of randomness.
        times: How many times as many records are enough.
    """
    rows, columns = (
        _places(counts.shape[axis], margins[axis], times * _enough(counts.shape[1 - axis], base)) for axis in (0, 1)
    )
    pooled = np.zeros_like(counts)
    np.add.at(pooled, (rows[:, np.newaxis], columns[np.newaxis]), counts)
    up = rounded_up(np.array([pooled.sum()]), base, random_bytes)
    rounded = rounded_once(pooled.reshape(-1, 1), [_thin(pooled, base), *views], base, up, random_bytes)
    together = any((places != np.arange(places.size)).any() for places in (rows, columns))
    return {"rounded_to": base, "joint": rounded.reshape(counts.shape).tolist()} | (
        {"counted_with": [rows.tolist(), columns.tolist()]} if together else {}
    )


def fewest_counted(cells: int, base: int) -> int:
    """Return the fewest records of a masked value that should have rounded pair counts of its own.

    A value with at most 4 records should have none: an attribute's pairs, each rounded by itself, would show it as
    often as the attribute has pairs, and their mean would tell how many records it has. Nor should one with at most one
    record for every 14 cells. Nearly all of its cells that are not 0 are 1, so a cell that was rounded up would be
    known to be 1: with `r` records in `c` cells and all tables equally probable, it is with the probability
    `(c / (r + c))^2`, about. With fewer records than the base, all cells could be 0.

    Args:
        cells: How many masked values the other attribute has.
        base: The base to multiples of which the counts are rounded.
    """
    return max(_SMALL + 1, cells // _CELLS_PER_RECORD + 1, base)


def _enough(cells: int, base: int) -> int:
    """Return how many records have to be published so that there are hardly ever fewer than the fewest.

    A published count above 0 can stand for one record. Of four single records, three or more were rounded up to 5 with
    a probability of 3 %, all four with 0.2 %.
    """
    return fewest_counted(cells, base) + _BASES * base


def _places(size: int, records: Counts | None, enough: int) -> Places:
    """(size,) The place where each masked value is counted, by the records of each; one for all if none are known."""
    places, begin, together = np.full(size, size - 1), 0, 0
    for place, number in enumerate([] if records is None else records.tolist()):
        together += number
        if together >= enough:
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
