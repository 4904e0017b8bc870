"""What declared noise, rounding and left-out records imply, against exact distributions and repeated draws."""

import math

import numpy as np
import pytest

from aegis_advisor.evidence import Perturbation
from aegis_advisor.evidence.perturbation import IMPLAUSIBLE, largest_noise, noise_variance
from tests.for_each import for_each

LABEL = np.array([60, 40])


def noise_distribution(scale, terms, reach):
    """P(S = k) for a sum of discrete Laplace noise, with k from -reach to reach, by convolution."""
    single = math.tanh(0.5 / scale) * np.exp(-np.abs(np.arange(-reach, reach + 1)) / scale)
    found = np.ones(1)
    for _ in range(terms):
        found = np.convolve(found, single)
    middle = found.size // 2
    return found[middle - reach : middle + reach + 1]


@for_each("scale", [0.3, 1.0, 2.0, 7.5])
def test_the_variance_of_noise_is_that_of_its_distribution(scale):
    values = np.arange(-400, 401)
    assert noise_variance(scale) == pytest.approx(noise_distribution(scale, 1, 400) @ values**2, rel=1e-9)


@for_each("scale", [0.3, 2.0, 7.5])
@for_each("terms", [1, 4, 25])
def test_noise_hardly_ever_exceeds_its_bound_and_the_bound_is_not_much_too_large(scale, terms):
    probability = 1e-6
    bound = largest_noise(scale, terms, probability)
    distribution = noise_distribution(scale, terms, 600)
    beyond = [distribution[:600 - at].sum() + distribution[601 + at:].sum() for at in (bound, bound // 2)]  # fmt: skip
    assert beyond[0] <= probability < beyond[1]


@for_each("scale", [1e-300, 1e-3, 0.02, 1e6, 2.0**53])
@for_each("terms", [1, 1000])
def test_scales_of_every_size_have_a_variance_and_a_bound(scale, terms):
    assert noise_variance(scale) == pytest.approx(2 * scale**2 if scale > 1 else 0, rel=1e-6, abs=1e-9)
    bound = largest_noise(scale, terms, 1e-9)
    assert scale < bound < 2000 * scale if scale > 1 else bound <= 1


def test_an_undeclared_difference_has_no_slack():
    assert Perturbation().slack(100, 7) == 0
    assert Perturbation(records=3).slack(100, 7) == 0


def test_slack_adds_up_what_is_declared():
    assert Perturbation(rounded_to=5).slack(3, 7) == 12
    noise = largest_noise(2.0, 3, IMPLAUSIBLE / 7)
    assert Perturbation(rounded_to=5, noise_scale=2.0).slack(3, 7) == 12 + noise


def test_without_left_out_records_counts_are_taken_as_they_are():
    counts, variance = Perturbation(rounded_to=6, noise_scale=2.0).restored(np.array([[-3, 5], [60, 36]]), LABEL)
    assert counts.tolist() == [[-3, 5], [60, 36]]
    np.testing.assert_allclose(variance, 6 + noise_variance(2.0))


def test_left_out_records_are_put_back_where_the_others_are_and_as_uncertain_as_they_are():
    rng = np.random.default_rng(0)
    table = np.array([[300, 20], [150, 400], [50, 80]])
    errors, variances = [], []
    for _ in range(400):
        kept = rng.multivariate_hypergeometric(table.ravel(), 900).reshape(table.shape)
        counts, variance = Perturbation(records=900).restored(kept, table.sum(axis=0))
        np.testing.assert_allclose(counts.sum(axis=0), table.sum(axis=0))
        errors.append(counts - table)
        variances.append(variance)
    assert np.abs(np.mean(errors, axis=0)).max() < 1.5
    np.testing.assert_allclose(np.mean(np.square(errors), axis=0), np.mean(variances, axis=0), rtol=0.25)


def test_a_class_of_which_nothing_is_left_may_have_been_anywhere():
    counts, variance = Perturbation(records=60).restored(np.array([[45, 0], [15, 0]]), LABEL)
    assert counts.tolist() == [[45, 20], [15, 20]]
    assert variance[:, 0].tolist() == [0, 0]
    assert variance[0, 1] == pytest.approx((41**2 - 1) / 12)  # any number from 0 to 40 is equally likely


def test_noise_and_left_out_records_widen_each_other():
    joint = np.array([[45, 20], [15, 10]])
    both = Perturbation(records=90, noise_scale=2.0).restored(joint, LABEL)
    assert both[0].sum() == pytest.approx(100, abs=0.5)
    assert (both[1] > noise_variance(2.0)).all()
