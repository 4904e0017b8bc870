"""The standard errors of joint measures of inexact counts, against what rounding and noise do to the same records."""

from dataclasses import replace

import numpy as np

from aegis_advisor.evidence import Perturbation
from aegis_advisor.joint import score_jointly
from tests.advisor.inexact import laplace
from tests.advisor.joint import interaction_cases
from tests.advisor.joint.joint_cases import random_codes
from tests.advisor.joint.test_inexact import BASE, drawn
from tests.advisor.rounding import rounded_once, rounded_pairs

DRAWS = 40


def ratio(draw, exact):
    """The root mean square of errors over their standard errors, where these are not 0."""
    gaps, rows = [], np.arange(exact.size)
    for seed in range(DRAWS):
        scores = draw(seed)
        errors = scores.errors(rows)
        gaps.append((scores.utility - exact)[errors > 0] / errors[errors > 0])
    return np.sqrt(np.mean(np.square(np.concatenate(gaps))))


def test_they_are_those_of_rounding():
    records = drawn(1, 8_000)
    codes = random_codes(0, records)
    exact = score_jointly(records.evidence(joint=True), records.options, codes, records.pairs(), corrected=True)
    assert np.isnan(exact.errors(np.arange(len(codes)))).all()

    def draw(seed):
        rng = np.random.default_rng(seed)
        evidence = rounded_once(rng, records.evidence(joint=True), BASE)
        pairs = rounded_pairs(rng, records.pairs(), BASE)
        return score_jointly(evidence, records.options, codes, pairs, corrected=True)

    assert 0.6 < ratio(draw, exact.utility) < 1.5


def test_they_are_those_of_noise_in_pair_counts():
    records, scale = drawn(2, 8_000), 3.0
    codes, noisy = random_codes(0, records), Perturbation(noise_scale=scale)
    exact = score_jointly(records.evidence(joint=True), records.options, codes, records.pairs(), corrected=True)

    def draw(seed):
        rng = np.random.default_rng(seed)
        pairs = [
            replace(pair, joint=pair.joint + laplace(rng, scale, pair.joint.shape), perturbation=noisy)
            for pair in records.pairs()
        ]
        return score_jointly(records.evidence(joint=True), records.options, codes, pairs, corrected=True)

    assert 0.6 < ratio(draw, exact.utility) < 1.5


def test_those_of_interactions_have_the_errors_of_chi_square():
    records = interaction_cases.drawn(1, 8_000)
    codes, told = random_codes(0, records), interaction_cases.told(records)
    pairs = records.pairs()

    def scores(evidence, pairs, told):
        return score_jointly(evidence, records.options, codes, pairs, corrected=True, associations=told)

    exact = scores(records.evidence(joint=True), pairs, told)
    assert exact.interactions is not None
    assert exact.interactions.max() > 0.1

    def draw(seed):
        rng = np.random.default_rng(seed)
        evidence = rounded_once(rng, records.evidence(joint=True), BASE)
        unit = BASE * 3
        rounded = [
            replace(each, chi_square=unit * float(np.floor(each.chi_square / unit + rng.random())), rounded_to=BASE)
            for each in told
        ]
        return scores(evidence, rounded_pairs(rng, pairs, BASE), rounded)

    assert 0.5 < ratio(draw, exact.utility) < 1.4


def test_they_are_computed_for_the_first_rows_only():
    records = drawn(1, 500, attributes=2)
    evidence = rounded_once(np.random.default_rng(0), records.evidence(joint=True), BASE)
    pairs = rounded_pairs(np.random.default_rng(0), records.pairs(), BASE)
    codes = np.tile(random_codes(0, records)[:3], (100, 1))
    errors = score_jointly(evidence, records.options, codes, pairs, corrected=True).errors(np.arange(300))
    assert np.isfinite(errors[:200]).all()
    assert np.isnan(errors[200:]).all()
