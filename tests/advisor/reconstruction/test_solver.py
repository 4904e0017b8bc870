"""The solver on problems without a closed form: against other methods, on the boundary, and at its limits."""

from itertools import count

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from aegis_advisor.arrays import fold
from aegis_advisor.atoms import common_refinement
from aegis_advisor.reconstruction import DualNewton, IterativeProportionalFitting, reconstruct
from aegis_advisor.reconstruction.exact import unique_table
from aegis_advisor.reconstruction.problem import Margin, Problem, design_of
from tests.advisor.cases import evidence_of, full_table, mapped, overlapping, permuted
from tests.for_each import for_each, for_some

BOTH_VARIANTS = for_each("histogram", [True, False])
NEWTON_ALONE = DualNewton(sweeps=1)


def crossing(side, labels, mean, seed):
    """A table over the cells of a square, with views that many tables fit: rows, columns, diagonals, blocks."""
    row, column = np.divmod(np.arange(side * side), side)
    table = np.random.default_rng(seed).poisson(mean, (side * side, labels))
    table[0, 0] += 1
    blocks = row // 2 * side + column // 2
    maps = [row, column, (row + column) // 3, np.unique(blocks, return_inverse=True)[1]]
    return table, [mapped(f"v{at}", one, table) for at, one in enumerate(maps)]


def fitted_by_sweeps(evidence, sweeps):
    """Plain iterative proportional fitting on the full domain in extended precision."""
    table = np.ones((evidence.values, evidence.labels), dtype=np.longdouble)
    margins = [(one.mapping, one.joint.astype(np.longdouble)) for one in evidence.maskings]
    margins.append((np.zeros(evidence.values, dtype=int), evidence.label_histogram[None].astype(np.longdouble)))
    for _ in range(sweeps):
        for mapping, target in margins:
            held = np.zeros_like(target)
            np.add.at(held, mapping, table)
            table *= np.divide(target, held, out=np.zeros_like(held), where=held > 0)[mapping]
        if evidence.histogram is not None:
            rows = table.sum(axis=1)
            table *= np.divide(evidence.histogram, rows, out=np.zeros_like(rows), where=rows > 0)[:, None]
    return table.astype(np.float64)


@BOTH_VARIANTS
@for_some(2, "seed", range(5))
def test_it_is_where_endless_sweeps_lead(seed, histogram):
    rng = np.random.default_rng(seed)
    table = rng.integers(1, 30, size=(12, 3))
    evidence = evidence_of(table, overlapping(rng, table, views=2, groups=4), histogram=histogram)
    reference = reconstruct(evidence, NEWTON_ALONE)
    assert reference.certificate.residual <= 1e-9
    expected = fitted_by_sweeps(evidence, 3_000)
    np.testing.assert_allclose(full_table(evidence, reference), expected, atol=1e-6 * table.sum())


@BOTH_VARIANTS
@for_each("mean", [0.05, 0.3, 3.0, 1000.0])
@for_each("side", [6, 14])
def test_it_meets_every_margin_to_a_billionth_on_the_boundary_too(side, mean, histogram):
    table, views = crossing(side, 4, mean, seed=side)
    reference = reconstruct(evidence_of(table, views, histogram=histogram))
    assert reference.certificate.converged
    assert reference.certificate.residual <= 1e-9
    assert reference.joint.min() >= 0


@BOTH_VARIANTS
@for_some(1, "mean", [0.1, 0.4])
def test_cells_that_must_be_empty_are_taken_out_where_steps_alone_come_no_nearer(mean, histogram):
    table, views = crossing(50, 4, mean, seed=8)
    reference = reconstruct(evidence_of(table, views, histogram=histogram))
    truth = np.zeros_like(reference.joint)
    np.add.at(truth, reference.atom_of_value, table)
    assert reference.certificate.converged
    assert reference.certificate.residual <= 1e-9
    assert np.all(reference.joint[truth > 0] > 0)


@for_each("limits", [(0, 3_000), (0, 300), (10_000, 10_000)])
def test_the_ways_to_a_direction_lead_to_one_table(limits, monkeypatch):
    table, views = crossing(10, 5, 2.0, seed=3)
    evidence = evidence_of(table, views)
    expected = reconstruct(evidence).joint
    small, dense = limits
    monkeypatch.setattr("aegis_advisor.reconstruction.newton.SMALL", small)
    monkeypatch.setattr("aegis_advisor.reconstruction.newton.DENSE", dense)
    reference = reconstruct(evidence)
    assert reference.certificate.converged
    np.testing.assert_allclose(reference.joint, expected, atol=1e-6 * table.sum())


def test_the_rows_bring_the_bound_that_the_divergence_is_at_least():
    table, views = crossing(8, 3, 5.0, seed=4)
    found = reconstruct(evidence_of(table, views))
    sooner = reconstruct(evidence_of(table, views), IterativeProportionalFitting(sweeps=3))
    assert sooner.information_bound <= found.information_bound


@given(st.integers(0, 2**32), st.integers(2, 9), st.integers(1, 4), st.integers(2, 4), st.booleans())
def test_degenerate_tables_end_converged_and_finite(seed, values, labels, views, histogram):
    rng = np.random.default_rng(seed)
    table = rng.poisson(rng.choice([0.05, 0.5, 50.0]), (values, labels))
    if seed % 3 == 0:
        table = table * ((2**53 - 1) // max(int(table.sum()), 1))
    evidence = evidence_of(table, overlapping(rng, table, views=views, groups=3), histogram=histogram)
    reference = reconstruct(evidence)
    assert np.isfinite(reference.joint).all()
    assert reference.joint.min() >= 0
    assert reference.certificate.converged


def test_what_only_one_table_fits_is_found_to_the_last_record():
    rng = np.random.default_rng(6)
    table = rng.poisson(0.4, (40, 6))
    order = rng.permutation(40)
    cuts = [np.sort(rng.choice(np.arange(1, 40), 12, replace=False)) for _ in range(6)]
    views = [mapped(f"v{at}", np.searchsorted(cut, order, "right"), table) for at, cut in enumerate(cuts)]
    evidence = evidence_of(table, views)
    reference = reconstruct(evidence)
    atoms = np.zeros_like(reference.joint)
    np.add.at(atoms, reference.atom_of_value, table)
    np.testing.assert_array_equal(reference.joint, atoms)
    assert reference.certificate.method == "closed_form"


def test_equations_with_one_solution_that_is_no_table_have_none():
    # Three overlapping pairs of three atoms: 1 + 2, 2 + 3, 1 + 3 determine each, and one would be negative.
    pairs = [([0, 0, 1], [[3.0], [7.0]]), ([1, 0, 0], [[1.0], [9.0]]), ([0, 1, 0], [[10.0], [0.0]])]
    margins = tuple(Margin(np.arange(3), np.array(groups), np.array(counts)) for groups, counts in pairs)
    assert unique_table(Problem(np.ones(3), None, margins, 1, 10.0)) is None


def test_when_time_is_up_it_says_how_far_it_came():
    table, views = crossing(10, 4, 0.5, seed=5)
    calls = count()
    hasty = DualNewton(expired=lambda: next(calls) >= 25)
    reference = reconstruct(evidence_of(table, views), hasty)
    assert not reference.certificate.converged
    assert reference.certificate.residual > 1e-9
    assert 0 < reference.certificate.iterations <= 26
    assert np.isfinite(reference.joint).all()


def test_equations_that_are_singular_but_for_rounding_have_no_unique_table():
    counts = [[446, 891], [819, 294], [94, 101], [738, 482], [583, 731], [611, 324], [980, 899], [843, 214]]
    maps = [[0, 0, 0, 1, 0, 0, 0, 0], [0, 1, 0, 2, 2, 0, 1, 0], [1, 2, 0, 0, 2, 1, 0, 2]]
    table = np.array(counts)
    evidence = evidence_of(table, [mapped(f"v{at}", one, table) for at, one in enumerate(maps)], histogram=False)
    expected = full_table(evidence, reconstruct(evidence, NEWTON_ALONE))
    rng = np.random.default_rng(0)
    for _ in range(20):
        order = rng.permutation(8)
        moved = permuted(evidence, order)
        reference = reconstruct(moved)
        assert reference.certificate.method == "newton"
        np.testing.assert_allclose(full_table(moved, reference), expected[order], atol=1e-5 * table.sum())


@given(st.integers(0, 2**32), st.integers(3, 9), st.integers(2, 4), st.booleans())
def test_an_unique_table_is_one_whose_equations_have_full_rank(seed, values, views, histogram):
    rng = np.random.default_rng(seed)
    table = rng.poisson(rng.choice([1.0, 300.0]), (values, 2))
    evidence = evidence_of(table, overlapping(rng, table, views=views, groups=3), histogram=histogram)
    atom_of_value = common_refinement(evidence.partitions, values)
    problem = Problem.of(evidence, atom_of_value, int(atom_of_value.max()) + 1)
    found = unique_table(problem)
    if found is not None:
        design = design_of(problem).toarray()
        assert np.linalg.matrix_rank(design) == design.shape[0]
        np.testing.assert_array_equal(found, fold(table, atom_of_value, design.shape[0]))
