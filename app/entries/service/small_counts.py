"""Small counts: exact numbers of one to four people, which are published only if somebody accepts them.

Anyone who knows three of four people learns all about the fourth. Counts with noise or rounding are not numbers of
people, so none of them is small.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice

import numpy as np

from app.entries.model.entries import CountKind
from app.entries.model.published import CountsInPlace, PublishedEntry
from app.platform.errors import Fault, InvalidDocumentError, pointer

#: Counts from 1 up to this are small; 5 is the base to which `aegis summarize` rounds.
LARGEST_SMALL = 4

#: The largest number of places reported for an upload.
SHOWN = 100

_PLACE = f"An exact count of 1 to {LARGEST_SMALL}"
_NUMBER = f"This exact number of records reveals a count of 1 to {LARGEST_SMALL}"
_WHY = f"The entry has exact counts of 1 to {LARGEST_SMALL}, which can be about single persons"
_ROUND = "Without --exact, aegis summarize rounds all counts"
_ACCEPT = (
    "Or publish them for everyone who may read the entry's counts: aegis publish --accept-small-counts (in a call: "
    "?accept_small_counts=true)"
)
_OPERATOR = "Or ask the operator: AEGIS_SMALL_COUNTS decides"
_NEVER = "This service never accepts them: the operator has set AEGIS_SMALL_COUNTS=refuse"


class SmallCounts(StrEnum):
    """The treatment of entries with small counts."""

    REFUSE = "refuse"
    CONFIRM = "confirm"
    ACCEPT = "accept"


@dataclass(frozen=True, slots=True)
class SmallCountsGate:
    """The decision about small counts for one call.

    Attributes:
        rule: the service's treatment of them.
        is_confirmed: whether the call accepts them (`accept_small_counts`).
    """

    rule: SmallCounts
    is_confirmed: bool = False

    def refuse(self, small: tuple[Fault, ...]) -> None:
        """Refuse a new version with small counts that were not accepted.

        Raises:
            InvalidDocumentError: with the places of these counts, and without the counts.
        """
        if not small or self.rule is SmallCounts.ACCEPT or (self.rule is SmallCounts.CONFIRM and self.is_confirmed):
            return
        ways = (_ROUND, _NEVER) if self.rule is SmallCounts.REFUSE else (_ROUND, _ACCEPT, _OPERATOR)
        raise InvalidDocumentError(". ".join((_WHY, *ways)) + ".", small, code="small_counts")

    def warnings(self, small: tuple[Fault, ...]) -> Iterator[str]:
        """Warnings about small counts that the setting accepted rather than the call."""
        if small and not self.is_confirmed:
            yield (
                f"{_WHY}. This service accepts them by default (development mode, or AEGIS_SMALL_COUNTS=accept); "
                f"others need --accept-small-counts. {_ROUND}."
            )


def small_counts(entry: PublishedEntry) -> tuple[Fault, ...]:
    """The first 100 places of small counts in an entry, each with its JSON Pointer and without its count."""
    return tuple(islice(_places(entry), SHOWN))


def _places(entry: PublishedEntry) -> Iterator[Fault]:
    for table in entry.tables():
        if _is_exact(table, entry):
            small = (table.counts > 0) & (table.counts <= LARGEST_SMALL)
            yield from (Fault(pointer(*table.path, *place), _PLACE) for place in np.argwhere(small)[:SHOWN].tolist())
    # A number of records cannot declare rounding; it was rounded if all counts of the entry were, once.
    if not entry.control.drawn_once:
        yield from _numbers_of_records(entry)


def _is_exact(table: CountsInPlace, entry: PublishedEntry) -> bool:
    """Whether a table has exact counts: no noise, and no rounding of it or of the whole entry."""
    is_rounded = table.declared is not None and table.declared.rounded_to is not None
    # Pairs are rounded separately even if all else was rounded once.
    was_rounded_once = entry.control.drawn_once and table.kind is not CountKind.PAIRS
    return not (table.is_noisy or is_rounded or was_rounded_once)


def _numbers_of_records(entry: PublishedEntry) -> Iterator[Fault]:
    """The places of small numbers of suppressed records or of records missing in a masking."""
    for path, number in entry.configurations.numbers_suppressed:
        if 0 < number <= LARGEST_SMALL:
            yield Fault(pointer(*path), _NUMBER)
    label = entry.evidence[0]
    if not label.label_perturbation.is_none:
        return
    for (place, index), records in entry.masked_records.items():
        if 0 < int(label.label_histogram.sum()) - records <= LARGEST_SMALL:
            yield Fault(pointer("attributes", place, "maskings", index, "records"), _NUMBER)
