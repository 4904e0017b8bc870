"""Bounds of cells from counts that are rounded, noisy, incomplete or drawn at random: what is certain."""

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.sparse import csr_array

from aegis_advisor.cell_bounds import UNLIMITED, bound_cells
from aegis_advisor.cell_bounds.certain_sums import LinearSystem, interval
from aegis_advisor.cell_bounds.linear_programs import proven_least
from aegis_advisor.evidence import AttributeEvidence, Masking, Perturbation
from tests.advisor.cases import evidence_of, mapped, random_table
from tests.advisor.cell_bounds.test_cell_bounds import assert_between, truth_of
from tests.advisor.inexact import drawn, lacking, noisy, randomised_response, rounded
from tests.for_each import for_each

VALUES = np.arange(4)


def sparse_transition(rng, values, groups):
    """Every value can become only some masked values, and sometimes becomes one of them for certain."""
    chances = rng.random((values, groups)) * (rng.random((values, groups)) < 0.4)
    chances[np.arange(values), rng.integers(0, groups, values)] += 0.1
    return chances / chances.sum(axis=1, keepdims=True)


def view_of(kind, rng, name, table):
    mapping = rng.integers(0, 4, len(table))
    match kind:
        case "exact":
            return mapped(name, mapping, table)
        case "rounded":
            return rounded(name, mapping, table, int(rng.integers(1, 8)))
        case "noisy":
            return noisy(rng, name, mapping, table, 2.0)
        case "lacking":
            return lacking(rng, name, mapping, table, int(rng.integers(0, table.sum() + 1)))
        case "lacking, rounded":
            short = lacking(rng, name, mapping, table, int(rng.integers(0, table.sum() + 1)))
            declared = Perturbation(rounded_to=3, records=short.perturbation.records)
            return Masking(name, short.groups, mapping, (short.joint + 1) // 3 * 3, True, declared)
        case _:
            return drawn(rng, name, sparse_transition(rng, len(table), 4), table)


KINDS = st.sampled_from(["exact", "rounded", "noisy", "lacking", "lacking, rounded", "drawn"])


@given(seed=st.integers(0, 2**32), kinds=st.lists(KINDS, min_size=1, max_size=4), histogram=st.booleans())
def test_the_truth_is_never_outside(seed, kinds, histogram):
    rng = np.random.default_rng(seed)
    table = random_table(rng, int(rng.integers(2, 12)), int(rng.integers(1, 4)), int(rng.integers(1, 200)))
    views = [view_of(kind, rng, f"v{at}", table) for at, kind in enumerate(kinds)]
    bounds = bound_cells(evidence_of(table, views, histogram=histogram))
    assert bounds.complete
    assert_between(bounds.lower, truth_of(table, bounds), bounds.upper)


def by_programs(table, views, *, histogram):
    """Bounds of a table where each value is an atom: a program per cell, with the limits of each view written out."""
    cells = np.eye(table.size).reshape(-1, *table.shape)
    equal = [(cells.sum(1).T, table.sum(axis=0))] + ([(cells.sum(2).T, table.sum(axis=1))] if histogram else [])
    limits = []
    for view in views:
        base, kept = view.perturbation.rounded_to, view.perturbation.records
        for group in range(view.groups):
            sums = cells[:, view.mapping == group].sum(1).T
            least = view.joint[group] - (0 if base is None else base - 1)
            more = (0 if base is None else base - 1) + (0 if kept is None else table.sum() - kept)
            limits += [(sums, view.joint[group] + more), (-sums, -least)]
    known = {"A_eq": np.vstack([a for a, _ in equal]), "b_eq": np.concatenate([b for _, b in equal])}
    known |= {"A_ub": np.vstack([a for a, _ in limits]), "b_ub": np.concatenate([b for _, b in limits])}
    found = [[sign * linprog(sign * cost, **known).fun for cost in np.eye(table.size)] for sign in (1, -1)]
    lower, upper = (np.array(one).reshape(table.shape) for one in found)
    return np.ceil(lower - 1e-6), np.floor(upper + 1e-6)


@for_each("histogram", [True, False])
@for_each("seed", range(8))
def test_rounded_counts_and_those_that_lack_records_limit_cells_as_a_program_for_each_says(seed, histogram):
    rng = np.random.default_rng(seed)
    table = random_table(rng, 6, 2, 80)
    views = [
        rounded("rounded", np.array([0, 0, 1, 1, 2, 2]), table, 5),
        lacking(rng, "lacking", np.array([0, 1, 0, 1, 0, 1]), table, 3),
        mapped("exact", rng.permutation([0, 0, 1, 1, 2, 2]), table),
        mapped("told", np.arange(6), table, counted=False),
    ]
    bounds = bound_cells(evidence_of(table, views, histogram=histogram))
    lower, upper = by_programs(table, views[:3], histogram=histogram)
    np.testing.assert_array_equal(bounds.lower, lower)
    np.testing.assert_array_equal(bounds.upper, upper)


@for_each(
    ("declared", "least", "most"),
    [
        (Perturbation(), 10, 10),
        (Perturbation(rounded_to=5), 6, 14),
        (Perturbation(records=97), 10, 13),
        (Perturbation(rounded_to=5, records=97), 6, 17),
        (Perturbation(noise_scale=0.1), 0, np.inf),
        (Perturbation(noise_scale=0.01), 10, 10),  # at most one count in 10^43 has any
        (Perturbation(rounded_to=20), 0, 29),
    ],
)
def test_what_is_declared_says_between_which_limits_a_count_of_ten_was(declared, least, most):
    lower, upper = interval(declared, np.array([10]), 100)
    assert (lower.tolist(), upper.tolist()) == ([least], [most])


def test_a_noisy_view_says_nothing_for_certain():
    rng = np.random.default_rng(1)
    table = rng.integers(1, 9, (4, 2))
    told = mapped("told", VALUES, table, counted=False)
    noise = noisy(rng, "noisy", VALUES // 2, table, 0.1)
    found, expected = (bound_cells(evidence_of(table, views)) for views in ([told, noise], [told]))
    np.testing.assert_array_equal(found.lower, expected.lower)
    np.testing.assert_array_equal(found.upper, expected.upper)
    assert np.any(found.lower < found.upper)


def test_of_chance_it_is_certain_who_can_have_what():
    table = np.array([[6], [2], [3]])
    possible = np.array([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.0, 0.0, 1.0]])
    view = Masking("drawn", 3, None, np.array([[4], [3], [4]]), deterministic=False, transition=possible)
    bounds = bound_cells(evidence_of(table, [view], histogram=False))
    # The first masked value comes only from the first value, which has only the first two masked values.
    # The last comes from the other values, and the third value has only that one.
    np.testing.assert_array_equal(bounds.lower, [[4], [0], [0]])
    np.testing.assert_array_equal(bounds.upper, [[7], [7], [4]])


def test_a_matrix_without_chance_says_what_its_mapping_says():
    table = np.random.default_rng(2).integers(0, 6, (6, 2))
    mapping = np.array([0, 1, 1, 0, 2, 2])
    exact, other = mapped("m", mapping, table), mapped("w", np.array([0, 0, 1, 1, 1, 2]), table)
    certain = Masking("m", 3, None, exact.joint, deterministic=False, transition=np.eye(3)[mapping])
    found, expected = (bound_cells(evidence_of(table, [one, other])) for one in (certain, exact))
    np.testing.assert_array_equal(found.lower, expected.lower)
    np.testing.assert_array_equal(found.upper, expected.upper)


def test_randomised_response_says_nothing_for_certain():
    rng = np.random.default_rng(3)
    table = rng.integers(1, 9, (4, 2))
    view = drawn(rng, "rr", randomised_response(4, 0.9), table)
    bounds = bound_cells(evidence_of(table, [view], histogram=False))
    assert not bounds.lower.any()
    np.testing.assert_array_equal(bounds.upper, np.tile(table.sum(axis=0), (4, 1)))


def cells_of_two_sums():
    """Three cells, of which the first two add up to at most 10, and the last two to at most 4."""
    matrix = csr_array(np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]]))
    limits = np.array([10.0, 0.0]), np.array([10.0, 4.0])
    return LinearSystem(np.arange(3), matrix, matrix.T.tocsr(), *limits, np.array([10.0, 4.0, 4.0]))


