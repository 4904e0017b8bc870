"""Numbers in fields of forms."""

import pytest

from app.console.views.fields import number, written


@pytest.mark.parametrize(
    ("text", "meant"), [("", None), ("5", 5.0), ("0.25", 0.25), (".5", 0.5), ("-1", -1.0), ("1e+06", 1e6)]
)
def test_a_number_is_read(text, meant):
    assert number(text) == meant


@pytest.mark.parametrize("text", ["1,000", "0,5", "1_0", "nan", "inf", "٣", "many", "1.2.3"])
def test_what_may_mean_something_else_is_left_for_the_contract_to_refuse(text):
    assert number(text) == text


@pytest.mark.parametrize("value", [5, 0.1, 1e6, 1234567.5, 1e-9, 0.1 + 0.2])
def test_a_number_in_an_address_is_read_as_it_was(value):
    assert number(written(value)) == value
