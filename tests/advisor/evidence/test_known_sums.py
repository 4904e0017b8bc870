"""What counted views determine together, against rational arithmetic, linear programs and the true table."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.optimize import linprog

from aegis_advisor.arrays import fold
from aegis_advisor.evidence import AttributeEvidence, Masking, exact_counts
from aegis_advisor.measures import MEASURES, utility_ceilings
from aegis_advisor.ranking import Question, assess, recommend
from aegis_advisor.reconstruction import IterativeProportionalFitting, reconstruct
from tests.advisor.cases import evidence_of, mapped, overlapping, random_mapping, random_table
from tests.examples import at_most
from tests.for_each import for_each

SEEDS = st.integers(0, 2**32)
VALUES = 60
OFFSET = (np.arange(VALUES) // 6, (np.arange(VALUES) + 2) // 7)


def rank_of(rows):
    """The rank of a matrix of whole numbers, by elimination with fractions."""
    left = [[Fraction(int(entry)) for entry in row] for row in rows]
    rank = 0
    for column in range(len(left[0])):
        pivot = next((row for row in left[rank:] if row[column]), None)
        if pivot is None:
            continue
        left.remove(pivot)
        left.insert(rank, pivot)
        for at in range(rank + 1, len(left)):
            factor = left[at][column] / pivot[column]
            left[at] = [entry - factor * one for entry, one in zip(left[at], pivot, strict=True)]
        rank += 1
    return rank


def indicators(mapping):
    """(groups, values) 1 where a value has a masked value."""
    return (np.arange(mapping.max() + 1)[:, np.newaxis] == mapping).astype(int)


def is_combination(views, mapping):
    """Whether the indicator of every group of a mapping is a linear combination of those of the views' groups."""
    known = np.vstack([indicators(view.mapping) for view in views])
    rank = rank_of(known.tolist())
    return all(rank_of([*known.tolist(), group]) == rank for group in indicators(mapping).tolist())


def asked_for(mapping):
    """A masking of which only the mapping is known."""
    return Masking("asked", int(mapping.max()) + 1, mapping, None, deterministic=True)


def some_mapping(rng, views, values):
    """A random mapping; often a function of what several views tell apart, which they may determine."""
    kind = rng.random()
    if kind < 0.3:
        return random_mapping(rng, values, int(rng.integers(2, 5)))
    atoms = np.unique(np.stack([view.mapping for view in views]), axis=1, return_inverse=True)[1].reshape(-1)
    merged = rng.integers(0, int(rng.integers(2, 6)), atoms.max() + 1)[atoms]
    return np.unique(atoms if kind < 0.5 else merged, return_inverse=True)[1]


@given(SEEDS, st.integers(1, 4), st.booleans())
def test_counts_of_tables_without_zeros_are_known_just_if_they_are_linear_combinations(seed, many, histogram):
    rng = np.random.default_rng(seed)
    table = rng.integers(1, 6, (int(rng.integers(2, 9)), int(rng.integers(2, 4))))
    views = overlapping(rng, table, many, int(rng.integers(2, 6)))
    evidence = evidence_of(table, views, histogram=histogram)
    for _ in range(6):
        mapping = some_mapping(rng, views, len(table))
        counts = exact_counts(evidence, asked_for(mapping))
        assert (counts is not None) == is_combination(views, mapping)
        if counts is not None:
            np.testing.assert_array_equal(counts, fold(table, mapping, mapping.max() + 1))


def extremes(evidence, members, label):
    """The least and the most that values (members,) and a label can have in any table of real numbers that fits."""
    shape = (evidence.values, evidence.labels)
    cells = np.arange(shape[0] * shape[1]).reshape(shape)
    sums = [cells[:, at] for at in range(shape[1])]
    totals = list(evidence.label_histogram)
    if evidence.histogram is not None:
        sums, totals = [*sums, *cells], [*totals, *evidence.histogram]
    for view in evidence.maskings:
        for group, counts in enumerate(view.joint):
            sums += [cells[view.mapping == group, at] for at in range(shape[1])]
            totals += list(counts)
    matrix = np.array([np.isin(cells.ravel(), members_of) for members_of in sums], dtype=float)
    goal = np.isin(cells.ravel(), cells[members, label]).astype(float)
    found = [linprog(sign * goal, A_eq=matrix, b_eq=totals, method="highs") for sign in (1, -1)]
    assert all(one.status == 0 for one in found)
    return found[0].fun, -found[1].fun


