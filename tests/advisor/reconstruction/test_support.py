"""Cells of the reference that must be zero, checked against one linear program per cell and by hand."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.sparse import hstack

from aegis_advisor.atoms import common_refinement
from aegis_advisor.evidence import AttributeEvidence, Masking
from aegis_advisor.measures.determination import g2
from aegis_advisor.reconstruction import IterativeProportionalFitting, reconstruct, reference
from aegis_advisor.reconstruction import support as module
from aegis_advisor.reconstruction.equations import Equations
from aegis_advisor.reconstruction.problem import Problem
from aegis_advisor.reconstruction.support import proves_zeros, support
from tests.advisor.cases import evidence_of, mapped, overlapping, random_table
from tests.for_each import for_each

BOTH_VARIANTS = for_each("histogram", [True, False])


def problem_of(evidence):
    atom_of_value = common_refinement([one.mapping for one in evidence.maskings], evidence.values)
    return Problem.of(evidence, atom_of_value, int(atom_of_value.max()) + 1)


def solved(problem):
    """The solver's table, with what remains in cells that must be empty."""
    return reference._solve(problem, reference.SOLVER).table


def margins_of(problem):
    """Every equation of the flattened table, written out without the code under test."""
    cells = np.eye(problem.prior.size * problem.labels).reshape(-1, problem.prior.size, problem.labels)
    pairs = [] if problem.rows is None else [(cells.sum(2).T, problem.rows)]
    for margin in problem.margins:
        pairs.extend(
            (cells[:, margin.atoms[margin.group_of == at]].sum(1).T, margin.counts[at]) for at in range(margin.groups)
        )
    return np.vstack([matrix for matrix, _ in pairs]), np.concatenate([target for _, target in pairs])


def by_programmes(problem):
    """Whether each cell can be positive, by maximising one after another."""
    matrix, target = margins_of(problem)
    most = np.zeros(matrix.shape[1])
    for cell in range(most.size):
        found = linprog(-np.eye(most.size)[cell], A_eq=matrix, b_eq=target)
        assert found.status == 0
        most[cell] = -found.fun
    return (most > 1e-6).reshape(-1, problem.labels)


def by_margins(problem):
    """Whether each cell has only positive margins, which is the easy half of the check."""
    held = np.zeros(problem.prior.size * problem.labels, dtype=bool)
    held[Equations.of(problem).cells] = True
    return held.reshape(-1, problem.labels)


def by_limits(problem):
    """The most that each cell can have, by carrying limits from margin to margin until none changes."""
    matrix, target = margins_of(problem)
    inside = matrix.T > 0
    lower, upper = np.zeros(inside.shape[0]), np.full(inside.shape[0], problem.records)
    for _ in range(200):
        upper = np.minimum(upper, np.where(inside, target - matrix @ lower + lower[:, None], np.inf).min(axis=1))
        lower = np.maximum(lower, np.where(inside, target - matrix @ upper + upper[:, None], 0.0).max(axis=1))
    return upper.reshape(-1, problem.labels)


def sparse_evidence(seed, *, histogram):
    rng = np.random.default_rng(seed)
    table = random_table(rng, int(rng.integers(3, 8)), int(rng.integers(2, 4)), int(rng.integers(3, 60)))
    views = overlapping(rng, table, int(rng.integers(2, 4)), int(rng.integers(2, 4)))
    return evidence_of(table, views, histogram=histogram)


@BOTH_VARIANTS
def test_it_is_what_a_programme_per_cell_finds(histogram):
    implied_somewhere = 0
    for seed in range(30):
        problem = problem_of(sparse_evidence(seed, histogram=histogram))
        expected = by_programmes(problem)
        hint = solved(problem_of(sparse_evidence(seed, histogram=histogram)))
        assert np.array_equal(support(problem, hint), expected), seed
        implied_somewhere += bool(np.any(by_margins(problem) & ~expected))
    assert implied_somewhere >= 3


@given(st.data())
def test_any_table_that_anybody_can_think_of(data):
    values, labels = data.draw(st.integers(2, 6)), data.draw(st.integers(1, 3))
    count = st.integers(0, 3) | st.sampled_from([0, 0, 1, 10**6])
    table = np.array(data.draw(st.lists(count, min_size=values * labels, max_size=values * labels)))
    table = table.reshape(values, labels)
    mapping = st.lists(st.integers(0, 2), min_size=values, max_size=values)
    views = [mapped(f"v{at}", data.draw(mapping), table) for at in range(data.draw(st.integers(1, 3)))]
    problem = problem_of(evidence_of(table, views, histogram=data.draw(st.booleans())))
    matrix, target = margins_of(problem)
    hint = data.draw(st.sampled_from(["prior", "nothing", "least squares"]))
    start = problem.start() if hint == "prior" else np.zeros_like(problem.start())
    if hint == "least squares":
        start = np.linalg.lstsq(matrix, target)[0].reshape(start.shape)
    assert np.array_equal(support(problem, start), by_programmes(problem))


