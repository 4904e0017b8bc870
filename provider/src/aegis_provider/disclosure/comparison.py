"""The provider's own table beside its entry: refused if it is another one, and how near the entry gets to its counts.

Distances are total variation distances: what one knows of the table without seeing a record.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from aegis_advisor.arrays import AtomArray, FloatArray, IntArray, fold
from aegis_advisor.cell_bounds import CellBounds
from aegis_advisor.evidence import AttributeEvidence
from aegis_advisor.reconstruction import reconstruct
from aegis_provider.counting.counted_table import CountedTable
from aegis_provider.counting.counts import JointCounts
from aegis_provider.disclosure.model import Comparison, Distance
from aegis_provider.errors import PlanError, TableError, nearest, shortened
from aegis_provider.plan.model import Plan
from aegis_provider.table import Source, open_table
from aegis_sdk.wire import Attribute, EntryDocument, Label

Counts: TypeAlias = NDArray[np.int64]

_OTHER = "it is not the table, or the plan, that the entry was made of"

_ROUNDING = 1e-12
"""Sums of shares are known to that."""


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

    Raises:
        PlanError: The plan lacks one of the attributes, or has another label.
        TableError: The table does not fit the plan, or has other values or another number of records than the entry.
    """
    plan = _restricted(plan, entry, attributes)
    with open_table(table, delimiter=delimiter, memory_limit=memory_limit) as opened:
        counted = CountedTable.of(opened, plan)
        name = opened.name
    _refuse_other_values(name, entry.label.name, counted.label.texts, entry.label.domain)
    for mine, expected in zip(counted.attributes, attributes, strict=True):
        _refuse_other_values(name, expected.name, mine.domain.texts, expected.domain)
    _refuse_other_records(name, counted.records, entry)
    _refuse_other_labels(name, counted.attributes[0].counts.label_histogram(), entry.label)
    return [Truth(name, each.counts) for each in counted.attributes]


def refuse_other_counts(truth: Truth, evidence: AttributeEvidence, bounds: CellBounds) -> None:
    """Refuses a table that is not the entry's.

    Raises:
        TableError: The true counts are not those that the entry declares to be so, or out of their bounds.
    """
    for what, expected, true in _exact_tables(evidence, truth.joint):
        if not np.array_equal(expected, true):
            place = tuple(np.argwhere(expected != true)[0])
            raise TableError(
                f"{truth.table}: {what} of {evidence.name!r}: {true[place]} records where the entry counts "
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


def _refuse_other_values(table: str, column: str, domain: Sequence[str], expected: Sequence[str]) -> None:
    if list(domain) == list(expected):
        return
    here, there = set(domain), set(expected)
    for text in domain:
        if text not in there:
            raise TableError(f"{table}: {column} has the value {shortened(text)}, which the entry has not; {_OTHER}")
    for text in expected:
        if text not in here:
            raise TableError(f"{table}: {column} has no value {shortened(text)}, which the entry has; {_OTHER}")
    raise TableError(f"{table}: {column} has its values in another order than the entry; {_OTHER}")


def _refuse_other_records(table: str, records: int, entry: EntryDocument) -> None:
    """Refuses a number of records that what the label declares does not explain."""
    slack = _slack(entry.label) * len(entry.label.domain)
    if entry.label.noise is None and abs(records - entry.records) > slack:
        raise TableError(f"{table}: has {records} records, the entry {entry.records}; {_OTHER}")


def _refuse_other_labels(table: str, histogram: Counts, label: Label) -> None:
    """Refuses a label's histogram that is declared to be exact, and is not that of the table."""
    for value, here, there in zip(label.domain, histogram.tolist(), label.histogram, strict=True):
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


@dataclass(frozen=True, eq=False)
class Guess:
    """A guess at the shares of the records in every cell of an attribute's table.

    Attributes:
        atom_of_value: (values,) the atom of each.
        shares: (atoms, labels), adding up to 1.
        within: (values,) the part that a value has of its atom, whatever the label.
    """

    atom_of_value: AtomArray
    shares: FloatArray
    within: FloatArray

    def distance(self, truth: JointCounts) -> Distance:
        """How far it is from the truth, which has one record at least."""
        true = truth.fold(self.atom_of_value, self.shares.shape[0])
        atoms = float(np.abs(self.shares - true / true.sum()).sum())
        return Distance(_half(atoms), _half(self._difference_of_values(truth)))

    def _difference_of_values(self, truth: JointCounts) -> float:
        """The sum of absolute differences, by the cells that have records: all others have the rest of the guess."""
        guessed = self.shares[self.atom_of_value[truth.values], truth.labels] * self.within[truth.values]
        off = np.abs(guessed - truth.counts / truth.counts.sum()).sum()
        return float(off + max(0.0, 1.0 - guessed.sum()))


def compare(evidence: AttributeEvidence, truth: JointCounts) -> Comparison:
    """The distance of the pooled reconstruction from the truth, and that of what the margins alone say."""
    reference = reconstruct(evidence)
    atom_of_value, atoms = reference.atom_of_value, reference.joint.shape[0]
    weights = _weights(evidence)
    per_atom = fold(weights, atom_of_value, atoms)
    within = np.divide(weights, per_atom[atom_of_value], out=np.zeros(weights.shape), where=weights > 0)
    independent = np.outer(per_atom, _shares(evidence.label_histogram.astype(np.float64)))
    return Comparison(
        pooled=Guess(atom_of_value, _shares(reference.joint), within).distance(truth),
        margins=Guess(atom_of_value, independent, within).distance(truth),
        converged=reference.certificate.converged,
    )


def _weights(evidence: AttributeEvidence) -> FloatArray:
    """(values,) the share that each value has of the records: by the histogram, all the same where there is none."""
    counts: IntArray | None = evidence.value_counts
    return _shares(np.ones(evidence.values) if counts is None else counts.astype(np.float64))


def _shares(counts: FloatArray) -> FloatArray:
    """The counts over their sum, which noise may have taken to 0: then all the same."""
    total = float(counts.sum())
    return counts / total if total > 0 else np.full(counts.shape, 1.0 / counts.size)


def _half(differences: float) -> float:
    """The distance that a sum of absolute differences makes; 0 where only rounding tells it from that."""
    return differences / 2 if differences > _ROUNDING else 0.0
