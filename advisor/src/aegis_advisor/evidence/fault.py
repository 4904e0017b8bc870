"""A fault, and the words for it: where, what, and by how much."""

from dataclasses import dataclass

import numpy as np

from aegis_advisor.arrays import BoolArray, IntArray

LARGEST_COUNT = 2**53 - 1
FAULTS_PER_TABLE = 100

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that does not add up.

    Attributes:
        path: where, relative to the attribute in the wire document, e.g. ("maskings", 2, "joint", 3);
            () is the label's histogram, which every attribute shares. Of pair counts: relative to their list.
        detail: what, with the sums and by how much they differ.
    """

    path: Path
    detail: str


def differ(ours: str, here: int, theirs: str, there: int, remark: str = "") -> str:
    """Two sums that should be equal, and by how much they are not."""
    return f"{ours} {here}, {theirs} {there} ({abs(here - there)} too {'many' if here > there else 'few'}{remark})"


def undeclared(here: int, there: int) -> str:
    """Which declarations would allow a masked table to have `here` records where there are `there`."""
    known = "noise or rounded_to" if here > there else "noise, rounded_to or records"
    return f"; {known} would allow it, if declared"


def listing(chosen: BoolArray, most: int = 10) -> str:
    """The places that are chosen, the first of them."""
    found = np.flatnonzero(chosen)
    return ", ".join(map(str, found[:most])) + (", ..." if found.size > most else "")


def places(wrong: BoolArray) -> list[tuple[int, ...]]:
    """The first places where an array is wrong."""
    if not wrong.any():
        return []
    return [tuple(map(int, place)) for place in np.argwhere(wrong)[:FAULTS_PER_TABLE]]


def total(counts: IntArray) -> int:
    """The sum of counts up to 2^53 - 1 in size, also where it is beyond 64 bits."""
    high, low = counts >> 32, counts & 0xFFFFFFFF
    return (int(high.sum()) << 32) + int(low.sum())
