"""What a reader knows of rounded sums, against sums over all tables, one by one."""

from itertools import product
from math import comb, prod

import numpy as np
import pytest

from aegis_advisor.verdict import SMALL
from aegis_advisor.verdict.rounded import Look, known_cells, knows_single, knows_small, of_cell, of_sum, single_shares
from tests.for_each import for_each

PROBABILITY = {base: lambda n, p, base=base: max(0.0, 1 - abs(n - p) / base) for base in (1, 2, 3, 5)}


def likelihood(look, counts):
    """The probability of what a look shows, if these are the counts of its cells."""
    published = [count for count, cells in look.cells for _ in range(cells)]
    return float(np.prod([PROBABILITY[look.base](n, p) for n, p in zip(counts, published, strict=True)]))


def tables(cells, total):
    return [each for each in product(range(total + 1), repeat=cells) if sum(each) == total]


def mean_likelihood(look, total):
    ways = tables(look.size, total)
    return sum(likelihood(look, each) for each in ways) / len(ways)


def together(looks, total):
    return np.prod([mean_likelihood(each, total) for each in looks])


def enumerated_sum(looks, least, most):
    weights = np.array([together(looks, total) * (total >= least) for total in range(most + 1)])
    return weights / weights.sum()


def enumerated_cell(own, others, place, least, most):
    """The probability of each count of one of a look's cells."""
    weights = np.zeros(most + 1)
    for total in range(least, most + 1):
        ways = tables(own.size, total)
        known = together(others, total)
        for counts in ways:
            weights[counts[place]] += known * likelihood(own, counts) / len(ways)
    return weights / weights.sum()


LOOKS = [
    [Look.of(3, [0, 0])],
    [Look.of(3, [0, 3]), Look.of(3, [0, 0, 0])],
    [Look.of(5, [0, 5]), Look.of(3, [3, 0, 0])],
    [Look.of(2, [0, 2]), Look.of(2, [2]), Look.of(2, [0, 0, 2])],
    [Look.of(3, [0, 0, 3]), Look.of(3, [3, 0])],
    [Look.of(1, [2, 1]), Look.of(3, [0, 3])],
]


@for_each("looks", LOOKS)
@for_each("least", [0, 1, 2])
def test_a_sum_is_as_probable_as_all_its_tables_together(looks, least):
    known = of_sum(looks, least)
    assert known == pytest.approx(enumerated_sum(looks, least, len(known) - 1), abs=1e-9)


@for_each("listed", [1, 2, 3, 4])
@for_each("labels", [2, 3])
def test_a_listed_value_is_as_often_alone_as_in_all_tables_where_each_has_a_record(listed, labels):
    shares = single_shares(listed, labels, 8)
    for total in range(listed, 9):
        ways = [each for each in product(range(1, total + 1), repeat=listed) if sum(each) == total]
        weights = [prod(comb(n + labels - 1, n) for n in each) for each in ways]
        alone = sum(weight for weight, each in zip(weights, ways, strict=True) if each[0] == 1)
        assert shares[total] == pytest.approx(alone / sum(weights))


@for_each("listed", [2, 7, 9, 10])
def test_values_are_known_to_be_alone_where_hardly_more_records_are_possible(listed):
    look = Look.of(3, [3, 3])  # at most 10 records
    sums = enumerated_sum([look], listed, 10)
    assert knows_single((look,), listed, 2) == (sums @ single_shares(listed, 2, 10) > 0.9)
    assert knows_single((look,), listed, 2) == (listed >= 7)


@for_each("looks", LOOKS)
def test_a_cell_is_as_probable_as_all_tables_that_have_it(looks):
    own, *others = looks
    sums = np.log(np.maximum([together(others, total) for total in range(12)], 1e-300))
    for place, (count, _) in enumerate(own.cells):
        at = sum(cells for _, cells in own.cells[:place])
        assert of_cell(own, count, sums) == pytest.approx(enumerated_cell(own, others, at, 0, 11), abs=1e-9)


def test_one_rounded_count_never_tells_a_small_one():
    for base in (2, 3, 5, 10):
        for published in (0, base, 2 * base):
            assert not knows_small((Look.of(base, [published]),), SMALL)


def test_the_mean_of_many_tables_tells_what_each_of_them_hides():
    rng = np.random.default_rng(1)
    looks = tuple(Look.of(5, (5 * (rng.random(1) * 5 < 1)).tolist()) for _ in range(100))  # of a single record
    assert not knows_small(looks[:2], SMALL)
    assert knows_small(looks, SMALL)
    assert known_cells(looks[0], looks[1:], SMALL) == 1


def test_a_sum_of_thousands_of_cells_has_finite_weights():
    known = of_sum([Look.of(3, [0] * 5000), Look.of(3, [0, 3])], 1)
    assert known.sum() == pytest.approx(1)


def test_an_exact_count_leaves_no_doubt():
    assert knows_small((Look.of(1, [3]),), SMALL)
    assert not knows_small((Look.of(1, [5]),), SMALL)
    assert known_cells(Look.of(3, [3, 0]), (Look.of(1, [1]),), SMALL) == 1
