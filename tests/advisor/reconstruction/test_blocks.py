"""Views that mask the label as well: groups of values by classes of labels."""

import numpy as np
import pytest
from scipy.optimize import linprog, minimize
from scipy.special import rel_entr

from aegis_advisor.arrays import fold
from aegis_advisor.evidence import AttributeEvidence, Masking
from aegis_advisor.measures import mutual_information
from aegis_advisor.reconstruction import DualNewton, IterativeProportionalFitting, reconstruct
from aegis_advisor.reconstruction.problem import Problem
from tests.advisor.cases import evidence_of, full_table, mapped, overlapping, random_mapping, random_table
from tests.for_each import for_each

BOTH_VARIANTS = for_each("histogram", [True, False])


def block(name, mapping, classes, table):
    """The counts of a masking and a masked label, by the class (labels,) of each label."""
    mapping, classes = np.asarray(mapping), np.asarray(classes)
    shown = fold(np.asarray(table, dtype=np.int64), mapping, int(mapping.max()) + 1)
    joint = fold(np.ascontiguousarray(shown.T), classes, int(classes.max()) + 1).T
    return Masking(name, len(joint), mapping, np.ascontiguousarray(joint), True, label_mapping=classes)


def with_blocks(table, maskings, blocks, *, histogram=True):
    known = evidence_of(table, maskings, histogram=histogram)
    return AttributeEvidence(
        known.name, known.values, known.label_histogram, known.histogram, None, known.maskings, blocks=tuple(blocks)
    )


def random_case(seed, *, histogram, values=7, labels=4, records=400):
    """A true table with one view of all labels, and three that merge labels in other ways."""
    rng = np.random.default_rng(seed)
    table = random_table(rng, values, labels, records)
    views = overlapping(rng, table, views=1, groups=3)
    blocks = [
        block(f"b{at}", random_mapping(rng, values, 3), random_mapping(rng, labels, classes), table)
        for at, classes in enumerate((2, 3, 2))
    ]
    return table, with_blocks(table, views, blocks, histogram=histogram)


def sums_of(known):
    """The matrix and the targets of everything that is published, over the cells (values, labels)."""
    cells = np.eye(known.values * known.labels).reshape(-1, known.values, known.labels)
    sums, targets = [cells.sum(axis=1)], [known.label_histogram]
    if known.histogram is not None:
        sums, targets = [*sums, cells.sum(axis=2)], [*targets, known.histogram]
    for one in (*known.maskings, *known.blocks):
        classes = np.arange(known.labels) if one.label_mapping is None else one.label_mapping
        place = one.mapping[:, np.newaxis] * one.joint.shape[1] + classes
        sums.append((place.ravel()[:, np.newaxis] == np.arange(one.joint.size)).astype(float))
        targets.append(one.joint.ravel())
    return np.hstack(sums).T, np.concatenate(targets)


def by_general_optimiser(known, start):
    """The table closest to the prior among all that fit, by a general-purpose solver on the cells that can be held."""
    matrix, targets = sums_of(known)
    empty = matrix[targets == 0].any(axis=0)
    for cell in np.flatnonzero(~empty):
        cost = -(np.arange(empty.size) == cell).astype(float)
        empty[cell] = -linprog(cost, A_eq=matrix, b_eq=targets, method="highs").fun < 1e-7
    independent = np.linalg.svd(matrix[:, ~empty], full_matrices=False)[2]
    rows = independent[: np.linalg.matrix_rank(matrix[:, ~empty])]
    prior = np.ones(known.values) if known.histogram is None else known.histogram
    prior = np.repeat(prior / prior.sum() / known.labels, known.labels)[~empty]
    inside = start.ravel()[~empty] / known.records
    found = minimize(
        lambda cells: rel_entr(cells, prior).sum(),
        inside,
        jac=lambda cells: np.log(np.maximum(cells, 1e-300) / prior) + 1,
        method="SLSQP",
        bounds=[(1e-12, None)] * inside.size,
        constraints={"type": "eq", "fun": lambda cells: rows @ (cells - inside), "jac": lambda _: rows},
        options={"maxiter": 2000, "ftol": 1e-13},
    )
    assert found.success, found.message
    table = np.zeros(empty.size)
    table[~empty] = found.x * known.records
    return table.reshape(known.values, known.labels)


@BOTH_VARIANTS
@for_each("seed", range(5))
def test_the_reference_is_the_table_that_a_general_optimiser_finds(seed, histogram):
    table, known = random_case(seed, histogram=histogram, values=5, labels=3, records=2_000)
    reference = reconstruct(known)
    assert reference.certificate.converged
    np.testing.assert_allclose(full_table(known, reference), by_general_optimiser(known, table), atol=0.05)


@BOTH_VARIANTS
@for_each("seed", range(12))
def test_every_count_is_met_and_no_table_that_fits_knows_less(seed, histogram):
    table, known = random_case(seed, histogram=histogram)
    reference = reconstruct(known)
    matrix, targets = sums_of(known)
    full = full_table(known, reference)
    assert reference.certificate.converged
    assert np.abs(matrix @ full.ravel() - targets).max() <= 1.01e-9 * known.records
    assert reference.certificate.residual <= 1e-9
    if histogram:
        assert reference.information_bound <= mutual_information(table.astype(float)) + 1e-12
        assert reference.information_bound == pytest.approx(mutual_information(full), abs=1e-6)


