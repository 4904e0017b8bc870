"""What chance adds to a measure: against the jackknife record by record, and against real sampling."""

import numpy as np
import pytest

from aegis_advisor.measures import MEASURES
from aegis_advisor.measures.bias import LARGE, divergence_jackknife, largest_bias
from tests.advisor.cases import random_table
from tests.for_each import for_each

#: Measures that are sums over rows: the score of a row with n records, given the shares of the labels.
SCORES = {
    "mutual_information": lambda row, n, _: sum(x * np.log2(x / n) for x in row if x > 0),
    "chi_square": lambda row, n, share: sum(x**2 / (n * p) for x, p in zip(row, share, strict=True)),
    "goodman_kruskal_tau": lambda row, n, _: sum(x**2 / n for x in row),
    "jensen_shannon": lambda row, n, share: sum(
        (x * np.log2(2 * x / (x + n * p)) if x > 0 else 0) + n * p * np.log2(2 * n * p / (x + n * p))
        for x, p in zip(row, share, strict=True)
        if p > 0
    ),
}
#: What the sum of scores is divided by, given a table.
UNITS = {
    "mutual_information": lambda table: table.sum(),
    "chi_square": lambda _: 1,
    "goodman_kruskal_tau": lambda table: table.sum() - (table.sum(axis=0) ** 2).sum() / table.sum(),
    "jensen_shannon": lambda table: 2 * table.sum(),
}


def jackknife_of_row(score, row, share):
    """Leave out one record after the other: n times what the mean score of a record changes, times n - 1."""
    n = int(row.sum())
    left_out = []
    for label in np.flatnonzero(row):
        rest = row - (np.arange(row.size) == label)
        left_out += [score(rest, n - 1, share) / (n - 1)] * int(row[label])
    return n * (n - 1) * (np.mean(left_out) - score(row, n, share) / n)


def bias_of_row(score, row, share):
    """The jackknife, or all that a row with too few records scores beyond independence."""
    n = int(row.sum())
    if n > 1.5 * (row.size - 1):
        return jackknife_of_row(score, row, share)
    return score(row, n, share) - score(n * share, n, share)


@for_each("measure", SCORES)
@for_each("seed", range(4))
def test_the_bias_is_the_jackknifes_where_a_row_has_enough_records(measure, seed):
    table = random_table(np.random.default_rng(seed), values=12, labels=3, records=200)
    table = table[table.any(axis=1)]
    assert (table.sum(axis=1) <= 3).any()
    share = table.sum(axis=0) / table.sum()
    rows = sum(bias_of_row(SCORES[measure], row, share) for row in table)
    whole = bias_of_row(SCORES[measure], table.sum(axis=0), share)
    found = MEASURES[measure].sampling_bias(table.astype(float))
    assert found == pytest.approx((rows - whole) / UNITS[measure](table), rel=1e-9)


def test_large_rows_agree_with_the_jackknife():
    shares = np.array([0.2, 0.3, 0.5])
    below = np.array([[0.1, 0.6, 0.3]]) * LARGE
    above = below * 1.0001
    assert divergence_jackknife(below, shares) == pytest.approx(divergence_jackknife(above, shares), rel=1e-3)


POPULATIONS = {"strong": (20, 3, 0.5), "weak": (20, 3, 20.0), "many labels": (12, 6, 1.0)}


@for_each("population", POPULATIONS)
@for_each("measure", ["mutual_information", "chi_square", "theils_u", "goodman_kruskal_tau", "jensen_shannon"])
def test_less_its_bias_a_sample_is_right_on_average(measure, population):
    values, labels, concentration = POPULATIONS[population]
    rng, measure = np.random.default_rng(3), MEASURES[measure]
    label = rng.dirichlet(np.full(labels, concentration), size=values)
    shares = label * rng.dirichlet(np.full(values, 4.0))[:, None]
    samples = rng.multinomial(1_000, shares.ravel(), size=400).reshape(400, values, labels).astype(float)
    truth = measure(shares * 1_000)
    plain = np.array([measure(one) for one in samples])
    left = plain - [measure.sampling_bias(one) for one in samples]
    assert plain.mean() - truth > 6 * plain.std() / 20  # the bias is plain to see
    # Less its bias, the mean may err by its sampling error, and by a sixth of the bias where cells are often empty.
    assert abs(left.mean() - truth) < 3 * left.std() / 20 + (plain.mean() - truth) / 6


@for_each("labels", [2, 3, 4, 5])
def test_where_labels_tie_all_that_the_largest_count_gains_is_chance(labels):
    rng = np.random.default_rng(4)
    rows = rng.multinomial(60, np.full(labels, 1 / labels), size=4_000).astype(float)
    gained = rows.max(axis=1).sum() - rows.sum() / labels
    assert largest_bias(rows) == pytest.approx(gained, rel=0.1)


def test_where_one_label_is_clearly_the_most_frequent_chance_adds_nothing():
    assert largest_bias(np.array([[90.0, 10.0], [5.0, 95.0]])) < 1e-6


@for_each("measure", ["mutual_information", "chi_square"])
@for_each("labels", [2, 4])
def test_corrected_a_finer_masking_that_determines_the_label_is_no_worse_than_a_coarser_one(measure, labels):
    label_of_value = np.arange(40) // (40 // labels)
    fine = np.zeros((40, labels))
    fine[np.arange(40), label_of_value] = 8
    coarse = np.diag(np.full(labels, 8.0 * 40 / labels))
    corrected = MEASURES[measure].corrected()
    assert corrected(fine) == pytest.approx(corrected(coarse), rel=1e-12)
    assert corrected(fine) == pytest.approx(MEASURES[measure](fine), rel=1e-12)
