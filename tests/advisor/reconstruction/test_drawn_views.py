"""Random maskings with a known transition matrix (randomised response, PRAM)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegis_advisor.evidence import Masking, Perturbation
from aegis_advisor.evidence.checks import find_faults
from aegis_advisor.measures import MEASURES
from aegis_advisor.ranking import assess
from aegis_advisor.ranking.recommendation import lacks_evidence, ranking_basis
from aegis_advisor.reconstruction import reconstruct
from tests.advisor.cases import counted, evidence_of, full_table, mapped, random_table
from tests.advisor.inexact import drawn, laplace, noisy, randomised_response, rounded
from tests.for_each import for_each

INFORMATION = MEASURES["mutual_information"]
BOTH_VARIANTS = for_each("histogram", [True, False])


def by_expectation_maximisation(transition, joint, steps=20_000):
    """The maximum-likelihood table (values, labels), by textbook EM steps (Agrawal & Aggarwal 2001)."""
    table = np.tile(joint.sum(axis=0) / len(transition), (len(transition), 1))
    for _ in range(steps):
        expected = transition.T @ table
        table = table * (transition @ np.divide(joint, expected, out=np.zeros_like(expected), where=expected > 0))
    return table


def log_likelihood(transition, joint, table):
    """The log-likelihood of the drawn counts up to a constant, in nats."""
    seen = joint > 0
    return float(np.sum(joint[seen] * np.log((transition.T @ table)[seen])))


@pytest.mark.long
@for_each("seed", range(4))
@for_each("keep", [0.3, 0.6, 0.95])
def test_no_table_is_more_likely(seed, keep):
    rng = np.random.default_rng(seed)
    table = random_table(rng, values=6, records=2000)
    transition = randomised_response(6, keep)
    view = drawn(rng, "rr", transition, table)
    evidence = evidence_of(table, [view], histogram=False)
    reference = reconstruct(evidence)
    best = by_expectation_maximisation(transition, view.joint)
    reached = log_likelihood(transition, view.joint, full_table(evidence, reference))
    assert reference.certificate.converged
    assert reached == pytest.approx(log_likelihood(transition, view.joint, best), abs=0.1)


@BOTH_VARIANTS
def test_randomised_response_is_undone_as_records_become_many(histogram):
    rng = np.random.default_rng(1)
    shares = rng.dirichlet(np.ones(3), size=8) / 8
    errors = []
    for records in (10**3, 10**5, 10**7):
        table = rng.multinomial(records, shares.ravel()).reshape(8, 3)
        view = drawn(rng, "rr", randomised_response(8, 0.5), table)
        evidence = evidence_of(table, [view], histogram=histogram)
        found = full_table(evidence, reconstruct(evidence))
        errors.append(np.abs(found - table).sum() / records)
    assert errors[0] > 4 * errors[1] > 16 * errors[2]
    assert errors[2] < 0.005


@BOTH_VARIANTS
def test_a_matrix_without_chance_is_a_mapping(histogram):
    rng = np.random.default_rng(2)
    table = random_table(rng, values=9)
    mapping = np.arange(9) // 2
    exact, other = mapped("m", mapping, table), mapped("w", np.arange(9) // 4, table)
    certain = Masking("m", 5, None, exact.joint, deterministic=False, transition=np.eye(5)[mapping])
    expected = evidence_of(table, [exact, other], histogram=histogram)
    evidence = evidence_of(table, [certain, other], histogram=histogram)
    assert find_faults(evidence) == ()
    found = full_table(evidence, reconstruct(evidence))
    np.testing.assert_allclose(found, full_table(expected, reconstruct(expected)), atol=1e-6)


@given(st.integers(0, 2**32), st.sampled_from(["alone", "rounded", "noisy", "exact"]), st.booleans())
def test_what_would_become_of_records_that_no_value_has_is_of_no_consequence(seed, other, histogram):
    rng = np.random.default_rng(seed)
    table = random_table(rng, values=int(rng.integers(2, 9)), records=int(rng.choice([5, 20, 200])))
    table[rng.random(len(table)) < 0.4] = 0
    table[0, 0] += 1
    mapping, crossing = rng.integers(0, 3, (2, len(table)))
    held = table.any(axis=1)
    views = {
        "alone": [],
        "rounded": [rounded("w", crossing, table, 5)],
        "noisy": [noisy(rng, "w", crossing, table, 1.0)],
        "exact": [mapped("w", crossing, table)],
    }[other]
    if not histogram:  # an exact view instead says which values have no records
        views = [*views, mapped("held", held.astype(int), table)]
    exact = mapped("m", mapping, table)
    transition = np.where(held[:, np.newaxis], np.eye(exact.groups)[mapping], rng.dirichlet(np.ones(exact.groups)))
    certain = Masking("m", exact.groups, None, exact.joint, deterministic=False, transition=transition)
    evidence = evidence_of(table, [certain, *views], histogram=histogram)
    expected = evidence_of(table, [exact, *views], histogram=histogram)
    reference = reconstruct(evidence)
    assert reference.certificate.converged
    found = full_table(evidence, reference)
    np.testing.assert_allclose(found, full_table(expected, reconstruct(expected)), atol=1e-5 * table.sum())


def test_values_with_the_same_probabilities_share_an_atom():
    rng = np.random.default_rng(3)
    table = random_table(rng, values=12)
    transition = randomised_response(4, 0.7)[np.arange(12) // 3]
    reference = reconstruct(evidence_of(table, [drawn(rng, "rr", transition, table)]))
    assert reference.joint.shape[0] == 4
    atoms = reference.atom_of_value
    assert all(len(set(atoms[3 * at : 3 * at + 3])) == 1 for at in range(4))


def test_its_utility_is_that_of_its_counts_and_never_the_reference():
    rng = np.random.default_rng(4)
    table = rng.integers(20, 30, size=(6, 3))
    joint = np.diag(table.sum(axis=0))  # counts that this uninformative masking can hardly produce
    view = Masking("rr", 3, None, joint, deterministic=False, transition=np.full((6, 3), 1 / 3))
    evidence = evidence_of(table, [view, mapped("exact", np.arange(6) // 2, table)])
    found = assess(evidence, reconstruct(evidence), INFORMATION, ["rr", "exact"])
    assert found.maskings["rr"].source == "counts"
    assert found.maskings["rr"].utility > 15 * found.reference_utility > 0
    assert ranking_basis([evidence], INFORMATION, [["rr", "exact"]]) == "estimated"
    assert found.bound_value == pytest.approx(found.maskings["exact"].utility)


def test_a_matrix_makes_evidence_of_counts_unless_it_treats_all_values_alike():
    rng = np.random.default_rng(5)
    table = random_table(rng, values=6)
    for keep, lacking in ((0.5, False), (0.0, True)):
        view = drawn(rng, "rr", randomised_response(6, keep), table)
        assert lacks_evidence(evidence_of(table, [view]).flags) is lacking
    assert lacks_evidence(evidence_of(table, [counted("rr", view.joint, deterministic=False)]).flags)


def test_it_tells_of_the_attribute_what_the_drawn_counts_hide():
    rng = np.random.default_rng(6)
    table = random_table(rng, values=8, records=100_000)
    view = drawn(rng, "rr", randomised_response(8, 0.4), table)
    evidence = evidence_of(table, [view])
    found = assess(evidence, reconstruct(evidence), INFORMATION, ["rr"])
    true = INFORMATION(table.astype(float))
    assert found.maskings["rr"].utility < 0.4 * true
    assert found.reference_utility == pytest.approx(true, rel=0.1)


def test_exact_views_hold_beside_it():
    rng = np.random.default_rng(7)
    table = random_table(rng, values=12, records=5000)
    exact = mapped("exact", np.arange(12) // 3, table)
    reference = reconstruct(evidence_of(table, [exact, drawn(rng, "rr", randomised_response(12, 0.5), table)]))
    assert reference.certificate.converged
    np.testing.assert_allclose(reference.fold(exact.mapping, 4), exact.joint, atol=1e-4)
    assert 0 < reference.certificate.misfits["rr"].standardised < 2


@BOTH_VARIANTS
@for_each(("values", "labels"), [(1, 3), (6, 1), (6, 3)])
@for_each("declared", [Perturbation(), Perturbation(noise_scale=3.0), Perturbation(records=40)])
def test_small_domains_empty_columns_and_inexact_counts_have_a_fit(values, labels, declared, histogram):
    rng = np.random.default_rng(8)
    table = random_table(rng, values=values, labels=labels, records=50)
    transition = np.hstack([randomised_response(values, 0.5), np.zeros((values, 1))])
    joint = drawn(rng, "rr", transition, table).joint
    if declared.records is not None:
        joint = rng.multivariate_hypergeometric(joint.ravel(), 40).reshape(joint.shape)
    if declared.noise_scale is not None:
        joint = joint + laplace(rng, 3.0, joint.shape)
    view = Masking("rr", values + 1, None, joint, False, declared, transition)
    evidence = evidence_of(table, [view], histogram=histogram)
    assert find_faults(evidence) == ()
    reference = reconstruct(evidence)
    assert reference.certificate.converged
    found = assess(evidence, reference, INFORMATION, ["rr", "identity"])
    assert np.isfinite([found.reference_utility, found.maskings["rr"].utility]).all()
    assert found.maskings["rr"].source == ("counts" if declared.is_none else "fitted")
