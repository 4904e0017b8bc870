"""Joint measures of rounded and noisy pair counts, compared with those of the records."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import spearmanr

from aegis_advisor.evidence import Perturbation
from aegis_advisor.joint import score_jointly
from tests.advisor.inexact import laplace
from tests.advisor.joint.joint_cases import Records, random_codes
from tests.advisor.rounding import rounded_once, rounded_pairs
from tests.for_each import for_each

BASE = 5


def drawn(seed, size, attributes=4, values=12, labels=2):
    """Records whose attributes depend on each other and on the label, with maskings by halves, thirds and quarters."""
    rng = np.random.default_rng(seed)
    hidden = rng.standard_normal(size)
    columns = [
        np.clip(6 + 2.2 * (0.6 * hidden + rng.standard_normal(size) * (1 + at / 2)), 0, values - 1).astype(int)
        for at in range(attributes)
    ]
    shift = sum(columns) / attributes / values
    classes = (rng.random(size) < 0.2 + 0.6 * (shift - shift.min()) / np.ptp(shift)).astype(int)
    mappings = [[np.arange(values) // by for by in (2, 3, 4)] for _ in columns]
    return Records(np.stack(columns, axis=1), classes % labels, mappings)


def both(records, seed=0, base=BASE):
    """The utilities of random configurations by rounded counts, and by exact ones; then the rounded scores."""
    rng = np.random.default_rng(seed)
    codes, options = random_codes(seed, records), records.options
    exact = score_jointly(records.evidence(joint=True), options, codes, records.pairs(), corrected=True)
    evidence = rounded_once(rng, records.evidence(joint=True), base)
    inexact = score_jointly(evidence, options, codes, rounded_pairs(rng, records.pairs(), base), corrected=True)
    return inexact.utility, exact.utility, inexact


@for_each("seed", range(5))
def test_rounded_counts_rank_nearly_as_exact_ones(seed):
    inexact, exact, scores = both(drawn(seed, 8_000), seed)
    assert spearmanr(inexact, exact).statistic > 0.97
    assert np.abs(inexact - exact).max() < 0.01
    assert scores.doubt == np.inf


def test_what_rounding_adds_on_average_is_subtracted():
    """With as few records, rounding alone tells as much as half of what the attributes tell."""
    records = drawn(1, 1_500)
    gaps = np.array([np.subtract(*both(records, seed)[:2]).mean() for seed in range(12)])
    exact = both(records)[1]
    assert abs(gaps.mean()) < 0.1 * exact.mean()


def test_copies_whose_counts_errors_contradict_count_once():
    records = drawn(3, 6_000, attributes=2)
    twice = replace(records, values=records.values[:, [0, 0, 1]], mappings=[records.mappings[0], *records.mappings])
    rng = np.random.default_rng(0)
    codes = np.array([[2, 1, 2], [2, 2, 2], [1, 2, 2]])
    evidence = rounded_once(rng, twice.evidence(joint=True), BASE)
    pairs = rounded_pairs(rng, twice.pairs(), BASE)
    alone, together, other = score_jointly(evidence, twice.options, codes, pairs, corrected=False).utility
    assert together == pytest.approx(max(alone, other), abs=0.01)


def test_noisy_counts_with_the_label_are_estimated_for_it():
    records, scale = drawn(4, 8_000), 2.0
    rng = np.random.default_rng(0)
    noisy = Perturbation(noise_scale=scale)
    pairs = [
        replace(pair, joint=pair.joint + laplace(rng, scale, pair.joint.shape), perturbation=noisy)
        for pair in records.pairs()
    ]
    evidence = [
        replace(
            one,
            histogram=None,
            maskings=tuple(
                replace(each, joint=each.joint + laplace(rng, scale, each.joint.shape), perturbation=noisy)
                for each in one.maskings
            ),
        )
        for one in records.evidence()
    ]
    truth = {one.name: one for one in records.evidence()}

    def estimate(known, option):
        return np.maximum(known.masking(option).joint, 0).astype(float) if known.name in truth else None

    codes = random_codes(0, records)
    found = score_jointly(evidence, records.options, codes, pairs, corrected=True, estimate=estimate).utility
    exact = score_jointly(records.evidence(), records.options, codes, records.pairs(), corrected=True).utility
    assert spearmanr(found, exact).statistic > 0.97


def test_no_trace_exceeds_the_number_of_classes_or_is_negative():
    records = drawn(5, 120, values=12)
    for seed in range(10):
        rng = np.random.default_rng(seed)
        evidence = rounded_once(rng, records.evidence(joint=True), BASE)
        pairs = rounded_pairs(rng, records.pairs(), BASE)
        codes = random_codes(seed, records)
        scores = score_jointly(evidence, records.options, codes, pairs, corrected=False)
        assert scores.utility.min() >= 0
        assert scores.utility.max() <= 1
