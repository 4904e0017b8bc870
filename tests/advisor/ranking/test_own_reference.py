"""The algorithms as published, and why they are not the default."""

import numpy as np
import pytest

from aegis_advisor.errors import OwnReferenceError
from aegis_advisor.evidence import AttributeEvidence, Masking
from aegis_advisor.measures import MEASURES
from aegis_advisor.ranking.own_reference import assess_own, rounded_own_reference
from aegis_advisor.reconstruction import IterativeProportionalFitting, reconstruct
from tests.advisor.cases import (
    counted,
    evidence_of,
    mapped,
    overlapping,
    paper_evidence,
    random_table,
)
from tests.for_each import for_each

INDEPENDENT_INSIDE = ["mutual_information", "chi_square", "g3", "g2"]


def measured(evidence, measure, used, seed=None):
    pooled = reconstruct(evidence, IterativeProportionalFitting(sweeps=5))  # does not matter for deviations
    return assess_own(evidence, pooled, MEASURES[measure], used, seed)


@for_each("histogram", [True, False])
@for_each("measure", INDEPENDENT_INSIDE)
@for_each("seed", range(5))
def test_without_rounding_every_deviation_is_0(measure, histogram, seed):
    rng = np.random.default_rng(seed)
    table = random_table(rng)
    evidence = evidence_of(table, overlapping(rng, table), histogram=histogram)
    found = measured(evidence, measure, ["v0", "v1", "v2", "drop", "identity"])
    assert {masking.deviation for masking in found.maskings.values()} == {0.0}
    assert found.certificate.method == "own"


def test_g1_counts_pairs_and_is_not_0():
    found = measured(paper_evidence(), "g1", ["age-2"]).maskings["age-2"]
    assert found.utility == pytest.approx(0.4830, abs=5e-5)
    assert found.deviation == pytest.approx(0.358, abs=5e-4)


def own_table_by_sweeps(evidence, masking):
    """Algorithm 2, literally: from a uniform table, rows then columns, over the full domain."""
    table = np.full((evidence.values, evidence.labels), 1.0)
    for _ in range(5):
        if evidence.histogram is not None:
            rows = table.sum(1, keepdims=True)
            table = table * np.divide(evidence.histogram[:, None], rows, out=0 * rows, where=rows > 0)
        for group in range(masking.groups):
            inside = masking.mapping == group
            held = table[inside].sum(0)
            table[inside] *= np.divide(masking.joint[group], held, out=0 * held, where=held > 0)
    return table


@for_each("histogram", [True, False])
@for_each("measure", MEASURES)
def test_the_closed_form_is_the_limit_of_the_published_sweeps(measure, histogram):
    rng = np.random.default_rng(1)
    table = random_table(rng)
    evidence = evidence_of(table, overlapping(rng, table), histogram=histogram)
    for masking in evidence.maskings:
        full = own_table_by_sweeps(evidence, masking)
        expected = abs(MEASURES[measure](full) - MEASURES[measure](masking.joint.astype(float)))
        found = measured(evidence, measure, [masking.id]).maskings[masking.id]
        assert found.deviation == pytest.approx(expected, abs=1e-9)


@for_each("histogram", [True, False])
def test_rounding_gives_whole_counts_next_to_the_fractions_and_right_on_average(histogram):
    rng = np.random.default_rng(2)
    table = random_table(rng)
    evidence = evidence_of(table, overlapping(rng, table), histogram=histogram)
    masking = evidence.maskings[0]
    exact = own_table_by_sweeps(evidence, masking)
    rounded = [
        rounded_own_reference(evidence, masking.mapping, masking.joint.astype(float), seed, "v0") for seed in range(400)
    ]
    assert all(np.array_equal(one, np.floor(one)) for one in rounded)
    assert np.abs(rounded - exact).max() < 1 + 1e-9
    # The mean of 400 draws with a standard deviation of at most 1/2, within five standard errors.
    assert np.abs(np.mean(rounded, axis=0) - exact).max() < 5 * 0.5 / np.sqrt(400)


def test_the_draws_depend_on_seed_attribute_and_masking_and_on_nothing_else():
    rng = np.random.default_rng(3)
    table = random_table(rng)
    masks = overlapping(rng, table)
    twin = mapped("twin", masks[0].mapping, table)
    evidence = evidence_of(table, [*masks, twin])
    once = measured(evidence, "mutual_information", ["v0", "v1", "twin"], seed=7).maskings
    again = measured(evidence, "mutual_information", ["v1", "v0"], seed=7).maskings
    other = measured(evidence, "mutual_information", ["v0"], seed=8).maskings
    renamed = evidence_of(table, [*masks, twin], name="b")
    elsewhere = measured(renamed, "mutual_information", ["v0"], seed=7).maskings
    assert (once["v0"], once["v1"]) == (again["v0"], again["v1"])
    assert len({one["v0"].deviation for one in (once, other, elsewhere)} | {once["twin"].deviation}) == 4


def test_it_needs_mapping_and_counts_of_every_masking_that_is_used():
    rng = np.random.default_rng(4)
    table = random_table(rng)
    masks = [counted("blind", table, deterministic=True), mapped("bare", [0] * 9, table, counted=False)]
    evidence = evidence_of(table, [*masks, *overlapping(rng, table)])
    for blind in ("blind", "bare"):
        with pytest.raises(OwnReferenceError, match=blind):
            measured(evidence, "g3", ["v0", blind])
    assert measured(evidence, "g3", ["v0"]).maskings.keys() == {"v0"}


def test_a_masked_value_that_no_value_maps_to_counts_nothing():
    joint = np.array([[4, 1], [1, 4], [0, 0]])
    masking = Masking("m", 3, np.array([0, 1]), joint, deterministic=True)
    evidence = AttributeEvidence("a", 2, joint.sum(axis=0), None, None, (masking,))
    for measure in MEASURES.values():
        found = assess_own(evidence, reconstruct(evidence), measure, ["m", "drop"], None)
        assert np.isfinite([score.deviation for score in found.maskings.values()]).all()
