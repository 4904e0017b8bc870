import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegis_sdk.charts.plot import Scale, chosen_ticks, round_numbers

anything = st.floats(-1e100, 1e100)


@given(anything, anything, st.integers(2, 9))
def test_round_numbers_are_multiples_of_1_2_or_5_times_a_power_of_ten(one, other, most):
    low, high = min(one, other), max(one, other)
    if Scale(low, high).is_point:
        return
    ticks = round_numbers(low, high, most)
    assert 0 < len(ticks) <= most
    assert list(ticks) == sorted(set(ticks))
    slack = 1e-8 * (high - low)
    assert low - slack <= ticks[0]
    assert ticks[-1] <= high + slack
    if len(ticks) > 1:
        step = ticks[1] - ticks[0]
        leading = step / 10 ** math.floor(math.log10(step) + 1e-6)
        assert min(abs(leading - each) for each in (1, 2, 5, 10)) < 1e-3


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0, 1, (0, 0.2, 0.4, 0.6, 0.8, 1.0)),
        (0.8, 1, (0.8, 0.85, 0.9, 0.95, 1.0)),
        (0, 20_003, (0, 5_000, 10_000, 15_000, 20_000)),
        (-3, 4, (-2, 0, 2, 4)),
        (0.1, 0.3, (0.1, 0.15, 0.2, 0.25, 0.3)),
    ],
)
def test_round_numbers_are_those_that_people_would_write(low, high, ticks):
    assert round_numbers(low, high, 6) == ticks


@given(st.lists(anything, min_size=1), st.booleans())
def test_places_are_within_the_axis_and_in_the_order_of_the_numbers(numbers, turned):
    scale = Scale.over(numbers, turned=turned, inset=0.04)
    places = [scale.place(each) for each in sorted(numbers)]
    assert all(0.04 - 1e-9 <= each <= 0.96 + 1e-9 for each in places)
    assert places == sorted(places, reverse=turned)


def test_numbers_over_decades_have_a_logarithmic_axis_with_its_own_round_numbers():
    scale = Scale.over([2, 80])
    assert scale.logarithmic
    assert scale.ticks() == (2, 5, 10, 20, 50)
    assert scale.place(math.sqrt(160)) == pytest.approx(0.5)
    assert Scale.over([1, 1e6]).ticks() == (1, 10, 100, 1_000, 10_000, 100_000, 1_000_000)
    assert len(Scale.over([1e-9, 1e9]).ticks()) <= 7
    assert not Scale.over([0, 80]).logarithmic
    assert not Scale.over([2, 10]).logarithmic


def test_equal_numbers_stand_half_way_with_one_number_beside_them():
    scale = Scale.over([5.0, 5.0])
    assert (scale.place(5.0), scale.ticks()) == (0.5, (5.0,))


def test_few_numbers_are_written_themselves_and_touch_nowhere():
    scale = Scale.over([2, 3, 5, 80])
    assert chosen_ticks(scale, [2, 3, 5, 80], str) == (2, 3, 5, 80)
    assert chosen_ticks(Scale.over([2, 2.01, 80]), [2, 2.01, 80], str) == (2, 80)
