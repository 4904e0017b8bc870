"""Transfer utilities of one attribute: equal to ordinary measures on one table, and to sums worked out by hand."""

from fractions import Fraction
from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from aegis_advisor.measures import MEASURES
from aegis_advisor.transfer import SMOOTHING, chi_square_transfer, g3_transfer, information_transfer, label_shares
from tests.advisor.cases import PAPER_TABLE
from tests.for_each import for_each

COUNTS = st.one_of(st.just(0), st.integers(1, 3), st.integers(0, 10**6))
SHAPES = arrays.array_shapes(min_dims=2, max_dims=2, max_side=6)
TABLES = arrays.arrays(np.float64, SHAPES, elements=COUNTS.map(float)).filter(lambda table: table.sum() > 0)


@st.composite
def release_and_holdout(draw):
    holdout = draw(TABLES)
    return draw(arrays.arrays(np.float64, holdout.shape, elements=COUNTS.map(float))), holdout


def contingency(table):
    return MEASURES["chi_square"](table) / table.sum()


@given(table=TABLES)
def test_of_one_table_and_unsmoothed_each_is_the_ordinary_utility(table):
    assert information_transfer(table, table, 0.0).value == pytest.approx(
        MEASURES["mutual_information"](table), abs=1e-9
    )
    assert chi_square_transfer(table, table).value == pytest.approx(contingency(table), abs=1e-9)
    assert g3_transfer(table, table).value == pytest.approx(MEASURES["g3"](table), abs=1e-12)


@given(table=TABLES, groups=st.lists(st.integers(0, 2), min_size=6, max_size=6))
def test_of_a_masking_it_is_the_utility_of_the_masked_table(table, groups):
    """The rule of a masked release gives all values of a group the group's shares."""
    of = np.array(groups[: len(table)])
    masked = np.stack([table[of == group].sum(axis=0) for group in range(3)])
    by_value = masked[of]  # what each value is predicted by, evaluated on the unmasked table
    assert chi_square_transfer(by_value, table).value == pytest.approx(contingency(masked), abs=1e-9)
    assert chi_square_transfer(masked, masked).value == pytest.approx(contingency(masked), abs=1e-9)


@given(tables=release_and_holdout())
def test_no_rule_tells_more_of_the_held_out_records_than_they_do_themselves(tables):
    release, holdout = tables
    assert information_transfer(release, holdout).value <= MEASURES["mutual_information"](holdout) + 1e-9
    assert chi_square_transfer(release, holdout).value <= contingency(holdout) + 1e-9
    assert g3_transfer(release, holdout).value >= MEASURES["g3"](holdout) - 1e-12


@given(tables=release_and_holdout())
def test_chi_square_is_that_of_the_held_out_records_less_the_squared_errors_of_the_rule(tables):
    release, holdout = tables
    joint = holdout / holdout.sum()
    rows, label = joint.sum(axis=1, keepdims=True), joint.sum(axis=0)
    real = np.divide(joint, rows, out=np.zeros(joint.shape), where=rows > 0)
    errors = rows * (label_shares(release) - real) ** 2
    lost = np.divide(errors, label, out=np.zeros(joint.shape), where=label > 0).sum()
    assert chi_square_transfer(release, holdout).value == pytest.approx(contingency(holdout) - lost, abs=1e-8)


@given(tables=release_and_holdout())
def test_chi_square_is_the_sum_that_defines_it(tables):
    """`sum_y 1/P(y) sum_a P(a) [2 (h_a(y) - P(y)) (P(y|a) - P(y)) - (h_a(y) - P(y))^2]`, term by term."""
    release, holdout = tables
    joint, rule = holdout / holdout.sum(), label_shares(release)
    label, total = joint.sum(axis=0), 0.0
    for value in range(len(holdout)):
        records = joint[value].sum()
        for y in np.flatnonzero(label):
            gap, real = rule[value, y] - label[y], joint[value, y] - records * label[y]
            total += (2 * gap * real - records * gap**2) / label[y]
    assert chi_square_transfer(release, holdout).value == pytest.approx(total, abs=1e-8)


@given(tables=release_and_holdout(), smoothing=st.sampled_from([0.0, 0.5, SMOOTHING]))
def test_the_shares_of_a_rule_add_up_to_one(tables, smoothing):
    shares = label_shares(tables[0], smoothing)
    assert shares.sum(axis=1) == pytest.approx(1.0)
    assert smoothing == 0 or (shares > 0).all()


