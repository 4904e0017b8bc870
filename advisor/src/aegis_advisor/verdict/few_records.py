"""Values that certainly have 1 to 4 records, even if the exact number is unknown."""

from collections.abc import Iterator, Sequence

import numpy as np

from aegis_advisor.arrays import IntArray
from aegis_advisor.verdict.model import SMALL, Finding, PublishedCounts, Reason
from aegis_advisor.verdict.privacy_numbers import label_totals
from aegis_advisor.verdict.rounded_tables import RoundedTable, tables_of, tables_of_pairs


def find_known_label(published: PublishedCounts) -> Iterator[Finding]:
    """Yield the label values that certainly have one record: each listed value has at least one, and rounding allows no
    more.
    """
    if known := sum(least == most <= SMALL for least, most in _label(published)):
        yield Finding(Reason.CERTAIN, ("label", "histogram"), known)


def certainly_few(published: PublishedCounts) -> int:
    """Return how many listed values and cells certainly have 1 to `SMALL` records, even if the exact number is unknown.

    Each listed value has a record. A rounded count is off by less than the base. The table of an attribute with the
    most such values counts.
    """
    totals = _label(published)
    few = sum(least < most <= SMALL for least, most in totals)
    most = np.array([most for _, most in totals]) if totals else None
    for place, evidence in enumerate(published.evidence):
        few += max((_few(table, most) for table in _rounded(tables_of(place, evidence))), default=0)
    return few + sum(_few(table, None) for table in _rounded([table for _, table in tables_of_pairs(published)]))


def _label(published: PublishedCounts) -> Sequence[tuple[int, int]]:
    """The minimum and maximum records of each label value, if they were rounded."""
    first = published.evidence[0]
    is_rounded = first.rounded_once or first.label_perturbation.rounded_to
    return label_totals(first) if is_rounded and first.label_perturbation.noise_scale is None else ()


def _rounded(tables: Sequence[RoundedTable]) -> Sequence[RoundedTable]:
    return [table for table in tables if table.base > 1]


def _few(table: RoundedTable, totals: IntArray | None) -> int:
    """Count the values of the first attribute (or groups of them), and the cells, that have few records.

    Args:
        table: The table, of two attributes or of one and the label.
        totals: The maximum records of each label value; `None` for two attributes, where a value need not have records.
    """
    off = table.base * table.within - 1
    least, most = np.maximum(table.counts - off, 0), table.counts + off
    if totals is None:
        return _certain(least, most)
    most = np.minimum(most, totals)
    rows = np.maximum(least.sum(axis=1), np.bincount(table.mappings[0], minlength=len(least)))
    sums = most.sum(axis=1)
    least = np.maximum(least, rows[:, np.newaxis] - (sums[:, np.newaxis] - most))
    return _certain(rows, sums) + _certain(least, most)


def _certain(least: IntArray, most: IntArray) -> int:
    return int(np.count_nonzero((least >= 1) & (least < most) & (most <= SMALL)))
