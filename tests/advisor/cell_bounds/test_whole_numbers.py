"""Cells that follow only because counts are whole numbers, against all tables and against integer programs."""

from itertools import count, product

import numpy as np
from scipy.optimize import LinearConstraint, milp

from aegis_advisor.cell_bounds import bound_cells
from tests.advisor.cases import evidence_of, mapped, random_table
from tests.advisor.cell_bounds.test_cell_bounds import by_programs, crossing, equations, truth_of
from tests.for_each import for_each, for_some


def in_halves(rng, table, views):
    """Counted views of two or three masked values each."""
    return [mapped(f"v{at}", rng.integers(0, rng.integers(2, 4), len(table)), table) for at in range(views)]


def all_tables(evidence, bounds):
    """Every table of whole numbers that fits (tables, atoms, 2): the second label has what the first leaves."""
    matrix, target = equations(evidence, bounds)
    rows = np.bincount(bounds.atom_of_value, evidence.histogram, len(bounds.lower)).astype(int)
    first = np.array(list(product(*(range(row + 1) for row in rows))))
    tables = np.stack([first, rows - first], axis=2)
    return tables[np.all(tables.reshape(len(tables), -1) @ matrix.T == target, axis=1)]


def test_cells_are_determined_where_all_tables_of_whole_numbers_agree():
    found = 0
    for seed in range(150):
        rng = np.random.default_rng(seed)
        table = rng.integers(0, 2, (7, 2))
        evidence = evidence_of(table, in_halves(rng, table, int(rng.integers(3, 6))))
        bounds = bound_cells(evidence)
        tables = all_tables(evidence, bounds)
        lower, upper = tables.min(axis=0), tables.max(axis=0)
        assert not bounds.undecided.any()
        np.testing.assert_array_equal(bounds.lower == bounds.upper, lower == upper)
        assert np.all(bounds.lower <= lower)
        assert np.all(upper <= bounds.upper)
        found += np.count_nonzero(bounds.by_whole_numbers)
    assert found > 0


@for_some(15, "seed", range(40))
def test_only_what_linear_programs_leave_open_is_said_to_follow_from_whole_numbers(seed):
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 2, (7, 1))
    evidence = evidence_of(table, in_halves(rng, table, 4), histogram=False)
    bounds = bound_cells(evidence)
    lower, upper = by_programs(evidence, bounds)
    np.testing.assert_array_equal(bounds.by_whole_numbers, (lower < upper) & (bounds.lower == bounds.upper))


def one_and_a_half():
    """`a + c = a + f = 1` and `a + b = 2`, so `c = f = 1 - a` and `b = 2 - a`. As `b + d + f = 2`, `d = 2 a - 1`.

    So `a` is a half or more, which is 1, and `d` is between 0 and 1. But if `a` is 1, so is `d`.
    """
    table = np.array([1, 1, 0, 1, 0, 0])[:, np.newaxis]
    views = [[1, 0, 1, 0, 1, 0], [0, 0, 1, 1, 1, 1], [0, 2, 2, 2, 1, 0]]
    return evidence_of(table, [mapped(f"v{at}", np.array(one), table) for at, one in enumerate(views)], histogram=False)


def test_a_cell_that_has_no_half_record_is_named():
    bounds = bound_cells(one_and_a_half())
    assert bounds.by_whole_numbers.ravel().tolist() == [False, False, False, True, False, False]
    assert bounds.lower.ravel().tolist() == bounds.upper.ravel().tolist() == [1, 1, 0, 1, 0, 0]


@for_each("reason", ["no time", "too many cells"])
def test_what_is_not_decided_says_so(reason, monkeypatch):
    programs = bound_cells(one_and_a_half()).programs
    asked = count()
    if reason == "too many cells":
        monkeypatch.setattr("aegis_advisor.cell_bounds.whole_numbers.LARGEST", 0)
    else:
        monkeypatch.setattr("aegis_advisor.cell_bounds.whole_numbers.narrowed", lambda _sums, *box: box)
    bounds = bound_cells(one_and_a_half(), stop=lambda: next(asked) >= programs and reason == "no time")
    assert bounds.complete
    assert bounds.undecided.ravel().tolist() == [False, False, False, True, False, False]
    assert not bounds.by_whole_numbers.any()
    assert (bounds.lower[3, 0], bounds.upper[3, 0]) == (0, 1)


@for_each("seed", [2, 6])
def test_of_a_hundred_cells_integer_programs_leave_no_other_count(seed):
    rng = np.random.default_rng(seed)
    table = random_table(rng, 40, 2, 600)
    evidence = evidence_of(table, crossing(rng, table, 6, 9), histogram=False)
    bounds = bound_cells(evidence)
    assert not bounds.undecided.any()
    np.testing.assert_array_equal(
        truth_of(table, bounds)[bounds.by_whole_numbers], bounds.lower[bounds.by_whole_numbers]
    )
    matrix, target = equations(evidence, bounds)
    sums, whole = LinearConstraint(matrix, target, target), np.ones(matrix.shape[1])
    width = bounds.upper - bounds.lower
    cells = [*np.flatnonzero(bounds.by_whole_numbers)[:5], *np.flatnonzero(width)[:5]]
    for cell in cells:
        least, most = (
            sign * milp(sign * np.eye(whole.size)[cell], constraints=sums, integrality=whole).fun for sign in (1, -1)
        )
        assert (round(least) == round(most)) == (width.ravel()[cell] == 0)