@BOTH_VARIANTS
@for_each("seed", range(12))
def test_the_hint_does_not_change_the_answer(seed, histogram):
    evidence = sparse_evidence(seed, histogram=histogram)
    problem = problem_of(evidence)
    rough = reconstruct(evidence, IterativeProportionalFitting(sweeps=1)).joint
    close = reconstruct(evidence, IterativeProportionalFitting(1e-9, 500)).joint
    noise = np.random.default_rng(seed).random(close.shape)
    answers = [support(problem, hint) for hint in (rough, close, noise, np.zeros_like(close))]
    assert all(np.array_equal(answer, answers[0]) for answer in answers)
    assert answers[0] is not None


def test_a_cascade_by_hand():
    # Two labels, rows of one record: b = (1, 0) leaves nothing for the second label of a's other views.
    table = np.array([[1, 0], [1, 0], [0, 1], [1, 1]])
    views = [mapped("v", [0, 0, 1, 1], table), mapped("w", [0, 1, 1, 2], table)]
    problem = problem_of(evidence_of(table, views))
    assert by_margins(problem).tolist() == [[True, False], [True, False], [True, True], [True, True]]
    assert support(problem, problem.start()).tolist() == [[True, False], [True, False], [False, True], [True, True]]


def test_a_cycle_that_limits_of_cells_do_not_show():
    table = np.array([[0, 0], [0, 0], [0, 0], [0, 0], [3, 1], [3, 0]])
    mappings = ([0, 1, 0, 2, 2, 0], [1, 2, 2, 1, 2, 1], [0, 0, 0, 1, 0, 1])
    views = [mapped(f"v{at}", mapping, table) for at, mapping in enumerate(mappings)]
    problem = problem_of(evidence_of(table, views, histogram=False))
    found = support(problem, problem.start())
    assert np.array_equal(found, by_programmes(problem))
    assert np.any((by_limits(problem) > 1 / 2) & ~found)


def test_g2_of_the_support_is_exact():
    # A solver comes close, but leaves something in the first label of value 2, so its record counts as mixed.
    table = np.array([[1, 0], [1, 0], [0, 1], [1, 1]])
    views = [mapped("v", [0, 0, 1, 1], table), mapped("w", [0, 1, 1, 2], table)]
    problem = problem_of(evidence_of(table, views))
    close = table + np.array([[0, 0], [0, 0], [1e-9, -1e-9], [-1e-9, 1e-9]])
    assert g2(close) == pytest.approx(3 / 5)
    assert g2(np.where(support(problem, close), close, 0.0)) == pytest.approx(2 / 5)


def test_margins_that_are_not_exact_force_nothing():
    table = np.array([[1, 0], [1, 0], [0, 1], [1, 1]])
    problem = problem_of(evidence_of(table, [mapped("v", [0, 0, 1, 1], table)]))
    first, second = problem.margins
    noisy = replace(problem, margins=(first, replace(second, variance=np.ones_like(second.counts))))
    assert support(problem, problem.start()) is not None
    assert support(noisy, noisy.start()) is None