@at_most(100)
@given(SEEDS, st.booleans())
def test_what_is_known_is_the_same_in_every_table_that_fits(seed, histogram):
    rng = np.random.default_rng(seed)
    table = random_table(rng, values=int(rng.integers(3, 8)), records=int(rng.choice([6, 15, 60])))
    views = overlapping(rng, table, int(rng.integers(2, 4)), 4)
    evidence = evidence_of(table, views, histogram=histogram)
    asked = [some_mapping(rng, views, len(table)), *(mapping for mapping, _ in evidence.refined_views)]
    for mapping in asked:
        counts = exact_counts(evidence, asked_for(mapping))
        if counts is None:
            continue
        np.testing.assert_array_equal(counts, fold(table, mapping, mapping.max() + 1))
        for group, label in zip(*np.nonzero(counts >= 0), strict=True):
            least, most = extremes(evidence, np.flatnonzero(mapping == group), label)
            assert most - least < 1e-6


@given(SEEDS, st.booleans())
@example(105591392, False)  # it tells that a value is empty that no view by itself shows to be empty
def test_refined_views_are_true_known_and_tell_more_than_each_view(seed, histogram):
    rng = np.random.default_rng(seed)
    table = random_table(rng, values=12, records=300)
    views = overlapping(rng, table, int(rng.integers(2, 5)), 5)
    evidence = evidence_of(table, views, histogram=histogram)
    for mapping, counts in evidence.refined_views:
        np.testing.assert_array_equal(counts, fold(table, mapping, len(counts)))
        held = table.any(axis=1) if histogram else np.full(len(table), fill_value=True)
        held = np.logical_and.reduce([held, *(view.joint.any(axis=1)[view.mapping] for view in views)])
        pairs = {(view.id, group): set() for view in views for group in range(view.groups)}
        for view in views:
            for group, finer in zip(view.mapping[held].tolist(), mapping[held].tolist(), strict=True):
                pairs[view.id, group].add(finer)
        for view in views:  # no view tells apart all that the refined one does
            assert any(len(pairs[view.id, group]) > 1 for group in range(view.groups))


def cut_into(cuts, values):
    return np.searchsorted(cuts, np.arange(values), side="right")


@given(SEEDS)
def test_bins_that_overlap_determine_what_lies_between_their_cuts_in_any_order_and_beside_another_view(seed):
    rng = np.random.default_rng(seed)
    table = rng.integers(1, 9, (40, 3))
    order = rng.permutation(40)
    cuts = [np.sort(rng.choice(np.arange(1, 40), 6, replace=False)) for _ in range(3)]
    crossing = rng.integers(0, 3, 40)
    views = [mapped(f"v{at}", cut_into(one, 40)[order], table) for at, one in enumerate(cuts)]
    between = cut_into(np.unique(np.concatenate(cuts)), 40)[order]
    for others in ([], [mapped("crossing", crossing, table)]):
        evidence = evidence_of(table, [*views, *others], histogram=False)
        counts = exact_counts(evidence, asked_for(between))
        np.testing.assert_array_equal(counts, fold(table, between, between.max() + 1))
        most = max(len(np.unique(mapping)) for mapping, _ in evidence.refined_views)
        assert most >= len(np.unique(between))


def test_views_that_only_one_table_fits_determine_it_whatever_their_coefficients():
    rng = np.random.default_rng(0)
    table = rng.integers(1, 50, (40, 3))
    views = [mapped(f"v{at}", rng.permutation(np.arange(40) % 10), table) for at in range(8)]
    evidence = evidence_of(table, views, histogram=False)
    np.testing.assert_array_equal(exact_counts(evidence, asked_for(np.arange(40))), table)
    ((mapping, counts),) = evidence.refined_views
    np.testing.assert_array_equal(counts[mapping], table)


