"""Small sums that several separately rounded tables show, so that a reader may combine these.

Values that certainly have 1 to 4 records, even if the exact number is unknown.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Final

import numpy as np

from aegis_advisor.arrays import IntArray
from aegis_advisor.reconstruction.ipf import never
from aegis_advisor.verdict.differences import known_by_label, known_differences
from aegis_advisor.verdict.model import Finding, Path, PublishedCounts, Reason
from aegis_advisor.verdict.privacy_steps import label_totals
from aegis_advisor.verdict.rounded import (
    RECORDS_PER_VALUE,
    RoundedTable,
    Sums,
    known_cells,
    knows_single,
    knows_small,
    tables_of,
    tables_of_pairs,
)

_CELLS_PER_RECORD: Final = 8
"""Sums with fewer cells per record are skipped: in trials, none of their cells was known to be small."""


def find_likely(published: PublishedCounts, stop: Callable[[], bool] = never) -> Iterator[Finding]:
    """Yield the places of small counts that a reader of rounded tables knows with a probability above `LIKELY`.

    The reader combines all tables with the records of a masked value, and then with each of its cells. For a
    combination of two values, all tables of these two attributes are combined. The difference of two nested sums of
    masked values counts, too.

    Args:
        stop: called for each attribute, and for each two sums; if true, the rest is undecided.
    """
    pairs, small = list(tables_of_pairs(published)), published.small
    cells: Counter[Path] = Counter()
    for place, evidence in enumerate(published.evidence):
        own, path = tables_of(place, evidence), ("attributes", place)
        if stop():
            yield Finding(Reason.UNDECIDED, path, evidence.values * evidence.labels)
            continue
        first = [table for (one, _), table in pairs if one == place]
        second = [table.transposed for (_, other), table in pairs if other == place]
        cells.update(_of_masked_values(path, [*own, *first, *second], evidence.labels, small))
        differences = known_differences([*own, *first, *second], small, stop)
        by_label = known_by_label(evidence, own, small, stop)
        if differences is None or by_label is None:
            yield Finding(Reason.UNDECIDED, path, evidence.values)
        cells[path] += _of_combinations(own, small).total() + (differences or 0)
        cells |= by_label or Counter()
    by_attributes: dict[tuple[int, int], list[RoundedTable]] = {}
    for both, table in pairs:
        by_attributes.setdefault(both, []).append(table)
    for tables in by_attributes.values():
        cells.update(_of_combinations(tables, small))
    yield from (Finding(Reason.LIKELY, path, count) for path, count in cells.items() if count)


def _of_masked_values(path: Path, tables: Sequence[RoundedTable], labels: int, small: int) -> Counter[Path]:
    """Count the known record numbers of (masked) values, and the known cells of each table that add up to them.

    Every listed value has a record, so a masked value has at least as many records as values. With hardly more, most of
    its values have one.
    """
    known: Counter[Path] = Counter()
    finest = [table for table in _uncoarsened(tables) if table.base > 1]
    for mapping in _distinct(table.mappings[0] for table in finest):
        least = np.bincount(mapping)
        looks = [each for table in _looking(tables, mapping) if (each := table.sums(mapping)) is not None]
        parts = [each for table in finest if (each := table.sums(mapping)) is not None]
        places = _candidates([*looks, *parts], small, least)
        seen = [look.looks(places) for look in looks]
        for place, shown in zip(places.tolist(), zip(*seen, strict=True), strict=False):
            listed = int(least[place])
            known[path] += listed * knows_single(shown, listed, labels) or knows_small(shown, small, listed)
        for part in parts:
            others = [one for one, look in zip(seen, looks, strict=True) if not _are_one_draw(look.table, part.table)]
            for place, own, *other in zip(places.tolist(), part.looks(places), *others, strict=True):
                known[part.table.path] += known_cells(own, tuple(other), small, int(least[place]))
    return known


def _uncoarsened(tables: Sequence[RoundedTable]) -> list[RoundedTable]:
    """Leave out tables that sum the counts of a finer one of the same draw."""
    kept: list[RoundedTable] = []
    for table in tables:
        if not (table.once and any(other.once and other.sums(table.mappings[0]) is not None for other in kept)):
            kept.append(table)
    return kept


def _looking(tables: Sequence[RoundedTable], mapping: IntArray) -> list[RoundedTable]:
    """Return the new looks at the sums of a grouping (values,): of each draw, only the table with the fewest rows."""
    once = [table for table in tables if table.once and table.sums(mapping) is not None]
    return once[-1:] + [table for table in tables if not table.once and not table.keeps_sums]


def _are_one_draw(one: RoundedTable, other: RoundedTable) -> bool:
    return one is other or (one.once and other.once)


def _of_combinations(tables: Sequence[RoundedTable], small: int) -> Counter[Path]:
    """Count the known sums shown by two or more tables of the same two attributes, or of one and the label.

    Each counts for the table that shows it in the most cells, where coarser rounding would help.
    """
    known: Counter[Path] = Counter()
    apart = [table for place, table in enumerate(tables) if not (table.once and place)]
    if len(apart) < 2:  # noqa: PLR2004 - one rounded count never tells a small one
        return known
    rows, columns = (list(_distinct(table.mappings[side] for table in apart)) for side in (0, 1))
    for row, column in product(rows, columns):
        sums = [each for table in apart if (each := table.sums(row, column)) is not None]
        if not (row.any() and column.any()):  # sums of whole rows or columns
            sums = [each for each in sums if not each.table.keeps_sums]
        if len(sums) > 1:
            places = _candidates(sums, small)
            for looks in zip(*(each.looks(places) for each in sums), strict=True):
                finest = max(range(len(sums)), key=lambda each: looks[each].size)
                known[sums[finest].table.path] += knows_small(looks, small)
    return known


def _distinct(mappings: Iterator[IntArray]) -> list[IntArray]:
    return list({mapping.tobytes(): mapping for mapping in mappings}.values())


def _candidates(sums: Sequence[Sums], small: int, listed: IntArray | int = 0) -> IntArray:
    """Return the groups whose sum may be small, or so small for its many cells that each of these hardly exceeds 1.

    Sums of hardly more records than `listed` values count, too.
    """
    least = np.max([each.least for each in sums], axis=0)
    cells = np.max([np.bincount(each.group_of.ravel(), minlength=each.groups) for each in sums], axis=0)
    few = np.maximum(cells // _CELLS_PER_RECORD, RECORDS_PER_VALUE * listed)
    return np.asarray(np.flatnonzero(least <= np.maximum(small, few)))


def find_known_label(published: PublishedCounts) -> Iterator[Finding]:
    """Yield the label values with certainly one record: each has at least one, and rounding allows no more."""
    if known := sum(least == most <= published.small for least, most in _label(published)):
        yield Finding(Reason.CERTAIN, ("label", "histogram"), known)


def certainly_few(published: PublishedCounts) -> int:
    """Return how many listed values and cells certainly have a small count, even if the exact number is unknown.

    Each listed value has a record. A rounded count is off by less than the base. The table of an attribute with the
    most such values counts.
    """
    totals, small = _label(published), published.small
    few = sum(least < most <= small for least, most in totals)
    most = np.array([most for _, most in totals]) if totals else None
    for place, evidence in enumerate(published.evidence):
        few += max((_few(table, most, small) for table in _rounded(tables_of(place, evidence))), default=0)
    return few + sum(_few(table, None, small) for table in _rounded([table for _, table in tables_of_pairs(published)]))


def _label(published: PublishedCounts) -> Sequence[tuple[int, int]]:
    """The minimum and maximum records of each label value, if they were rounded."""
    first = published.evidence[0]
    is_rounded = first.rounded_once or first.label_perturbation.rounded_to
    return label_totals(first) if is_rounded and first.label_perturbation.noise_scale is None else ()


def _rounded(tables: Sequence[RoundedTable]) -> Sequence[RoundedTable]:
    return [table for table in tables if table.base > 1]


def _few(table: RoundedTable, totals: IntArray | None, small: int) -> int:
    """Count the values of the first attribute (or groups of them), and the cells, that have few records.

    Args:
        totals: The maximum records of each label value; `None` for two attributes, where a value need not have records.
    """
    off = table.base * table.within - 1
    least, most = np.maximum(table.counts - off, 0), table.counts + off
    if totals is None:
        return _certain(least, most, small)
    most = np.minimum(most, totals)
    rows = np.maximum(least.sum(axis=1), np.bincount(table.mappings[0], minlength=len(least)))
    sums = most.sum(axis=1)
    least = np.maximum(least, rows[:, np.newaxis] - (sums[:, np.newaxis] - most))
    return _certain(rows, sums, small) + _certain(least, most, small)


def _certain(least: IntArray, most: IntArray, small: int) -> int:
    return int(np.count_nonzero((least >= 1) & (least < most) & (most <= small)))
