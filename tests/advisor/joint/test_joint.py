from itertools import combinations

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from aegis_advisor.errors import ContradictoryPairsError, MissingCountsError, MissingPairsError, TooManyColumnsError
from aegis_advisor.evidence import PairCounts
from aegis_advisor.joint import design, score_jointly
from aegis_advisor.joint import scores as joint_scores
from aegis_advisor.joint.design import Basis, correlation
from aegis_advisor.measures import MEASURES
from tests.advisor.joint.joint_cases import Records, random_codes, random_records, regressed
from tests.for_each import for_each, for_some


def scores(records, codes, pairs=None, *, joint=False, corrected=False):
    pairs = records.pairs() if pairs is None else pairs
    return score_jointly(records.evidence(joint=joint), records.options, codes, pairs, corrected=corrected)


@for_each("seed", range(25))
def test_the_trace_is_that_of_the_records(seed):
    records = random_records(seed, attributes=2 + seed % 4, labels=2 + seed % 3)
    codes = random_codes(seed, records)
    found = scores(records, codes)
    expected = [records.trace(row) for row in codes]
    assert found.utility == pytest.approx([trace for trace, _ in expected], abs=1e-7)
    assert found.dimensions.tolist() == [rank for _, rank in expected]


@for_each("seed", range(10))
def test_unmasked_attributes_take_part_where_their_counts_are_given(seed):
    records = random_records(seed, values=6, attributes=3)
    codes = random_codes(seed, records, first=0)
    found = scores(records, codes, records.pairs(identity=True), joint=True)
    assert found.utility == pytest.approx([records.trace(row)[0] for row in codes], abs=1e-7)


@for_each("seed", range(10))
def test_tables_that_follow_from_finer_ones_may_be_left_out(seed):
    records = random_records(seed, values=6, attributes=3)
    codes = random_codes(seed, records)
    finest = [records.pair(first, "identity", second, "identity") for first, second in combinations(range(3), 2)]
    assert scores(records, codes, finest).utility == pytest.approx(scores(records, codes).utility, abs=1e-12)


def test_the_order_of_the_two_attributes_is_the_provider_s_choice():
    records = random_records(1)
    codes = random_codes(1, records)
    turned = [PairCounts(one.attributes[::-1], one.maskings[::-1], one.joint.T) for one in records.pairs()]
    assert scores(records, codes, turned).utility == pytest.approx(scores(records, codes).utility, abs=1e-12)


def test_of_one_attribute_it_is_chi_square_per_record():
    records = random_records(2)
    table = records.evidence(joint=True)[0].joint.astype(float)
    alone = np.array([[0, 1, 1, 1]])
    expected = chi2_contingency(table[table.any(axis=1)], correction=False).statistic / table.sum()
    assert scores(records, alone, joint=True).utility[0] == pytest.approx(expected, rel=1e-8)
    assert MEASURES["joint"](table) == pytest.approx(expected, rel=1e-12)


@for_some(4, "seed", range(10))
def test_each_configuration_scores_as_if_it_were_alone(seed):
    records = random_records(seed, attributes=5)
    codes = random_codes(seed, records, configurations=24)
    codes[12:, :3] = codes[0, :3]  # many that share their first maskings
    together = scores(records, codes)
    alone = [scores(records, codes[[row]]) for row in range(24)]
    assert together.utility == pytest.approx([one.utility[0] for one in alone], abs=1e-9)
    assert together.dimensions.tolist() == [one.dimensions[0] for one in alone]


@for_each("seed", range(10))
def test_merging_masked_values_never_raises_it(seed):
    rng = np.random.default_rng(seed)
    records = random_records(seed, attributes=3, values=8)
    coarser = [[rng.integers(0, 3, int(view.max()) + 1)[view] for view in each] for each in records.mappings]
    merged = Records(records.values, records.classes, coarser)
    codes = random_codes(seed, records, configurations=20)
    assert (scores(merged, codes).utility <= scores(records, codes).utility + 1e-12).all()


