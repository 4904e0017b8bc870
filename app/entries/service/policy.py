"""Checks of the counts of an upload against its own declarations and the service's policy.

Pure functions of a validated entry. Faults contain no counts, because they reach more people than may see the counts.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from app.entries.model.published import CountsInPlace, PublishedEntry
from app.platform.errors import Fault, pointer

#: The largest number of faults reported for an upload; the first places suffice to find the reason.
SHOWN = 100

#: Relative tolerance of a differential privacy budget, which is a sum of fractions.
TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Policy:
    """A service's requirements for every upload; none by default.

    Attributes:
        min_cell: no count and no number of suppressed records is above 0 and below this. Counts with declared noise are
            exempt, since they are not numbers of people.
        require_noise: every count table and every label association declares noise, and no exact number of records
            remains.
        max_epsilon: the entry declares a differential privacy budget of at most this, and its noise spends no more;
            implies `require_noise`.
    """

    min_cell: int | None = None
    require_noise: bool = False
    max_epsilon: float | None = None

    @property
    def demands_noise(self) -> bool:
        """Whether every table needs noise."""
        return self.require_noise or self.max_epsilon is not None


NO_POLICY = Policy()


def policy_faults(entry: PublishedEntry, policy: Policy) -> tuple[Fault, ...]:
    """The first 100 violations of the policy by an upload, each with its JSON Pointer and without its count."""
    return tuple(islice(_policy_faults(entry, policy), SHOWN))


def declaration_faults(entry: PublishedEntry) -> tuple[Fault, ...]:
    """The first 100 places where counts contradict `disclosure_control`, without the counts."""
    return tuple(islice(_declaration_faults(entry), SHOWN))


def _policy_faults(entry: PublishedEntry, policy: Policy) -> Iterator[Fault]:
    if policy.demands_noise:
        yield from _exact_tables(entry)
        yield from _exact_records(entry)
        if entry.trace is not None:
            detail = "This number is computed from exact counts, but this service requires noise in all: leave it out"
            yield Fault(pointer("joint_trace"), detail)
    if policy.max_epsilon is not None:
        yield from _overspent(entry, policy.max_epsilon)
    if policy.min_cell is not None:
        least = policy.min_cell
        detail = f"This count is below {least} and not 0, which this service does not accept"
        yield from _small_counts(entry, least, f"{detail}: use aegis summarize --min-cell {least}")
        detail = "These numbers can disclose small counts, which this service does not accept"
        yield from _associations(entry, detail, least)
        if entry.trace is not None and entry.trace.rounded_to is None:
            yield Fault(pointer("joint_trace"), f"{detail}: round it (`rounded_to`)")


def _declaration_faults(entry: PublishedEntry) -> Iterator[Fault]:
    base, least = entry.control.rounded_to, entry.control.min_cell
    if base is not None:
        detail = f"This count is not a multiple of {base}, but `disclosure_control` says that all are (`rounded_to`)"
        for table in entry.tables():
            yield from _places(table, table.counts % base != 0, detail)
        for path, records in entry.configurations.numbers_suppressed if entry.control.drawn_once else ():
            if records % base:
                yield Fault(pointer(*path), detail)
    elif least is not None:
        detail = f"This count is below {least} and not 0, but `disclosure_control` says that none is (`min_cell`)"
        yield from _small_counts(entry, least, detail)
        detail = "These numbers can disclose counts that `disclosure_control` says are hidden"
        yield from _associations(entry, detail, least)


def _exact_tables(entry: PublishedEntry) -> Iterator[Fault]:
    """The faults of tables without declared noise, or with too little to change a count."""
    for table in entry.tables():
        if not table.is_noisy:
            can_declare = table.declared is not None
            lack = "declare no `noise` that hides them" if can_declare else "cannot declare `noise`"
            way = "" if can_declare else ": leave them out"
            detail = f"These counts {lack}, but this service requires noise{way} (aegis summarize --epsilon adds it)"
            yield Fault(pointer(*table.path), detail)
    yield from _associations(entry, "These numbers are exact, but this service requires noise in all counts")


def _associations(entry: PublishedEntry, detail: str, base: float = math.inf) -> Iterator[Fault]:
    """The faults of label associations without sufficient noise and not rounded to this base or more."""
    for place, association in entry.associations.items():
        if not association.is_noisy and (association.rounded_to or 0) < base:
            yield Fault(pointer("pairs", place, "with_label"), f"{detail}: leave them out")


def _exact_records(entry: PublishedEntry) -> Iterator[Fault]:
    """The faults of other exact numbers: suppressed records, records counted by a masking, measurements on the records,
    and counts of records that were generated without noise.
    """
    detail = "This number of records is exact, but this service requires noise in all counts: leave it out"
    masked = (("attributes", place, "maskings", index, "records") for place, index in entry.masked_records)
    for path in (*(path for path, _ in entry.configurations.numbers_suppressed), *masked):
        yield Fault(pointer(*path), f"{detail} (aegis summarize --epsilon does so)")
    aucs = (("configurations", place, "measured") for place in entry.configurations.measured)
    for path in (*aucs, *entry.configurations.on_records):
        detail = "This was measured on the records themselves, but this service requires noise: leave it out"
        yield Fault(pointer(*path), detail)
    for place in entry.configurations.unguaranteed:
        detail = (
            "These records were generated without differential privacy, but this service requires noise in all counts"
        )
        yield Fault(pointer("configurations", place), f"{detail}: promise an `epsilon`, or leave them out")


def _overspent(entry: PublishedEntry, most: float) -> Iterator[Fault]:
    """The faults of an undeclared or excessive budget, and of noise that spends more than allowed."""
    place = pointer("disclosure_control", "epsilon")
    declared = entry.control.epsilon
    if declared is None or declared > most * (1 + TOLERANCE):
        yield Fault(place, f"This service requires a declared epsilon of at most {most:g} (aegis summarize --epsilon)")
    # A record is in one count of each table, so noise of scale s costs an epsilon of at least 1 / s. A label
    # association counts as two tables: the sums behind chi-square, and the number of combinations.
    scales = [table.declared.noise_scale for table in entry.tables() if table.declared is not None]
    associations = [association.noise_scale for association in entry.associations.values()]
    spent = sum(1 / scale for scale in (*scales, *associations, *associations) if scale is not None)
    if spent > most * (1 + TOLERANCE):
        detail = f"The noise of all tables spends an epsilon of {spent:.6g} (the sum of 1 / scale); at most {most:g}"
        yield Fault(place, f"{detail} is accepted: use aegis summarize --epsilon")


def _small_counts(entry: PublishedEntry, least: int, detail: str) -> Iterator[Fault]:
    for table in entry.tables():
        if not table.is_noisy:
            yield from _places(table, (table.counts > 0) & (table.counts < least), detail)
    for path, records in entry.configurations.numbers_suppressed:
        if 0 < records < least:
            yield Fault(pointer(*path), detail)


def _places(table: CountsInPlace, wrong: NDArray[np.bool_], detail: str) -> Iterator[Fault]:
    for place in np.argwhere(wrong)[:SHOWN].tolist():
        yield Fault(pointer(*table.path, *place), detail)
