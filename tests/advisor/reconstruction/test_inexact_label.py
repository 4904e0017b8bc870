"""A label histogram declared inexact: what it allows, how it is fitted, and what depends on it."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import rel_entr

from aegis_advisor.evidence import Masking, Perturbation
from aegis_advisor.evidence.checks import find_faults, find_label_faults
from aegis_advisor.measures import MEASURES
from aegis_advisor.ranking import Question, assess, recommend
from aegis_advisor.ranking.recommendation import ranking_basis
from aegis_advisor.reconstruction import DualNewton, reconstruct
from aegis_advisor.reconstruction.exact import nearest_with_label
from tests.advisor.cases import evidence_of, full_table, mapped, random_mapping, random_table
from tests.advisor.inexact import drawn, laplace, noisy, randomised_response
from tests.for_each import for_each

INFORMATION = MEASURES["mutual_information"]


def with_label(evidence, histogram, **declared):
    """The same evidence with another label histogram and its declaration."""
    published = np.maximum(np.asarray(histogram), 0)
    return replace(evidence, label_histogram=published, label_perturbation=Perturbation(**declared))


def noisy_label(rng, evidence, scale):
    """The same evidence with noise on the label's histogram."""
    histogram = evidence.label_histogram
    return with_label(evidence, histogram + laplace(rng, scale, histogram.shape), noise_scale=scale)


def at_random(rng, counts, base):
    """Counts rounded up or down at random, so that their expectations are the original counts."""
    return (counts + rng.integers(0, base, counts.shape)) // base * base


def rounded_at_random(rng, name, mapping, table, base):
    exact = mapped(name, mapping, table)
    joint = at_random(rng, exact.joint, base)
    return Masking(name, exact.groups, exact.mapping, joint, True, Perturbation(rounded_to=base))


def unknown(masking):
    """The same masking with only its counts known."""
    return Masking(masking.id, masking.groups, None, masking.joint, True, masking.perturbation)


def fitted_by_definition(evidence, table, prior_weight):
    """The objective of the fit if nothing is exact (variant II), by its definition."""
    prior = np.full(table.shape, evidence.label_histogram.sum() / table.size)
    found = prior_weight * (rel_entr(table, prior) - table + prior).sum()
    sums = table.sum(axis=0) - evidence.label_histogram
    found += (sums**2).sum() / evidence.label_perturbation.count_variance / 2
    for masking in evidence.maskings:
        margin = np.stack([table[masking.mapping == at].sum(axis=0) for at in range(masking.groups)])
        found += ((margin - masking.joint) ** 2).sum() / masking.perturbation.count_variance / 2
    return found


@given(seed=st.integers(0, 10**6), labels=st.integers(1, 12), scale=st.sampled_from([1e-3, 0.5, 3.0, 40.0, 1e5]))
def test_honest_noise_on_every_table_is_accepted(seed, labels, scale):
    rng = np.random.default_rng(seed)
    table = random_table(rng, values=8, labels=labels)
    views = [
        noisy(rng, "fine", random_mapping(rng, 8, 5), table, scale),
        noisy(rng, "suppressed", np.zeros(8, dtype=int), table, scale),
        unknown(noisy(rng, "unknown", random_mapping(rng, 8, 3), table, scale)),
    ]
    chance = drawn(rng, "drawn", randomised_response(8, 0.7), table)
    joint = chance.joint + laplace(rng, scale, chance.joint.shape)
    views.append(replace(chance, joint=joint, perturbation=Perturbation(noise_scale=scale)))
    assert find_faults(noisy_label(rng, evidence_of(table, views, histogram=False), scale)) == ()


@given(seed=st.integers(0, 10**6), base=st.integers(2, 50), labels=st.integers(1, 12))
def test_honest_rounding_of_every_table_is_accepted(seed, base, labels):
    rng = np.random.default_rng(seed)
    table = random_table(rng, values=8, labels=labels)
    kept = rng.multivariate_hypergeometric(table.ravel(), int(table.sum()) - 9).reshape(table.shape)
    lacking = rounded_at_random(rng, "lacking", random_mapping(rng, 8, 3), kept, base)
    views = [
        rounded_at_random(rng, "fine", random_mapping(rng, 8, 5), table, base),
        rounded_at_random(rng, "suppressed", np.zeros(8, dtype=int), table, base),
        replace(lacking, perturbation=replace(lacking.perturbation, records=int(kept.sum()))),
    ]
    evidence = evidence_of(table, views, histogram=False)
    assert find_faults(with_label(evidence, at_random(rng, evidence.label_histogram, base), rounded_to=base)) == ()


