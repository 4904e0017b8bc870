"""Random tables, maskings of every kind, and the true answers to compare with."""

from dataclasses import dataclass

import numpy as np
import pytest

from aegis_advisor.arrays import FloatArray, IntArray, fold
from aegis_advisor.evidence import AttributeEvidence, Masking
from aegis_advisor.measures import Measure
from aegis_advisor.ranking import assess
from aegis_advisor.ranking.influence import Sample, influences
from aegis_advisor.ranking.standard_errors import Errors
from aegis_advisor.reconstruction import reconstruct

PAPER_TABLE = np.array([[0, 0, 1, 7, 12], [15, 25, 29, 9, 2]])
PAPER_HISTOGRAM = np.array([4, 12, 4, 30, 20, 10, 10, 10])
PAPER_MAPPING = np.array([0, 0, 0, 1, 1, 1, 1, 1])

REPRESENTATIVES = ("mutual_information", "g3", "joint")


def by_measure(measures):
    """Parametrise a costly test: an f-divergence, a measure that guesses and a joint one always, the rest if long.

    A test that takes milliseconds sees all measures by `for_each`.
    """
    cases = [
        pytest.param(one, id=one.id, marks=() if one.id in REPRESENTATIVES else pytest.mark.long) for one in measures
    ]
    return pytest.mark.parametrize("measure", cases)


def mapped(name, mapping, table, *, counted=True):
    """A masking of a true table (values, labels), as a provider would summarise it."""
    mapping = np.asarray(mapping, dtype=np.int64)
    groups = int(mapping.max()) + 1
    joint = fold(np.asarray(table, dtype=np.int64), mapping, groups) if counted else None
    return Masking(name, groups, mapping, joint, deterministic=True)


def counted(name, joint, *, deterministic):
    """A masking known by its counts only."""
    joint = np.asarray(joint, dtype=np.int64)
    return Masking(name, joint.shape[0], None, joint, deterministic)


def evidence_of(table, maskings, *, histogram=True, joint=False, name="a"):
    """What a provider publishes about a true table (values, labels)."""
    table = np.asarray(table, dtype=np.int64)
    return AttributeEvidence(
        name=name,
        values=table.shape[0],
        label_histogram=table.sum(axis=0),
        histogram=table.sum(axis=1) if histogram else None,
        joint=table if joint else None,
        maskings=tuple(maskings),
    )


def paper_evidence(*, histogram=True):
    """The example of the paper, section 4."""
    masking = Masking("age-2", 2, PAPER_MAPPING, PAPER_TABLE, deterministic=True)
    return AttributeEvidence(
        name="age",
        values=8,
        label_histogram=PAPER_TABLE.sum(axis=0),
        histogram=PAPER_HISTOGRAM if histogram else None,
        joint=None,
        maskings=(masking,),
    )


def random_table(rng: np.random.Generator, values=9, labels=3, records=400) -> IntArray:
    """A true table whose label depends on the value; some cells and sometimes whole rows are empty."""
    shape = rng.dirichlet(np.full(labels, 0.5), size=values) * rng.gamma(0.7, size=(values, 1))
    return rng.multinomial(records, (shape / shape.sum()).ravel()).reshape(values, labels)


def random_mapping(rng: np.random.Generator, values: int, groups: int) -> IntArray:
    """Bins with random edges, or a random assignment; every group is used."""
    groups = min(groups, values)
    if rng.random() < 0.5:
        edges = np.sort(rng.choice(np.arange(1, values), groups - 1, replace=False))
        return np.searchsorted(edges, np.arange(values), side="right").astype(np.int64)
    spread = np.concatenate([np.arange(groups), rng.integers(0, groups, values - groups)])
    return rng.permutation(spread).astype(np.int64)


def overlapping(rng: np.random.Generator, table: IntArray, views=3, groups=4) -> list[Masking]:
    """Counted views that usually overlap without nesting."""
    values = table.shape[0]
    return [mapped(f"v{at}", random_mapping(rng, values, groups), table) for at in range(views)]


def permuted(evidence: AttributeEvidence, order: IntArray) -> AttributeEvidence:
    """The same evidence with the domain's values in another order."""
    maskings = tuple(
        Masking(one.id, one.groups, None if one.mapping is None else one.mapping[order], one.joint, True)
        for one in evidence.maskings
    )
    histogram = None if evidence.histogram is None else evidence.histogram[order]
    return AttributeEvidence(
        evidence.name, evidence.values, evidence.label_histogram, histogram, evidence.joint, maskings
    )


def full_table(evidence: AttributeEvidence, reference) -> FloatArray:
    """The reference spread over the whole domain (values, labels)."""
    full = np.zeros((evidence.values, evidence.labels))
    counts = evidence.value_counts
    for value, atom in enumerate(reference.atom_of_value):
        mates = reference.atom_of_value == atom
        share = 1 / mates.sum() if counts is None else counts[value] / max(counts[mates].sum(), 1)
        full[value] = reference.joint[atom] * share
    return full


@dataclass(frozen=True)
class Truth:
    """An attribute as only its provider knows it: its table, and the table of every masking."""

    table: IntArray
    masked: dict[str, IntArray]

    def deviation(self, measure: Measure, masking: str) -> float:
        """|rho(A; Y) - rho(M(A); Y)|, the summand of the paper's equation 1."""
        shown = {"identity": self.table, "drop": self.table.sum(axis=0, keepdims=True), **self.masked}
        return abs(measure(self.table.astype(float)) - measure(shown[masking].astype(float)))


def errors_of(evidence, measure, used):
    """The errors of the maskings `used` of an attribute."""
    reference = reconstruct(evidence)
    sample = Sample.of(evidence, reference, measure)
    found = assess(evidence, reference, measure, used)
    return Errors.of(measure, sample, influences(evidence, sample, measure, used, found.reference_utility), found)
