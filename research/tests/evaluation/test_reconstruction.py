"""Distances and errors of the reconstruction, against computations without atoms."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.distance import cityblock

from aegis_advisor.evidence.checks import find_faults
from aegis_advisor.measures import MEASURES
from aegis_advisor.reconstruction import reconstruct
from research.evaluation import synthetic_tables
from research.evaluation.reconstruction_distances import (
    MERGED,
    VIEWS,
    Reconstruction,
    coarse_to_fine,
    distances,
    evidence_with,
    full_table,
    random_orders,
    regrouped,
    total_variation,
    views,
)
from research.evaluation.sections import reconstruction as reconstruction_section
from research.evaluation.sections.reconstruction import FIGURE, summaries
from research.evaluation.utility_errors import ErrorSummary, UtilityError, utility_errors
from research.tests.studies import random_study

pytestmark = pytest.mark.long

BOTH = pytest.mark.parametrize("histogram", [True, False])


def fitted(evidence, sweeps=3000):
    """Fit the full table by iterative proportional fitting from a uniform start, margin after margin."""
    table = np.ones((evidence.values, evidence.labels))
    for _ in range(sweeps):
        if evidence.histogram is not None:
            table *= ratio(evidence.histogram, table.sum(axis=1))[:, None]
        for masking in evidence.maskings:
            sums = np.array([table[masking.mapping == group].sum(axis=0) for group in range(masking.groups)])
            table *= ratio(masking.joint, sums)[masking.mapping]
        table *= ratio(evidence.label_histogram, table.sum(axis=0))
    return table


def ratio(wanted, sums):
    return np.divide(wanted, sums, out=np.zeros(np.shape(sums)), where=sums > 0)


@BOTH
@pytest.mark.parametrize("known", [(), ("m0",), ("m0", "m1")])
def test_the_full_table_is_what_plain_fitting_finds(known, histogram):
    study = random_study(0)
    for one in study.evidence:
        part = evidence_with(one, known, histogram=histogram)
        table = full_table(reconstruct(part), part.histogram)
        np.testing.assert_allclose(table, fitted(part), atol=1e-4 * one.records)
        np.testing.assert_allclose(table.sum(axis=0), one.label_histogram)


def test_total_variation_is_half_the_city_block_distance():
    rng = np.random.default_rng(0)
    one, other = rng.integers(0, 9, (2, 5, 3))
    expected = cityblock((one / one.sum()).ravel(), (other / other.sum()).ravel()) / 2
    assert total_variation(one, other) == pytest.approx(expected)
    assert total_variation(np.array([[4, 0]]), np.array([[0, 7]])) == 1.0
    assert total_variation(one, 3 * one) == pytest.approx(0.0)


def test_no_view_is_independence_and_the_unmasked_view_the_truth():
    study = random_study(1)
    for one, truth in zip(study.evidence, study.truths, strict=True):
        independent = np.outer(one.histogram, one.label_histogram)
        even = np.outer(np.ones(one.values), one.label_histogram)
        known = distances(one, truth, [()], histogram=True)
        unknown = distances(one, truth, [()], histogram=False)
        assert known[0, 0] == pytest.approx(total_variation(independent, truth))
        assert unknown[0, 0] == pytest.approx(total_variation(even, truth))
        clear = replace(one.maskings[0], groups=one.values, mapping=np.arange(one.values), joint=truth)
        seen = distances(replace(one, maskings=(clear,)), truth, [(clear.id,)], histogram=True)
        assert seen[0, 1] == pytest.approx(0.0, abs=1e-12)


@BOTH
def test_distances_are_those_of_each_beginning_of_an_order(histogram):
    study = random_study(2)
    one, truth = study.evidence[0], study.truths[0]
    known_distances = distances(one, truth, [("m0", "m1"), ("m1", "m0")], histogram=histogram)
    assert known_distances.shape == (2, 3)
    assert known_distances[0, 2] == known_distances[1, 2]
    for row, first in enumerate(("m0", "m1")):
        part = evidence_with(one, [first], histogram=histogram)
        assert known_distances[row, 1] == pytest.approx(total_variation(fitted(part), truth), abs=1e-4)


def test_orders_hold_every_view_that_tells_something():
    one = random_study(3).evidence[0]
    gone = replace(one.maskings[0], id="gone", groups=1, mapping=np.zeros(one.values, dtype=int))
    gone = replace(gone, joint=one.label_histogram[np.newaxis])
    silent = replace(one.maskings[0], id="silent", joint=None)
    more = replace(one, maskings=(gone, *one.maskings, silent))
    sizes = [view.groups for view in views(more)]
    assert sizes == sorted(sizes)
    assert sorted(coarse_to_fine(more)) == ["m0", "m1"]
    orders = random_orders(more, 20, seed=1)
    assert {frozenset(order) for order in orders} == {frozenset({"m0", "m1"})}
    assert len(set(orders)) == 2
    assert orders == random_orders(more, 20, seed=1)


@BOTH
def test_errors_are_the_best_of_reference_and_views_less_the_truth(histogram):
    study = random_study(4)
    for one, truth in zip(study.evidence, study.truths, strict=True):
        part = evidence_with(one, coarse_to_fine(one), histogram=histogram)
        errors = {error.measure: error for error in utility_errors(one, truth, histogram=histogram)}
        assert errors.keys() == MEASURES.keys()
        for name in ("mutual_information", "chi_square", "g3"):
            measure = MEASURES[name]
            tables = [fitted(part), *(masking.joint.astype(float) for masking in one.maskings)]
            expected = measure.best([measure(table) for table in tables]) - measure(truth.astype(float))
            assert errors[name].error == pytest.approx(expected, rel=1e-3, abs=1e-4)
            assert errors[name].bound
            assert errors[name].interval in (True, None)


def test_a_bound_that_does_not_hold_is_seen():
    study = random_study(4)
    one, truth = study.evidence[0], study.truths[0]
    independent = np.outer(one.histogram, one.label_histogram)  # as if the attribute told nothing
    errors = {error.measure: error for error in utility_errors(one, independent, histogram=True)}
    assert errors["mutual_information"].bound is False
    assert errors["g3"].bound is False
    assert errors["mutual_information"].interval is False
    given = {error.measure: error for error in utility_errors(replace(one, joint=truth), truth, histogram=True)}
    assert given["mutual_information"].bound
    assert given["mutual_information"].error == pytest.approx(0.0, abs=1e-12)


def test_a_summary_of_errors_by_hand():
    listed = [
        UtilityError("m", 3.0, 2.0, bound=True, interval=None, closed_form=True, converged=True),
        UtilityError("m", 1.0, 4.0, bound=False, interval=True, closed_form=False, converged=True),
    ]
    expected = ErrorSummary(2, -1.0, 2.0, 2 / 3, 1, 1, bounds=2, bounds_held=1, intervals=1, intervals_held=1)
    assert ErrorSummary.of(listed) == expected


def test_means_over_attributes_keep_what_all_views_of_an_attribute_leave():
    study = random_study(5)
    few = replace(study.evidence[1], maskings=study.evidence[1].maskings[:1])
    study = replace(study, evidence=(study.evidence[0], few), truths=study.truths[:2])
    variant = Reconstruction.of(study, orders=2).histogram
    last = [
        distances(one, truth, [coarse_to_fine(one)], histogram=True)[0, -1]
        for one, truth in zip(study.evidence, study.truths, strict=True)
    ]
    assert variant.coarse_first.shape == (3,)
    assert variant.by_views.shape == (2, 3)
    assert variant.complete == pytest.approx(np.mean(last))
    np.testing.assert_allclose(variant.by_views[:, -1], variant.complete)
    np.testing.assert_allclose(variant.by_views[:, 0], variant.independent)


def test_the_section_says_what_was_found_and_repeats():
    studies = [random_study(6), random_study(7)]
    section = reconstruction_section.section(
        [*studies, synthetic_tables.redundant(2, records=100, configurations=2)], short=True
    )
    assert section.markdown == reconstruction_section.section(studies, short=True).markdown
    assert list(section.figures) == [FIGURE]
    assert len([axes for axes in section.figures[FIGURE].axes if axes.has_data()]) == 2
    reconstructions = [Reconstruction.of(study, 2) for study in studies]
    for one in reconstructions:
        for variant in one.variants.values():
            assert f" {variant.complete:.3f} |" in section.markdown
    assert (
        f"{np.mean([one.histogram.complete for one in reconstructions]):.3f} from the true ones" in section.findings[0]
    )
    error = summaries([one.histogram for one in reconstructions])["mutual_information"]
    assert f"off by {error.relative:.0%} with histograms" in section.markdown


def test_overlapping_views_are_merges_of_the_true_counts_that_have_to_be_iterated():
    study = random_study(9, values=(16, 5, 12))
    overlapping = regrouped(study)
    assert [one.name for one in overlapping.evidence] == ["a0", "a2"]
    for one, truth in zip(overlapping.evidence, overlapping.truths, strict=True):
        assert len(one.maskings) == VIEWS
        for masking in one.maskings:
            assert np.bincount(masking.mapping).min() >= MERGED
            for group in range(masking.groups):
                np.testing.assert_array_equal(masking.joint[group], truth[masking.mapping == group].sum(axis=0))
        assert not find_faults(one)
        assert reconstruct(one).certificate.method in {"ipf", "newton"}
    assert regrouped(replace(study, evidence=study.evidence[1:2], truths=study.truths[1:2])) is None


def test_the_section_sums_up_overlapping_views():
    study = random_study(9, values=(16, 5, 12))
    text = reconstruction_section.section([study], short=True).markdown
    assert "2 of 2 attributes have no closed form;\n4 of 4 references have converged." in text
    assert (
        "Views that overlap"
        not in reconstruction_section.section([random_study(0, values=(6, 4))], short=True).markdown
    )
