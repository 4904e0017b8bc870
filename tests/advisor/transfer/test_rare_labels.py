"""Intervals of transfer utilities hold what they should where a label has few held-out records, too."""

import numpy as np
import pytest

from aegis_advisor.transfer import chi_square_transfer, g3_transfer, information_transfer
from tests.for_each import for_each


def held(values, labels, sizes, share=None, *, independent=False, seed=3, draws=400):
    """The share of intervals that hold the figure of the same rule on the population, by measure.

    Rules are learned from a release and evaluated on held-out records, of these `sizes`, in random populations, of
    which the first label has this `share`, or any.
    """
    random, hits = np.random.default_rng(seed), []
    for _ in range(draws):
        population = random.dirichlet(np.ones(values) * 2)[:, np.newaxis]
        population = population * random.dirichlet(np.full(labels, 1.5), size=1 if independent else values)
        if share is not None:
            rest = population[:, 1:].sum()
            population *= np.append(share / population[:, 0].sum(), np.full(labels - 1, (1 - share) / rest))
        release, holdout = (random.multinomial(size, population.ravel()).reshape(values, labels) for size in sizes)
        if holdout.sum(axis=0).all() and release.sum(axis=0).all():
            of = [
                (each(release, holdout), each(release, population))
                for each in (information_transfer, chi_square_transfer, g3_transfer)
            ]
            hits.append([figure.low <= true.value <= figure.high for figure, true in of])
    return np.mean(hits, axis=0)


@for_each("rare", [6, 10, 20])
def test_intervals_hold_with_few_records_of_the_rarest_label(rare):
    assert held(6, 2, (2_000, 50 * rare), share=0.02) == pytest.approx(0.95, abs=0.03)


@pytest.mark.long
@for_each(
    ("values", "labels", "sizes", "more"),
    [
        (6, 2, (1_000, 500), {}),
        (6, 2, (1_000, 100), {}),
        (30, 3, (1_000, 300), {}),
        (40, 2, (3_000, 2_000), {"share": 0.01}),
        (10, 4, (500, 200), {}),
        (10, 2, (1_000, 500), {"independent": True}),
    ],
)
def test_intervals_hold_in_other_populations(values, labels, sizes, more):
    """The audit's: that by chi-square is that of `joint`, too, of one attribute."""
    assert held(values, labels, sizes, **more) == pytest.approx(0.95, abs=0.04)


def test_intervals_cost_nothing_where_no_label_is_rare():
    """With 1,000 records of each label, an interval is as wide as by the normal distribution."""
    release, holdout = np.array([[700, 300], [300, 700]]), np.array([[650, 350], [350, 650]])
    for each in (information_transfer, chi_square_transfer, g3_transfer):
        figure = each(release, holdout)
        assert (figure.high - figure.low) / (2 * 1.96 * figure.standard_error) == pytest.approx(1, abs=2e-3)
