"""Checks of a table of counts against known sums, and their faults."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from aegis_advisor.arrays import BoolArray, IntArray
from aegis_advisor.evidence.attribute import AttributeEvidence
from aegis_advisor.evidence.perturbation import Perturbation

LARGEST_COUNT = 2**53 - 1
_LARGEST_SUM = 2**63 - 1
FAULTS_PER_TABLE = 100

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Fault:
    """An inconsistency.

    Attributes:
        path: where it is, relative to the attribute in the wire document, e.g. ("maskings", 2, "joint", 3);
            () is the label's histogram, which every attribute shares. For pair counts, relative to their list.
        detail: what is wrong, with both sums and their difference.
    """

    path: Path
    detail: str


def differ(ours: str, here: int, theirs: str, there: int, remark: str = "") -> str:
    """Describe two sums that should be equal, and by how much they differ."""
    return f"{ours} {here}, but {theirs} {there} ({abs(here - there)} too {'many' if here > there else 'few'}{remark})"


def undeclared(here: int, there: int) -> str:
    """Name the declarations that would allow a masked table to have `here` records instead of `there`."""
    known = "noise or rounded_to" if here > there else "noise, rounded_to or records"
    return f"; if {known} explains this, declare it"


def listing(chosen: BoolArray, most: int = 10) -> str:
    """List the first `most` indices that are chosen."""
    indices = np.flatnonzero(chosen)
    return ", ".join(map(str, indices[:most])) + (", ..." if indices.size > most else "")


def places(wrong: BoolArray) -> list[tuple[int, ...]]:
    """The indices of the first true cells of an array."""
    if not wrong.any():
        return []
    return [tuple(map(int, place)) for place in np.argwhere(wrong)[:FAULTS_PER_TABLE]]


def total(counts: IntArray) -> int:
    """The sum of counts, each at most 2^53 - 1, even if it exceeds 64 bits."""
    if _is_bounded(counts):
        return int(counts.sum())
    high, low = counts >> 32, counts & 0xFFFFFFFF
    return (int(high.sum()) << 32) + int(low.sum())


@dataclass(frozen=True, slots=True)
class Allowance:
    """The permitted deviation of a sum of counts from its expected value.

    Attributes:
        above: how much larger it may be.
        below: how much smaller it may be.
        masked: whether it belongs to a masked table, which can have declarations.
    """

    above: int = 0
    below: int = 0
    masked: bool = False

    def remark(self, here: int, there: int) -> str:
        """Say in a fault what the declarations allow, or which declaration would be needed."""
        most = self.above if here > there else self.below
        if most:
            return f"; what is declared explains at most {most}"
        return undeclared(here, there) if self.masked else ""

    def excludes(self, sums: IntArray, expected: IntArray) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
        """Which sums are too far from the expected ones; both arrays have the same shape."""
        difference = sums - expected
        return np.asarray((difference > self.above) | (difference < -self.below))


EXACT = Allowance()
"""No difference is allowed, as for unmasked counts."""


def allowance(perturbation: Perturbation, cells: int, sums: int, missing: int, label: int = 0) -> Allowance:
    """Return the allowance for the sums of a masking.

    Args:
        perturbation: what the masking declares.
        cells: the number of counts in each sum.
        sums: the number of such sums.
        missing: the number of records that may have been left out.
        label: how far the expected values themselves may be off.
    """
    slack = perturbation.slack(cells, sums) + label
    return Allowance(slack, slack + missing, masked=True)


def label_allowances(evidence: AttributeEvidence) -> tuple[Allowance, Allowance]:
    """How far exact counts of a label value, and of all records, may be from the label's histogram."""
    column, total = evidence.label_slack
    return Allowance(column, column), Allowance(total, total)


def count_faults(
    path: Path, counts: IntArray, shape: tuple[int, ...], least: int = 0, hint: str = ""
) -> Iterator[Fault]:
    """Faults of an array that should have this shape and counts of at least `least`."""
    if counts.shape != shape:
        yield Fault(path, f"has shape {counts.shape}, not {shape}")
    elif counts.size and (counts.min() < least or counts.max() > LARGEST_COUNT):
        for place in places((counts < least) | (counts > LARGEST_COUNT)):
            yield Fault((*path, *place), f"{counts[place]} is not a count from {least} to {LARGEST_COUNT}{hint}")


def total_faults(
    path: Path, counts: IntArray, records: int, allowed: Allowance = EXACT, source: str = "the number of records is"
) -> Iterator[Fault]:
    """A fault unless the counts add up to the number of records."""
    counted = total(counts)
    if not -allowed.below <= counted - records <= allowed.above:
        yield Fault(path, differ("adds up to", counted, source, records, allowed.remark(counted, records)))


def column_faults(
    path: Path,
    table: IntArray,
    expected: IntArray,
    allowed: Allowance = EXACT,
    source: str = "the label's histogram counts",
) -> Iterator[Fault]:
    """Faults of the columns of a table (rows, columns) against the records (columns,) that they should have."""
    columns = table.sum(axis=0)
    for (column,) in places(allowed.excludes(columns, expected)):
        here, there = int(columns[column]), int(expected[column])
        sum_of = f"column {column} adds up to"
        yield Fault(path, differ(sum_of, here, source, there, allowed.remark(here, there)))


def row_faults(
    path: Path, table: IntArray, expected: IntArray, source: str, allowed: Allowance = EXACT
) -> Iterator[Fault]:
    """Faults of the rows of a table (rows, labels) against the records (rows,) that they should have."""
    rows = table.sum(axis=1)
    for place in places(allowed.excludes(rows, expected)):
        here, there = int(rows[place]), int(expected[place])
        yield Fault((*path, *place), differ("adds up to", here, source, there, allowed.remark(here, there)))


def is_summable(table: IntArray) -> bool:
    """Whether every sum of counts of a table fits into 64 bits."""
    return _is_bounded(table) or total(np.abs(table)) <= _LARGEST_SUM


def _is_bounded(counts: IntArray) -> bool:
    """Whether all sums fit into 64 bits simply because no count is large, as in nearly all tables."""
    return counts.size * max(-int(counts.min(initial=0)), int(counts.max(initial=0))) <= _LARGEST_SUM


def table_faults(path: Path, table: IntArray, rows: int, evidence: AttributeEvidence) -> Iterator[Fault]:
    """Faults of unmasked joint counts (rows, labels) against the label's histogram."""
    malformed = list(count_faults(path, table, (rows, evidence.labels)))
    yield from malformed
    if malformed:
        return
    column, whole = label_allowances(evidence)
    yield from total_faults(path, table, total(evidence.label_histogram), whole)
    if is_summable(table):  # otherwise only the fault in the total is reported
        yield from column_faults(path, table, evidence.label_histogram, column)