@for_each("joint", [True, False])
@for_each("seed", range(5))
def test_exact_counts_beside_a_noisy_label_say_what_the_label_is(seed, joint):
    rng = np.random.default_rng(seed)
    table = random_table(rng, values=12)
    views = [
        mapped("fine", np.arange(12) // 2, table),
        mapped("cross", np.arange(12) % 5, table),
        noisy(rng, "noisy", np.arange(12) // 3, table, 3.0),
        unknown(noisy(rng, "unknown", np.arange(12) // 3, table, 3.0)),
    ]
    certain = evidence_of(table, views, joint=joint)
    found = noisy_label(rng, certain, 6.0)
    assert find_faults(found) == find_label_faults([found]) == ()
    expected, reference = reconstruct(certain), reconstruct(found)
    np.testing.assert_array_equal(reference.joint, expected.joint)
    assert (reference.certificate.converged, reference.ceilings) == (True, expected.ceilings)
    used = ["fine", "cross", "noisy", "unknown", "drop", "identity"]
    for measure in MEASURES.values():
        assert assess(found, reference, measure, used) == assess(certain, expected, measure, used)
    assert ranking_basis([found], INFORMATION, [["fine", "drop"]]) == "exact"


@for_each("seed", range(4))
def test_where_nothing_is_exact_the_fit_is_the_one_that_a_general_optimiser_finds(seed):
    rng = np.random.default_rng(seed)
    table = rng.integers(5, 40, size=(6, 2))
    views = [noisy(rng, f"v{at}", random_mapping(rng, 6, 3), table, 3.0) for at in range(2)]
    evidence = noisy_label(rng, evidence_of(table, views, histogram=False), 5.0)
    weight = 0.3
    reference = reconstruct(evidence, DualNewton(prior_weight=weight * np.sqrt(evidence.records)))
    found = minimize(
        lambda flat: fitted_by_definition(evidence, flat.reshape(6, 2), weight),
        table.ravel().astype(float),
        method="SLSQP",
        bounds=[(1e-9, None)] * 12,
        options={"maxiter": 1000, "ftol": 1e-13},
    )
    assert found.success
    assert reference.certificate.converged
    fitted = full_table(evidence, reference)
    assert fitted_by_definition(evidence, fitted, weight) == pytest.approx(found.fun, abs=1e-5)
    np.testing.assert_allclose(fitted, found.x.reshape(6, 2), atol=0.05)


@for_each("seed", range(6))
def test_a_view_by_itself_and_the_label_give_way_to_each_other(seed):
    rng = np.random.default_rng(seed)
    table = random_table(rng, values=5, labels=2, records=60)
    masking = unknown(noisy(rng, "m", np.arange(5), table, 4.0))
    evidence = noisy_label(rng, evidence_of(table, [masking]), 7.0)
    variance = masking.perturbation.count_variance, evidence.label_perturbation.count_variance

    def distance(flat):
        shown = flat.reshape(5, 2)
        label = ((shown.sum(axis=0) - evidence.label_histogram) ** 2).sum() / variance[1]
        return ((shown - masking.joint) ** 2).sum() / variance[0] + label

    options = {"ftol": 1e-14, "maxiter": 500}
    expected = minimize(distance, table.ravel(), method="SLSQP", bounds=[(0, None)] * 10, options=options)
    np.testing.assert_allclose(nearest_with_label(masking, evidence), expected.x.reshape(5, 2), atol=1e-3)


@for_each("histogram", [True, False])
@for_each("scale", [1e-3, 0.05, 2.0, 1e3])
@for_each(("values", "labels"), [(1, 3), (15, 1), (15, 3)])
def test_everything_noisy_has_a_fit_and_an_answer_that_claims_nothing(values, labels, scale, histogram):
    rng = np.random.default_rng(3)
    table = random_table(rng, values=values, labels=labels, records=50)
    views = [noisy(rng, f"v{at}", random_mapping(rng, values, 4), table, scale) for at in range(3)]
    views.append(unknown(noisy(rng, "id", views[0].mapping, table, scale)))
    evidence = noisy_label(rng, evidence_of(table, views, histogram=histogram), scale)
    assert find_faults(evidence) == ()
    reference = reconstruct(evidence)
    assert reference.certificate.converged
    assert reference.ceilings == {}
    used = ["v0", "v1", "id", "drop"]
    for measure in MEASURES.values():
        found = assess(evidence, reference, measure, [*used, "identity"])
        assert np.isfinite([found.reference_utility, *(one.utility for one in found.maskings.values())]).all()
        if scale > 0.01:  # below it, the probability of any noise is 0 in doubles
            assert (found.bound, found.lower_bound, found.upper_bound) == (None, None, None)
    asked = Question("mutual_information", ("a",), np.ones(1))
    answer = recommend([evidence], [reference], np.arange(3)[:, np.newaxis], [("v0", "v1", "drop")], asked)
    assert answer.ranking_basis == "estimated"
    assert np.isfinite(answer.ranking.standard_error).all()


def test_a_label_noisier_than_its_views_is_put_right_by_them():
    errors = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        table = random_table(rng, values=12, labels=3, records=2000)
        views = [noisy(rng, f"v{at}", random_mapping(rng, 12, 4), table, 2.0) for at in range(3)]
        soft = noisy_label(rng, evidence_of(table, views, histogram=False), 60.0)
        taken = replace(soft, label_perturbation=Perturbation())
        errors.append([np.abs(reconstruct(one).joint.sum(0) - table.sum(0)).sum() for one in (soft, taken)])
    fitted, literal = np.mean(errors, axis=0)
    assert fitted < literal / 5


def test_a_label_without_a_published_record_may_have_some():
    table = np.array([[50, 2], [40, 3], [60, 1]])
    views = [Masking("m", 3, np.arange(3), table, True, Perturbation(noise_scale=2.0))]
    evidence = with_label(evidence_of(table, views, histogram=False), [150, 0], noise_scale=3.0)
    reference = reconstruct(evidence)
    assert reference.certificate.converged
    assert evidence.flags.labels == 2
    assert reference.joint[:, 1].sum() > 1
    assert assess(evidence, reference, INFORMATION, ["m", "drop"]).maskings["m"].utility > 0


def test_a_drop_is_exact_only_if_the_label_is():
    rng = np.random.default_rng(5)
    table = random_table(rng, values=12)
    noisy_only = noisy_label(
        rng, evidence_of(table, [noisy(rng, "v", np.arange(12) // 3, table, 2.0)], histogram=False), 2.0
    )
    assert ranking_basis([noisy_only], INFORMATION, [["drop", "v"]]) == "estimated"
    assert ranking_basis([noisy_only], INFORMATION, [["drop"]]) == "exact"  # all are treated alike


TABLE = np.array([[10, 0], [20, 30], [40, 10]])


def published(*joints, label, **declared):
    """Evidence with these tables as exact views by the identity, and an inexact label."""
    views = [Masking(f"v{at}", 3, None, np.array(joint), deterministic=True) for at, joint in enumerate(joints)]
    return with_label(evidence_of(TABLE, views, histogram=False), label, **declared)


def test_more_than_the_label_declares_is_refused():
    (beyond,) = find_faults(published(TABLE, label=[78, 40], rounded_to=5))
    assert beyond.path == ("maskings", 0, "joint")
    said = "column 0 adds up to 70, but the label's histogram counts 78"
    assert beyond.detail == f"{said} (8 too few; what is declared explains at most 4)"
    assert find_faults(published(TABLE, label=[74, 40], rounded_to=5)) == ()
    assert find_faults(published(TABLE, label=[78, 40], noise_scale=3.0)) == ()


def test_exact_tables_that_count_the_label_differently_contradict_each_other():
    moved = TABLE + np.array([[2, 0], [0, -3], [0, 0]])
    evidence = published(TABLE, moved, label=[70, 40], noise_scale=5.0)
    assert find_faults(evidence) == ()
    other = replace(evidence_of(TABLE + np.array([1, 0]), []), label_perturbation=evidence.label_perturbation)
    assert [(fault.path, fault.detail) for fault in find_label_faults([evidence, other])] == [
        (
            (0, "maskings", 1, "joint"),
            "column 0 adds up to 72, but /attributes/0/maskings/0/joint counts 70 (2 too many)",
        ),
        (
            (0, "maskings", 1, "joint"),
            "column 1 adds up to 37, but /attributes/0/maskings/0/joint counts 40 (3 too few)",
        ),
        ((1, "histogram"), "adds up to 113, but /attributes/0/maskings/0/joint counts 110 (3 too many)"),
    ]


@for_each(("scale", "base"), [(float("inf"), None), (None, 1)])
def test_a_declaration_of_the_label_that_means_nothing_is_a_fault(scale, base):
    (fault,) = find_faults(published(TABLE, label=[70, 40], noise_scale=scale, rounded_to=base))
    assert fault.path == ()
