"""Intervals of transfer utilities hold what they should where a label has few held-out records, too."""

import numpy as np
import pytest

from aegis_advisor.transfer import chi_square_transfer, g3_transfer, information_transfer
from tests.for_each import for_each


def held(rare, seed=3, draws=400):
    """The share of intervals that hold the figure of the same rule on the population, by measure.

    A label of 2 % in populations of six values, learned from 2,000 records, and evaluated on so many that `rare` of
    them have that label on average.
    """
    random, hits = np.random.default_rng(seed), []
    for _ in range(draws):
        population = random.dirichlet(np.ones(6) * 2)[:, np.newaxis] * random.dirichlet(np.ones(2) * 1.5, size=6)
        population *= np.array([0.02, 0.98]) / population.sum(axis=0)
        release, holdout = (random.multinomial(size, population.ravel()).reshape(6, 2) for size in (2000, 50 * rare))
        if holdout.sum(axis=0).all():
            of = [
                (each(release, holdout), each(release, population))
                for each in (information_transfer, chi_square_transfer, g3_transfer)
            ]
            hits.append([figure.low <= true.value <= figure.high for figure, true in of])
    return np.mean(hits, axis=0)


@for_each("rare", [6, 10, 20])
def test_intervals_hold_with_few_records_of_the_rarest_label(rare):
    assert held(rare) == pytest.approx(0.95, abs=0.03)


def test_intervals_cost_nothing_where_no_label_is_rare():
    """With 1,000 records of each label, an interval is as wide as by the normal distribution."""
    release, holdout = np.array([[700, 300], [300, 700]]), np.array([[650, 350], [350, 650]])
    for each in (information_transfer, chi_square_transfer, g3_transfer):
        figure = each(release, holdout)
        assert (figure.high - figure.low) / (2 * 1.96 * figure.standard_error) == pytest.approx(1, abs=2e-3)
