"""Small sums that tables rounded apart show several times, so that a reader may know them together."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Final

import numpy as np

from aegis_advisor.arrays import IntArray
from aegis_advisor.verdict.model import SMALL, Finding, Path, PublishedCounts, Reason
from aegis_advisor.verdict.rounded import known_cells, knows_small
from aegis_advisor.verdict.rounded_tables import RoundedTable, Sums, tables_of, tables_of_pairs

_CELLS_PER_RECORD: Final = 8
"""Cells of a sum with fewer cells for each record are not looked at: in trials, none of them was known to be small."""


def find_likely(published: PublishedCounts) -> Iterator[Finding]:
    """Yield the places of small counts that a reader of rounded tables knows with a probability above `LIKELY`.

    The reader combines what all tables show of the records of a masked value, and then of each cell that is part of
    them. Of a combination of two values, all tables of these two attributes are combined.
    """
    pairs = list(tables_of_pairs(published))
    cells: Counter[Path] = Counter()
    for place, evidence in enumerate(published.evidence):
        own, path = tables_of(place, evidence), ("attributes", place)
        first = [table for (one, _), table in pairs if one == place]
        second = [table.transposed for (_, other), table in pairs if other == place]
        cells += _of_masked_values(path, [*own, *first, *second])
        cells[path] += _of_combinations(own).total()
    for both in dict.fromkeys(names for names, _ in pairs):
        cells += _of_combinations([table for names, table in pairs if names == both])
    yield from (Finding(Reason.LIKELY, path, count) for path, count in cells.items() if count)


def _of_masked_values(path: Path, tables: Sequence[RoundedTable]) -> Counter[Path]:
    """Count the known numbers of records of (masked) values, and the known cells of each table that add up to them.

    Every listed value has a record, so a masked value has as many as values, at least.
    """
    known: Counter[Path] = Counter()
    rounded = [table for table in tables if table.base > 1]
    for mapping in _distinct(table.mappings[0] for table in rounded):
        sums = [each for table in tables if (each := table.sums(mapping)) is not None]
        least = np.bincount(mapping)
        places = _candidates(sums)
        for place, *looks in zip(places.tolist(), *(each.looks(places) for each in sums), strict=True):
            known[path] += knows_small(tuple(looks), int(least[place]))
            for index, (each, own) in enumerate(zip(sums, looks, strict=True)):
                others = (*looks[:index], *looks[index + 1 :])
                known[each.table.path] += known_cells(own, others, int(least[place]))
    return known


def _of_combinations(tables: Sequence[RoundedTable]) -> Counter[Path]:
    """Count the known sums that two or more tables of the same two attributes, or of one and the label, show.

    Each counts for the table that shows it in most cells: rounded more coarsely, that one would tell less of it.
    """
    known: Counter[Path] = Counter()
    if len(tables) < 2:  # noqa: PLR2004 - one rounded count never tells a small one
        return known
    rows, columns = (list(_distinct(table.mappings[side] for table in tables)) for side in (0, 1))
    for row, column in product(rows, columns):
        sums = [each for table in tables if (each := table.sums(row, column)) is not None]
        if len(sums) > 1:
            places = _candidates(sums)
            for looks in zip(*(each.looks(places) for each in sums), strict=True):
                finest = max(range(len(sums)), key=lambda each: looks[each].size)
                known[sums[finest].table.path] += knows_small(looks)
    return known


def _distinct(mappings: Iterator[IntArray]) -> list[IntArray]:
    return list({mapping.tobytes(): mapping for mapping in mappings}.values())


def _candidates(sums: Sequence[Sums]) -> IntArray:
    """Return the groups whose sum may be small, or so small for its many cells that each of these hardly exceeds 1."""
    least = np.max([each.least for each in sums], axis=0)
    cells = np.max([np.bincount(each.group_of.ravel(), minlength=each.groups) for each in sums], axis=0)
    return np.asarray(np.flatnonzero(least <= np.maximum(SMALL, cells // _CELLS_PER_RECORD)))
