"""Conversions of zCDP, against OpenDP, a numeric minimum, and the exact privacy of Gaussian noise."""

import math

import numpy as np
import opendp.prelude as dp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import log_ndtr
from scipy.stats import norm

from aegis_provider.synth.generate.methods.differential_privacy import log_delta_of, noisy, noisy_largest, rho_of
from aegis_provider.synth.generate.methods.marginals import Spending
from tests.for_each import for_each

RHOS = st.floats(-9, 3).map(lambda each: 10**each)
EPSILONS = st.floats(-6, 4).map(lambda each: 10**each)


def opendp_gaussian(deviation):
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="f64")
    return dp.m.make_gaussian(*space, scale=deviation)


@given(RHOS, EPSILONS)
def test_delta_is_the_least_over_alpha(rho, epsilon):
    log = np.linspace(-40, 40, 40_001)
    over = np.exp(log)
    deltas = over * ((1 + over) * rho - epsilon) + (1 + over) * (log - np.log1p(over)) - log
    least = min(0.0, deltas.min())
    assert log_delta_of(rho, epsilon) <= least + 1e-9 * max(1, abs(least))
    assert log_delta_of(rho, epsilon) >= least - 1e-3 * max(1, abs(least))


@for_each(("rho", "epsilon"), [(1e-3, 0.1), (0.01, 1.0), (0.5, 2.0), (1.0, 8.0), (20.0, 50.0)])
def test_delta_is_what_opendp_proves(rho, epsilon):
    proven = dp.c.make_zCDP_to_approxDP(opendp_gaussian(math.sqrt(1 / (2 * rho)))).map(1.0).delta(epsilon)
    assert math.exp(log_delta_of(rho, epsilon)) == pytest.approx(proven, rel=1e-9)


@given(RHOS, EPSILONS)
def test_delta_is_between_that_of_gaussian_noise_and_that_of_bun_and_steinke(rho, epsilon):
    mean = math.sqrt(2 * rho)  # Gaussian noise of this privacy shifts the loss so far (Balle and Wang 2018, theorem 8)
    first, second = norm.logcdf(mean / 2 - epsilon / mean), epsilon + log_ndtr(-mean / 2 - epsilon / mean)
    if first > -700 and second < first - 1e-6:
        assert log_delta_of(rho, epsilon) >= first + math.log1p(-math.exp(second - first)) - 1e-6
    if epsilon > rho:
        assert log_delta_of(rho, epsilon) <= -((epsilon - rho) ** 2) / (4 * rho) + 1e-9


@given(EPSILONS, st.floats(-20, -0.1).map(lambda each: 10**each))
def test_rho_is_the_largest_for_its_epsilon_and_delta(epsilon, delta):
    rho = rho_of(epsilon, delta)
    assert log_delta_of(rho, epsilon) <= math.log(delta)
    assert log_delta_of(rho * (1 + 1e-6), epsilon) > math.log(delta)


@given(EPSILONS, st.floats(-20, -0.1).map(lambda each: 10**each), st.floats(1.001, 10))
def test_more_epsilon_or_delta_is_more_budget(epsilon, delta, factor):
    assert rho_of(epsilon, delta) < rho_of(epsilon * factor, delta)
    if delta * factor < 1:
        assert rho_of(epsilon, delta) < rho_of(epsilon, delta * factor)


@given(RHOS, st.integers(1, 200))
def test_opendp_proves_that_all_measurements_of_a_tree_use_no_more_than_the_budget(rho, columns):
    spending = Spending.of(rho, columns)
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64")
    scale = 2 / math.sqrt(8 * spending.choice)
    choice = dp.m.make_noisy_max(*space, dp.zero_concentrated_divergence(), scale=scale).map(1)
    pairs = columns - 1
    used = columns * opendp_gaussian(spending.single).map(1.0)
    used += pairs * (opendp_gaussian(spending.pair).map(1.0) + choice)
    assert 0.999 * rho < used <= rho


def test_noise_has_its_standard_deviation_and_is_whole():
    noise = noisy(np.full((100, 200), 7), 3.5) - 7
    assert (noise == np.rint(noise)).all()
    # The relative error of a deviation of 20,000 numbers is 0.5 %, and that of their mean is 0.7 % of it.
    assert noise.std() == pytest.approx(3.5, rel=0.04)
    assert abs(noise.mean()) < 0.2


def test_a_choice_has_the_probability_of_the_exponential_mechanism():
    rho = 0.125  # so epsilon is 1
    chosen = sum(noisy_largest([0, 2], rho) for _ in range(2_000))
    # 2,000 choices have a standard deviation of 20.
    assert abs(chosen - 2_000 * math.e / (1 + math.e)) < 120
