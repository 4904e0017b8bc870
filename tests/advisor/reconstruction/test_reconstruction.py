import numpy as np
import pytest
from scipy.optimize import LinearConstraint, minimize

from aegis_advisor.evidence import AttributeEvidence, Masking
from aegis_advisor.measures import MEASURES
from aegis_advisor.reconstruction import IterativeProportionalFitting, reconstruct
from tests.advisor.cases import (
    evidence_of,
    full_table,
    mapped,
    overlapping,
    paper_evidence,
    permuted,
    random_mapping,
    random_table,
)
from tests.for_each import for_each

BOTH_VARIANTS = for_each("histogram", [True, False])


def margins_of(evidence):
    """Every linear constraint on the flattened full table: a matrix and its right-hand side."""
    cells = np.eye(evidence.values * evidence.labels).reshape(-1, evidence.values, evidence.labels)
    rows = [(cells.sum(1).T, evidence.label_histogram)]
    if evidence.histogram is not None:
        rows.append((cells.sum(2).T, evidence.histogram))
    for masking in evidence.maskings:
        groups = range(masking.groups)
        rows.extend((cells[:, masking.mapping == at].sum(1).T, masking.joint[at]) for at in groups)
    return np.vstack([matrix for matrix, _ in rows]), np.concatenate([target for _, target in rows])


def by_general_optimiser(evidence, start):
    """min sum F ln F over the full domain, by a general-purpose solver."""
    matrix, target = margins_of(evidence)
    left, sizes, right = np.linalg.svd(matrix, full_matrices=False)
    kept = sizes > 1e-9
    matrix, target = right[kept], (left.T @ target)[kept] / sizes[kept]
    found = minimize(
        lambda f: np.sum(f * np.log(np.maximum(f, 1e-300))),
        start.ravel(),
        jac=lambda f: np.log(np.maximum(f, 1e-300)) + 1,
        method="SLSQP",
        bounds=[(1e-9, None)] * start.size,
        constraints=LinearConstraint(matrix, target, target),
        options={"maxiter": 500, "ftol": 1e-13},
    )
    assert found.success
    return found.x.reshape(evidence.values, evidence.labels)


@BOTH_VARIANTS
@for_each("seed", range(6))
def test_it_is_the_table_that_a_general_optimiser_finds(seed, histogram):
    rng = np.random.default_rng(seed)
    table = rng.integers(1, 20, size=(6, 2))
    evidence = evidence_of(table, overlapping(rng, table, views=2, groups=3), histogram=histogram)
    reference = reconstruct(evidence, IterativeProportionalFitting(tolerance=1e-10, sweeps=20_000))
    assert reference.certificate.converged
    expected = by_general_optimiser(evidence, table.astype(float))
    np.testing.assert_allclose(full_table(evidence, reference), expected, atol=2e-3)


@BOTH_VARIANTS
@for_each("seed", range(10))
def test_the_certificate_is_the_residual_of_the_full_table(seed, histogram):
    rng = np.random.default_rng(seed)
    table = random_table(rng, values=12)
    evidence = evidence_of(table, overlapping(rng, table), histogram=histogram)
    reference = reconstruct(evidence, IterativeProportionalFitting(sweeps=40))
    matrix, target = margins_of(evidence)
    worst = np.abs(matrix @ full_table(evidence, reference).ravel() - target).max() / table.sum()
    assert reference.certificate.residual == pytest.approx(worst, abs=1e-12)
    assert reference.certificate.converged == (worst <= 1e-6)
    assert reference.joint.min() >= 0


