"""The joint measure of a label whose classes have scores, against a regression on the records."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from aegis_advisor.joint import score_jointly
from aegis_advisor.ranking import Question, recommend
from aegis_advisor.reconstruction import reconstruct
from tests.advisor.joint.joint_cases import Records, indicators, random_codes, random_records
from tests.for_each import for_each


def scores(records, codes, numbers, **how):
    return score_jointly(
        records.evidence(), records.options, codes, records.pairs(), corrected=False, numbers=numbers, **how
    )


def regressed(records, row, numbers):
    """R^2 of a regression of the scores on the indicators of a configuration, and the rank of these."""
    columns = [records.masked(at, records.options[at][code]) for at, code in enumerate(row)]
    shown = [indicators(column) for column in columns if column is not None]
    if not shown:
        return 0.0, 0
    features, target = np.concatenate(shown, axis=1), numbers[records.classes]
    rank = np.linalg.matrix_rank(features - features.mean(axis=0), tol=1e-8 * np.sqrt(len(features)))
    return LinearRegression().fit(features, target).score(features, target), rank


@for_each("seed", range(12))
def test_it_is_r_squared_of_a_regression_on_the_records(seed):
    records = random_records(seed, attributes=2 + seed % 4, labels=5)
    codes, numbers = random_codes(seed, records), np.random.default_rng(seed).normal(50, 20, 5).round(2)
    result = scores(records, codes, numbers)
    expected = [regressed(records, row, numbers) for row in codes]
    assert result.utility == pytest.approx([share for share, _ in expected], abs=1e-7)
    assert result.dimensions.tolist() == [rank for _, rank in expected]


def test_whole_numbers_decide_where_attributes_repeat_each_other():
    records = random_records(3, attributes=2, labels=4)
    mappings = [one for one in records.mappings for _ in range(2)]
    twice = Records(np.repeat(records.values, 2, axis=1), records.classes, mappings)
    codes, numbers = random_codes(3, twice), np.array([0.1, 2.7, 12_345.67, -1e-3])
    result = scores(twice, codes, numbers)
    assert result.utility == pytest.approx([regressed(twice, row, numbers)[0] for row in codes], abs=1e-9)
    assert result.doubt < 1e-9


@for_each("seed", range(8))
def test_merging_masked_values_never_raises_it(seed):
    rng = np.random.default_rng(seed)
    records = random_records(seed, attributes=3, values=8, labels=4)
    coarser = [[rng.integers(0, 3, int(view.max()) + 1)[view] for view in each] for each in records.mappings]
    merged = Records(records.values, records.classes, coarser)
    codes, numbers = random_codes(seed, records), rng.normal(size=4)
    assert np.all(scores(merged, codes, numbers).utility <= scores(records, codes, numbers).utility + 1e-9)


@for_each("numbers", [(1.0, 1.0, 1.0), (0.0, 0.0, 7.0)])
def test_scores_may_repeat(numbers):
    records = random_records(1, labels=3)
    codes, known = random_codes(1, records), np.array(numbers)
    expected = [regressed(records, row, known)[0] if np.ptp(known) else 0.0 for row in codes]
    assert scores(records, codes, known).utility == pytest.approx(expected, abs=1e-9)


@for_each("seed", range(3))
def test_a_question_uses_the_scores_of_the_label(seed):
    records, numbers = random_records(seed, labels=4), np.array([0.0, 1.0, 10.0, 100.0])
    evidence = [replace(one, label_scores=numbers) for one in records.evidence()]
    codes, weights = random_codes(seed, records), np.full(4, 0.25)
    question = Question("joint_scores", tuple(one.name for one in evidence), weights)
    answer = recommend(evidence, list(map(reconstruct, evidence)), codes, records.options, question, records.pairs())
    utility = dict(zip(answer.ranking.index.tolist(), answer.ranking.utility.tolist(), strict=True))
    assert [utility[at] for at in range(len(codes))] == pytest.approx(scores(records, codes, numbers).utility)
    assert answer.ranking_basis == "exact"
