"""The figures of a ranker, against independent computations."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from research.evaluation.outcomes import outcome
from research.evaluation.sections.joint import Difference, best_other
from research.losses import Estimate, correlations, lost, lost_in_split
from research.training import METRICS, MODELS, Results

pytestmark = pytest.mark.long

RNG = np.random.default_rng(5)


def test_an_interval_of_independent_values_is_that_of_the_t_test():
    values = RNG.normal(size=12)
    estimate = Estimate.of(values, 0.0)
    expected = stats.ttest_1samp(values, 0.0).confidence_interval(0.95)
    assert (estimate.lower, estimate.upper) == pytest.approx((expected.low, expected.high))
    assert Estimate.of(np.full(5, 0.25), 1.0) == Estimate(0.25, 0.0)


def test_an_interval_over_overlapping_halves_is_that_of_the_corrected_resampled_t():
    values = [0.03, 0.01, 0.04, 0.01, 0.05]
    mean = sum(values) / 5
    spread = sum((value - mean) ** 2 for value in values) / 4
    half_width = 2.7764451 * math.sqrt(
        (1 / 5 + 300 / 200) * spread
    )  # the tabled 0.975 quantile of 4 degrees of freedom
    assert Estimate.of(np.array(values), 300 / 200) == Estimate(
        pytest.approx(mean), pytest.approx(half_width, rel=1e-6)
    )


def test_the_interval_covers_what_overlapping_halves_have_in_common():
    """Each split has an error shared by all splits of its table, and its own: half of the variance is shared."""
    rng = np.random.default_rng(8)
    values = rng.normal(size=(2_000, 1)) + rng.normal(size=(2_000, 10))
    corrected, independent = (
        np.mean([one.lower < 0 < one.upper for one in (Estimate.of(row, ratio) for row in values)])
        for ratio in (1.0, 0.0)
    )
    assert corrected == pytest.approx(0.95, abs=0.02)
    assert independent < 0.6


def test_what_a_pick_loses_is_what_listing_the_results_says():
    results = RNG.random((7, 5))
    means = [sum(results[:, one]) / 7 for one in range(5)]
    best = means.index(max(means))
    for pick in range(5):
        chosen = np.eye(5)[pick]
        for split in range(7):
            assert lost(results, chosen)[split] == pytest.approx(results[split, best] - results[split, pick])
            assert lost_in_split(results, chosen)[split] == pytest.approx(max(results[split]) - results[split, pick])
    assert lost(results, np.eye(5)[best]) == pytest.approx(np.zeros(7))
    assert lost(results, np.full(5, 0.2)).mean() == pytest.approx(max(means) - sum(means) / 5)


def test_correlation_is_spearmans_with_ties():
    utilities = np.array([0.1, 0.3, 0.3, 0.9, 0.2, 0.2])
    results = np.round(RNG.random((20, 6)), 1)
    expected = [stats.spearmanr(utilities, row).statistic for row in results]
    assert correlations(results, utilities) == pytest.approx(np.array(expected))


def test_an_order_that_says_nothing_correlates_with_nothing():
    assert correlations(RNG.random((3, 4)), np.ones(4)).tolist() == [0.0, 0.0, 0.0]
    assert correlations(np.ones((2, 4)), np.arange(4.0)).tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("shift", "verdict"), [(-1.0, "better"), (-0.4, "undecided"), (0.4, "undecided"), (1.0, "worse")]
)
def test_a_difference_is_told_by_its_interval(shift, verdict):
    assert Difference(Estimate(shift, 0.5)).verdict == verdict


def test_the_same_pick_in_all_questions_is_no_open_difference(wine, by_id):
    results = Results(RNG.random((8, len(MODELS), 4, len(METRICS))))
    entrants = [by_id["mutual_information, counts"], by_id["theils_u, counts"], by_id["random choice"]]
    information, again, chance = outcome(wine, results, entrants).effects
    assert str(Difference.of(information, again)) == "same pick"
    assert Difference.of(information, chance).verdict != "same pick"


@pytest.mark.parametrize("best", ["mutual_information, bias corrected", "g3, counts"])
def test_the_best_in_hindsight_is_chosen_among_all_measures_of_single_attributes(wine, by_id, best):
    names = ["joint, counts", "joint, not corrected", "mutual_information, counts", "random choice"]
    names += ["mutual_information, bias corrected", "g3, counts"]
    results = Results(RNG.random((8, len(MODELS), 4, len(METRICS))))
    ranked = outcome(wine, results, [by_id[name] for name in names])
    losing = {name: np.full_like(ranked.effects[0].lost, 0.2) for name in names}
    losing |= {
        best: losing[best] / 2,
        names[0]: losing[best] * 0,
        names[1]: losing[best] * 0,
        names[3]: losing[best] * 0,
    }
    effects = tuple(replace(each, lost=losing[each.entrant.id]) for each in ranked.effects)
    assert best_other(replace(ranked, effects=effects)).entrant.id == best