@given(st.lists(st.floats(-3, 3), min_size=2, max_size=2), st.integers(0, 2), st.sampled_from([-1, 1]))
def test_any_multipliers_prove_a_bound_that_holds(multipliers, cell, sign):
    tables = [(10 - b, b, c) for b in range(5) for c in range(5 - b)]
    proven = proven_least(cells_of_two_sums(), cell, sign, np.array(multipliers))
    assert proven <= min(sign * table[cell] for table in tables)


@for_each("multiplier", [np.inf, np.nan, 1e30])
def test_multipliers_of_no_use_prove_nothing(multiplier):
    assert proven_least(cells_of_two_sums(), 0, 1, np.array([1.0, multiplier])) is None


def test_the_right_multipliers_prove_the_tightest_bound():
    assert proven_least(cells_of_two_sums(), 0, 1, np.array([1.0, -1.0])) == 6
    assert proven_least(cells_of_two_sums(), 0, -1, np.array([-1.0, 0.0])) == -10


def declaring(perturbation, views=()):
    """Evidence on a table with 4 and 3 records of two labels, whose label histogram is published as 5 and 5."""
    return AttributeEvidence("a", 2, np.array([5, 5]), None, None, tuple(views), perturbation)


def test_a_rounded_histogram_of_the_label_limits_what_it_says():
    bounds = bound_cells(declaring(Perturbation(rounded_to=5)))
    assert (bounds.lower.tolist(), bounds.upper.tolist()) == ([[1, 1]], [[9, 9]])