def test_a_copy_of_an_attribute_adds_nothing():
    one = random_records(3, attributes=2)
    copied = Records(one.values[:, [0, 1, 0, 0]], one.classes, [one.mappings[at] for at in (0, 1, 0, 0)])
    row = np.array([[2, 2, 2, 3]])
    found, expected = scores(copied, row), one.trace([2, 2])
    # v1 of the copy is not a function of v0, so it adds something of its own.
    assert found.utility[0] >= expected[0] - 1e-9
    same = np.array([[2, 2, 2, 2]])
    assert scores(copied, same).utility[0] == pytest.approx(expected[0], abs=1e-8)
    assert scores(copied, same).dimensions[0] == expected[1]


@for_each("seed", range(5))
def test_corrected_it_is_the_adjusted_r_squared_of_a_regression(seed):
    records = random_records(seed, labels=2, records=120)
    codes = random_codes(seed, records)
    found = scores(records, codes, corrected=True)
    assert found.utility == pytest.approx([regressed(records, row) for row in codes], abs=1e-7)


def test_corrected_it_is_nothing_on_average_where_attributes_tell_nothing():
    rng = np.random.default_rng(0)
    records = random_records(7, attributes=3)
    plain, corrected = [], []
    for _ in range(300):
        shuffled = Records(records.values, rng.permutation(records.classes), records.mappings)
        row = np.array([[2, 3, 4]])
        plain.append(scores(shuffled, row).utility[0])
        corrected.append(scores(shuffled, row, corrected=True).utility[0])
    error = np.std(corrected) / np.sqrt(300)
    assert abs(np.mean(corrected)) < 4 * error < 0.1 * np.mean(plain)


def test_as_many_dimensions_as_records_tell_nothing():
    values = np.stack([np.arange(12), np.arange(12)[::-1]], axis=1)
    records = Records(values, np.arange(12) % 2, [[np.arange(12)], [np.arange(12)]])
    row = np.array([[2, 2]])
    assert scores(records, row).utility[0] == pytest.approx(1, abs=1e-8)
    assert scores(records, row, corrected=True).utility[0] == pytest.approx(0, abs=1e-8)


SOME = np.array([[2, 3], [3, 2]])


