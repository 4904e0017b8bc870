"""The example's real table: overlapping bins, checked against what only its provider can know."""

import csv
from collections import Counter
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from aegis_advisor.evidence.checks import find_faults
from aegis_advisor.measures import MEASURES
from aegis_advisor.ranking import Question, recommend
from aegis_advisor.reconstruction import reconstruct
from tests.advisor.cases import Truth, evidence_of, mapped

HEALTH = Path(__file__).parents[2] / "examples" / "health" / "health.csv"
CLASSES = ("poor", "fair", "good", "excellent")
EDGES = {"five": (0, 5, 10, 15, 20, 30), "seven": (0, 7, 14, 21, 28), "life": (0, 1, 2, 4, 7, 13, 25)}


@pytest.fixture(scope="module")
def visits():
    """Counts (values, labels) of the outpatient visits, and the visits in order."""
    with HEALTH.open(newline="") as file:
        counts = Counter((row["visits"], row["health"]) for row in csv.DictReader(file))
    domain = sorted({value for value, _ in counts}, key=Decimal)
    table = np.array([[counts[value, label] for label in CLASSES] for value in domain])
    return table, np.array([int(value) for value in domain])


def test_overlapping_bins_of_real_data(visits):
    table, values = visits
    views = [mapped(name, np.searchsorted(edges, values, "right") - 1, table) for name, edges in EDGES.items()]
    evidence = evidence_of(table, views)
    assert find_faults(evidence) == ()
    reference = reconstruct(evidence)
    # However the bins overlap, they are cuts of one order, so the counts between any two cuts are known exactly.
    assert reference.certificate.method == "closed_form"
    bins = [table[reference.atom_of_value == atom].sum(axis=0) for atom in range(len(reference.joint))]
    np.testing.assert_array_equal(reference.joint, bins)
    truth = Truth(table, {view.id: view.joint for view in views})
    options = [(*EDGES, "drop")]
    codes = np.arange(4)[:, None]
    for name, measure in MEASURES.items():
        if not measure.monotone:
            continue
        answer = recommend([evidence], [reference], codes, options, Question(name, ("a",), np.ones(1)))
        (assessed,) = answer.attributes
        true_utility = measure(table.astype(float))
        assert answer.ranking_basis == "exact"
        deviations = [truth.deviation(measure, options[0][index]) for index, _, _ in answer.ranking]
        assert deviations == sorted(deviations)
        gap = true_utility - assessed.bound_value
        assert (gap if measure.better == "higher" else -gap) >= 0