@BOTH_VARIANTS
def test_nested_views_need_no_iteration_and_the_finest_decides(histogram):
    table = random_table(np.random.default_rng(1), values=16)
    levels = [np.arange(16) // 2, np.arange(16) // 4, np.arange(16) // 16]
    views = [mapped(f"level-{at}", level, table) for at, level in enumerate(levels)]
    evidence = evidence_of(table, views, histogram=histogram)
    reference = reconstruct(evidence)
    assert reference.certificate.method == "closed_form"
    assert reference.certificate.iterations == 0
    assert reference.certificate.residual == pytest.approx(0, abs=1e-14)
    np.testing.assert_allclose(reference.joint, table.reshape(8, 2, 3).sum(axis=1), atol=1e-9)


def test_views_that_nest_here_one_way_and_there_the_other_have_a_closed_form():
    table = random_table(np.random.default_rng(2), values=8)
    fine_left = mapped("left", [0, 1, 2, 3, 4, 4, 4, 4], table)
    fine_right = mapped("right", [0, 0, 0, 0, 1, 2, 3, 4], table)
    gone = mapped("gone", [0] * 8, table)
    reference = reconstruct(evidence_of(table, [gone, fine_left, fine_right, fine_left]))
    assert reference.certificate.method == "closed_form"
    np.testing.assert_allclose(reference.joint, table, atol=1e-9)


def test_the_papers_example_is_spread_by_the_histogram():
    reference = reconstruct(paper_evidence())
    full = full_table(paper_evidence(), reference)
    np.testing.assert_allclose(full[1], np.array([0, 0, 1, 7, 12]) * 12 / 20)
    np.testing.assert_allclose(full[7], np.array([15, 25, 29, 9, 2]) * 10 / 80)


@BOTH_VARIANTS
def test_independent_parts_are_those_of_the_parts_alone(histogram):
    rng = np.random.default_rng(3)
    left, right = random_table(rng, values=6), random_table(rng, values=7)
    table = np.vstack([left, right])
    lower = [random_mapping(rng, 6, 3) for _ in range(2)]
    upper = [random_mapping(rng, 7, 3) for _ in range(2)]
    solver = IterativeProportionalFitting(tolerance=1e-9)
    together = [mapped(f"v{at}", np.concatenate([lower[at], upper[at] + 3]), table) for at in range(2)]
    whole = evidence_of(table, together, histogram=histogram)
    alone = evidence_of(left, [mapped(f"v{at}", lower[at], left) for at in range(2)], histogram=histogram)
    full = full_table(whole, reconstruct(whole, solver))
    np.testing.assert_allclose(full[:6], full_table(alone, reconstruct(alone, solver)), atol=1e-3)


@BOTH_VARIANTS
@for_each("measure", MEASURES.values())
def test_atoms_change_no_measure(measure, histogram):
    rng = np.random.default_rng(4)
    table = random_table(rng, values=30, records=3000)
    views = [mapped("w5", np.arange(30) // 5, table), mapped("w7", np.arange(30) // 7, table)]
    evidence = evidence_of(table, views, histogram=histogram)
    # A mapping without counts that tells all values apart allows no atom with more than one value.
    split = evidence_of(table, [*views, mapped("each", np.arange(30), table, counted=False)], histogram=histogram)
    solver = IterativeProportionalFitting(tolerance=1e-10)
    collapsed, full = reconstruct(evidence, solver), reconstruct(split, solver)
    assert collapsed.joint.shape[0] < 30 == full.joint.shape[0]
    assert measure(collapsed.joint, collapsed.statistics) == pytest.approx(measure(full.joint), rel=1e-7)
    assert measure(full.joint, full.statistics) == pytest.approx(measure(full.joint), rel=1e-9)


@BOTH_VARIANTS
def test_the_order_of_values_does_not_matter(histogram):
    rng = np.random.default_rng(5)
    table = random_table(rng, values=15)
    evidence = evidence_of(table, overlapping(rng, table, views=2), histogram=histogram)
    order = rng.permutation(15)
    one, other = reconstruct(evidence), reconstruct(permuted(evidence, order))
    expected = full_table(evidence, one)[order]
    np.testing.assert_allclose(full_table(permuted(evidence, order), other), expected, rtol=1e-9)


@BOTH_VARIANTS
def test_twice_the_records_are_twice_the_counts(histogram):
    rng = np.random.default_rng(6)
    table = random_table(rng, values=15)
    masks = overlapping(rng, table, views=2)
    doubled = [mapped(one.id, one.mapping, 2 * table) for one in masks]
    single = reconstruct(evidence_of(table, masks, histogram=histogram))
    double = reconstruct(evidence_of(2 * table, doubled, histogram=histogram))
    np.testing.assert_allclose(double.joint, 2 * single.joint, rtol=1e-12)
    assert double.certificate.iterations == single.certificate.iterations


def test_variant_ii_weighs_an_atom_by_its_values():
    table = np.array([[30, 10]])
    view = Masking("w", 1, np.zeros(4, dtype=np.int64), table, deterministic=True)
    cut = Masking("cut", 2, np.array([0, 1, 1, 1]), None, deterministic=True)
    evidence = AttributeEvidence("a", 4, table[0], None, None, (view, cut))
    np.testing.assert_allclose(reconstruct(evidence).joint, [[7.5, 2.5], [22.5, 7.5]])


def test_the_unmasked_counts_are_the_reference():
    rng = np.random.default_rng(7)
    table = random_table(rng)
    reference = reconstruct(evidence_of(table, overlapping(rng, table), joint=True))
    np.testing.assert_array_equal(reference.joint, table)
    assert reference.certificate.method == "given"
    assert (reference.certificate.residual, reference.certificate.converged) == (0.0, True)


@BOTH_VARIANTS
def test_without_counts_the_reference_is_independence(histogram):
    table = random_table(np.random.default_rng(8))
    reference = reconstruct(evidence_of(table, [], histogram=histogram))
    assert reference.joint.shape == (1, 3)
    assert reference.certificate.converged
    assert MEASURES["mutual_information"](reference.joint) == 0


def test_folding_an_uncounted_mapping_adds_up_its_values():
    rng = np.random.default_rng(9)
    table = random_table(rng, values=10)
    cut = mapped("cut", random_mapping(rng, 10, 3), table, counted=False)
    evidence = evidence_of(table, [*overlapping(rng, table, views=2), cut])
    reference = reconstruct(evidence)
    full = full_table(evidence, reference)
    expected = np.stack([full[cut.mapping == group].sum(0) for group in range(3)])
    np.testing.assert_allclose(reference.fold(cut.mapping, 3), expected, atol=1e-9)


def test_the_sweep_limit_is_kept_and_said():
    rng = np.random.default_rng(11)
    table = random_table(rng, values=40, records=5000)
    evidence = evidence_of(table, overlapping(rng, table, views=4, groups=6))
    reference = reconstruct(evidence, IterativeProportionalFitting(sweeps=2))
    assert reference.certificate.iterations == 2
    assert reference.certificate.method == "ipf"
    assert not reference.certificate.converged


def test_it_is_the_same_twice_to_the_bit():
    rng = np.random.default_rng(12)
    table = random_table(rng, values=40, records=5000)
    evidence = evidence_of(table, overlapping(rng, table))
    np.testing.assert_array_equal(reconstruct(evidence).joint, reconstruct(evidence).joint)


def test_many_small_parts_are_solved_each_by_itself():
    rng = np.random.default_rng(13)
    table = np.vstack([random_table(rng, values=4, records=60) for _ in range(50)])
    block = 3 * np.repeat(np.arange(50), 4)
    pairs = [np.tile([0, 0, 1, 2], 50), np.tile([0, 1, 1, 2], 50)]
    evidence = evidence_of(table, [mapped(f"v{at}", block + pair, table) for at, pair in enumerate(pairs)])
    full = full_table(evidence, reconstruct(evidence, IterativeProportionalFitting(tolerance=1e-9)))
    for at in range(50):
        part = table[4 * at : 4 * at + 4]
        alone = evidence_of(part, [mapped(f"v{n}", pair[:4], part) for n, pair in enumerate(pairs)])
        found = full_table(alone, reconstruct(alone, IterativeProportionalFitting(tolerance=1e-9)))
        np.testing.assert_allclose(full[4 * at : 4 * at + 4], found, atol=1e-2)
