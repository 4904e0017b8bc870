"""Evidence with counts that were rounded once: what is certain of it, and that nothing more is claimed."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegis_advisor.cell_bounds import bound_cells
from aegis_advisor.evidence import (
    DROP,
    IDENTITY,
    AttributeContent,
    ControlContent,
    EntryContent,
    LabelContent,
    MaskingContent,
    Perturbation,
    likely_tables,
    with_declared_rounding,
)
from aegis_advisor.evidence import evidence_of as published_evidence
from aegis_advisor.evidence.checks import find_faults, find_pair_faults
from aegis_advisor.measures import MEASURES
from aegis_advisor.measures.rounding import SURE
from aegis_advisor.ranking.deviation import assess
from aegis_advisor.ranking.influence import Sample, influences
from aegis_advisor.ranking.recommendation import joint_ranking_basis, ranking_basis
from aegis_advisor.reconstruction import reconstruct
from tests.advisor.cases import evidence_of, mapped, random_table
from tests.advisor.joint.joint_cases import random_records
from tests.advisor.rounding import rounded_once, rounded_pairs
from tests.for_each import for_each

BASE = 5


def rounded(seed, *, joint=True, nested=True):
    """A random table, and its evidence with counts that were rounded once."""
    rng = np.random.default_rng(seed)
    table = random_table(rng, 8, int(rng.integers(2, 4)), int(rng.integers(20, 400)))
    values = np.arange(8)
    views = [mapped("halves", values // 2, table), mapped("quarters", values // 4, table)]
    views += [] if nested else [mapped("odd", values % 2, table), mapped("crossing", (values + 1) // 3, table)]
    [evidence] = rounded_once(rng, [replace(evidence_of(table, views), joint=table)], BASE)
    return table, evidence if joint else replace(evidence, joint=None)


@given(st.integers(0, 2**32), st.booleans())
def test_rounded_counts_agree_like_those_of_a_table(seed, nested):
    _, evidence = rounded(seed, nested=nested)
    assert find_faults(evidence) == ()
    reference = reconstruct(replace(evidence, joint=None))
    assert reference.certificate.residual < 1e-8  # far below one record; one in thousands is above 1e-9


@given(st.integers(0, 2**32), st.booleans())
def test_the_truth_is_within_the_bounds(seed, joint):
    """The test's own rounding keeps each count next to the truth, but not sums over groups: bounds of values only."""
    table, evidence = rounded(seed, nested=False)
    loose = with_declared_rounding(evidence if joint else replace(evidence, maskings=evidence.maskings[2:], joint=None))
    bounds = bound_cells(loose)
    truth = np.zeros_like(bounds.lower)
    np.add.at(truth, bounds.atom_of_value, table)
    assert np.all(bounds.lower <= truth)
    assert np.all(truth <= bounds.upper)
    assert not np.any((bounds.lower == bounds.upper) & (bounds.lower > 0) & (bounds.lower < BASE))


def test_nested_views_are_known_to_within_the_base_and_crossing_ones_only_by_value():
    _, nested = rounded(1)
    bases = [one.perturbation.rounded_to for one in with_declared_rounding(nested).maskings]
    assert bases == [BASE] * 3
    _, crossing = rounded(1, nested=False)
    bases = [one.perturbation.rounded_to for one in with_declared_rounding(crossing).maskings]
    assert bases == [2 * 4 + 1, 4 * 4 + 1, 4 * 4 + 1, 3 * 4 + 1, BASE]
    exact = replace(nested, rounded_once=None)
    assert with_declared_rounding(exact) is exact


@for_each("joint", [True, False])
def test_nothing_is_claimed_to_be_exact(joint):
    _, evidence = rounded(2, joint=joint)
    measure, used = MEASURES["mutual_information"], ["halves", "quarters", DROP]
    assert ranking_basis([replace(evidence, rounded_once=None)], measure, [used]) == "exact"
    assert ranking_basis([evidence], measure, [used]) == "estimated"
    assert ranking_basis([evidence], measure, [["halves"]]) == "exact"  # the same for all configurations
    assert joint_ranking_basis([evidence], MEASURES["joint"], [used], exactly=True) == "estimated"
    assessed = assess(evidence, reconstruct(evidence), measure, used)
    assert (assessed.bound, assessed.bound_value, assessed.lower_bound, assessed.upper_bound) == (None,) * 4


def test_utilities_vary_by_the_rounding_too():
    _, evidence = rounded(3)
    measure, used = MEASURES["mutual_information"], ["halves", IDENTITY, DROP]
    reference = reconstruct(evidence)
    whole = assess(evidence, reference, measure, used).reference_utility
    found = influences(evidence, Sample.of(evidence, reference, measure), measure, used, whole)
    exact = replace(evidence, rounded_once=None)
    certain = influences(exact, Sample.of(exact, reference, measure), measure, used, whole)
    assert all(each.inexact == 0 for each in certain.values())
    halves = found["halves"]
    table = evidence.masking("halves").joint.astype(float)
    expected = np.sqrt(np.sum(halves.moves[table > 0] ** 2) * BASE**2 / 6 / evidence.records)
    beyond = measure.rounding_error(table, None, likely_tables(evidence, "halves", table))
    assert beyond > 0
    assert halves.inexact == pytest.approx(np.hypot(expected, beyond))