def test_where_noise_hides_the_label_nothing_limits_a_cell():
    bounds = bound_cells(declaring(Perturbation(noise_scale=2.0)))
    assert (bounds.lower.tolist(), bounds.upper.tolist()) == ([[0, 0]], [[UNLIMITED, UNLIMITED]])


def test_where_noise_hides_the_label_a_view_that_lacks_records_limits_from_below_alone():
    view = mapped("told", np.arange(2), np.array([[1, 2], [2, 0]]))
    short = replace(view, perturbation=Perturbation(records=5))
    bounds = bound_cells(declaring(Perturbation(noise_scale=2.0), [short]))
    np.testing.assert_array_equal(bounds.lower, view.joint)
    np.testing.assert_array_equal(bounds.upper, np.full((2, 2), UNLIMITED))


def test_where_noise_hides_the_label_an_exact_view_still_tells():
    view = mapped("told", np.arange(2), np.array([[3, 2], [1, 1]]))
    bounds = bound_cells(declaring(Perturbation(noise_scale=2.0), [view]))
    np.testing.assert_array_equal(bounds.lower, view.joint)
    np.testing.assert_array_equal(bounds.upper, view.joint)


def test_where_noise_hides_the_label_exact_counts_of_unknown_values_tell_it_and_how_many_records_others_lack():
    table = np.array([[3, 2], [1, 1]])
    tokens = replace(mapped("tokens", np.arange(2), table), mapping=None)
    short = replace(mapped("told", np.arange(2), table - [[0, 1], [1, 0]]), perturbation=Perturbation(records=5))
    bounds = bound_cells(declaring(Perturbation(noise_scale=2.0), [tokens, short]))
    np.testing.assert_array_equal(bounds.lower, [[3, 1], [0, 1]])
    np.testing.assert_array_equal(bounds.upper, [[4, 2], [1, 2]])