@for_each("scale", [1, 10**6, 10**12])
def test_the_size_of_the_counts_does_not_matter(scale):
    table = scale * np.array([[3, 0], [2, 0], [0, 7], [4, 1], [1, 1]])
    views = [mapped("v", [0, 0, 1, 1, 2], table), mapped("w", [0, 1, 1, 2, 2], table)]
    problem = problem_of(evidence_of(table, views))
    small = problem_of(evidence_of(table // scale, [mapped(v.id, v.mapping, table // scale) for v in views]))
    assert np.array_equal(support(problem, problem.start()), by_programmes(small))


def contradictory():
    """Three views that agree pairwise, although no table fits all: x = y, y = z, z != x."""
    same, other = np.array([[1], [0], [0], [1]]), np.array([[0], [1], [1], [0]])
    bits = np.array([[(value >> place) & 1 for place in range(3)] for value in range(8)])
    pairs = {"xy": (0, 1, same), "yz": (1, 2, same), "zx": (2, 0, other)}
    views = [
        Masking(name, 4, 2 * bits[:, a] + bits[:, b], np.hstack([joint, joint]) * 5, deterministic=True)
        for name, (a, b, joint) in pairs.items()
    ]
    return AttributeEvidence("a", 8, np.array([10, 10]), None, None, tuple(views))


def test_where_no_table_fits_nothing_is_known():
    problem = problem_of(contradictory())
    assert support(problem, problem.start()) is None


def test_no_records_no_support():
    problem = problem_of(evidence_of(np.zeros((3, 2)), [mapped("v", [0, 0, 1], np.zeros((3, 2)))]))
    assert not support(problem, problem.start()).any()


def test_an_answer_whose_proof_does_not_hold_is_not_given(monkeypatch):
    table = np.array([[1, 0], [1, 0], [0, 1], [1, 1]])
    views = [mapped("v", [0, 0, 1, 1], table), mapped("w", [0, 1, 1, 2], table)]
    problem = problem_of(evidence_of(table, views))
    equations = Equations.of(problem)
    zero = ~by_programmes(problem).ravel()[equations.cells]
    raised = module._raise(equations, np.ones(zero.size, dtype=bool))
    assert proves_zeros(equations, raised.dual, zero)
    assert not proves_zeros(equations, raised.dual + 1.0, zero)
    assert not proves_zeros(equations, raised.dual, ~zero)
    monkeypatch.setattr(module, "STEPS", 0)
    assert support(problem, np.zeros_like(problem.start())) is None


def crowded_evidence(seed, *, histogram=True, values=36, views=7):
    """Random groups that cross so often that the coefficients of proofs are long fractions."""
    rng = np.random.default_rng(seed)
    shape = np.exp(rng.normal(0, 2, (values, 3)))
    table = rng.multinomial(values * 8, (shape / shape.sum()).ravel()).reshape(shape.shape)
    drawn = [mapped(f"v{at}", rng.integers(0, 5, values), table) for at in range(views)]
    return evidence_of(table, drawn, histogram=histogram)


@pytest.mark.long
@BOTH_VARIANTS
def test_zeros_whose_proofs_are_no_small_fractions(histogram, monkeypatch):
    monkeypatch.setattr(module, "_common_multiple", lambda _: None)
    monkeypatch.setattr(module, "STEPS", 0)
    implied_somewhere = 0
    for seed in range(5):
        evidence = crowded_evidence(seed, histogram=histogram)
        problem = problem_of(evidence)
        expected = by_programmes(problem)
        found = reference._solve(problem, reference.SOLVER)
        assert np.array_equal(support(problem, found.table, found.empty), expected), seed
        implied_somewhere += bool(np.any(by_margins(problem) & ~expected))
    assert implied_somewhere >= 3


def test_a_combination_proves_no_more_than_its_error_leaves_room_for():
    table = np.array([[1, 0], [1, 0], [0, 1], [1, 1]])
    views = [mapped("v", [0, 0, 1, 1], table), mapped("w", [0, 1, 1, 2], table)]
    equations = Equations.of(problem_of(evidence_of(table, views)))
    zero = ~by_programmes(problem_of(evidence_of(table, views))).ravel()[equations.cells]
    dual = module._raise(equations, np.ones(zero.size, dtype=bool)).dual
    noise = np.random.default_rng(0).normal(size=dual.size)
    whole = {error: module._scaled(equations, dual + error * noise) for error in (0.0, 1e-9, 1e-3)}
    assert {error: module._leaves_nothing(equations, one, zero) for error, one in whole.items()} == {
        0.0: True,
        1e-9: True,
        1e-3: False,
    }


def test_small_fractions_are_recovered_exactly():
    rounded = np.array([1 / 3, -2 / 7, 0.25, 1e-12, 5.0]) + 1e-9
    assert module._common_multiple(rounded).tolist() == [28, -24, 21, 0, 420]
    assert module._common_multiple(np.array([1 / 64, 1 / 63, 1 / 61, 1 / 59])) is None


@for_each("seed", range(4))
def test_what_one_programme_for_all_cells_finds(seed):
    evidence = crowded_evidence(seed, values=120, views=24)
    problem = problem_of(evidence)
    equations = Equations.of(problem)
    found = support(problem, solved(problem)).ravel()[equations.cells]
    rows, cells = equations.matrix.shape
    raised = linprog(
        -np.repeat([0.0, 1.0, 0.0], [cells, cells, 1]),
        A_eq=hstack([equations.matrix, equations.matrix, -equations.target[:, np.newaxis]], format="csr"),
        b_eq=np.zeros(rows),
        bounds=[(0, None)] * cells + [(0, 1)] * cells + [(0, None)],
    )
    assert np.array_equal(found, raised.x[cells : 2 * cells] > 1 / 2)
    assert np.count_nonzero(~found) >= 20


def test_ten_thousand_cells_with_nothing_to_decide():
    rng = np.random.default_rng(1)
    table = rng.integers(50, 150, size=(1_000, 10))
    views = [mapped(f"v{at}", rng.integers(0, 20, 1_000), table) for at in range(3)]
    problem = problem_of(evidence_of(table, views))
    assert support(problem, problem.rows[:, None] * table.sum(0) / table.sum()).all()