@given(st.integers(0, 2**32), st.booleans(), st.sampled_from(sorted(MEASURES)))
def test_utilities_are_finite_and_never_worse_than_nothing_or_a_coarser_view(seed, nested, name):
    _, evidence = rounded(seed, nested=nested)
    measure, reference, used = MEASURES[name], reconstruct(evidence), ["halves", "quarters", IDENTITY, DROP]
    assessed = assess(evidence, reference, measure, used)
    fine, coarse, whole, drop = (assessed.maskings[one].utility for one in used)
    assert np.all(np.isfinite([fine, coarse, whole, drop]))
    assert min(fine, coarse, whole) >= 0
    assert measure.best([fine, drop]) == fine
    if measure.monotone:
        assert measure.best([fine, coarse]) == fine
        assert whole == assessed.reference_utility == measure.best([whole, fine])
    assert assess(evidence, reference, measure, used) == assessed


@given(st.integers(0, 2**32), st.sampled_from(sorted(name for name, one in MEASURES.items() if one.rounding)))
def test_what_is_left_of_what_rounding_adds_is_within_its_errors_and_counts_as_bias(seed, name):
    _, evidence = rounded(seed)
    measure, used = MEASURES[name], ["halves", IDENTITY]
    table = evidence.masking("halves").joint.astype(float)
    likely = likely_tables(evidence, "halves", table)
    without, less = measure.without_rounding(table, None, likely), measure.less_rounding(table, None, likely)
    moved = np.sqrt(np.sum(measure.gradient(table) ** 2) * BASE**2 / 6)
    error = np.hypot(moved, measure.rounding_error(table, None, likely))
    added, left = measure(table) - without, less - without
    assert left * added >= 0
    assert abs(left) <= min(abs(added), SURE * error) * (1 + 1e-9)
    if abs(added) <= SURE * error:
        assert left == pytest.approx(added)
    reference = reconstruct(evidence)
    whole = assess(evidence, reference, measure, used).reference_utility
    found = influences(evidence, Sample.of(evidence, reference, measure), measure, used, whole)["halves"]
    assert found.bias == pytest.approx(measure.likely_bias(likely) + left)


@given(st.integers(0, 2**32), st.sampled_from(sorted(MEASURES)))
def test_nothing_is_taken_out_of_exact_counts(seed, name):
    _, evidence = rounded(seed)
    exact, measure = replace(evidence, rounded_once=None), MEASURES[name]
    halves = exact.masking("halves").joint.astype(float)
    assert likely_tables(exact, "halves", halves) is None
    assert assess(exact, reconstruct(exact), measure, ["halves"]).maskings["halves"].utility == measure(halves)


def test_the_declaration_is_that_of_the_entry():
    attribute = AttributeContent(name="a", type="string", domain=["u"], histogram=[10])
    label = LabelContent(name="y", domain=["n", "y"], histogram=[5, 5])
    entry = EntryContent(records=10, label=label, attributes=[attribute])
    controls = {None: None, ControlContent(rounded_to=5): None, ControlContent(rounded_to=5, rounding="once"): 5}
    for control, base in controls.items():
        [evidence] = published_evidence(replace(entry, disclosure_control=control))
        assert evidence.rounded_once == base


@pytest.mark.parametrize(("rounded_to", "kept"), [(None, None), (5, 10)])
def test_that_a_masking_counts_all_records_says_something_only_if_their_number_is_not_certain(rounded_to, kept):
    masking = MaskingContent(id="m", domain=["u"], records=10, joint=[[5, 5]])
    entry = EntryContent(
        records=10,
        label=LabelContent(name="y", domain=["n", "y"], histogram=[5, 5], rounded_to=rounded_to),
        attributes=[AttributeContent(name="a", type="string", domain=["u"], maskings=[masking])],
    )
    [evidence] = published_evidence(entry)
    assert evidence.maskings[0].perturbation.records == kept


def test_rounded_pairs_may_differ_from_other_counts_only_as_far_as_rounding_goes():
    rng = np.random.default_rng(0)
    records = random_records(0, attributes=3)
    evidence = rounded_once(rng, records.evidence(joint=True), BASE)
    pairs = rounded_pairs(rng, records.pairs(), BASE)
    assert find_pair_faults(evidence, pairs) == ()
    far = replace(pairs[0], joint=pairs[0].joint + 1000 * BASE)
    assert {fault.path[0] for fault in find_pair_faults(evidence, [far, *pairs[1:]])} == {0}
    negative = replace(pairs[0], joint=pairs[0].joint - 1000 * BASE)
    assert find_pair_faults(evidence, [negative])
    senseless = replace(pairs[0], perturbation=Perturbation(rounded_to=1))
    assert [fault.path for fault in find_pair_faults(evidence, [senseless])] == [(0, "rounded_to")]
