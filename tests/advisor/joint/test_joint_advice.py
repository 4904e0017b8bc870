from dataclasses import replace

import numpy as np
import pytest

from aegis_advisor.errors import MissingPairsError
from aegis_advisor.ranking import Question, recommend
from aegis_advisor.reconstruction import reconstruct
from tests.advisor.joint.joint_cases import Records, random_codes, random_records
from tests.for_each import for_each, for_some


@for_some(8, "seed", range(20))
def test_an_exact_ranking_is_that_by_the_true_deviation(seed):
    records = random_records(seed, attributes=3)
    codes = random_codes(seed, records, configurations=30)
    answer = records.advice(codes, records.pairs())
    truth = records.trace([0, 0, 0])[0] - np.array([records.trace(row)[0] for row in codes])
    assert answer.ranking_basis == "exact"
    assert (np.diff(truth[answer.ranking.index]) >= -1e-7).all()
    assert np.ptp(truth[answer.ranking.index] - answer.ranking.deviation) < 1e-7
    assert answer.joint.lower_bound <= records.trace([0, 0, 0])[0] + 1e-7
    assert set(answer.tied) == set(np.flatnonzero(truth <= truth.min() + 1e-8))


def test_what_it_cannot_tell_is_said_to_be_unknown():
    records = random_records(1, attributes=3)
    answer = records.advice(random_codes(1, records), records.pairs())
    assert answer.indistinguishable is None
    assert answer.indistinguishable_count is None
    assert np.isnan(answer.ranking.standard_error).all()
    assert np.isnan(answer.ranking.difference_error).all()
    assert (answer.ranking.deviation >= 0).all()
    assert answer.joint.reference_utility >= answer.ranking.utility.max()


def test_of_one_attribute_it_is_a_measure_like_the_others():
    records = random_records(2, attributes=3)
    codes = random_codes(2, records)
    answer = records.advice(codes, [], weights=[0, 1, 0])
    assert answer.joint is None
    assert answer.indistinguishable_count >= 1
    for row, utility in zip(answer.ranking.index, answer.ranking.utility, strict=True):
        assert utility == pytest.approx(records.trace([1, codes[row, 1], 1])[0], abs=1e-8)


def test_attributes_without_weight_are_left_out():
    records = random_records(3, attributes=3)
    codes = random_codes(3, records)
    with_both = [pair for pair in records.pairs() if pair.attributes == (0, 2)]
    answer = records.advice(codes, with_both, weights=[0.5, 0, 0.5])
    expected = [records.trace([first, 1, last])[0] for first, _, last in codes[answer.ranking.index]]
    assert answer.ranking.utility == pytest.approx(expected, abs=1e-7)
    with pytest.raises(MissingPairsError):
        records.advice(codes, with_both)


def test_it_weighs_no_attribute_against_another():
    records = random_records(3, attributes=2)
    with pytest.raises(ValueError, match="weigh"):
        records.advice(random_codes(3, records), records.pairs(), weights=[0.25, 0.75])


def test_it_has_the_pooled_reference_only():
    with pytest.raises(ValueError, match="own"):
        Question("joint", ("a",), np.ones(1), reference="own").resolve()


@for_each("seed", range(5))
def test_what_is_required_does_not_change_what_is_there_to_keep(seed):
    records = random_records(seed, attributes=3)
    codes = random_codes(seed, records, configurations=40)
    every = records.advice(codes, records.pairs())
    some = records.advice(codes[:10], records.pairs(), others=codes[10:])
    assert some.considered == 10
    assert some.joint.reference_utility == pytest.approx(every.joint.reference_utility, abs=1e-9)
    assert some.joint.lower_bound == pytest.approx(every.joint.lower_bound, abs=1e-9)


def test_other_configurations_may_lack_pair_counts():
    records = random_records(6, attributes=2)
    pairs = [records.pair(0, "v0", 1, "v1")]
    row = np.array([[2, 3]])
    alone = records.advice(row, pairs)
    assert records.advice(row, pairs, others=np.array([[4, 4]])).joint == alone.joint
    certain = [one.lower_bound for one in alone.attributes]
    assert alone.joint.lower_bound == pytest.approx(max(records.trace(row[0])[0], *certain), abs=1e-8)
    assert max(certain) > records.trace(row[0])[0]  # so the bound came from a single attribute


def test_corrected_it_is_an_estimate():
    records = random_records(4, attributes=3)
    codes = random_codes(4, records)
    answer = records.advice(codes, records.pairs(), bias_correction=True)
    assert answer.ranking_basis == "estimated"
    assert answer.joint.lower_bound is None
    plain = records.advice(codes, records.pairs())
    by_row = dict(zip(plain.ranking.index, plain.ranking.utility, strict=True))
    assert all(utility <= by_row[row] for row, _, utility in answer.ranking)


def test_maskings_that_are_no_function_of_the_value_make_it_an_estimate():
    records = random_records(5, attributes=2)
    evidence = records.evidence()
    drawn = evidence[0].maskings[0]
    assert drawn.exact
    free = type(drawn)(drawn.id, drawn.groups, None, drawn.joint, deterministic=False)
    evidence[0] = replace(evidence[0], maskings=(free, *evidence[0].maskings[1:]))
    codes = np.array([[2, 2], [3, 3]])
    question = Question("joint", ("a0", "a1"), np.full(2, 0.5))
    answer = recommend(evidence, list(map(reconstruct, evidence)), codes, records.options, question, records.pairs())
    assert answer.ranking_basis == "estimated"
    assert dict(zip(answer.ranking.index, answer.ranking.utility, strict=True))[0] == pytest.approx(
        records.trace([2, 2])[0], abs=1e-8
    )


def test_redundant_attributes_count_once():
    """Attribute by attribute, three copies win. Together they count once, and a new attribute wins."""
    rng = np.random.default_rng(0)
    classes = rng.integers(0, 2, 4000)
    strong = (rng.random(4000) < 0.25 + 0.5 * classes).astype(int)
    weak = (rng.random(4000) < 0.3 + 0.4 * classes).astype(int)
    whole, gone = np.arange(2), np.zeros(2, dtype=int)
    records = Records(np.stack([strong, strong, strong, weak], axis=1), classes, [[whole, gone]] * 4)
    codes = np.array([[2, 2, 2, 3], [2, 3, 3, 2]])
    assert records.advice(codes, records.pairs(), "chi_square").best == 0
    assert records.advice(codes, records.pairs(), "joint").best == 1
