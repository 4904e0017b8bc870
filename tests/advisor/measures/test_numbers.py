"""The correlation ratio of a label whose classes have scores, against the records."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import f_oneway

from aegis_advisor.evidence import AttributeEvidence
from aegis_advisor.measures import MEASURES, utility_ceilings
from aegis_advisor.measures.numbers import correlation_ratio_bias
from tests.advisor.cases import evidence_of, mapped, random_mapping, random_table
from tests.for_each import for_each

RATIO = MEASURES["correlation_ratio"]


def drawn(seed, **how):
    rng = np.random.default_rng(seed)
    table = random_table(rng, **how)
    return table[table.any(axis=1)], np.round(rng.normal(1_000, 500, table.shape[1]), 1)


@for_each("seed", range(12))
def test_it_is_the_between_part_of_an_analysis_of_variance(seed):
    table, numbers = drawn(seed, labels=5)
    groups = [np.repeat(numbers, row) for row in table]
    within, records = len(groups) - 1, sum(map(len, groups))
    statistic = f_oneway(*groups).statistic * within / (records - len(groups))
    assert RATIO.scored(numbers)(table.astype(float)) == pytest.approx(statistic / (1 + statistic), rel=1e-10)


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e9), st.integers(0, 20))
def test_the_unit_of_the_scores_does_not_matter(shift, unit, seed):
    table, numbers = drawn(seed, labels=4)
    known = RATIO.scored(numbers)(table.astype(float))
    assert RATIO.scored(shift + unit * numbers)(table.astype(float)) == pytest.approx(known, rel=1e-3, abs=1e-9)


@for_each("seed", range(5))
def test_of_two_classes_it_is_chi_square_per_record(seed):
    table, numbers = drawn(seed, labels=2)
    expected = MEASURES["joint"](table.astype(float))
    assert RATIO.scored(numbers)(table.astype(float)) == pytest.approx(expected, rel=1e-10)


@for_each("numbers", [(3.0, 3.0, 3.0), (np.finfo(float).max, 0.0, -1.0), (5e-324, 0.0, 1e-300)])
def test_scores_at_the_limits_of_doubles_give_numbers(numbers):
    table = np.array([[5.0, 0, 2], [1, 7, 0]])
    measure = RATIO.scored(np.array(numbers))
    assert 0 <= measure(table) <= 1
    assert measure(table) == 0 or len(set(numbers)) > 1
    assert np.isfinite([measure.gradient(table).sum(), measure.sampling_bias(table), measure.second_order(table)]).all()


def test_a_sample_of_independent_records_exceeds_0_by_its_bias_on_average():
    rng, numbers = np.random.default_rng(1), np.array([0.0, 1.0, 5.0, 50.0])
    shares = np.outer(rng.dirichlet(np.full(10, 5)), rng.dirichlet(np.full(4, 5))).ravel()
    tables = [rng.multinomial(400, shares).reshape(10, 4).astype(float) for _ in range(400)]
    values = np.array([RATIO.scored(numbers)(table) for table in tables])
    biases = np.array([correlation_ratio_bias(table, numbers=numbers) for table in tables])
    corrected = np.array([RATIO.scored(numbers).corrected()(table) for table in tables])
    assert biases.mean() == pytest.approx(values.mean(), rel=0.1)
    assert abs(corrected.mean()) < 0.1 * values.mean()


@for_each("seed", range(20))
def test_the_truth_is_below_the_ceiling_of_its_scores(seed):
    rng = np.random.default_rng(seed)
    table = random_table(rng, values=6, labels=4, records=60)
    views = [mapped(f"v{at}", random_mapping(rng, 6, 3), table) for at in range(2)]
    plain, numbers = evidence_of(table, views), np.round(rng.normal(size=4), 2)
    known = AttributeEvidence(
        plain.name, 6, plain.label_histogram, plain.histogram, None, plain.maskings, label_scores=numbers
    )
    truth, most = RATIO.scored(numbers)(table.astype(float)), utility_ceilings(known)["correlation_ratio"]
    assert truth <= most + 1e-9
    for view in views:
        assert RATIO.scored(numbers)(view.joint.astype(float)) <= truth + 1e-9