def test_thousands_of_bins_take_no_equations():
    values = 20_000
    table = np.random.default_rng(0).integers(0, 4, (values, 2))
    views = [mapped("a", np.arange(values) // 6, table), mapped("b", (np.arange(values) + 2) // 7, table)]
    known = evidence_of(table, views).known_sums
    assert known is not None
    assert known.parts == ()
    assert known.cells.min() >= 0


def test_cells_that_must_be_empty_help_where_differences_do_not():
    # Rows and columns of a grid; one label has a single row, the other a single column.
    table = np.zeros((9, 2), dtype=int)
    table[:3, 0] = [2, 3, 4]
    table[::3, 1] = [5, 6, 7]
    views = [mapped("rows", np.arange(9) // 3, table), mapped("columns", np.arange(9) % 3, table)]
    evidence = evidence_of(table, views, histogram=False)
    np.testing.assert_array_equal(exact_counts(evidence, asked_for(np.arange(9))), table)


def test_a_value_without_records_may_have_any_masked_value():
    table = np.array([[1, 2], [0, 0], [3, 4], [5, 6]])
    views = [mapped("a", [0, 0, 0, 1], table), mapped("b", [0, 0, 1, 1], table)]
    asked = np.array([0, 1, 1, 2])
    known = evidence_of(table, views)
    np.testing.assert_array_equal(exact_counts(known, asked_for(asked)), [[1, 2], [3, 4], [5, 6]])
    blind = evidence_of(table, views, histogram=False)
    assert exact_counts(blind, asked_for(asked)) is None


def test_views_that_contradict_each_other_determine_nothing_together():
    tables = np.array([[[4, 0], [2, 6]], [[3, 3], [3, 3]]])
    views = tuple(
        Masking(f"v{at}", 2, np.array(mapping), tables[at], deterministic=True)
        for at, mapping in enumerate([[0, 1, 1], [0, 0, 1]])
    )
    evidence = AttributeEvidence("a", 3, np.array([6, 6]), None, None, views)
    assert evidence.known_sums is None
    assert evidence.refined_views == ()
    assert exact_counts(evidence, asked_for(np.arange(3))) is None


def test_inexact_counts_determine_nothing():
    table = np.random.default_rng(0).integers(1, 9, (VALUES, 3))
    first, second = (mapped(f"v{at}", mapping, table) for at, mapping in enumerate(OFFSET))
    noisy = Masking("v1", second.groups, second.mapping, second.joint, True, second.perturbation.__class__(1.0))
    evidence = evidence_of(table, [first, noisy])
    assert evidence.refined_views == ()
    assert exact_counts(evidence, asked_for(np.arange(VALUES))) is None


@for_each("measure", [one for one in MEASURES.values() if one.monotone])
@for_each("histogram", [True, False])
def test_bounds_are_as_tight_as_if_the_bins_between_the_cuts_were_published(measure, histogram):
    rng = np.random.default_rng(1)
    table = random_table(rng, VALUES, records=3_000)
    views = [mapped(f"v{at}", mapping, table) for at, mapping in enumerate(OFFSET)]
    between = np.unique(np.stack(OFFSET), axis=1, return_inverse=True)[1].reshape(-1)
    now = evidence_of(table, views, histogram=histogram)
    published = evidence_of(table, [*views, mapped("between", between, table)], histogram=histogram)
    solver = IterativeProportionalFitting(sweeps=1)
    found, wanted = (assess(one, reconstruct(one, solver), measure, []) for one in (now, published))
    assert found.bound_value == pytest.approx(wanted.bound_value, rel=1e-12, abs=1e-12)
    assert utility_ceilings(now)[measure.id] == pytest.approx(utility_ceilings(published)[measure.id], rel=1e-12)
    alone = measure.best([measure(view.joint.astype(float)) for view in views])
    assert found.bound_value != alone or measure.id in {"g2", "goodman_kruskal_lambda", "g3"}


def test_a_ranking_with_a_masking_that_the_views_determine_is_exact():
    rng = np.random.default_rng(0)
    table = rng.multinomial(3_000, np.full(VALUES * 3, 1 / VALUES / 3)).reshape(VALUES, 3)
    views = [mapped(f"v{at}", mapping, table) for at, mapping in enumerate(OFFSET)]
    between = np.cumsum(np.diff(OFFSET[0], prepend=0) | np.diff(OFFSET[1], prepend=0))
    third = mapped("third", between % 3, table, counted=False)
    evidence = evidence_of(table, [*views, third])
    codes, question = np.arange(3)[:, np.newaxis], Question("chi_square", ("a",), np.ones(1))
    answer = recommend([evidence], [reconstruct(evidence)], codes, [("v0", "v1", "third")], question)
    (assessed,) = answer.attributes
    chi_square = MEASURES["chi_square"]
    assert answer.ranking_basis == "exact"
    assert assessed.maskings["third"].source == "counts"
    assert assessed.maskings["third"].utility == chi_square(fold(table, between % 3, 3).astype(float))
    assert assessed.lower_bound == pytest.approx(chi_square(fold(table, between, between.max() + 1).astype(float)))
    assert assessed.lower_bound > 1.5 * max(chi_square(view.joint.astype(float)) for view in views)
