"""Views whose counts are declared inexact: how they are fitted, and what depends on them."""

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, minimize
from scipy.special import rel_entr
from scipy.stats import spearmanr

from aegis_advisor.errors import OwnReferenceError
from aegis_advisor.evidence import AttributeEvidence, Masking, Perturbation
from aegis_advisor.measures import MEASURES
from aegis_advisor.ranking import assess
from aegis_advisor.ranking.own_reference import assess_own
from aegis_advisor.ranking.recommendation import lacks_evidence, ranking_basis
from aegis_advisor.reconstruction import DualNewton, reconstruct
from aegis_advisor.reconstruction.exact import nearest_with_label
from tests.advisor.cases import counted, evidence_of, full_table, mapped, random_mapping, random_table
from tests.advisor.inexact import lacking, laplace, noisy, rounded
from tests.for_each import for_each

INFORMATION = MEASURES["mutual_information"]
BOTH_VARIANTS = for_each("histogram", [True, False])


def unknown(masking):
    """The same masking with only its counts known."""
    return Masking(masking.id, masking.groups, None, masking.joint, True, masking.perturbation)


def objective(evidence, table, prior_weight):
    """The objective of the fit on the full domain (values, labels), by its definition."""
    prior = np.ones(evidence.values) if evidence.histogram is None else evidence.histogram
    prior = np.repeat(prior[:, np.newaxis], evidence.labels, axis=1) * evidence.records / prior.sum() / evidence.labels
    found = prior_weight * rel_entr(table, prior).sum()
    for masking in evidence.maskings:
        counts, variance = masking.perturbation.restored(masking.joint, evidence.label_histogram)
        margin = np.stack([table[masking.mapping == at].sum(axis=0) for at in range(masking.groups)])
        found += ((margin - counts) ** 2 / variance).sum() / 2
    return found


def by_general_optimiser(evidence, start, prior_weight):
    """The least objective of any table with the histograms, by a general-purpose solver."""
    cells = np.eye(start.size).reshape(-1, *start.shape)
    sums = [cells.sum(1).T] if evidence.histogram is None else [cells.sum(1).T, cells.sum(2).T[:-1]]
    targets = [evidence.label_histogram] if evidence.histogram is None else [start.sum(0), start.sum(1)[:-1]]
    found = minimize(
        lambda flat: objective(evidence, flat.reshape(start.shape), prior_weight),
        start.ravel(),
        method="SLSQP",
        bounds=[(1e-9, None)] * start.size,
        constraints=LinearConstraint(np.vstack(sums), np.concatenate(targets), np.concatenate(targets)),
        options={"maxiter": 1000, "ftol": 1e-12},
    )
    assert found.success
    return found.x.reshape(start.shape), found.fun


@BOTH_VARIANTS
@for_each("seed", range(4))
def test_the_fit_is_the_one_that_a_general_optimiser_finds(seed, histogram):
    rng = np.random.default_rng(seed)
    table = rng.integers(5, 40, size=(6, 2))
    views = [
        noisy(rng, "noisy", random_mapping(rng, 6, 3), table, 3.0),
        rounded("rounded", random_mapping(rng, 6, 3), table, 10),
        lacking(rng, "lacking", random_mapping(rng, 6, 2), table, 12),
    ]
    evidence = evidence_of(table, views, histogram=histogram)
    reference = reconstruct(evidence, DualNewton(prior_weight=0.3 * np.sqrt(table.sum())))
    found = full_table(evidence, reference)
    expected, least = by_general_optimiser(evidence, table.astype(float), 0.3)
    assert reference.certificate.converged
    assert objective(evidence, found, 0.3) == pytest.approx(least, abs=1e-5)
    np.testing.assert_allclose(found, expected, atol=0.05)


