"""Bounds on deviations, checked against every true utility that the bounds allow."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegis_sdk.reading import Bounds, deviation_bounds, reference_known, stated_deviation, utility_bounds
from aegis_sdk.wire import AttributeAdvice

numbers = st.floats(0, 2)


def attribute_of(reference=0.5, utility=0.25, source="counts", **fields):
    score = {"utility": utility, "deviation": abs(reference - utility), "source": source}
    given_fields = {"knowledge": "histogram", "reference_utility": reference, **fields}
    return AttributeAdvice.model_validate({"name": "a", "maskings": {"m": score, "identity": score}, **given_fields})


@given(numbers, numbers, numbers, st.floats(0, 1))
def test_the_true_deviation_lies_between_its_bounds_and_reaches_them(one, other, utility, share):
    least, most = sorted((one, other))
    attribute = attribute_of(utility=utility, lower_bound=least, upper_bound=most)
    bounds = deviation_bounds(attribute, attribute.maskings["m"])
    true = abs(least + share * (most - least) - utility)
    assert bounds.least - 1e-12 <= true <= bounds.most + 1e-12
    nearest = min(max(utility, least), most)
    assert bounds.least == pytest.approx(abs(nearest - utility))
    assert bounds.most == pytest.approx(max(abs(least - utility), abs(most - utility)))


@pytest.mark.parametrize("source", ["fitted", "reference", "new"])
def test_of_an_estimated_masking_nothing_is_certain(source):
    attribute = attribute_of(source=source, lower_bound=0.4, upper_bound=0.5)
    assert deviation_bounds(attribute, attribute.maskings["m"]) == Bounds(0, math.inf)


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"knowledge": "joint"}, "about 0.25"),  # unmasked counts that were rounded
        ({"bound": "exact"}, "0.25"),
        ({"lower_bound": 0.5, "upper_bound": 0.84}, "0.25 (0.25 to 0.59)"),
        ({"lower_bound": 0.5, "upper_bound": 0.6}, "at least 0.25"),
        ({"lower_bound": 0.5}, "at least 0.25"),
        ({"lower_bound": 0.45, "upper_bound": 0.55}, "about 0.25"),
        ({}, "about 0.25"),
        ({"lower_bound": 0.5, "upper_bound": 0.84, "source": "fitted"}, "about 0.25"),
        ({"utility": 0.5, "lower_bound": 0.5, "upper_bound": 0.84}, "0 (0 to 0.34)"),
        ({"utility": 0.5, "source": "reference"}, "about 0"),
        # For an error, lower is better, and the true one is at most that of the best view.
        ({"reference": 0.1, "utility": 0.3, "upper_bound": 0.1}, "at least 0.2"),
        ({"reference": 0.1, "utility": 0.3, "lower_bound": 0.0, "upper_bound": 0.1}, "at least 0.2"),
    ],
)
def test_a_deviation_is_told_as_certain_as_it_is(fields, told):
    attribute = attribute_of(**fields)
    assert stated_deviation(attribute, "m") == told
    assert stated_deviation(attribute, "identity").split()[0] == f"{attribute.maskings['m'].deviation:.3g}"


def test_bounds_far_apart():
    assert Bounds(0.1, 0.21).far_apart
    assert not Bounds(0.1, 0.2).far_apart
    assert not Bounds(0, 1e-12).far_apart
    assert not Bounds(0.1, math.inf).far_apart
    assert utility_bounds(attribute_of()) == Bounds(-math.inf, math.inf)
    assert [reference_known(attribute_of(bound=each)) for each in ("exact", "lower", None)] == [True, False, False]