def nested_records():
    records = random_records(4, attributes=2)
    mappings = [[np.arange(8), np.arange(8) // 4], [np.arange(8), np.arange(8) // 4]]
    return Records(records.values, records.classes, mappings)


def best_known(records, codes, others, pairs=None, **how):
    pairs = records.pairs() if pairs is None else pairs
    given = records.evidence(), records.options, codes, pairs
    return score_jointly(*given, corrected=False, others=np.array(others), **how).best_known


def test_other_configurations_tell_what_is_there():
    nested = nested_records()
    assert best_known(nested, SOME, [[2, 2]]) == pytest.approx(nested.trace([2, 2])[0], abs=1e-8)


def test_others_without_pair_counts_are_left_out_by_themselves():
    nested = nested_records()
    pairs = [nested.pair(0, "v0", 1, "v1"), nested.pair(0, "v1", 1, "v1")]
    told = best_known(nested, SOME[:1], [[3, 3]], pairs)
    assert best_known(nested, np.array([[3, 3]]), [[2, 3], [2, 2]], pairs) == pytest.approx(told, abs=1e-12)
    assert told == pytest.approx(nested.trace([2, 3])[0], abs=1e-8)


def test_others_that_no_table_has_are_left_out():
    nested = nested_records()
    wrong = PairCounts((0, 1), ("v0", "v0"), np.diag(np.full(8, 300 // 8)))
    pairs = [pair for pair in nested.pairs() if pair.maskings != ("v0", "v0")]
    told = best_known(nested, SOME, [[2, 3]], pairs)
    assert best_known(nested, SOME, [[2, 2]], [*pairs, wrong]) == pytest.approx(told, abs=1e-12)


def test_of_very_many_others_the_most_promising_are_looked_at(monkeypatch):
    records = random_records(8, attributes=4)
    codes = random_codes(8, records, configurations=30)
    every = scores(records, codes).utility
    monkeypatch.setattr(joint_scores, "MORE", 10)
    found = best_known(records, codes[[int(every.argmin())]], codes)
    assert found == pytest.approx(every.max(), abs=1e-12)


def test_without_room_for_others_the_question_is_answered(monkeypatch):
    nested = nested_records()
    monkeypatch.setattr(design, "MOST_COLUMNS", 5)
    coarse = np.array([[3, 3]])
    assert best_known(nested, coarse, [[2, 2]]) == pytest.approx(nested.trace([3, 3])[0], abs=1e-8)


def test_missing_pair_counts_are_named():
    records = random_records(5, attributes=3)
    codes = np.array([[2, 3, 4]])
    kept = [pair for pair in records.pairs() if pair.attributes != (0, 2)]
    with pytest.raises(MissingPairsError, match=r"'v0' of 'a0' with 'v2' of 'a2'") as raised:
        scores(records, codes, kept)
    assert raised.value.missing == [("a0", "v0", "a2", "v2")]


def test_maskings_with_one_masked_value_need_no_pair_counts():
    records = random_records(6, attributes=2)
    gone = Records(records.values, records.classes, [[np.zeros(8, dtype=int)], records.mappings[1]])
    assert scores(gone, np.array([[2, 2]]), []).utility[0] == pytest.approx(gone.trace([2, 2])[0], abs=1e-8)


def test_a_masking_without_counts_is_named():
    records = random_records(5, attributes=2)
    with pytest.raises(MissingCountsError, match="'identity' of 'a0'"):
        scores(records, np.array([[0, 1]]))


def test_counts_of_no_table_are_refused():
    """Each of three attributes equals the next, but the third is the opposite of the first."""
    values = np.stack([np.arange(40) % 2] * 3, axis=1)
    records = Records(values, np.arange(40) // 20, [[np.arange(2)]] * 3)
    same, contrary = np.array([[20, 0], [0, 20]]), np.array([[0, 20], [20, 0]])
    pairs = [PairCounts(each, ("v0", "v0"), same) for each in ((0, 1), (1, 2))]
    row = np.array([[2, 2, 2]])
    assert scores(records, row, [*pairs, PairCounts((0, 2), ("v0", "v0"), same)]).dimensions[0] == 1
    with pytest.raises(ContradictoryPairsError):
        scores(records, row, [*pairs, PairCounts((0, 2), ("v0", "v0"), contrary)])


def test_counts_that_would_tell_more_than_everything_are_refused():
    """Two attributes that each determine the label, with pair counts that say they are independent."""
    values = np.stack([np.arange(40) % 2] * 2, axis=1)
    records = Records(values, np.arange(40) % 2, [[np.arange(2)]] * 2)
    with pytest.raises(ContradictoryPairsError):
        scores(records, np.array([[2, 2]]), [PairCounts((0, 1), ("v0", "v0"), np.full((2, 2), 10))])


def test_too_many_masked_values_are_refused(monkeypatch):
    monkeypatch.setattr(design, "MOST_COLUMNS", 3)
    with pytest.raises(TooManyColumnsError, match="takes at most 3"):
        scores(random_records(0), random_codes(0, random_records(0)))


@for_each("seed", range(5))
def test_a_basis_has_mean_nought_and_unit_covariance(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, 1000, 9)
    sizes[[1, 4]] = 0
    basis = Basis.of(sizes)
    functions = basis.project(np.diag(sizes / sizes.sum()))  # (size, groups): each function weighted by the shares
    assert functions.sum(axis=1) == pytest.approx(np.zeros(6), abs=1e-12)
    assert correlation(np.diag(sizes), basis, basis) == pytest.approx(np.eye(6), abs=1e-12)


def test_correlations_lose_no_digits_for_rare_values():
    counts = np.array([10**12, 3, 2])
    basis = Basis.of(counts)
    assert correlation(np.diag(counts), basis, basis) == pytest.approx(np.eye(2), abs=1e-10)
