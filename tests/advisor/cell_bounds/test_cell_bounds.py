"""Bounds of cells, against enumerated tables, a linear program per cell of the full problem, and manual examples."""

import csv
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog

from aegis_advisor.arrays import fold
from aegis_advisor.cell_bounds import CellBounds, bound_cells
from aegis_advisor.errors import ContradictoryViewsError
from tests.advisor.cases import counted, evidence_of, mapped, random_table
from tests.for_each import for_each, for_some

BOTH_VARIANTS = for_each("histogram", [True, False])
HEALTH = Path(__file__).parents[3] / "examples" / "health" / "health.csv"


def crossing(rng, table, views=3, groups=4):
    """Counted views that assign values to groups at random."""
    return [mapped(f"v{at}", rng.integers(0, groups, len(table)), table) for at in range(views)]


def evidence_and_truth(seed, *, histogram, values=9, labels=3, records=60):
    rng = np.random.default_rng(seed)
    table = random_table(rng, values, labels, records)
    return evidence_of(table, crossing(rng, table, int(rng.integers(2, 4)), 3), histogram=histogram), table


def equations(evidence, bounds):
    """Every count as an equation of the flattened table (atoms, labels), written out without the code under test."""
    atoms, labels = bounds.lower.shape
    cells = np.eye(atoms * labels).reshape(-1, atoms, labels)
    first = [int(np.flatnonzero(bounds.atom_of_value == atom)[0]) for atom in range(atoms)]
    pairs = [(cells.sum(1).T, evidence.label_histogram)]
    if evidence.histogram is not None:
        pairs.append((cells.sum(2).T, np.bincount(bounds.atom_of_value, evidence.histogram, atoms)))
    for masking in evidence.maskings:
        group = masking.mapping[first]
        pairs.extend((cells[:, group == at].sum(1).T, masking.joint[at]) for at in range(masking.groups))
    return np.vstack([matrix for matrix, _ in pairs]), np.concatenate([target for _, target in pairs])


def by_programs(evidence, bounds):
    """The least and the most of each cell, by one linear program after another over the whole table."""
    matrix, target = equations(evidence, bounds)
    found = [
        [linprog(sign * cost, A_eq=matrix, b_eq=target).fun * sign for cost in np.eye(matrix.shape[1])]
        for sign in (1, -1)
    ]
    lower, upper = (np.array(one).reshape(bounds.lower.shape) for one in found)
    return np.ceil(lower - 1e-6), np.floor(upper + 1e-6)


def by_enumeration(evidence, bounds):
    """The least and the most of each cell over all tables of whole numbers, for very few records and cells."""
    matrix, target = equations(evidence, bounds)
    most = [int(target[row > 0].min()) for row in matrix.T]
    tables = np.array(list(product(*(range(count + 1) for count in most))))
    fitting = tables[np.all(tables @ matrix.T == target, axis=1)]
    return fitting.min(axis=0).reshape(bounds.lower.shape), fitting.max(axis=0).reshape(bounds.lower.shape)


def truth_of(table, bounds):
    return fold(table, bounds.atom_of_value, len(bounds.lower))


def assert_between(lower, table, upper):
    assert np.all(lower <= table)
    assert np.all(table <= upper)


@BOTH_VARIANTS
@for_some(4, "seed", range(12))
def test_bounds_are_those_of_a_program_for_each_cell_of_the_whole_table(seed, histogram):
    evidence, table = evidence_and_truth(seed, histogram=histogram)
    bounds = bound_cells(evidence)
    assert bounds.complete
    assert_between(bounds.lower, truth_of(table, bounds), bounds.upper)
    lower, upper = by_programs(evidence, bounds)
    np.testing.assert_array_equal(bounds.lower, lower)
    np.testing.assert_array_equal(bounds.upper, upper)


@BOTH_VARIANTS
@for_each("seed", range(12))
def test_no_table_of_whole_numbers_that_fits_is_outside(seed, histogram):
    evidence, table = evidence_and_truth(seed, histogram=histogram, values=4, labels=2, records=7)
    bounds = bound_cells(evidence)
    lower, upper = by_enumeration(evidence, bounds)
    assert_between(bounds.lower, lower, bounds.upper)
    assert_between(bounds.lower, upper, bounds.upper)
    assert_between(lower, truth_of(table, bounds), upper)


