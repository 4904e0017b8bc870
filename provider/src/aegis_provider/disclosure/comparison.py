"""Comparison of an entry with the provider's own table: the distance of a guess from the entry to the true counts.

A table that is not the entry's is rejected. Distances are total variation distances.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from aegis_advisor.arrays import AtomArray, FloatArray, fold
from aegis_advisor.cell_bounds import CellBounds
from aegis_advisor.evidence import AttributeEvidence
from aegis_advisor.reconstruction import reconstruct
from aegis_provider.counting.counts import Counts, JointCounts
from aegis_provider.counting.merged_table import Merging
from aegis_provider.disclosure.model import Comparison, Distance
from aegis_provider.disclosure.tables import rounding_of
from aegis_provider.errors import PlanError, TableError, nearest, shortened
from aegis_provider.plan.model import Plan
from aegis_provider.summary import CountedDomains, count_domains
from aegis_provider.table import Source, Table, open_table
from aegis_sdk.wire import Attribute, EntryDocument

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
    _refuse_other_counts_of_label(name, counted, counted.counts[attributes[0].name].label_histogram(), entry)
    return [Truth(name, counted.counts[attribute.name]) for attribute in attributes]


def _counted(opened: Table, plan: Plan, restricted: Plan, entry: EntryDocument) -> CountedDomains:
    """Count every value, or only the shared groups if the entry lists these, merged again as the plan already is."""
    control = entry.disclosure_control
    least = None if control is None else control.min_cell
    merging = None if least is None else Merging(least, labels=True)
    if control is not None and control.rounding is not None:
        return count_domains(opened, plan, shared_only=True, merging=merging)
    exactly = count_domains(opened, restricted)
    listed = {attribute.name: attribute.domain for attribute in entry.attributes}
    every_value = all(list(texts) == listed[name] for name, texts in exactly.domains.items())
    if control is None or (every_value and list(exactly.label) == entry.label.domain):
        return exactly
    return count_domains(opened, plan, shared_only=True, all_records=control.epsilon is not None, merging=merging)


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
    """Return the plan with only these attributes, in this order."""
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


def _refuse_other_counts_of_label(table: str, counted: CountedDomains, histogram: Counts, entry: EntryDocument) -> None:
    """Reject numbers of records that the label's declared noise or rounding does not explain."""
    label, base = entry.label, entry.label.rounded_to or rounding_of(entry).rounded_to
    if label.noise is not None:
        return
    slack = 0 if base is None else base - 1  # the largest rounding error of a count
    if abs(counted.records - entry.records) > slack * len(label.domain):
        raise TableError(f"{table}: has {counted.records} records, but the entry has {entry.records}; {_OTHER}")
    for value, here, there in zip(label.domain, histogram.tolist(), label.histogram, strict=True):
        if abs(here - there) > slack:
            raise TableError(f"{table}: {label.name} is {shortened(value)} in {here} records, not {there}; {_OTHER}")


def _exact_tables(evidence: AttributeEvidence, truth: JointCounts) -> Iterator[tuple[str, Counts, Counts]]:
    """Yield the exact counts of the entry beside those of the table, as arrays of one shape."""
    if evidence.histogram is not None:
        yield "the histogram", evidence.histogram, truth.histogram()
    if evidence.joint is not None:
        yield "the joint counts", evidence.joint, truth.fold(range(evidence.values), evidence.values)
    for masking in evidence.maskings:
        if masking.constrains and masking.mapping is not None and masking.joint is not None:
            yield f"masking {masking.id!r}", masking.joint, truth.fold(masking.mapping, masking.groups)


def compare(evidence: AttributeEvidence, truth: JointCounts) -> Comparison:
    """Return the distances from the truth of the pooled reconstruction and of the margins alone."""
    reference = reconstruct(evidence)
    atom_of_value, atoms = reference.atom_of_value, reference.joint.shape[0]
    counts = evidence.value_counts
    weights = _shares(np.ones(evidence.values) if counts is None else counts.astype(np.float64))
    per_atom = fold(weights, atom_of_value, atoms)
    within = np.divide(weights, per_atom[atom_of_value], out=np.zeros(weights.shape), where=weights > 0)
    independent = np.outer(per_atom, _shares(evidence.label_histogram.astype(np.float64)))
    return Comparison(
        pooled=_distance(truth, atom_of_value, _shares(reference.joint), within),
        margins=_distance(truth, atom_of_value, independent, within),
        converged=reference.certificate.converged,
    )


def _distance(truth: JointCounts, atom_of_value: AtomArray, shares: FloatArray, within: FloatArray) -> Distance:
    """Return the distance of a guess from the truth, which has at least one record.

    Args:
        truth: The true counts.
        atom_of_value: (values,) The atom of each.
        shares: (atoms, labels) The guessed shares of the records in every cell, adding up to 1.
        within: (values,) The share of a value in its atom, for every label.
    """
    true = truth.fold(atom_of_value, shares.shape[0])
    by_atom = float(np.abs(shares - true / true.sum()).sum())
    guessed = shares[atom_of_value[truth.values], truth.labels] * within[truth.values]
    off = np.abs(guessed - truth.counts / truth.counts.sum()).sum()
    by_value = float(off + max(0.0, 1.0 - guessed.sum()))  # the rest of the guess is in empty cells
    atoms, values = (total / 2 if total > _ROUNDING else 0.0 for total in (by_atom, by_value))
    return Distance(atoms, values)


def _shares(counts: FloatArray) -> FloatArray:
    """Return the counts over their sum, or equal shares if noise has made the sum 0."""
    total = float(counts.sum())
    return counts / total if total > 0 else np.full(counts.shape, 1.0 / counts.size)
