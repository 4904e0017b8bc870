"""Faults of an upload: excessive work, contradictions of its own declarations, and breaches of the service's policy.

Pure functions of a validated entry. Faults contain no counts, because they reach more people than may see the counts.

A promise of privacy is refuted only if it is false for every choice of roles: an entry does not state which attributes
are quasi-identifiers or sensitive. So a masked value with three records does not refute `k = 5`. Each rule has its
proof.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from itertools import chain, islice
from math import comb
from typing import ParamSpec

import numpy as np
from numpy.typing import NDArray

from aegis_advisor.atoms import common_refinement
from aegis_advisor.evidence import (
    DROP,
    IDENTITY,
    AttributeEvidence,
    EntryContent,
    PairAssociation,
    PublishedTrace,
    associations_of,
    blocks_of,
    evidence_of,
    pairs_of,
)
from aegis_advisor.evidence.checks import Fault as EvidenceFault
from aegis_advisor.evidence.checks import find_block_faults, find_faults, find_label_faults, find_pair_faults
from aegis_advisor.joint import find_association_faults, find_trace_faults
from app.entries.model.published import CountsInPlace, Path, PublishedEntry
from app.platform.errors import Fault, pointer

Given = ParamSpec("Given")

#: The largest number of pairs of maskings of the same attribute. Comparing one takes a fraction of a millisecond.
PAIRS = 50_000

#: The largest number of probabilities in all transition matrices; a matrix of 300 x 300 takes half a minute to fit.
PROBABILITIES = 250_000

#: The largest number of cells in all pair counts, which are loaded together, 8 bytes each plus intermediate data.
PAIR_CELLS = 10_000_000

#: The largest reconstructed table, in cells (atoms times labels) of about 50 bytes during the computation.
CELLS = 20_000_000

#: The largest number of faults reported for an upload; the first places suffice to find the reason.
SHOWN = 100

#: Relative tolerance of a sum of fractions, and of numbers that a provider computed from logarithms.
TOLERANCE = 1e-9

#: The criteria that require a number of different sensitive values in each class.
_OF_VALUES = ("l", "entropy_l", "alpha")


def first_faults(find: Callable[Given, Iterator[Fault]]) -> Callable[Given, tuple[Fault, ...]]:
    """Only the first faults, since these suffice to find the reason."""

    @wraps(find)
    def first(*given: Given.args, **named: Given.kwargs) -> tuple[Fault, ...]:
        return tuple(islice(find(*given, **named), SHOWN))

    return first


def sum_faults(entry: PublishedEntry) -> tuple[Fault, ...]:
    """The faults of entries that are too large or inconsistent. Each check relies on the previous ones."""
    if wrong := _sum_faults(entry):
        return wrong
    if wrong := tuple(islice(_block_faults(entry), SHOWN)):
        return wrong
    content, others = entry.content, (entry.labels or ())[1:]
    found = () if content is None else chain.from_iterable(_of_task(label, content.about(label)) for label in others)
    return tuple(islice(found, SHOWN))


def _sum_faults(entry: PublishedEntry) -> tuple[Fault, ...]:
    """The same of its size and of its counts with the default label and of pairs."""
    evidence, pairs, associations = entry.evidence, list(entry.pairs.values()), list(entry.associations.values())
    if excess := tuple(excess_work(entry)):
        return excess
    own = ((place, fault) for place, attribute in enumerate(evidence) for fault in find_faults(attribute))
    if wrong := tuple(Fault(pointer("attributes", place, *fault.path), fault.detail) for place, fault in own):
        return wrong
    if wrong := tuple(Fault(pointer("attributes", *fault.path), fault.detail) for fault in find_label_faults(evidence)):
        return wrong
    if wrong := (*excess_cells(evidence), *_of_pairs(find_pair_faults(evidence, pairs), list(entry.pairs))):
        return wrong
    if wrong := _of_pairs(find_association_faults(evidence, pairs, associations), list(entry.associations)):
        return wrong
    traced = () if entry.trace is None else find_trace_faults(evidence, entry.trace)
    return tuple(Fault(pointer("joint_trace", *fault.path), fault.detail) for fault in traced)


def _block_faults(entry: PublishedEntry) -> Iterator[Fault]:
    """The faults of counts of maskings and masked labels."""
    places: dict[str, list[int]] = {}
    for place, (name, _) in ({} if entry.content is None else blocks_of(entry.content)).items():
        places.setdefault(name, []).append(place)
    for attribute in entry.evidence:
        for index, fault in find_block_faults(attribute):
            yield Fault(pointer("pairs", places[attribute.name][index], "joint"), fault.detail)


def _of_task(label: str, task: EntryContent) -> Iterator[Fault]:
    """The faults of an entry's counts with another label than the default one."""
    evidence, pairs, associations = evidence_of(task), list(pairs_of(task).values()), associations_of(task)
    place = pointer("joint_traces", label)
    for attribute in evidence:
        for fault in find_faults(attribute):
            yield Fault("/pairs", f"{attribute.name!r} with the label {label!r}: {fault.detail}")
            return
    found = (*find_label_faults(evidence), *find_association_faults(evidence, pairs, list(associations.values())))
    yield from (Fault("/pairs", f"With the label {label!r}: {fault.detail}") for fault in found)
    yield from (Fault("/pairs", fault.detail) for fault in excess_cells(evidence))
    traced = () if task.joint_trace is None or found else find_trace_faults(evidence, task.joint_trace)
    yield from (Fault(place + pointer(*fault.path), fault.detail) for fault in traced)


