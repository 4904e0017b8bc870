"""What is demanded of the counts of an upload: by what it declares itself, and by whoever runs the service.

Pure functions of a validated entry. No fault tells a count: a fault is read, and forwarded,
by more people than may see the counts.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from app.domain.errors import Fault, pointer
from app.domain.published import CountsInPlace, Path, PublishedEntry

#: Faults that are told of an upload; the first places are enough to find the reason.
SHOWN = 100

#: Budgets of differential privacy are sums of fractions.
TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Policy:
    """What a service demands of every upload; nothing by default.

    Attributes:
        min_cell: no count but 0 is below this, but for counts with declared noise, which are not those of people;
            nor is the number of records that a configuration leaves out.
        require_noise: every count table declares noise, and no number of records is left that cannot.
        max_epsilon: the entry declares a budget of differential privacy of at most this, and the noise of its tables
            spends no more; every table declares noise.
    """

    min_cell: int | None = None
    require_noise: bool = False
    max_epsilon: float | None = None

    @property
    def demands_noise(self) -> bool:
        """No table may be without noise."""
        return self.require_noise or self.max_epsilon is not None


NO_POLICY = Policy()


def policy_faults(entry: PublishedEntry, policy: Policy) -> tuple[Fault, ...]:
    """Where an upload breaks the policy, the first 100 places, each with its JSON Pointer and without its count."""
    return tuple(islice(_policy_faults(entry, policy), SHOWN))


def declaration_faults(entry: PublishedEntry) -> tuple[Fault, ...]:
    """Counts that are not what `disclosure_control` says of them, the first 100 places, without the counts."""
    return tuple(islice(_declaration_faults(entry), SHOWN))


def _policy_faults(entry: PublishedEntry, policy: Policy) -> Iterator[Fault]:
    if policy.demands_noise:
        yield from _exact_tables(entry)
        yield from _exact_records(entry)
    if policy.max_epsilon is not None:
        yield from _overspent(entry, policy.max_epsilon)
    if policy.min_cell is not None:
        least = policy.min_cell
        detail = f"A count here is below {least}, and not 0. This service takes none"
        yield from _small_counts(entry, least, f"{detail}: aegis summarize --min-cell {least}")


def _declaration_faults(entry: PublishedEntry) -> Iterator[Fault]:
    base, least = entry.control.rounded_to, entry.control.min_cell
    if base is not None:
        detail = f"A count here is no multiple of {base}, which `disclosure_control` says all were rounded to"
        for table in entry.tables():
            yield from _places(table, table.counts % base != 0, detail)
    elif least is not None:
        detail = f"A count here is below {least}, and not 0. `disclosure_control` says that there is none (`min_cell`)"
        yield from _small_counts(entry, least, detail)


def _exact_tables(entry: PublishedEntry) -> Iterator[Fault]:
    """Tables without declared noise, or with too little of it."""
    for table in entry.tables():
        if not table.is_noisy:
            can_declare = table.declared is not None
            lack = "declare no `noise` to hide them" if can_declare else "cannot declare `noise`"
            way = "" if can_declare else ": leave them out"
            detail = f"These counts {lack}, which this service demands of all{way} (aegis summarize --epsilon adds it)"
            yield Fault(pointer(*table.path), detail)


def _exact_records(entry: PublishedEntry) -> Iterator[Fault]:
    """How many records a release or a masking leaves out or has, exactly: such numbers are counts of people, too."""
    detail = "This number of records is exact, and this service demands noise of all counts: leave it out"
    masked = (("attributes", place, "maskings", index, "records") for place, index in entry.masked_records)
    for path in (*(path for path, _ in _suppressed(entry)), *masked):
        yield Fault(pointer(*path), f"{detail} (aegis summarize --epsilon does)")


def _overspent(entry: PublishedEntry, most: float) -> Iterator[Fault]:
    """A budget that is not declared or too large, or noise that spends more than is allowed."""
    place = pointer("disclosure_control", "epsilon")
    declared = entry.control.epsilon
    if declared is None or declared > most * (1 + TOLERANCE):
        yield Fault(place, f"This service demands a declared epsilon of at most {most:g}: aegis summarize --epsilon")
    # A record is in one count of each table, so that noise of scale s costs an epsilon of at least 1 / s.
    scales = (table.declared.noise_scale for table in entry.tables() if table.declared is not None)
    spent = sum(1 / scale for scale in scales if scale is not None)
    if spent > most * (1 + TOLERANCE):
        detail = f"The noise of all tables spends an epsilon of {spent:.6g} (the sum of 1 / scale); at most {most:g}"
        yield Fault(place, f"{detail} is taken: aegis summarize --epsilon")


def _small_counts(entry: PublishedEntry, least: int, detail: str) -> Iterator[Fault]:
    for table in entry.tables():
        if not table.is_noisy:
            yield from _places(table, (table.counts > 0) & (table.counts < least), detail)
    for path, records in _suppressed(entry):
        if 0 < records < least:
            yield Fault(pointer(*path), detail)


def _places(table: CountsInPlace, wrong: NDArray[np.bool_], detail: str) -> Iterator[Fault]:
    for place in np.argwhere(wrong)[:SHOWN].tolist():
        yield Fault(pointer(*table.path, *place), detail)


def _suppressed(entry: PublishedEntry) -> Iterator[tuple[Path, int]]:
    """Where the document says how many records a configuration leaves out, and how many."""
    for index, records in enumerate(entry.configurations.suppressed):
        if records is not None:
            yield ("configurations", index, "suppressed"), records
