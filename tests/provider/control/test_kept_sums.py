"""Rounding to given sums, against every table that has these sums."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegis_provider.control.counted_together import rounded_to_sums
from aegis_provider.control.dependent_rounding import rounded_once, rounded_up
from aegis_provider.counting.counts import Partition
from tests.for_each import for_each
from tests.provider.control.drawing import drawn_by


def sums_of(rng, joint, base, up):
    """The rounded records of each value, of rounded counts (values, labels)."""
    return rounded_once(joint, [], base, up, drawn_by(rng)).sum(axis=1)


def table_and_sums(rng, shape, base, most):
    """Counts of two values, and the published sums of both, from counts of two values and two labels."""
    counts = rng.integers(0, most + 1, (*shape, 2)) * rng.integers(0, 2, (*shape, 2))
    up = rounded_up(counts.sum(axis=(0, 1)), base, drawn_by(rng))
    sums = sums_of(rng, counts.sum(axis=1), base, up), sums_of(rng, counts.sum(axis=0), base, up)
    return counts.sum(axis=2), sums


def tables_with(sums, base):
    """All tables of multiples of the base with these sums."""
    rows, columns = (each // base for each in sums)
    free = (len(rows) - 1, len(columns) - 1)
    for inner in product(range(int(max(rows.max(), columns.max())) + 1), repeat=free[0] * free[1]):
        table = np.zeros((len(rows), len(columns)), dtype=int)
        table[:-1, :-1] = np.reshape(inner, free)
        table[:-1, -1] = rows[:-1] - table[:-1].sum(axis=1)
        table[-1] = columns - table[:-1].sum(axis=0)
        if table.min() >= 0 and table[-1].sum() == rows[-1]:
            yield base * table


def cost(table, counts, base):
    """How many cells are off by a base or more; a cell without records counts twice, each further base far more."""
    off = np.abs(table - counts) / base
    further = np.maximum(0, np.ceil(off) - 2) + np.maximum(0, np.floor(off) - 1) * (counts % base == 0)
    return float(np.sum((off >= 1) * np.where(counts == 0, 2, 1)) + 1_000 * further.sum())


@given(st.integers(0, 10**6), st.sampled_from([(2, 2), (2, 3), (3, 2)]), st.sampled_from([3, 5]), st.integers(1, 5))
def test_no_table_with_these_sums_has_fewer_cells_off_by_a_base(seed, shape, base, most):
    rng = np.random.default_rng(seed)
    counts, sums = table_and_sums(rng, shape, base, most)
    rounded, within = rounded_to_sums(counts, sums, base, drawn_by(rng))
    assert (rounded.sum(axis=1) == sums[0]).all()
    assert (rounded.sum(axis=0) == sums[1]).all()
    assert (rounded % base == 0).all()
    assert rounded.min() >= 0
    assert (within - 1) * base <= np.abs(rounded - counts).max() < within * base
    if within <= 2:
        assert cost(rounded, counts, base) == min(cost(each, counts, base) for each in tables_with(sums, base))
    else:
        assert all(np.abs(each - counts).max() >= 2 * base for each in tables_with(sums, base))


def folded(table, groups):
    return np.array([table[np.array(groups) == group].sum(axis=0) for group in range(max(groups) + 1)])


def are_next(table, counts, base):
    return bool((np.abs(table - counts) < base).all())


@given(st.integers(0, 10**6), st.sampled_from([((0, 0, 1), (0, 1)), ((0, 1, 1), (0, 0)), ((0, 0, 1, 1), (0, 1))]))
def test_sums_over_groups_become_the_next_multiples_wherever_some_table_has_such(seed, groups):
    rng, base = np.random.default_rng(seed), 3
    counts, sums = table_and_sums(rng, tuple(map(len, groups)), base, 4)
    views = [[Partition(np.array(each), max(each) + 1)] for each in groups]
    rounded, within = rounded_to_sums(counts, sums, base, drawn_by(rng), None, tuple(views))

    def fits(each):
        parts = ((each, counts), (folded(each, groups[0]), folded(counts, groups[0])))
        parts += ((folded(each.T, groups[1]), folded(counts.T, groups[1])),)
        return all(are_next(*part, base) for part in parts)

    assert (rounded.sum(axis=1) == sums[0]).all()
    assert (rounded.sum(axis=0) == sums[1]).all()
    assert fits(rounded) == any(fits(each) for each in tables_with(sums, base))
    assert (within == 1) == any(are_next(each, counts, base) for each in tables_with(sums, base))


@pytest.mark.long
@for_each("seed", range(2))
def test_the_expected_error_of_a_cell_is_far_below_that_of_one_rounding(seed):
    rng, base, draws = np.random.default_rng(seed), 3, 300
    counts = rng.integers(0, 60, (4, 3, 2)) * (rng.random((4, 3, 2)) < 0.8)
    errors = []
    for _ in range(draws):
        up = rounded_up(counts.sum(axis=(0, 1)), base, drawn_by(rng))
        sums = sums_of(rng, counts.sum(axis=1), base, up), sums_of(rng, counts.sum(axis=0), base, up)
        errors.append(rounded_to_sums(counts.sum(axis=2), sums, base, drawn_by(rng))[0] - counts.sum(axis=2))
    assert np.abs(np.mean(errors, axis=0)).max() < 0.5 + 4 * base / draws**0.5 / 2
    assert np.std(errors, axis=0).max() < 1.5 * base


@for_each("seed", range(4))
def test_one_record_more_changes_few_cells(seed):
    """By the same draws, and with one sum of rows and of columns a base higher."""
    rng, base = np.random.default_rng(seed), 5
    counts = rng.poisson(rng.gamma(0.5, 12, (30, 30)))
    up = rounded_up(np.array([counts.sum()]), base, drawn_by(rng))
    sums = [
        rounded_once(each[:, np.newaxis], [], base, up, drawn_by(rng))[:, 0] for each in (counts.sum(1), counts.sum(0))
    ]
    more = counts.copy()
    row, column = rng.integers(0, 30, 2)
    more[row, column] += 1
    higher = sums[0] + base * (np.arange(30) == row), sums[1] + base * (np.arange(30) == column)
    before, _ = rounded_to_sums(counts, (sums[0], sums[1]), base, drawn_by(np.random.default_rng(seed)))
    for after_sums in ((sums[0], sums[1]), higher):
        after, _ = rounded_to_sums(more, after_sums, base, drawn_by(np.random.default_rng(seed)))
        assert np.count_nonzero(before != after) <= 30


def test_sums_with_two_totals_are_refused():
    with pytest.raises(ValueError, match="no rounded counts have the sums"):
        rounded_to_sums(np.array([[4, 4]]), (np.array([9]), np.array([3, 3])), 3, drawn_by(np.random.default_rng(0)))