@BOTH_VARIANTS
def test_exact_views_are_met_however_noisy_the_others_are(histogram):
    rng = np.random.default_rng(1)
    table = random_table(rng, values=20, records=3000)
    views = [mapped("exact", np.arange(20) // 4, table), noisy(rng, "noisy", np.arange(20) // 3, table, 20.0)]
    evidence = evidence_of(table, views, histogram=histogram)
    reference = reconstruct(evidence)
    assert reference.certificate.converged
    np.testing.assert_allclose(reference.fold(views[0].mapping, 5), views[0].joint, atol=1e-4)
    assert list(reference.certificate.misfits) == ["noisy"]


@BOTH_VARIANTS
def test_noise_of_next_to_no_scale_is_none(histogram):
    rng = np.random.default_rng(2)
    table = random_table(rng, values=12)
    maps = [random_mapping(rng, 12, 4) for _ in range(2)]
    exact = [mapped(f"v{at}", one, table) for at, one in enumerate(maps)]
    silent = [noisy(rng, f"v{at}", one, table, 1e-3) for at, one in enumerate(maps)]
    expected = reconstruct(evidence_of(table, exact, histogram=histogram))
    found = reconstruct(evidence_of(table, silent, histogram=histogram))
    np.testing.assert_array_equal(found.joint, expected.joint)


@BOTH_VARIANTS
@for_each("scale", [1e-3, 0.05, 2.0, 1e6])
@for_each(("values", "labels"), [(1, 3), (15, 1), (15, 3)])
def test_everything_noisy_still_has_a_fit(values, labels, scale, histogram):
    rng = np.random.default_rng(3)
    table = random_table(rng, values=values, labels=labels, records=50)
    views = [noisy(rng, f"v{at}", random_mapping(rng, values, 4), table, scale) for at in range(3)]
    evidence = evidence_of(
        table, [*views, unknown(noisy(rng, "id", views[0].mapping, table, scale))], histogram=histogram
    )
    reference = reconstruct(evidence)
    assert reference.certificate.converged
    np.testing.assert_array_equal(reference.joint, reconstruct(evidence).joint)
    for measure in MEASURES.values():
        found = assess(evidence, reference, measure, ["v0", "id", "identity", "drop"])
        assert np.isfinite([found.reference_utility, *(one.utility for one in found.maskings.values())]).all()
        assert {found.maskings[name].source for name in ("v0", "id")} == {"fitted"}
    if scale > 1e5:  # then nothing is known about what the attribute tells
        assert INFORMATION(reference.joint) < 1e-3


@BOTH_VARIANTS
def test_a_base_above_every_count_leaves_independence_and_what_else_is_known(histogram):
    table = random_table(np.random.default_rng(4), values=12, records=400)
    evidence = evidence_of(table, [rounded("gone", np.arange(12) // 3, table, 10_000)], histogram=histogram)
    reference = reconstruct(evidence)
    assert reference.certificate.converged
    np.testing.assert_allclose(reference.joint.sum(axis=0), table.sum(axis=0), atol=1e-4)
    assert INFORMATION(reference.joint) < 1e-3


def test_a_class_whose_noisy_counts_are_all_negative_keeps_its_records():
    table = np.array([[50, 1], [40, 2], [60, 0]])
    joint = table + np.array([[3, -4], [-5, -9], [1, -2]])
    masking = Masking("m", 3, np.arange(3), joint, True, Perturbation(noise_scale=3.0))
    for one in (masking, unknown(masking)):
        evidence = evidence_of(table, [one])
        reference = reconstruct(evidence)
        (score,) = assess(evidence, reference, INFORMATION, ["m"]).maskings.values()
        assert np.isfinite(score.utility)
        assert reference.joint.min() >= 0
    np.testing.assert_allclose(nearest_with_label(masking, evidence).sum(axis=0), [150, 3])


@for_each("seed", range(8))
def test_a_view_by_itself_is_projected_on_tables_with_the_histogram_of_the_label(seed):
    rng = np.random.default_rng(seed)
    table = random_table(rng, values=6, labels=2, records=60)
    declared = Perturbation(noise_scale=5.0, records=50 if seed % 2 else None)
    kept = lacking(rng, "x", np.arange(6), table, 10).joint if seed % 2 else table
    masking = Masking("m", 6, None, kept + laplace(rng, 5.0, kept.shape), True, declared)
    evidence = evidence_of(table, [masking])
    counts, variance = declared.restored(masking.joint, evidence.label_histogram)
    expected = minimize(
        lambda flat: ((flat.reshape(6, 2) - counts) ** 2 / variance).sum(),
        table.ravel(),
        method="SLSQP",
        bounds=[(0, None)] * 12,
        constraints=LinearConstraint(np.tile(np.eye(2), 6), table.sum(axis=0), table.sum(axis=0)),
        options={"ftol": 1e-13, "maxiter": 500},
    )
    np.testing.assert_allclose(nearest_with_label(masking, evidence), expected.x.reshape(6, 2), atol=1e-3)


def test_the_misfit_of_a_view_is_about_one_if_it_says_the_truth_and_large_if_not():
    rng = np.random.default_rng(6)
    table = random_table(rng, values=60, labels=4, records=20_000)
    true = [noisy(rng, f"v{width}", np.arange(60) // width, table, 4.0) for width in (2, 3, 5)]
    understated = [Masking(v.id, v.groups, v.mapping, v.joint, True, Perturbation(noise_scale=0.5)) for v in true]
    for views, expected in ((true, (0.3, 1.2)), (understated, (3, 12))):
        certificate = reconstruct(evidence_of(table, views)).certificate
        assert list(certificate.misfits) == ["v2", "v3", "v5"]
        for misfit in certificate.misfits.values():
            assert expected[0] < misfit.standardised < expected[1]
            assert 0 < misfit.largest < 0.01


def test_the_misfit_is_the_difference_from_the_fit():
    rng = np.random.default_rng(7)
    table = random_table(rng, values=12)
    view = noisy(rng, "v", np.arange(12) // 3, table, 6.0)
    evidence = evidence_of(table, [view, unknown(noisy(rng, "id", view.mapping, table, 6.0))])
    reference = reconstruct(evidence)
    misfits = reference.certificate.misfits
    gap = np.abs(reference.fold(view.mapping, 4) - view.joint)
    assert misfits["v"].largest == pytest.approx(gap.max() / 400)
    assert misfits["v"].standardised == pytest.approx(np.sqrt(np.mean(gap**2 / view.perturbation.count_variance)))
    alone = np.abs(nearest_with_label(evidence.maskings[1], evidence) - evidence.maskings[1].joint)
    assert misfits["id"].largest == pytest.approx(alone.max() / 400)


def test_exact_views_that_contradict_each_other_in_threes_say_where():
    maps = [[0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0]]
    tables = [[[2, 0], [0, 2]], [[2, 0], [0, 2]], [[0, 2], [2, 0]]]
    views = [Masking(f"v{at}", 2, np.array(maps[at]), np.array(tables[at]), True) for at in range(3)]
    evidence = AttributeEvidence("a", 4, np.array([2, 2]), np.ones(4, dtype=int), None, tuple(views))
    certificate = reconstruct(evidence).certificate
    assert not certificate.converged
    assert max(misfit.largest for misfit in certificate.misfits.values()) == pytest.approx(certificate.residual)
    assert {misfit.standardised for misfit in certificate.misfits.values()} == {None}


def test_unmasked_counts_tell_how_far_off_a_noisy_view_is():
    table = random_table(np.random.default_rng(8), values=9)
    view = rounded("v", np.arange(9) // 3, table, 7)
    certificate = reconstruct(evidence_of(table, [view], joint=True)).certificate
    exact = mapped("v", view.mapping, table).joint
    assert certificate.converged
    assert certificate.misfits["v"].largest == pytest.approx(np.abs(view.joint - exact).max() / 400)


def test_what_is_inexact_never_raises_the_reference_utility():
    rng = np.random.default_rng(9)
    table = rng.integers(20, 30, size=(12, 3))
    forged = Masking("forged", 3, None, np.diag(table.sum(axis=0)), True, Perturbation(noise_scale=300.0))
    evidence = evidence_of(table, [forged, mapped("exact", np.arange(12) // 4, table)])
    found = assess(evidence, reconstruct(evidence), INFORMATION, ["forged", "exact", "drop"])
    assert found.maskings["forged"].utility > 10 * found.reference_utility > 0
    assert found.bound_value == pytest.approx(found.maskings["exact"].utility)


@BOTH_VARIANTS
def test_a_fit_bounds_nothing(histogram):
    rng = np.random.default_rng(10)
    table = random_table(rng, values=12)
    evidence = evidence_of(table, [noisy(rng, "v", np.arange(12) // 2, table, 9.0)], histogram=histogram)
    found = assess(evidence, reconstruct(evidence), INFORMATION, ["v", "drop"])
    assert (found.bound, found.bound_value) == (None, None)


def test_a_ranking_that_hangs_on_a_fit_is_an_estimate_unless_other_counts_determine_it():
    rng = np.random.default_rng(11)
    table = random_table(rng, values=12)
    coarse = noisy(rng, "coarse", np.arange(12) // 4, table, 2.0)
    fine = mapped("fine", np.arange(12) // 2, table)

    def basis(*maskings, joint=False):
        evidence = evidence_of(table, maskings, joint=joint)
        return ranking_basis([evidence], INFORMATION, [[coarse.id, "drop"]])

    assert basis(coarse) == "estimated"
    assert basis(coarse, fine) == "exact"
    assert basis(coarse, joint=True) == "exact"
    assert basis(unknown(coarse), fine) == "estimated"
    assert basis(unknown(coarse), joint=True) == "estimated"


def test_an_inexact_table_that_other_counts_determine_is_what_they_say():
    rng = np.random.default_rng(12)
    table = random_table(rng, values=12)
    coarse = noisy(rng, "coarse", np.arange(12) // 4, table, 50.0)
    evidence = evidence_of(table, [coarse, mapped("fine", np.arange(12) // 2, table)])
    score = assess(evidence, reconstruct(evidence), INFORMATION, ["coarse"]).maskings["coarse"]
    assert score.source == "counts"
    assert score.utility == pytest.approx(INFORMATION(mapped("x", coarse.mapping, table).joint.astype(float)))


def test_noisy_counts_are_evidence_if_it_is_known_of_which_values():
    rng = np.random.default_rng(13)
    table = random_table(rng, values=12)
    view = noisy(rng, "v", np.arange(12) // 4, table, 2.0)
    assert not lacks_evidence(evidence_of(table, [view]).flags)
    assert lacks_evidence(evidence_of(table, [unknown(view)]).flags)
    assert lacks_evidence(evidence_of(table, [counted("v", view.joint, deterministic=False)]).flags)


def test_the_own_reference_needs_exact_counts():
    rng = np.random.default_rng(14)
    table = random_table(rng, values=12)
    evidence = evidence_of(table, [noisy(rng, "v", np.arange(12) // 4, table, 2.0)])
    with pytest.raises(OwnReferenceError, match="exact counts"):
        assess_own(evidence, reconstruct(evidence), INFORMATION, ["v"], None)


def test_a_fit_to_noisy_views_ranks_better_than_their_clipped_counts():
    rng = np.random.default_rng(15)
    correlations, errors = [], []
    for _ in range(6):
        table = random_table(rng, values=40, labels=4, records=10_000)
        maps = [random_mapping(rng, 40, groups) for groups in (3, 4, 5, 6, 8, 10, 12, 14, 16, 20)]
        views = [noisy(rng, f"v{at}", one, table, 20.0) for at, one in enumerate(maps)]
        evidence = evidence_of(table, views)
        true = [INFORMATION(mapped(v.id, v.mapping, table).joint.astype(float)) for v in views]
        scores = assess(evidence, reconstruct(evidence), INFORMATION, [v.id for v in views]).maskings
        fitted = [scores[v.id].utility for v in views]
        clipped = [INFORMATION(np.maximum(v.joint, 0).astype(float)) for v in views]
        correlations.append([spearmanr(true, found).statistic for found in (fitted, clipped)])
        errors.append([np.abs(np.subtract(true, found)).mean() for found in (fitted, clipped)])
    fit, naive = np.mean(errors, axis=0)
    assert fit < naive / 2
    fit, naive = np.mean(correlations, axis=0)
    assert fit > 0.97
    assert fit > naive, (correlations, errors)
