"""Comparison of an entry with the provider's own table: the distance of a guess from the entry alone to the true
counts.

A table that is not the entry's is rejected. Distances are total variation distances.
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
from aegis_provider.counting.counts import JointCounts
from aegis_provider.counting.merged_table import Merging
from aegis_provider.disclosure.model import Comparison, Distance
from aegis_provider.disclosure.tables import rounding_of
from aegis_provider.errors import PlanError, TableError, nearest, shortened
from aegis_provider.plan.model import Plan
from aegis_provider.summary import CountedDomains, count_domains
from aegis_provider.table import Source, Table, open_table
from aegis_sdk.wire import Attribute, DisclosureControl, EntryDocument, Label

Counts: TypeAlias = NDArray[np.int64]

_OTHER = "the entry was not made from this table and plan"

_ROUNDING = 1e-12
"""The precision of sums of shares."""


@dataclass(frozen=True)
class Truth:
    """The true joint counts of an attribute, and the name of their table."""

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
    """Return the unmasked joint counts of these attributes of the entry, in the order of their and the label's domain.

    Raises:
        PlanError: The plan lacks one of the attributes, or has another label.
        TableError: The table does not fit the plan, or has other values or another number of records than the entry.
    """
    restricted = _restricted(plan, entry, attributes)
    with open_table(table, delimiter=delimiter, memory_limit=memory_limit) as opened:
        counted = _counted(opened, plan, restricted, entry)
        name = opened.name
    _refuse_other_values(name, entry.label.name, counted.label, entry.label.domain)
    for attribute in attributes:
        _refuse_other_values(name, attribute.name, counted.domains[attribute.name], attribute.domain)
    slack = _slack(entry)
    _refuse_other_records(name, counted.records, entry, slack)
    _refuse_other_labels(name, counted.counts[attributes[0].name].label_histogram(), entry.label, slack)
    return [Truth(name, counted.counts[attribute.name]) for attribute in attributes]


def _counted(opened: Table, plan: Plan, restricted: Plan, entry: EntryDocument) -> CountedDomains:
    """Count every value, or only the shared groups if the entry lists these.

    Merging for a minimum is repeated: with the resulting plan, it changes nothing.
    """
    control = entry.disclosure_control
    if control is not None and control.rounding is not None:
        return count_domains(opened, plan, shared_only=True, merging=_merging(control))
    exactly = count_domains(opened, restricted)
    listed = {attribute.name: attribute.domain for attribute in entry.attributes}
    every_value = all(list(texts) == listed[name] for name, texts in exactly.domains.items())
    if control is None or (every_value and list(exactly.label) == entry.label.domain):
        return exactly
    noisy = control.epsilon is not None
    return count_domains(opened, plan, shared_only=True, all_records=noisy, merging=_merging(control))


def _merging(control: DisclosureControl) -> Merging | None:
    return None if control.min_cell is None else Merging(control.min_cell, labels=True)


def refuse_other_counts(truth: Truth, evidence: AttributeEvidence, bounds: CellBounds) -> None:
    """Reject a table that is not the entry's.

    Raises:
        TableError: The true counts differ from exact counts of the entry, or are outside their bounds.
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
    """Return the plan with these attributes only, in this order."""
    if plan.label != entry.label.name:
        raise PlanError(f"{plan.source}: its label is {plan.label!r}, but the entry's is {entry.label.name!r}")
    known = {attribute.name: attribute for attribute in plan.attributes}
    for attribute in attributes:
        if attribute.name not in known:
            raise PlanError(
                f"{plan.source}: has no attribute {attribute.name!r} of the entry; {nearest(attribute.name, [*known])}"
            )
    return replace(plan, attributes=tuple(known[attribute.name] for attribute in attributes))


def _refuse_other_values(table: str, column: str, domain: Sequence[str], expected: Sequence[str]) -> None:
    if list(domain) == list(expected):
        return
    here, there = set(domain), set(expected)
    for text in domain:
        if text not in there:
            raise TableError(f"{table}: {column} has the value {shortened(text)}, which the entry lacks; {_OTHER}")
    for text in expected:
        if text not in here:
            raise TableError(f"{table}: {column} has no value {shortened(text)}, which the entry has; {_OTHER}")
    raise TableError(f"{table}: {column} has its values in another order than the entry; {_OTHER}")


def _refuse_other_records(table: str, records: int, entry: EntryDocument, slack: int) -> None:
    """Reject a number of records that the label's declared noise or rounding does not explain."""
    if entry.label.noise is None and abs(records - entry.records) > slack * len(entry.label.domain):
        raise TableError(f"{table}: has {records} records, but the entry has {entry.records}; {_OTHER}")


def _refuse_other_labels(table: str, histogram: Counts, label: Label, slack: int) -> None:
    """Reject a label histogram that differs from the table's by more than it declares."""
    for value, here, there in zip(label.domain, histogram.tolist(), label.histogram, strict=True):
        if label.noise is None and abs(here - there) > slack:
            raise TableError(f"{table}: {label.name} is {shortened(value)} in {here} records, not {there}; {_OTHER}")


def _slack(entry: EntryDocument) -> int:
    """Return the largest rounding error of a count of the label's histogram."""
    base = entry.label.rounded_to or rounding_of(entry).rounded_to
    return 0 if base is None else base - 1


def _exact_tables(evidence: AttributeEvidence, truth: JointCounts) -> Iterator[tuple[str, Counts, Counts]]:
    """Yield the exact counts of the entry beside those of the table, as arrays of one shape."""
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
        within: (values,) the share of a value in its atom, for every label.
    """

    atom_of_value: AtomArray
    shares: FloatArray
    within: FloatArray

    def distance(self, truth: JointCounts) -> Distance:
        """Return the distance from the truth, which has at least one record."""
        true = truth.fold(self.atom_of_value, self.shares.shape[0])
        atoms = float(np.abs(self.shares - true / true.sum()).sum())
        return Distance(_half(atoms), _half(self._difference_of_values(truth)))

    def _difference_of_values(self, truth: JointCounts) -> float:
        """Return the sum of absolute differences. The rest of the guess is the difference in the empty cells."""
        guessed = self.shares[self.atom_of_value[truth.values], truth.labels] * self.within[truth.values]
        off = np.abs(guessed - truth.counts / truth.counts.sum()).sum()
        return float(off + max(0.0, 1.0 - guessed.sum()))


def compare(evidence: AttributeEvidence, truth: JointCounts) -> Comparison:
    """Return the distances from the truth of the pooled reconstruction and of the margins alone."""
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
    """Return (values,) the share of the records of each value by the histogram; equal shares if there is none."""
    counts: IntArray | None = evidence.value_counts
    return _shares(np.ones(evidence.values) if counts is None else counts.astype(np.float64))


def _shares(counts: FloatArray) -> FloatArray:
    """Return the counts over their sum, or equal shares if noise has made the sum 0."""
    total = float(counts.sum())
    return counts / total if total > 0 else np.full(counts.shape, 1.0 / counts.size)


def _half(differences: float) -> float:
    """Return the distance for a sum of absolute differences; 0 if the sum is only rounding."""
    return differences / 2 if differences > _ROUNDING else 0.0
