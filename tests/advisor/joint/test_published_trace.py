"""The published trace of the unmasked table: what contradicts it, and when it is the reference."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from aegis_advisor.evidence import AttributeEvidence, Masking, Perturbation, PublishedTrace
from aegis_advisor.joint import find_trace_faults, largest_part
from aegis_advisor.ranking.scores import reference_of
from tests.for_each import for_each

TABLES = {"a": [[40, 10], [10, 40]], "b": [[30, 20], [20, 30]]}


def masking(name, table):
    return Masking(name, len(table), np.arange(len(table)), np.array(table), deterministic=True)


def evidence(**changes):
    label = np.array(TABLES["a"]).sum(axis=0)
    return [
        AttributeEvidence(name, len(table), label, None, None, (replace(masking("m", table), **changes),))
        for name, table in TABLES.items()
    ]


def adjusted(table):
    trace = chi2_contingency(table, correction=False).statistic / 100
    return 1 - (1 - trace) * 99 / 98


def test_the_largest_part_is_the_largest_adjusted_trace():
    assert largest_part(evidence()) == pytest.approx(adjusted(TABLES["a"]), rel=1e-12)
    unmasked = replace(evidence()[1], joint=np.array([[50, 0], [0, 50]]), maskings=())
    assert largest_part([evidence()[0], unmasked]) == pytest.approx(1.0)


def test_inexact_counts_prove_nothing():
    noisy = evidence(perturbation=Perturbation(noise_scale=1.0))
    rounded = [replace(one, rounded_once=5) for one in evidence()]
    assert largest_part(noisy) == largest_part(rounded) == 0.0


@for_each(
    ("value", "rounded_to", "faulty"),
    [
        (0.36, None, False),
        (0.34, None, True),
        (0.4, 0.1, False),
        (0.3, 0.1, False),
        (0.2, 0.1, True),
        (1.0, None, False),
        (1.01, None, True),
        (1.09, 0.1, False),
        (1.2, 0.1, True),
    ],
)
def test_less_than_a_part_or_more_than_all_is_a_fault(value, rounded_to, faulty):
    assert adjusted(TABLES["a"]) == pytest.approx(0.3535, abs=1e-4)
    faults = list(find_trace_faults(evidence(), PublishedTrace(value, rounded_to)))
    assert [fault.path for fault in faults] == [("value",)] * faulty


@for_each(
    ("published", "interactions", "expected"),
    [
        (None, False, (0.2, "known")),
        (PublishedTrace(0.3), False, (0.3, "published")),
        (PublishedTrace(0.2), False, (0.2, "published")),
        (PublishedTrace(0.19, 0.02), False, (0.2, "published")),
        (PublishedTrace(0.1), False, (0.2, "known")),
        (PublishedTrace(0.3), True, (0.3, "known")),
    ],
)
def test_deviations_are_measured_from_the_published_trace_unless_counts_show_more(published, interactions, expected):
    assert reference_of(0.2, published, interactions=interactions) == expected