def _of_pairs(faults: Sequence[EvidenceFault], places: Sequence[int]) -> tuple[Fault, ...]:
    """Faults of pairs, with the index in their paths replaced by the pair's place in the document."""
    return tuple(Fault(pointer("pairs", places[int(fault.path[0])], *fault.path[1:]), fault.detail) for fault in faults)


def excess_work(entry: PublishedEntry) -> Iterator[Fault]:
    """The faults of entries that describe more work than a machine can do: a small body can ask for any amount."""
    pairs = sum(comb(len(attribute.maskings), 2) for attribute in entry.evidence) * len(entry.labels or (entry.label,))
    if pairs > PAIRS:
        detail = f"The maskings of the same attribute make {pairs} pairs to compare; at most {PAIRS} are accepted"
        yield Fault("/attributes", detail)
    transitions = (masking.transition for attribute in entry.evidence for masking in attribute.maskings)
    cells = sum(transition.size for transition in transitions if transition is not None)
    if cells > PROBABILITIES:
        yield Fault("/attributes", f"The transition matrices have {cells} cells; at most {PROBABILITIES} are accepted")
    cells = sum(pair.joint.size for pair in entry.pairs.values())
    if cells > PAIR_CELLS:
        detail = f"The pair counts have {cells} cells; at most {PAIR_CELLS} are accepted. Leave out fine maskings"
        yield Fault("/pairs", detail)


def excess_cells(evidence: Sequence[AttributeEvidence]) -> Iterator[Fault]:
    """A fault for each attribute whose reconstruction would have too many cells. All mappings must be in range."""
    for place, attribute in enumerate(evidence):
        if attribute.joint is not None or attribute.values * attribute.labels <= CELLS:
            continue
        atoms = int(common_refinement(attribute.partitions, attribute.values).max()) + 1
        if atoms * attribute.labels > CELLS:
            detail = (
                f"The mappings and transition matrices distinguish {atoms} groups of values. With {attribute.labels} "
                f"classes, that makes {atoms * attribute.labels} cells to reconstruct; at most {CELLS} are "
                "accepted. Leave out fine maskings"
            )
            yield Fault(pointer("attributes", place, "maskings"), detail)


