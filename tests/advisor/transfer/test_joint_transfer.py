"""The transfer utility of all attributes together, beside least squares by scikit-learn and Pillai's trace."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression

from aegis_advisor.measures import MEASURES
from aegis_advisor.transfer import additive_rule, chi_square_transfer, joint_transfer
from tests.advisor.joint.joint_cases import centred, indicators


@st.composite
def records(draw, most=40):
    """Codes (records, attributes), labels, sizes and classes."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    classes = draw(st.integers(2, 3))
    count = draw(st.integers(2, most))
    columns = [draw(st.lists(st.integers(0, size - 1), min_size=count, max_size=count)) for size in sizes]
    labels = draw(st.lists(st.integers(0, classes - 1), min_size=count, max_size=count))
    return np.array(columns).T, np.array(labels), sizes, classes


def trace(codes, labels):
    """Pillai's trace of records, by pseudo-inverses of all indicators."""
    x, y = centred(np.hstack([indicators(column) for column in codes.T])), centred(indicators(labels))
    inner = np.linalg.pinv(x.T @ x, rcond=1e-9) @ (x.T @ y) @ np.linalg.pinv(y.T @ y, rcond=1e-9) @ (y.T @ x)
    return float(np.trace(inner))


@given(given=records())
def test_of_the_same_records_it_is_pillais_trace(given):
    codes, labels, sizes, classes = given
    figure = joint_transfer(additive_rule(codes, labels, sizes, classes), codes, labels)
    assert figure.value == pytest.approx(trace(codes, labels), abs=1e-7)


@given(given=records())
def test_of_one_attribute_it_is_its_chi_square(given):
    codes, labels, sizes, classes = given
    release, holdout = np.zeros((2, sizes[0], classes))
    half = len(codes) // 2
    np.add.at(release, (codes[:half, 0], labels[:half]), 1)
    np.add.at(holdout, (codes[half:, 0], labels[half:]), 1)
    rule = additive_rule(codes[:half, :1], labels[:half], sizes[:1], classes)
    assert joint_transfer(rule, codes[half:, :1], labels[half:]).value == pytest.approx(
        chi_square_transfer(release, holdout).value, abs=1e-7
    )


def test_it_predicts_as_least_squares_does():
    random = np.random.default_rng(5)
    codes = np.column_stack([random.integers(0, size, 2_000) for size in (3, 5, 2)])
    labels = (random.random(2_000) < 0.1 + 0.1 * codes[:, 0] + 0.1 * codes[:, 1] * codes[:, 2]).astype(int)
    seen, held_out = np.arange(1_000), np.arange(1_000, 2_000)
    rule = additive_rule(codes[seen], labels[seen], [3, 5, 2], 2)
    ones = np.hstack([indicators(column) for column in codes.T])
    fitted = LinearRegression().fit(ones[seen], np.eye(2)[labels[seen]])
    predicted = fitted.predict(ones[held_out])
    assert rule.predict(codes[held_out]) == pytest.approx(predicted, abs=1e-9)
    label = np.eye(2)[labels[held_out]]
    shares = label.mean(axis=0)
    gap = predicted - shares
    expected = np.sum(np.mean(2 * gap * (label - shares) - gap**2, axis=0) / shares)
    assert joint_transfer(rule, codes[held_out], labels[held_out]).value == pytest.approx(expected)


def test_a_value_that_the_release_lacks_counts_as_average():
    codes, labels = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 0, 1, 1])
    rule = additive_rule(codes, labels, [3, 2], 2)
    assert rule.predict(np.array([[2, 0]])) == pytest.approx(np.array([[0.5, 0.5]]))
    assert rule.predict(np.array([[0, 1]])) == pytest.approx(np.array([[1.0, 0.0]]))


def test_copies_of_an_attribute_tell_nothing_more():
    random = np.random.default_rng(6)
    codes, labels = random.integers(0, 4, (400, 1)), random.integers(0, 3, 400)
    one = joint_transfer(additive_rule(codes, labels, [4], 3), codes, labels)
    twice = np.hstack([codes, codes])
    two = joint_transfer(additive_rule(twice, labels, [4, 4], 3), twice, labels)
    assert (two.value, two.standard_error) == pytest.approx((one.value, one.standard_error))
    table = np.zeros((4, 3))
    np.add.at(table, (codes[:, 0], labels), 1)
    assert one.value == pytest.approx(MEASURES["joint"](table))


def test_standard_errors_are_the_spread_of_figures_on_other_samples():
    random = np.random.default_rng(7)

    def drawn(count):
        codes = random.integers(0, 3, (count, 2))
        return codes, (random.random(count) < 0.1 + 0.15 * codes[:, 0] + 0.1 * codes[:, 1]).astype(int)

    rule = additive_rule(*drawn(500), [3, 3], 2)
    figures = [joint_transfer(rule, *drawn(1_000)) for _ in range(1_000)]
    spread = np.std([figure.value for figure in figures])
    assert np.mean([figure.standard_error for figure in figures]) == pytest.approx(spread, rel=0.08)
