"""What is demanded of the counts of an upload: by what it declares itself, and by whoever runs the service.

Pure functions of a validated document whose counts are arrays. No fault tells a count: a fault is read, and forwarded,
by more people than may see the counts.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from aegis_advisor.evidence import Perturbation
from app.domain.documents import Document, count_places, pairs_in
from app.domain.entries import CountKind
from app.domain.errors import Fault, pointer

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


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """A count table, where it is, and what is declared of it. `declares`: it has fields for that."""

    path: tuple[str | int, ...]
    counts: NDArray[np.int64]
    noise: Document | None
    declares: bool

    @property
    def is_noisy(self) -> bool:
        """Noise is declared, and not too little to change a count."""
        return self.noise is not None and Perturbation(noise_scale=self.noise["scale"]).is_noisy


_Number: TypeAlias = tuple[tuple[str | int, ...], Document, str]
"""Where a document says how many records something is about: the path to the object, the object and its field."""


def policy_faults(document: Document, policy: Policy) -> tuple[Fault, ...]:
    """Where an upload breaks the policy, the first 100 places, each with its JSON Pointer and without its count."""
    return tuple(islice(_policy_faults(document, policy), SHOWN))


def declaration_faults(document: Document) -> tuple[Fault, ...]:
    """Counts that are not what `disclosure_control` says of them, the first 100 places, without the counts."""
    return tuple(islice(_declaration_faults(document.get("disclosure_control") or {}, document), SHOWN))


def _policy_faults(document: Document, policy: Policy) -> Iterator[Fault]:
    if policy.demands_noise:
        yield from _exact_tables(document)
        yield from _exact_records(document)
    if policy.max_epsilon is not None:
        yield from _overspent(document, policy.max_epsilon)
    if policy.min_cell is not None:
        least = policy.min_cell
        detail = f"A count here is below {least}, and not 0. This service takes none"
        yield from _small_counts(document, least, f"{detail}: aegis summarize --min-cell {least}")


def _declaration_faults(declared: Document, document: Document) -> Iterator[Fault]:
    base, least = declared.get("rounded_to"), declared.get("min_cell")
    if base is not None:
        detail = f"A count here is no multiple of {base}, which `disclosure_control` says all were rounded to"
        for table in _tables(document):
            yield from _places(table, table.counts % base != 0, detail)
    elif least is not None:
        detail = f"A count here is below {least}, and not 0. `disclosure_control` says that there is none (`min_cell`)"
        yield from _small_counts(document, least, detail)


def _exact_tables(document: Document) -> Iterator[Fault]:
    """Tables without declared noise, or with too little of it."""
    for table in _tables(document):
        if not table.is_noisy:
            lack = "declare no `noise` to hide them" if table.declares else "cannot declare `noise`"
            way = "" if table.declares else ": leave them out"
            detail = f"These counts {lack}, which this service demands of all{way} (aegis summarize --epsilon adds it)"
            yield Fault(pointer(*table.path), detail)


def _exact_records(document: Document) -> Iterator[Fault]:
    """How many records a release or a masking leaves out or has, exactly: such numbers are counts of people, too."""
    detail = "This number of records is exact, and this service demands noise of all counts: leave it out"
    for path, holder, field in (*_suppressed(document), *_records(document)):
        if holder.get(field) is not None:
            yield Fault(pointer(*path, field), f"{detail} (aegis summarize --epsilon does)")


def _overspent(document: Document, most: float) -> Iterator[Fault]:
    """A budget that is not declared or too large, or noise that spends more than is allowed."""
    place = pointer("disclosure_control", "epsilon")
    declared = (document.get("disclosure_control") or {}).get("epsilon")
    if declared is None or declared > most * (1 + TOLERANCE):
        yield Fault(place, f"This service demands a declared epsilon of at most {most:g}: aegis summarize --epsilon")
    # A record is in one count of each table, so that noise of scale s costs an epsilon of at least 1 / s.
    spent = sum(1 / table.noise["scale"] for table in _tables(document) if table.noise is not None)
    if spent > most * (1 + TOLERANCE):
        detail = f"The noise of all tables spends an epsilon of {spent:.6g} (the sum of 1 / scale); at most {most:g}"
        yield Fault(place, f"{detail} is taken: aegis summarize --epsilon")


def _small_counts(document: Document, least: int, detail: str) -> Iterator[Fault]:
    for table in _tables(document):
        if not table.is_noisy:
            yield from _places(table, (table.counts > 0) & (table.counts < least), detail)
    for path, configuration, field in _suppressed(document):
        if 0 < (configuration.get(field) or 0) < least:
            yield Fault(pointer(*path, field), detail)


def _places(table: _Table, wrong: NDArray[np.bool_], detail: str) -> Iterator[Fault]:
    for place in np.argwhere(wrong)[:SHOWN].tolist():
        yield Fault(pointer(*table.path, *place), detail)


def _suppressed(document: Document) -> Iterator[_Number]:
    """How many records each configuration leaves out."""
    for index, configuration in enumerate(document.get("configurations") or ()):
        yield ("configurations", index), configuration, "suppressed"


def _records(document: Document) -> Iterator[_Number]:
    """How many records each masking has."""
    for place, attribute in enumerate(document["attributes"]):
        for index, masking in enumerate(attribute["maskings"]):
            yield ("attributes", place, "maskings", index), masking, "records"


def _tables(document: Document) -> Iterator[_Table]:
    """Every count table of a document."""
    for kind, attribute, masking, owner, member in count_places(document):
        if owner.get(member) is None:
            continue
        path: tuple[str | int, ...] = ("label",) if attribute is None else ("attributes", attribute)
        path = path if masking is None else (*path, "maskings", masking)
        declares = kind in {CountKind.LABEL_HISTOGRAM, CountKind.MASKED_JOINT}
        yield _Table((*path, member), owner[member], owner.get("noise") if declares else None, declares)
    for index, pair in enumerate(pairs_in(document)):
        yield _Table(("pairs", index, "joint"), pair["joint"], None, declares=False)
