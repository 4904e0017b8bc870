"""The provider's own table, read again as its entry was made of it; one that is not the entry's is refused."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from aegis_advisor.cell_bounds import CellBounds
from aegis_advisor.evidence import AttributeEvidence
from aegis_provider.counting.counted_table import CountedTable
from aegis_provider.counting.counts import JointCounts
from aegis_provider.errors import PlanError, TableError, nearest, shortened
from aegis_provider.plan.model import Plan
from aegis_provider.table import Source, open_table
from aegis_sdk.wire import Attribute, EntryDocument, Label

Counts: TypeAlias = NDArray[np.int64]

_OTHER = "it is not the table, or the plan, that the entry was made of"


@dataclass(frozen=True)
class Truth:
    """The true joint counts of an attribute, and the name of the table that they are of."""

    table: str
    joint: JointCounts


def true_counts(
    table: Source,
    plan: Plan,
    entry: EntryDocument,
    attributes: Sequence[Attribute],
    *,
    delimiter: str = ",",
    memory_limit: str = "1GB",
) -> list[Truth]:
    """The unmasked joint counts of these attributes of the entry, each in the order of its domain and of the label's.

    Raises `PlanError` for a plan without one of the attributes, or of another label, and `TableError` for a table that
    does not fit the plan, or that has other values or another number of records than the entry.
    """
    plan = _restricted(plan, entry, attributes)
    with open_table(table, delimiter=delimiter, memory_limit=memory_limit) as opened:
        counted = CountedTable.of(opened, plan)
        name = opened.name
    _refuse_other_values(name, entry.label.name, counted.label.texts, entry.label.domain)
    for found, expected in zip(counted.attributes, attributes, strict=True):
        _refuse_other_values(name, expected.name, found.domain.texts, expected.domain)
    _refuse_other_records(name, counted.records, entry)
    _refuse_other_labels(name, counted.attributes[0].counts.label_histogram(), entry.label)
    return [Truth(name, each.counts) for each in counted.attributes]


def refuse_other_counts(truth: Truth, evidence: AttributeEvidence, bounds: CellBounds) -> None:
    """Raises `TableError` if the true counts are not those that the entry declares to be so, or out of their bounds."""
    for what, expected, found in _exact_tables(evidence, truth.joint):
        if not np.array_equal(expected, found):
            place = tuple(np.argwhere(expected != found)[0])
            raise TableError(
                f"{truth.table}: {what} of {evidence.name!r}: {found[place]} records where the entry counts "
                f"{expected[place]}, in row {place[0] + 1}; {_OTHER}"
            )
    joint = truth.joint.fold(bounds.atom_of_value, bounds.lower.shape[0])
    if ((joint < bounds.lower) | (joint > bounds.upper)).any():
        raise TableError(f"{truth.table}: {evidence.name!r} has counts that the entry rules out; {_OTHER}")


def _restricted(plan: Plan, entry: EntryDocument, attributes: Sequence[Attribute]) -> Plan:
    """The plan with these attributes only, in this order."""
    if plan.label != entry.label.name:
        raise PlanError(f"{plan.source}: its label is {plan.label!r}, that of the entry {entry.label.name!r}")
    known = {each.name: each for each in plan.attributes}
    for each in attributes:
        if each.name not in known:
            raise PlanError(
                f"{plan.source}: has no attribute {each.name!r} of the entry; {nearest(each.name, [*known])}"
            )
    return replace(plan, attributes=tuple(known[each.name] for each in attributes))


def _refuse_other_values(table: str, column: str, found: Sequence[str], expected: Sequence[str]) -> None:
    if list(found) == list(expected):
        return
    here, there = set(found), set(expected)
    for text in found:
        if text not in there:
            raise TableError(f"{table}: {column} has the value {shortened(text)}, which the entry has not; {_OTHER}")
    for text in expected:
        if text not in here:
            raise TableError(f"{table}: {column} has no value {shortened(text)}, which the entry has; {_OTHER}")
    raise TableError(f"{table}: {column} has its values in another order than the entry; {_OTHER}")


def _refuse_other_records(table: str, records: int, entry: EntryDocument) -> None:
    """Raises `TableError`, unless what the label declares may be why the entry has another number of records."""
    slack = _slack(entry.label) * len(entry.label.domain)
    if entry.label.noise is None and abs(records - entry.records) > slack:
        raise TableError(f"{table}: has {records} records, the entry {entry.records}; {_OTHER}")


def _refuse_other_labels(table: str, found: Counts, label: Label) -> None:
    """Raises `TableError` for a label's histogram that is declared to be exact, and is not that of the table."""
    for value, here, there in zip(label.domain, found.tolist(), label.histogram, strict=True):
        if label.noise is None and abs(here - there) > _slack(label):
            raise TableError(f"{table}: {label.name} is {shortened(value)} in {here} records, not {there}; {_OTHER}")


def _slack(label: Label) -> int:
    """The most by which rounding moves a count of the label's histogram."""
    return 0 if label.rounded_to is None else label.rounded_to - 1


def _exact_tables(evidence: AttributeEvidence, truth: JointCounts) -> Iterator[tuple[str, Counts, Counts]]:
    """What the entry says of the table without any reservation, beside what the table says: arrays of one shape."""
    if evidence.histogram is not None:
        yield "the histogram", evidence.histogram, truth.histogram()
    if evidence.joint is not None:
        yield "the joint counts", evidence.joint, truth.fold(range(evidence.values), evidence.values)
    for masking in evidence.maskings:
        if masking.constrains and masking.mapping is not None and masking.joint is not None:
            yield f"masking {masking.id!r}", masking.joint, truth.fold(masking.mapping, masking.groups)
