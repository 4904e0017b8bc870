"""Degenerate tables, and evidence that no table fits: every fit ends with numbers and says how good it is."""

import numpy as np
import pytest

from aegis_advisor.evidence import AttributeEvidence, Masking
from aegis_advisor.evidence.checks import find_faults
from aegis_advisor.measures import MEASURES
from aegis_advisor.reconstruction import SOLVER, IterativeProportionalFitting, reconstruct
from tests.advisor.cases import evidence_of, full_table, mapped, overlapping, random_mapping, random_table
from tests.for_each import for_each, for_some

BOTH_VARIANTS = for_each("histogram", [True, False])


@BOTH_VARIANTS
def test_a_domain_of_one_value(histogram):
    table = np.array([[3, 4]])
    reference = reconstruct(evidence_of(table, [mapped("same", [0], table)], histogram=histogram))
    np.testing.assert_array_equal(reference.joint, table)


@BOTH_VARIANTS
def test_a_label_of_one_class(histogram):
    table = np.array([[3], [4], [0], [9]])
    views = [mapped("x", [0, 0, 1, 1], table), mapped("y", [0, 1, 1, 0], table)]
    reference = reconstruct(evidence_of(table, views, histogram=histogram))
    assert reference.certificate.converged
    assert reference.joint.sum() == pytest.approx(16)


@BOTH_VARIANTS
def test_empty_rows_columns_and_groups_stay_empty(histogram):
    table = np.array([[5, 0, 2], [0, 0, 0], [0, 0, 0], [1, 0, 7], [3, 0, 3], [2, 0, 9]])
    views = [mapped("x", [0, 1, 1, 2, 2, 3], table), mapped("y", [0, 0, 1, 2, 3, 2], table)]
    evidence = evidence_of(table, views, histogram=histogram)
    reference = reconstruct(evidence)
    full = full_table(evidence, reference)
    assert reference.certificate.converged
    assert not full[1:3].any()
    assert not full[:, 1].any()


@BOTH_VARIANTS
def test_counts_near_2_to_the_53(histogram):
    rng = np.random.default_rng(10)
    table = random_table(rng, values=8).astype(np.int64)
    table *= (2**53 - 1) // table.sum()
    evidence = evidence_of(table, overlapping(rng, table, views=2), histogram=histogram)
    assert not find_faults(evidence)
    reference = reconstruct(evidence)
    assert np.isfinite(reference.joint).all()
    assert reference.joint.sum() == pytest.approx(table.sum(), rel=1e-5)


@BOTH_VARIANTS
def test_no_records_at_all(histogram):
    table = np.zeros((4, 2), dtype=np.int64)
    reference = reconstruct(evidence_of(table, [mapped("x", [0, 0, 1, 1], table)], histogram=histogram))
    assert not reference.joint.any()
    assert reference.certificate.converged


@BOTH_VARIANTS
def test_a_solution_on_the_boundary(histogram):
    # No margin of the first cell is 0, yet nothing is left for it: only one table fits.
    table = np.array([[0, 5], [2, 1], [3, 2], [4, 2]])
    views = [
        mapped("x", [0, 0, 1, 1], table),
        mapped("y", [1, 0, 0, 1], table),
        mapped("z", [0, 1, 0, 1], table),
    ]
    evidence = evidence_of(table, views, histogram=histogram)
    reference = reconstruct(evidence)
    assert reference.certificate.method == "closed_form"
    np.testing.assert_array_equal(full_table(evidence, reference), table)


def parities(*, histogram):
    """Three views of 4 values that agree pairwise but admit no table: three parities cannot all be even."""
    maps = ([0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0])
    joint = np.array([[4, 0], [0, 4]])
    views = tuple(Masking(f"v{at}", 2, np.array(mapping), joint, deterministic=True) for at, mapping in enumerate(maps))
    rows = np.full(4, 2) if histogram else None
    return AttributeEvidence("a", 4, joint.sum(axis=0), rows, None, views)


@BOTH_VARIANTS
def test_an_inconsistent_triple_is_accepted_and_says_that_nothing_converged(histogram):
    evidence = parities(histogram=histogram)
    assert find_faults(evidence) == ()
    reference = reconstruct(evidence)
    assert not reference.certificate.converged
    assert reference.certificate.iterations <= SOLVER.sweeps + SOLVER.steps
    assert reference.certificate.residual > 0.1
    assert np.isfinite(reference.joint).all()
    assert all(np.isfinite(measure(reference.joint, reference.statistics)) for measure in MEASURES.values())


@for_some(5, "seed", range(15))
def test_contradicting_views_end_in_numbers(seed):
    """Views of one label whose rows are drawn at random hardly ever admit a table."""
    rng = np.random.default_rng(seed)
    label = np.array([40, 30, 20])
    views = []
    for at in range(3):
        mapping = random_mapping(rng, 7, 3)
        joint = np.stack([rng.multinomial(n, rng.dirichlet([0.3] * 3)) for n in label], axis=1)
        views.append(Masking(f"v{at}", 3, mapping, joint, deterministic=True))
    evidence = AttributeEvidence("a", 7, label, None, None, tuple(views))
    reference = reconstruct(evidence)
    assert np.isfinite(reference.joint).all()
    assert reference.joint.min() >= 0
    assert reference.certificate.converged == (reference.certificate.residual <= 1e-9)
    for measure in MEASURES.values():
        assert np.isfinite(measure(reference.joint, reference.statistics))


def test_a_fit_without_a_sweep_is_refused():
    with pytest.raises(ValueError, match="at least one sweep"):
        IterativeProportionalFitting(sweeps=0)
