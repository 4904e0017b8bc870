import datetime as dt
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegis_provider.errors import UnmaskableValueError
from aegis_provider.table.values import Domain, ValueType, decimal_of, infer_type, possible_code
from tests.for_each import for_each


@for_each(
    ("texts", "expected"),
    [
        (["1", "-2", "+3", "0", ""], "integer"),
        (["1", "2.5"], "number"),
        ([".5", "1e3", "2."], "number"),
        (["true", "False"], "boolean"),
        (["yes", "no"], "string"),
        (["0", "1"], "integer"),
        (["2024-02-29", "1999-12-31"], "date"),
        (["2023-02-29"], "string"),
        (["01234", "1234"], "string"),
        (["007.5"], "string"),
        (["1", "x"], "string"),
        (["10", "1E1", "2e1"], "string"),
        (["1E1"], "string"),
        (["1", "1.0", "+1", "1e0"], "number"),
        (["10", "2.5E3"], "number"),
        (["10", "1e-05"], "number"),
        (["1e+20", "7"], "number"),
        (["10", "1E1", "3x"], "string"),
        (["1_000"], "string"),
        ([" 1"], "string"),
        (["nan", "1"], "string"),
        (["inf"], "string"),
        (["\u0661"], "string"),
        (["", ""], "string"),
    ],
)
def test_the_type_is_the_narrowest_that_all_values_have(texts, expected):
    assert infer_type(texts) == expected


def test_numbers_stand_in_numeric_order_after_the_missing_value():
    assert Domain.of(["10", "9", "", "-1", "100"]).texts == ("", "-1", "9", "10", "100")


def test_strings_stand_in_text_order_and_dates_in_time():
    assert Domain.of(["b", "a", "B"]).texts == ("B", "a", "b")
    dates = Domain.of(["2024-01-10", "2023-12-31"])
    assert dates.texts == ("2023-12-31", "2024-01-10")
    assert dates.keys[0] == dt.date(2023, 12, 31)


def test_two_texts_of_a_number_are_one_value_and_the_shortest_stands_for_it():
    domain = Domain.of(["1.00", "1.0", "2.50", "2.5", "+3", "-0", "0.0"])
    assert domain.texts == ("-0", "1.0", "2.5", "+3")
    assert domain.places == {"-0": 0, "0.0": 0, "1.0": 1, "1.00": 1, "2.5": 2, "2.50": 2, "+3": 3}


def test_a_spelling_with_an_exponent_is_never_the_plainest():
    domain = Domain.of(["1e5", "100000", "1e-05", "0.00001"])
    assert domain.texts == ("0.00001", "100000")
    assert domain.by_spelling().texts == ("0.00001", "1e-05", "100000", "1e5")


@for_each(
    ("texts", "code"),
    [
        (["10", "1E1"], "1E1"),
        (["1E1", "2.5"], "1E1"),
        (["1E1", "x"], None),
        (["1e-05", "1"], None),
        (["01", "1E1"], None),
    ],
)
def test_a_bare_exponent_among_decimals_may_be_a_code(texts, code):
    assert possible_code(["", *texts]) == code


def test_a_declared_integer_may_have_leading_zeros_and_zero_decimals():
    assert Domain.of(["007", "7", "7.0", "8"], ValueType.INTEGER).texts == ("7", "8")


def test_a_declared_boolean_reads_yes_and_no():
    domain = Domain.of(["yes", "no", "YES"], ValueType.BOOLEAN)
    assert domain.texts == ("no", "YES")
    assert domain.keys == (False, True)


@for_each(
    ("text", "declared", "reason"),
    [
        ("1.5", ValueType.INTEGER, "'1.5' is not an integer"),
        ("x", ValueType.NUMBER, "'x' is not a number"),
        ("Infinity", ValueType.NUMBER, "'Infinity' is not a number"),
        ("maybe", ValueType.BOOLEAN, "'maybe' is not true, false, yes, no, 1 or 0"),
        ("20240101", ValueType.DATE, "'20240101' is not a date (YYYY-MM-DD)"),
    ],
)
def test_a_value_of_another_type_is_named(text, declared, reason):
    with pytest.raises(UnmaskableValueError) as raised:
        Domain.of([text, ""], declared)
    assert str(raised.value) == reason


@for_each("text", ["", ".", "-", "1e", "1e1000", "1" * 401, "--1", "0x1", "1\n"])
def test_what_is_no_number_of_reasonable_size_is_refused(text):
    with pytest.raises(UnmaskableValueError):
        decimal_of(text)


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**20), max_value=10**20))
def test_every_decimal_is_read_exactly(number):
    assert decimal_of(str(number)) == number


@given(st.lists(st.decimals(allow_nan=False, allow_infinity=False, places=2), min_size=1))
def test_the_domain_of_numbers_is_sorted_and_without_duplicates(numbers):
    domain = Domain.of(map(str, numbers), ValueType.NUMBER)
    assert list(domain.keys) == sorted(set(numbers))
    assert all(Decimal(text) == key for text, key in zip(domain.texts, domain.keys, strict=True))
