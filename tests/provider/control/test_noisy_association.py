"""Noise in the association of pairs with the label: sensitivity, budget, and the chi-square that follows from it."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegis_provider.control.noisy_association import association_scale, epsilons_of, noisy_association, sensitivity
from aegis_provider.counting.pair_cells import UNIT, PairCells
from aegis_sdk.wire import LabelAssociation

TABLES = st.integers(1, 5).flatmap(
    lambda labels: st.lists(st.lists(st.integers(0, 12), min_size=labels, max_size=labels), min_size=1, max_size=6)
)


def exact_sums(table):
    """The label sums of a table (combinations, labels), as fractions."""
    return [
        sum((Fraction(row[label] ** 2, sum(row)) for row in table if sum(row)), Fraction(0))
        for label in range(len(table[0]))
    ]


def counted(table):
    """What the provider counts of a table (combinations, labels)."""
    table = np.array(table)
    rows, columns = np.nonzero(table)
    shape = (*table.shape[:1], 1, table.shape[1])
    return PairCells(rows, np.zeros_like(rows), columns, table[rows, columns], shape).with_label()


def one_more(table):
    """Every table with one record more."""
    for place in np.ndindex(len(table), len(table[0])):
        larger = [list(row) for row in table]
        larger[place[0]][place[1]] += 1
        yield place, larger


@given(TABLES)
def test_one_record_moves_the_label_sums_by_at_most_one(table):
    before = exact_sums(table)
    for (row, label), larger in one_more(table):
        moved = sum(abs(after - each) for after, each in zip(exact_sums(larger), before, strict=True))
        others = [count for place, count in enumerate(table[row]) if place != label and count]
        assert moved <= 1
        assert (moved == 1) == (len(others) <= 1)


@given(TABLES)
def test_one_record_moves_what_is_published_by_no_more_than_its_sensitivity(table):
    if not np.any(table):
        return
    before = counted(table)
    for _, larger in one_more(table):
        after = counted(larger)
        moved = sum(abs(each - other) for each, other in zip(after.sums, before.sums, strict=True))
        assert moved <= sensitivity(len(table[0]))
        assert abs(after.combinations - before.combinations) <= 1


@given(TABLES, st.sampled_from([1, 10**5, 2**30]))
def test_label_sums_are_those_of_fractions_to_a_unit_for_each_combination(table, factor):
    if not np.any(table):
        return
    larger = [[count * factor for count in row] for row in table]
    for units, exact in zip(counted(larger).sums, exact_sums(larger), strict=True):
        assert 0 <= exact * UNIT - units < len(table)


@given(st.floats(1e-6, 1e6), st.integers(2, 1000))
def test_the_library_proves_that_both_numbers_take_no_more_than_the_share(epsilon, labels):
    scale = association_scale(epsilon, labels)
    taken = sum(map(Fraction, epsilons_of(scale, labels)))
    assert taken <= Fraction(epsilon)
    assert float(taken) == pytest.approx(epsilon, rel=1e-9)
    assert scale == pytest.approx(2 / epsilon, rel=labels / UNIT)


def test_chi_square_is_that_of_the_records_where_noise_is_negligible():
    table = [[30, 10, 5], [4, 20, 1], [9, 9, 9]]
    label = np.sum(table, axis=0).tolist()
    told = counted(table)
    exact = LabelAssociation(chi_square=told.chi_square, combinations=told.combinations)
    noisy = noisy_association(exact, told.sums, label, 1e-7, 1e9)
    assert noisy.chi_square == pytest.approx(told.chi_square, rel=1e-4)
    assert noisy.combinations == 3


def test_noise_has_the_declared_scale_and_no_bias():
    rng = np.random.default_rng(0)
    table = rng.multinomial(9_000, np.full(60, 1 / 60)).reshape(20, 3)
    label, told, scale = table.sum(axis=0), counted(table.tolist()), 1.5
    exact = LabelAssociation(chi_square=told.chi_square, combinations=told.combinations)
    strong = [[3000, 0, 0], [0, 3000, 0], [0, 0, 3000]]
    drawn = [noisy_association(exact, told.sums, label.tolist(), scale, 2.0) for _ in range(1_000)]
    chi_square, combinations = (
        np.array([getattr(one, what) for one in drawn]) for what in ("chi_square", "combinations")
    )
    deviation = np.sqrt(2 * scale**2 * np.sum((label.sum() / label) ** 2))
    # One in a billion runs may fail a mean.
    assert abs(chi_square.mean() - told.chi_square) < 6 * deviation / np.sqrt(len(drawn))
    assert chi_square.std() == pytest.approx(deviation, rel=0.2)
    assert combinations.std() == pytest.approx(np.sqrt(2) * scale, rel=0.2)
    most = noisy_association(exact, counted(strong).sums, [3000, 3000, 3000], 500.0, 0.004).chi_square
    assert 0 <= most <= 18_000