@BOTH_VARIANTS
@for_each("seed", range(4))
def test_cells_are_empty_if_and_only_if_every_table_that_fits_has_them_empty(seed, histogram):
    _, known = random_case(seed, histogram=histogram, records=40)
    reference = reconstruct(known)
    matrix, targets = sums_of(known)
    full = full_table(known, reference)
    costs = -np.eye(full.size)
    most = [-linprog(cost, A_eq=matrix, b_eq=targets, method="highs").fun for cost in costs]
    assert reference.certificate.support_known
    np.testing.assert_array_equal(full.ravel() > 0, np.array(most) > 1e-7)


@BOTH_VARIANTS
def test_scaling_comes_to_the_same_table(histogram):
    for seed in range(4):
        _, known = random_case(seed, histogram=histogram, records=4_000)
        scaled = reconstruct(known, IterativeProportionalFitting(tolerance=1e-10, sweeps=20_000))
        np.testing.assert_allclose(reconstruct(known).joint, scaled.joint, atol=1e-4)


@BOTH_VARIANTS
def test_a_block_of_every_label_is_a_view(histogram):
    rng = np.random.default_rng(3)
    table = random_table(rng, 9, 4)
    views = overlapping(rng, table)
    blocks = [Masking(one.id, one.groups, one.mapping, one.joint, True, label_mapping=np.arange(4)) for one in views]
    expected = reconstruct(evidence_of(table, views, histogram=histogram))
    found = reconstruct(with_blocks(table, (), blocks, histogram=histogram))
    np.testing.assert_allclose(found.joint, expected.joint, atol=1e-5)


@BOTH_VARIANTS
def test_labels_that_no_view_tells_apart_are_spread_like_the_label(histogram):
    """Within nested views, the finer of merged labels, the closed form is that of independence within each block."""
    table = random_table(np.random.default_rng(5), 8, 4) + 1
    fine, coarse, classes = np.arange(8) // 2, np.arange(8) // 4, np.array([0, 0, 1, 1])
    views = [mapped("coarse", coarse, table)], [block("fine", fine, classes, table)]
    known = with_blocks(table, *views, histogram=histogram)
    merged = np.array([[table[fine == group][:, classes == one].sum() for one in (0, 1)] for group in range(4)])
    labels = fold(table, coarse, 2)
    shares = labels / np.array([[labels[row][classes == one].sum() for one in classes] for row in (0, 1)])
    found = reconstruct(known)
    assert found.certificate.method == "closed_form"
    assert found.certificate.support_known
    np.testing.assert_allclose(found.joint, merged[:, classes] * shares[[0, 0, 1, 1]])
    np.testing.assert_allclose(full_table(known, found), by_general_optimiser(known, table), atol=0.05)


@BOTH_VARIANTS
def test_bins_of_all_labels_and_other_bins_of_merged_ones_have_a_closed_form(histogram):
    """Together they give the counts of merged labels between any two cuts."""
    table = random_table(np.random.default_rng(6), 9, 5) + 1
    bins, others, classes = np.arange(9) // 3, np.arange(1, 10) // 4, np.array([0, 1, 0, 1, 1])
    known = with_blocks(table, [mapped("bins", bins, table)], [block("b", others, classes, table)], histogram=histogram)
    found = reconstruct(known)
    problem = Problem.of(known, found.atom_of_value, len(found.joint))
    scaled = IterativeProportionalFitting(tolerance=1e-11, sweeps=20_000).solve(problem).table
    assert found.certificate.method == "closed_form"
    assert found.certificate.residual <= 1e-12
    np.testing.assert_allclose(found.joint, scaled, atol=1e-4)
    np.testing.assert_allclose(full_table(known, found), by_general_optimiser(known, table), atol=0.05)


@BOTH_VARIANTS
def test_a_block_that_follows_from_others_changes_nothing(histogram):
    rng = np.random.default_rng(4)
    table = random_table(rng, 9, 4)
    fine = np.array([0, 0, 1, 1, 2, 2, 3, 3, 3])
    view = mapped("fine", fine, table)
    follows = block("coarse", fine // 2, [0, 0, 1, 1], table)
    expected = reconstruct(evidence_of(table, [view], histogram=histogram))
    found = reconstruct(with_blocks(table, [view], [follows], histogram=histogram))
    assert found.certificate.method == expected.certificate.method == "closed_form"
    np.testing.assert_array_equal(found.joint, expected.joint)


def test_blocks_that_admit_one_table_are_solved_exactly():
    """Two values, three labels; the blocks of each two labels give all cells."""
    table = np.array([[3, 5, 7], [2, 4, 11]])
    blocks = [block(f"b{at}", [0, 1], np.eye(3, dtype=int)[at], table) for at in range(3)]
    found = reconstruct(with_blocks(table, (), blocks))
    assert found.certificate.method == "closed_form"
    np.testing.assert_array_equal(found.joint, table)


def test_blocks_that_contradict_each_other_say_so():
    table = np.array([[20, 0, 20], [0, 20, 20]])
    other = np.array([[0, 20, 20], [20, 0, 20]])
    known = with_blocks(table, [], [block("one", [0, 1], [0, 1, 1], table), block("two", [0, 1], [0, 1, 1], other)])
    certificate = reconstruct(known, DualNewton(steps=20)).certificate
    assert not certificate.converged
    assert set(certificate.misfits) == {"one", "two"}
