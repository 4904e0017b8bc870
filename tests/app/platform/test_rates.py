from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.platform.http.rate_limit import Rate


class Clock:
    now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def test_so_many_at_once_and_then_one_after_the_other(clock):
    rate = Rate(3, 60, clock)
    assert [rate.take("a").remaining for _ in range(3)] == [2, 1, 0]
    refused = rate.take("a")
    assert (refused.wait, refused.remaining, refused.full_in) == (pytest.approx(20), 0, pytest.approx(60))
    clock.now += 19.9
    assert rate.take("a").wait == pytest.approx(0.1)
    clock.now += 0.2
    assert (rate.take("a").wait, rate.take("a").wait > 0) == (0, True)
    clock.now += 60
    assert rate.take("a").remaining == 2


def test_names_do_not_share_and_a_look_takes_nothing(clock):
    rate = Rate(1, 10, clock)
    assert rate.look("a").remaining == 1
    assert rate.take("a").wait == 0
    assert (rate.look("a").wait, rate.look("b").wait) == (pytest.approx(10), 0)
    assert rate.take("b").wait == 0


def test_old_names_are_forgotten(clock):
    rate = Rate(1, 10, clock, most_names=100)
    for number in range(1000):
        rate.take(str(number))
    assert len(rate._full_at) == 100
    assert (rate.take("999").wait > 0, rate.take("0").wait) == (True, 0)


@given(
    amount=st.integers(1, 20),
    seconds=st.integers(1, 100),
    pauses=st.lists(st.fractions(0, 30, max_denominator=100), min_size=1, max_size=60),
)
def test_it_decides_as_a_bucket_that_is_filled_at_this_pace(amount, seconds, pauses):
    clock = Clock()
    rate, tokens, now = Rate(amount, seconds, clock), Fraction(amount), Fraction(1000)
    for pause in pauses:
        now += pause
        tokens = min(Fraction(amount), tokens + pause * amount / seconds)
        clock.now = float(now)
        if abs(tokens - round(tokens)) < 1e-6 and tokens.denominator > 1:
            return  # floating point may decide either way
        standing = rate.take("a")
        assert (standing.wait == 0) == (tokens >= 1)
        tokens -= standing.wait == 0
        assert standing.remaining == tokens // 1
