"""Numbers as people read them: what is said is never another number, nor more certain than it is."""

from hypothesis import assume, given
from hypothesis import strategies as st

from aegis_sdk.reading import Share, number, percent, share_with_limits

NUMBERS = [
    (0, "0"),
    (5.0, "5"),
    (0.030313, "0.0303"),
    (12_345, "12,345"),
    (12_345.6, "12,346"),
    (999.96, "1,000"),
    (1.5, "1.5"),
    (1.234e-7, "1.23e-7"),
    (1e20, "1e20"),
    (-0.5, "-0.5"),
]
SHARES = [
    (0, "0 %"),
    (1, "100 %"),
    (0.9087, "90.9 %"),
    (0.0123, "1.2 %"),
    (0.0004, "< 0.1 %"),
    (0.99999, "> 99.9 %"),
    (0.5, "50 %"),
    (12.5, "1,250 %"),
    (1 + 1e-12, "100 %"),
    (1.0004, "> 100 %"),
    (1.006, "101 %"),
]
parts = st.floats(0, 1)


def test_numbers_have_three_digits_that_mean_something():
    assert [(value, number(value)) for value, _ in NUMBERS] == NUMBERS


def test_percent_says_nothing_and_all_only_of_exactly_these():
    assert [(value, percent(value).replace("\N{NO-BREAK SPACE}", " ")) for value, _ in SHARES] == SHARES


@given(st.one_of(parts, st.floats(0.99, 1), st.floats(0, 0.01)))
def test_rounding_turns_no_part_into_all_or_nothing(part):
    assume(part <= 1 - 1e-9 or part == 1)  # sums of shares may lack a bit of one
    for said in (str(Share(part)), Share(part).whole, percent(part).replace("\N{NO-BREAK SPACE}", " ")):
        assert (said == "100 %") == (part == 1)
        assert (said == "0 %") == (part == 0)
        digits = float(said.strip("<> %")) / 100
        half = 0.005 + 1e-12  # of a percent; an exact tie, as 12.5 %, lies there but for a bit of its float
        assert digits <= part if said[0] == ">" else part <= digits if said[0] == "<" else abs(digits - part) <= half


@given(st.floats(1, 1.02))
def test_more_than_all_is_not_said_to_be_all(share):
    assume(share == 1 or share > 1 + 1e-8)
    for said in (str(Share(share)), Share(share).whole):
        assert (said == "100 %") == (share == 1)
        assert float(said.strip("> %")) / 100 <= share + (0 if said[0] == ">" else 0.005 + 1e-12)


def test_less_than_nothing_is_not_said_to_be_nothing():
    assert [Share(share).whole for share in (-0.004, -0.006, -0.0)] == ["> -1 %", "-1 %", "0 %"]
    assert str(Share(-0.0)) == "0 %"


@given(st.lists(parts, min_size=3, max_size=3))
def test_the_limits_of_a_share_are_rounded_to_neither_end(numbers):
    low, value, high = sorted(numbers)
    assume(high < 1 - 1e-9 and low > 0)
    said = share_with_limits(value, low, high)
    assert "100" not in said
    assert " 0 " not in f" {said} ".replace("(", " ").replace(")", " ")


@given(st.floats(-1e300, 1e300), st.integers(2, 6))
def test_what_is_said_is_near_and_has_no_needless_exponent(value, digits):
    said = number(value, digits)
    read = float(said.replace(",", ""))
    assert abs(read - value) <= 10.0 ** (1 - digits) * abs(value) + 1e-320
    assert "e" not in said or abs(value) < 0.0001 or abs(value) >= 1e15


@given(st.integers(-(10**14), 10**14))
def test_whole_numbers_keep_all_digits(value):
    assert number(value) == number(float(value)) == f"{value:,}"
