"""The association of pairs with the label, rounded without bias to multiples of the base, giving nothing away."""

import itertools

import numpy as np
import pytest

from aegis_provider.control import LastingRandomness
from aegis_provider.control.dependent_rounding import rounded_once, rounded_up
from aegis_provider.control.rounded_statistics import rounded_association
from tests.provider.control.drawing import drawn_by

BASE = 3


def rounded(chi_square, combinations, *, label=(50, 50), base=BASE, chance=None):
    return rounded_association(chi_square, combinations, label, base, chance or LastingRandomness())


def test_small_numbers_become_multiples_next_to_them():
    for _ in range(50):
        told = rounded(20.0, 7)
        assert told.chi_square in {18.0, 24.0}
        assert told.combinations in {6, 9}
        assert (told.rounded_to, told.digits) == (BASE, 3)


def test_the_mean_is_the_number():
    drawn = [rounded(20.0, 7) for _ in range(2000)]
    assert np.mean([each.chi_square for each in drawn]) == pytest.approx(20.0, abs=0.4)
    assert np.mean([each.combinations for each in drawn]) == pytest.approx(7.0, abs=0.2)


def test_large_numbers_have_three_digits():
    assert {rounded(123456.7, 98765).chi_square for _ in range(20)} == {123000.0}
    assert {rounded(123456.7, 98765).combinations for _ in range(20)} == {98800}


def test_there_is_always_a_combination():
    assert {rounded(0.0, 1).combinations for _ in range(100)} == {1, 3}
    assert {rounded(0.0, 1).chi_square for _ in range(20)} == {0.0}


@pytest.mark.long
def test_whoever_knows_the_rounding_learns_no_small_count_from_it():
    """By enumeration of all tables of two binary attributes and a label that could have led to what is published."""
    rng = np.random.default_rng(1)
    certain = {"nothing": 0, "three digits": 0, "rounded": 0}
    for _ in range(16):
        records = rng.integers(16, 28)
        table = rng.multinomial(records, rng.dirichlet(np.ones(8))).reshape(2, 2, 2)
        tables, weights = _possible(table, rng)
        chi_square, combinations = _told(tables)
        [true], [held] = _told(table[np.newaxis])
        told = rounded(float(true), int(held), chance=drawn_by(rng))
        digits = np.vectorize(lambda number: float(f"{number:.3g}"))
        by_digits = (digits(chi_square) == digits(true)) & (combinations == held)
        by_rounding = _chance(chi_square, told.chi_square, 2 * BASE) * _chance(combinations, told.combinations, BASE)
        certain["nothing"] += _gives_away(tables, weights)
        certain["three digits"] += _gives_away(tables, weights * by_digits)
        certain["rounded"] += _gives_away(tables, weights * by_rounding)
    assert certain["three digits"] > 4
    assert certain["rounded"] <= certain["nothing"] + 1


def _possible(table, rng):
    """The tables (tables, 2, 2, 2) that could have the rounded margins of this one, and their chances."""
    up = rounded_up(table.sum(axis=(0, 1)), BASE, drawn_by(rng))
    one, other = (rounded_once(table.sum(axis=axis), [], BASE, up, drawn_by(rng)) for axis in (1, 0))
    both = table.sum(axis=2).reshape(-1, 1)
    pair = rounded_once(both, [], BASE, rounded_up(both.sum(axis=0), BASE, drawn_by(rng)), drawn_by(rng)).reshape(2, 2)
    cells = [_splits(one[place]) for place in itertools.product((0, 1), repeat=2)]
    rows = np.array(np.meshgrid(*[np.arange(len(each)) for each in cells], indexing="ij")).reshape(4, -1)
    tables = np.zeros((rows.shape[1], 2, 2, 2), dtype=np.int64)
    for number, (first, label) in enumerate(itertools.product((0, 1), repeat=2)):
        tables[:, first, :, label] = cells[number][rows[number]]
    published = (tables.sum(axis=2), one), (tables.sum(axis=1), other), (tables.sum(axis=3), pair)
    weights = np.prod([_chance(sums, rounded, BASE).prod(axis=(1, 2)) for sums, rounded in published], axis=0)
    return tables[weights > 0], weights[weights > 0]


def _splits(count):
    """Every split into two of the numbers that may have been rounded to this count."""
    around = range(max(0, count - BASE + 1), count + BASE)
    return np.array([(first, whole - first) for whole in around for first in range(whole + 1)])


def _chance(exact, rounded, base):
    return np.clip(1 - np.abs(exact - rounded) / base, 0, None)


def _told(tables):
    """Chi-square and the number of combinations of tables (tables, 2, 2, 2)."""
    cells = tables.reshape(len(tables), 4, 2).astype(float)
    held, label = cells.sum(axis=2), cells.sum(axis=1)
    share = np.divide(cells**2, held[:, :, np.newaxis], out=np.zeros_like(cells), where=held[:, :, np.newaxis] > 0)
    of_label = np.divide(share.sum(axis=1), label, out=np.zeros_like(label), where=label > 0)
    chi_square = label.sum(axis=1) * (of_label.sum(axis=1) - 1)
    return np.clip(chi_square, 0, None), np.count_nonzero(held, axis=1)


def _gives_away(tables, weights):
    """Whether a count of 1 to 4 of any table is likelier than 0.9."""
    for axes in ((), (1,), (2,), (3,)):
        sums = tables.sum(axis=axes).reshape(len(tables), -1)
        for counts in sums.T:
            chances = np.bincount(counts, weights=weights) / weights.sum()
            if chances[1:5].max() > 0.9:
                return True
    return False