def test_bins_of_five_and_of_seven_give_away_what_lies_between_their_cuts():
    table = np.random.default_rng(1).integers(0, 9, (35, 2))
    views = [mapped(f"{width}", np.arange(35) // width, table) for width in (5, 7)]
    bounds = bound_cells(evidence_of(table, views, histogram=False))
    cuts = sorted({*range(0, 35, 5), *range(0, 35, 7)})
    assert bounds.method == "closed_form"
    np.testing.assert_array_equal(bounds.lower, np.add.reduceat(table, cuts))
    np.testing.assert_array_equal(bounds.upper, np.add.reduceat(table, cuts))


def test_a_group_of_known_rows_has_the_bounds_of_frechet():
    table = np.array([[5, 1], [0, 3], [2, 0], [4, 4]])
    told = mapped("told", np.arange(4), table, counted=False)
    halves = mapped("halves", np.array([0, 0, 1, 1]), table)
    bounds = bound_cells(evidence_of(table, [told, halves]))
    # The first half has rows 6 and 3, columns 5 and 4, and 9 records.
    np.testing.assert_array_equal(bounds.lower[:2], [[2, 1], [0, 0]])
    np.testing.assert_array_equal(bounds.upper[:2], [[5, 4], [3, 3]])
    np.testing.assert_array_equal(bounds.lower[2:], [[0, 0], [4, 2]])
    np.testing.assert_array_equal(bounds.upper[2:], [[2, 2], [6, 4]])
    assert (bounds.method, bounds.programs) == ("closed_form", 0)


def test_views_that_nest_leave_every_atom_of_a_group_everything_or_nothing():
    table = np.array([[5, 1], [0, 3], [2, 0], [4, 4]])
    told = mapped("told", np.arange(4), table, counted=False)
    views = [told, mapped("halves", np.array([0, 0, 1, 1]), table), mapped("all", np.zeros(4), table)]
    bounds = bound_cells(evidence_of(table, views, histogram=False))
    np.testing.assert_array_equal(bounds.lower, np.zeros((4, 2)))
    np.testing.assert_array_equal(bounds.upper, [[5, 4], [5, 4], [6, 4], [6, 4]])


def test_views_without_an_order_that_leave_one_table_give_it_away():
    table = np.array([[3, 1], [0, 7], [2, 2]])
    pairs = [mapped(f"{at}", np.roll([0, 0, 1], at), table) for at in range(3)]
    bounds = bound_cells(evidence_of(table, pairs, histogram=False))
    np.testing.assert_array_equal(bounds.lower, table)
    np.testing.assert_array_equal(bounds.upper, table)


def test_unmasked_counts_are_their_own_bounds():
    table = np.array([[3, 1], [0, 7]])
    bounds = bound_cells(evidence_of(table, [], joint=True))
    np.testing.assert_array_equal(bounds.lower, table)
    np.testing.assert_array_equal(bounds.upper, table)
    assert bounds.method == "given"


@BOTH_VARIANTS
def test_without_views_all_that_is_known_is_of_the_whole(histogram):
    table = np.array([[3, 1], [0, 7]])
    bounds = bound_cells(evidence_of(table, [counted("unmapped", table, deterministic=True)], histogram=histogram))
    np.testing.assert_array_equal(bounds.lower, [[3, 8]])
    np.testing.assert_array_equal(bounds.upper, [[3, 8]])


@BOTH_VARIANTS
def test_one_label_one_value_and_no_records_are_no_special_case(histogram):
    for table in (np.array([[4], [0], [2]]), np.array([[3, 0, 2]]), np.zeros((3, 2), dtype=np.int64)):
        views = [mapped("halves", np.arange(len(table)) // 2, table), mapped("all", np.zeros(len(table)), table)]
        bounds = bound_cells(evidence_of(table, views, histogram=histogram))
        assert_between(bounds.lower, truth_of(table, bounds), bounds.upper)


def test_masked_values_that_no_value_has_change_nothing():
    table = np.array([[3, 1], [0, 7], [2, 2]])
    view = mapped("halves", np.array([0, 0, 1]), table)
    wide = replace(view, groups=4, joint=np.vstack([view.joint, np.zeros((2, 2), dtype=np.int64)]))
    found, expected = (bound_cells(evidence_of(table, [one])) for one in (wide, view))
    np.testing.assert_array_equal(found.lower, expected.lower)
    np.testing.assert_array_equal(found.upper, expected.upper)


def contradicting():
    """Three values: each pair of them has one record, which leaves half a record for each value."""
    table = np.array([[1, 0], [0, 1], [1, 1]])
    views = [mapped(f"{at}", np.roll([0, 0, 1], at), table) for at in range(3)]
    halves = [replace(view, joint=np.array([[1, 1], [1, 1]])) for view in views]
    return evidence_of(table, halves, histogram=False)


def negative():
    """Bins of an ordered domain with a negative difference."""
    table = np.ones((6, 1), dtype=np.int64)
    fine, coarse = mapped("2", np.arange(6) // 2, table), mapped("3", np.arange(6) // 3, table)
    return evidence_of(table, [replace(fine, joint=np.array([[5], [0], [1]])), coarse], histogram=False)


def crossed_zeros():
    """Four values in pairs that cross: the first has all of one view and nothing of another."""
    table = np.ones((4, 1), dtype=np.int64)
    first = replace(mapped("a", np.array([0, 0, 1, 1]), table), joint=np.array([[4], [0]]))
    second = replace(mapped("b", np.array([0, 1, 0, 1]), table), joint=np.array([[0], [4]]))
    third = replace(mapped("c", np.array([0, 1, 1, 0]), table), joint=np.array([[4], [0]]))
    return evidence_of(table, [first, second, third], histogram=False)


@for_each("make", [contradicting, negative, crossed_zeros])
def test_counts_that_no_table_has_are_refused(make):
    with pytest.raises(ContradictoryViewsError, match="the counts of 'a' contradict each other"):
        bound_cells(make())


def test_bounds_that_time_ends_still_hold_and_say_that_they_may_be_wider():
    evidence, table = evidence_and_truth(3, histogram=True, values=20, records=400)
    answers = iter([False] * 4)
    ended = bound_cells(evidence, stop=lambda: next(answers, True))
    whole = bound_cells(evidence)
    assert (ended.complete, whole.complete) == (False, True)
    assert ended.programs == 4
    assert_between(ended.lower, truth_of(table, ended), ended.upper)
    assert_between(ended.lower, whole.lower, whole.upper)
    assert_between(whole.lower, whole.upper, ended.upper)


def test_progress_ends_where_all_bounds_are_settled():
    told = []
    bounds = bound_cells(evidence_and_truth(3, histogram=False, values=20, records=400)[0], progress=told_to(told))
    done = [done for done, _ in told]
    assert len(told) == bounds.programs > 0
    assert done == sorted(done)
    assert told[-1][0] == told[-1][1]


def told_to(told):
    return lambda done, bounds: told.append((done, bounds))


@for_each("factor", [10**6, 10**9, 10**13])
def test_bounds_of_large_counts_are_whole_multiples_of_small_ones(factor):
    evidence, table = evidence_and_truth(5, histogram=True)
    small = bound_cells(evidence)
    views = [mapped(one.id, one.mapping, table * factor) for one in evidence.maskings]
    large = bound_cells(evidence_of(table * factor, views))
    slack = 1 + factor * 1e-9  # a multiplier of the program is not a fraction with a power of two as denominator
    assert_between(large.lower, truth_of(table * factor, large), large.upper)
    assert np.all(np.abs(large.lower - small.lower * factor) <= factor)
    assert np.all(small.lower * factor - large.lower <= slack)
    assert np.all(large.upper - (small.upper + 1) * factor <= slack)


def visits() -> tuple[CellBounds, list[int]]:
    """The bounds of the visits of the health example, and the smallest count of each of three binnings."""
    with HEALTH.open(newline="") as file:
        counts = Counter((Decimal(row["visits"]), row["health"]) for row in csv.DictReader(file))
    domain = sorted({value for value, _ in counts})
    table = np.array([[counts[value, label] for label in sorted({label for _, label in counts})] for value in domain])
    edges = {"five": (0, 5, 10, 15, 20, 30), "seven": (0, 7, 14, 21, 28), "life": (0, 1, 2, 4, 7, 13, 25)}
    values = np.array(domain, dtype=np.int64)
    views = [mapped(name, np.searchsorted(at, values, "right") - 1, table) for name, at in edges.items()]
    return bound_cells(evidence_of(table, views)), [int(view.joint[view.joint > 0].min()) for view in views]


def test_of_the_health_example_single_people_follow_from_tables_that_show_none():
    bounds, smallest = visits()
    assert smallest == [2, 4, 7]
    np.testing.assert_array_equal(bounds.lower, bounds.upper)
    assert bounds.lower[bounds.lower > 0].min() == 1