@dataclass(frozen=True, slots=True)
class Policy:
    """A service's requirements for every upload; none by default.

    Attributes:
        min_cell: no count and no number of suppressed records is above 0 and below this, times the most records of
            one person. Counts with declared noise are exempt, since they are not numbers of people.
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


@first_faults
def policy_faults(entry: PublishedEntry, policy: Policy) -> Iterator[Fault]:
    """Violations of the policy by an upload, each with its JSON Pointer and without its count."""
    if policy.demands_noise:
        yield from _exact_tables(entry)
        yield from _exact_records(entry)
        for path in _traces(entry):
            detail = "This number is computed from exact counts, but this service requires noise in all: leave it out"
            yield Fault(pointer(*path), detail)
    if policy.max_epsilon is not None:
        yield from _overspent(entry, policy.max_epsilon)
    if policy.min_cell is not None:
        least = policy.min_cell * (entry.rows_per_person or 1)
        detail = f"This count is below {least} and not 0, which this service does not accept"
        yield from _small_counts(entry, least, f"{detail}: use aegis summarize --min-cell {least}")
        detail = "These numbers can disclose small counts, which this service does not accept"
        yield from _associations(entry, detail, least)
        for path, trace in _traces(entry).items():
            if trace.rounded_to is None:
                yield Fault(pointer(*path), f"{detail}: round it (`rounded_to`)")


def _traces(entry: PublishedEntry) -> Mapping[Path, PublishedTrace]:
    """The published traces of all labels by their places."""
    return entry.traces if entry.trace is None else {("joint_trace",): entry.trace, **entry.traces}


@first_faults
def declaration_faults(entry: PublishedEntry) -> Iterator[Fault]:
    """Places where counts contradict `disclosure_control`, without the counts."""
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
    own = ((("pairs", place, "with_label"), association) for place, association in entry.associations.items())
    for path, association in chain[tuple[Path, PairAssociation]](own, entry.with_labels.items()):
        if not association.is_noisy and (association.rounded_to or 0) < base:
            yield Fault(pointer(*path), f"{detail}: leave them out")


def _exact_records(entry: PublishedEntry) -> Iterator[Fault]:
    """The faults of other exact numbers of records: suppressed, masked, measured, or generated without noise."""
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
    # A record is in one count of each table, so noise of scale s costs an epsilon of at least 1 / s, and a person with
    # several records so many times that. A label
    # association counts as two tables: the sums behind chi-square, and the number of combinations.
    scales = [table.declared.noise_scale for table in entry.tables() if table.declared is not None]
    told = (*entry.associations.values(), *entry.with_labels.values())
    associations = [association.noise_scale for association in told]
    spent = sum(1 / scale for scale in (*scales, *associations, *associations) if scale is not None)
    spent *= entry.rows_per_person or 1
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


@first_faults
def promise_faults(entry: PublishedEntry) -> Iterator[Fault]:
    """Promises that the published numbers refute, without counts."""
    records = _most_records(entry)
    # Suppressed records are records of the table, so not more than the table has.
    for index in np.flatnonzero(_left_out(entry)[0] > records)[:SHOWN].tolist():
        yield Fault(pointer("configurations", index, "suppressed"), "These are more records than the entry has")
    # A class is a part of the release, so it has at most as many records as the table without the suppressed ones.
    # With `k`, every class has `k` records. A class with `n` different values has at least `n` records. A release
    # without any record has no class, and keeps every promise.
    for criterion in ("k", *_OF_VALUES):
        for index in np.flatnonzero(_beyond_records(entry, criterion, records))[:SHOWN].tolist():
            yield _refuted(entry, criterion, index, "A class would need more records than this release has")
    if entry.people is not None:
        for index in np.flatnonzero(_exceeds(_needed(entry, "k"), entry.people))[:SHOWN].tolist():
            yield _refuted(entry, "k", index, "A class would need more people than the entry has")
    yield from _more_than_values(entry, records)


def _most_records(entry: PublishedEntry) -> float:
    """The largest possible number of records of the table; infinite if noise leaves it open.

    The label's counts add up to the records. Rounding changes each of them by less than the base.
    """
    label = entry.evidence[0]
    if label.label_perturbation.noise_scale is not None:
        return math.inf
    once = entry.control.rounded_to if entry.control.drawn_once else None
    base = label.label_perturbation.rounded_to or once or 1
    return int(label.label_histogram.sum()) + len(label.label_histogram) * (base - 1)


def _left_out(entry: PublishedEntry) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(configurations,) The least and the largest number of suppressed records that rounding allows."""
    published = np.zeros(len(entry.configurations.ids))
    given = np.array(entry.configurations.suppressed, dtype=np.float64)  # None becomes NaN
    published[: len(given)] = np.nan_to_num(given)
    slack = (entry.control.rounded_to or 1) - 1
    return np.maximum(published - slack, 0), published + slack


