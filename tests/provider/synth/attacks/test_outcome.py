"""Intervals: against SciPy, and in simulation."""

import numpy as np
import pytest
from scipy.stats import binomtest

from aegis_provider.check import Interval
from aegis_provider.synth.attacks.attack import Outcome, beyond, exactly, mean_of, wilson
from aegis_provider.synth.attacks.membership import nearest_membership
from aegis_provider.synth.attacks.quasi_identifiers import macro_recall
from tests.for_each import for_each


@for_each(("hits", "tries"), [(0, 10), (3, 10), (10, 10), (70, 1000)])
def test_wilsons_interval_is_that_of_scipy(hits, tries):
    low, high = binomtest(hits, tries).proportion_ci(method="wilson")
    found = wilson(hits, tries)
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-4)


def test_no_try_says_nothing():
    assert wilson(0, 0) == Interval(0.0, 0.0, 1.0)


def test_the_gain_is_what_is_left_of_what_is_possible():
    found = beyond(Interval(0.6, 0.5, 0.7), exactly(0.2))
    assert found == Interval(pytest.approx(0.5), pytest.approx(0.375), pytest.approx(0.625))
    assert beyond(exactly(1.0), exactly(1.0)).value == 0


def test_the_gain_is_less_certain_if_more_is_tried_and_never_above_either_comparison():
    success, low, high = wilson(300, 1000), wilson(100, 1000), wilson(250, 1000)
    one = Outcome("a", "b", 1000, "guesses", success, low, high, "")
    assert one.gain(30) < one.gain(1)
    assert one.gain(1) == pytest.approx(one.risk.low, rel=1e-3)
    assert one.gain(1) < one.beyond_chance.low


@pytest.mark.long
def test_intervals_cover_the_truth_nineteen_times_in_twenty():
    rng, covered = np.random.default_rng(0), {"share": [], "gain": [], "recall": [], "mean": []}
    for _ in range(2000):
        one, other = wilson(rng.binomial(400, 0.3), 400), wilson(rng.binomial(400, 0.2), 400)
        covered["share"].append(one.low <= 0.3 <= one.high)
        gain = beyond(one, other)
        covered["gain"].append(gain.low <= 0.125 <= gain.high)
        truth = rng.integers(0, 3, 300)
        guess = np.where(rng.random(300) < np.array([0.2, 0.5, 0.9])[truth], truth, (truth + 1) % 3)
        recall = macro_recall(guess, truth, np.unique(truth))
        covered["recall"].append(recall.low <= 1.6 / 3 <= recall.high)
        mean = mean_of(rng.choice([0.0, 0.5, 1.0], 300))
        covered["mean"].append(mean.low <= 0.5 <= mean.high)
    for name, each in covered.items():
        assert 0.93 <= np.mean(each) <= 0.97, (name, np.mean(each))


@pytest.mark.long
def test_the_interval_of_membership_covers_chance_for_fresh_records(people, case_of):
    covered = []
    for seed in range(200):
        case = case_of(people(300, seed), lambda _, seed=seed: people(150, 0, fresh=1000 + seed), seed=seed)
        [outcome] = nearest_membership(case)
        covered.append(outcome.success.low <= 0.5 <= outcome.success.high)
    assert 0.91 <= np.mean(covered) <= 0.985