@given(tables=release_and_holdout())
def test_smoothed_information_is_finite_and_within_what_a_service_accepts(tables):
    release, holdout = tables
    figure = information_transfer(release, holdout)
    least = -2 * log2(release.sum() + SMOOTHING) - log2(release.shape[1])
    assert least <= figure.value <= log2(release.shape[1]) + 1e-9
    assert np.isfinite(figure.standard_error)


def test_information_worked_out_by_hand():
    """Release: value 0 has labels 3, 1 and value 1 has 0, 4. Held out: 2, 2 and 0, 4, so P = 1/4, 3/4."""
    release, holdout = np.array([[3.0, 1.0], [0.0, 4.0]]), np.array([[2.0, 2.0], [0.0, 4.0]])
    unsmoothed = (2 * log2((3 / 4) / (1 / 4)) + 2 * log2((1 / 4) / (3 / 4)) + 4 * log2(1 / (3 / 4))) / 8
    assert information_transfer(release, holdout, 0.0).value == pytest.approx(unsmoothed)
    label = [Fraction(3 + 1, 8 + 2), Fraction(5 + 1, 8 + 2)]
    rule = [[(3 + 2 * label[0]) / 6, (1 + 2 * label[1]) / 6], [2 * label[0] / 6, (4 + 2 * label[1]) / 6]]
    logs = [[log2(share / (Fraction(1, 4), Fraction(3, 4))[y]) for y, share in enumerate(row)] for row in rule]
    smoothed = (2 * logs[0][0] + 2 * logs[0][1] + 4 * logs[1][1]) / 8
    assert information_transfer(release, holdout).value == pytest.approx(smoothed)


def test_chi_square_and_g3_worked_out_by_hand():
    """h_0 = 3/4, 1/4 and h_1 = 0, 1. Both values have half of the held-out records; P = 1/4, 3/4."""
    release, holdout = np.array([[3.0, 1.0], [0.0, 4.0]]), np.array([[2.0, 2.0], [0.0, 4.0]])
    half, quarter = Fraction(1, 2), Fraction(1, 4)
    first = half * (2 * half * quarter - half**2) + half * (2 * quarter * quarter - quarter**2)
    assert chi_square_transfer(release, holdout).value == pytest.approx(float(first / quarter + first / (3 * quarter)))
    assert g3_transfer(release, holdout).value == pytest.approx(2 / 8)  # two of value 0 have the other label


def test_a_value_that_the_release_lacks_is_predicted_by_its_labels():
    release, holdout = np.array([[6.0, 2.0], [0.0, 0.0]]), np.array([[0.0, 0.0], [1.0, 3.0]])
    assert g3_transfer(release, holdout).value == 0.75
    assert chi_square_transfer(release, holdout).value == pytest.approx(-((0.5**2) / 0.25 + (0.5**2) / 0.75))
    worse = 0.25 * log2(0.7 / 0.25) + 0.75 * log2(0.3 / 0.75)  # (6 + 1) / (8 + 2) and the rest
    assert information_transfer(release, holdout).value == pytest.approx(worse)


def test_a_rule_of_unlike_records_tells_less_than_nothing():
    opposite = PAPER_TABLE[::-1].astype(float)
    assert information_transfer(opposite, PAPER_TABLE.astype(float)).value < 0
    assert chi_square_transfer(opposite, PAPER_TABLE.astype(float)).value < 0


@for_each("transfer", [information_transfer, chi_square_transfer, g3_transfer])
def test_standard_errors_are_the_spread_of_figures_on_other_samples(transfer):
    random = np.random.default_rng(4)
    population = np.array([[0.1, 0.2, 0.05], [0.05, 0.1, 0.25], [0.15, 0.05, 0.05]])
    release = random.multinomial(300, population.ravel()).reshape(3, 3).astype(float)
    samples = random.multinomial(2_000, population.ravel(), size=2_000).reshape(-1, 3, 3).astype(float)
    figures = [transfer(release, one) for one in samples]
    spread = np.std([figure.value for figure in figures])
    assert np.mean([figure.standard_error for figure in figures]) == pytest.approx(spread, rel=0.07)
    truth = transfer(release, population * 1e12).value
    assert np.mean([one.low <= truth <= one.high for one in figures]) == pytest.approx(0.95, abs=0.015)