def _beyond_records(entry: PublishedEntry, criterion: str, records: float) -> NDArray[np.bool_]:
    """(configurations,) Whether each promises larger classes than its release, which certainly has records."""
    least, most = _left_out(entry)
    published = float(entry.evidence[0].label_histogram.sum())
    fewest = 2 * published - records  # the errors of rounding have the same bound in both directions
    return (fewest - most > 0) & _exceeds(_needed(entry, criterion), records - least)


def _more_than_values(entry: PublishedEntry, records: float) -> Iterator[Fault]:
    """A class has no more values of a sensitive attribute than the release has of that attribute.

    The sensitive attribute is a column of the release: an attribute, which has at most the values of its masking, or
    the label. So the column with the most values is a bound for all. With several sensitive attributes the worst
    counts, so the bound still holds. The rule does not apply where the number of a column's values is open, nor where
    `_beyond_records` does.
    """
    # With disclosure control, the published domain may be coarser than the shared unmasked values. A dropped attribute
    # is not a column, but a provider may still have measured it as sensitive.
    is_open = entry.control.is_declared
    sizes: list[Mapping[str, float]] = [
        {
            IDENTITY: math.inf if is_open else known.values,
            DROP: math.inf,
            **{masking.id: masking.groups for masking in known.maskings},
        }
        for known in entry.evidence
    ]
    for criterion in _OF_VALUES:
        needed = _needed(entry, criterion)
        more = _exceeds(needed, len(entry.evidence[0].label_histogram)) & ~_beyond_records(entry, criterion, records)
        for index in np.flatnonzero(more).tolist():
            chosen = (entry.configurations.maskings[known.name][index] for known in entry.evidence)
            values = (size[masking] for size, masking in zip(sizes, chosen, strict=True))
            if not any(needed[index] <= most * (1 + TOLERANCE) for most in values):
                detail = "A class would need more different values than any column of this release has"
                yield _refuted(entry, criterion, index, detail)


def _needed(entry: PublishedEntry, criterion: str) -> NDArray[np.float64]:
    """(configurations,) The records or different values that each class must have; NaN without a promise.

    `k` and `l` are this number. The entropy of a distribution on n values is at most ln n, so `entropy_l` is at most n.
    Of n shares that add up to 1, one is at least 1 / n, so `alpha` is at least 1 / n.
    """
    promised = entry.configurations.privacy.get(criterion, np.full(len(entry.configurations.ids), np.nan))
    numbers = np.array(promised, dtype=np.float64)
    with np.errstate(divide="ignore"):
        return 1 / numbers if criterion == "alpha" else numbers


def _exceeds(numbers: NDArray[np.float64], most: NDArray[np.float64] | float) -> NDArray[np.bool_]:
    """Whether numbers exceed a bound, except for rounding; false for NaN."""
    return numbers > most * (1 + TOLERANCE)


def _refuted(entry: PublishedEntry, criterion: str, index: int, detail: str) -> Fault:
    """The fault of a promise, at the place of its number in the document."""
    if entry.configurations.in_columns:
        return Fault(pointer("configuration_table", "privacy", criterion, index), detail)
    return Fault(pointer("configurations", index, "privacy", criterion), detail)
