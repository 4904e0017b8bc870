"""Views that cut an ordered domain into runs, joined into one."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from aegis_advisor.evidence import AttributeEvidence, Masking
from aegis_advisor.reconstruction import reconstruct
from aegis_advisor.reconstruction.decomposition import with_runs_joined
from aegis_advisor.reconstruction.problem import Margin, Problem
from tests.advisor.cases import evidence_of, mapped
from tests.for_each import for_each

BOTH_VARIANTS = for_each("histogram", [True, False])


def problem_of(*margins, labels=2):
    """A problem with six atoms in variant II."""
    built = tuple(Margin(np.arange(6), np.array(groups), np.array(counts, float)) for groups, counts in margins)
    return Problem(np.ones(6), None, built, labels, float(np.sum(margins[0][1])))


@given(st.integers(0, 2**32), st.integers(1, 6), st.booleans())
def test_bins_of_an_ordered_domain_give_the_truth_between_their_cuts(seed, views, histogram):
    rng = np.random.default_rng(seed)
    table = rng.poisson(rng.choice([0.2, 5.0]), (25, 3))
    cuts = [np.sort(rng.choice(np.arange(1, 25), rng.integers(1, 8), replace=False)) for _ in range(views)]
    maskings = [mapped(f"v{at}", np.searchsorted(cut, np.arange(25), "right"), table) for at, cut in enumerate(cuts)]
    reference = reconstruct(evidence_of(table, maskings, histogram=histogram))
    pieces = np.split(table, np.unique(np.concatenate(cuts)))
    assert reference.certificate.method == "closed_form"
    np.testing.assert_array_equal(reference.joint, [piece.sum(axis=0) for piece in pieces])


@BOTH_VARIANTS
def test_how_masked_values_are_numbered_does_not_matter(histogram):
    rng = np.random.default_rng(1)
    table = rng.poisson(3.0, (30, 3))
    bins = [np.arange(30) // width for width in (4, 7, 9)]
    mixed = [rng.permutation(one.max() + 1)[one] for one in bins]
    one, other = (
        reconstruct(evidence_of(table, [mapped(f"v{at}", m, table) for at, m in enumerate(maps)], histogram=histogram))
        for maps in (bins, mixed)
    )
    np.testing.assert_array_equal(one.joint, other.joint)
    np.testing.assert_array_equal(one.atom_of_value, other.atom_of_value)


def test_other_views_stay_beside_the_joined_one():
    runs = ([0, 0, 0, 1, 1, 1], [[3, 3], [3, 3]])
    cut = ([0, 0, 1, 1, 1, 1], [[2, 2], [4, 4]])
    spread = ([0, 1, 0, 1, 0, 1], [[3, 3], [3, 3]])
    found = with_runs_joined(problem_of(runs, spread, cut))
    joined, other = found.margins
    np.testing.assert_array_equal(joined.group_of, [0, 0, 1, 2, 2, 2])
    np.testing.assert_array_equal(joined.counts, [[2, 2], [1, 1], [3, 3]])
    np.testing.assert_array_equal(other.group_of, spread[0])


def test_views_that_leave_less_than_nothing_are_not_joined():
    # Up to the second cut there are fewer records than up to the first.
    problem = problem_of(([0, 0, 1, 1, 1, 1], [[4, 0], [2, 6]]), ([0, 0, 0, 1, 1, 1], [[3, 3], [3, 3]]))
    assert with_runs_joined(problem) is problem
    assert with_runs_joined(problem_of(([0, 1, 0, 1, 0, 1], [[3, 3], [3, 3]]))).margins[0].groups == 2


def test_an_uncertain_view_is_not_joined():
    exact = Margin(np.arange(6), np.array([0, 0, 0, 1, 1, 1]), np.full((2, 2), 3.0))
    noisy = Margin(
        np.arange(6), np.array([0, 0, 1, 1, 1, 1]), np.array([[1.0, 3.0], [4.0, 4.0]]), None, np.ones((2, 2))
    )
    found = with_runs_joined(Problem(np.ones(6), None, (exact, noisy), 2, 12.0))
    assert found.margins[1] is noisy


def test_contradicting_bins_are_accepted_and_do_not_converge():
    views = tuple(
        Masking(f"v{at}", 2, np.array(mapping), np.array(joint), deterministic=True)
        for at, (mapping, joint) in enumerate([([0, 1, 1], [[4, 0], [2, 6]]), ([0, 0, 1], [[3, 3], [3, 3]])])
    )
    evidence = AttributeEvidence("a", 3, np.array([6, 6]), None, None, views)
    certificate = reconstruct(evidence).certificate
    assert not certificate.converged
    assert certificate.residual > 0.01
