"""Numbers in fields of forms."""

import pytest

from aegis_sdk import wire
from app.pages.forms import number, validated_as, whole_number, written
from app.pages.words import field_name
from app.platform.errors import InvalidDocumentError

MEANT = [("", None), ("5", 5.0), ("0.25", 0.25), (".5", 0.5), ("-1", -1.0), ("1e+06", 1e6)]


def test_a_number_is_read():
    assert [(text, number(text)) for text, _ in MEANT] == MEANT


def test_what_may_mean_something_else_is_left_for_the_contract_to_refuse():
    texts = ["1,000", "0,5", "1_0", "nan", "inf", "٣", "many", "1.2.3"]
    assert [number(text) for text in texts] == texts


@pytest.mark.parametrize("value", [5, 0.1, 1e6, 1234567.5, 1e-9, 0.1 + 0.2])
def test_a_number_in_an_address_is_read_as_it_was(value):
    assert number(written(value)) == value


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("many", "give a whole number, such as 10, or 0"),
        ("-3", "give a whole number, such as 10, or 0"),
        ("1" + "0" * 12, "give at most 1,000,000,000"),
    ],
)
def test_a_limit_that_is_none_is_refused_in_plain_words(typed, said):
    with pytest.raises(InvalidDocumentError, match=r"^Correct what is marked\.$") as refused:
        validated_as(wire.QuotaDocument, {"entries": whole_number(typed)})
    assert [(fault.pointer, fault.detail) for fault in refused.value.faults] == [("/entries", said)]


@pytest.mark.parametrize(("typed", "said"), [("many", "give a number, such as 10"), ("-1", "give at least 0")])
def test_privacy_that_is_no_number_is_refused_in_plain_words(typed, said):
    with pytest.raises(InvalidDocumentError) as refused:
        validated_as(wire.PolicyDocument, {"require": {"k": number(typed)}, "sign_off": False})
    assert [(fault.pointer, fault.detail) for fault in refused.value.faults] == [("/require/k", said)]


def test_faults_beyond_those_that_are_shown_are_left_out():
    with pytest.raises(InvalidDocumentError) as refused:
        validated_as(wire.AdviceRequest, {"measure": "g3", "weights": {f"a{place}": "x" for place in range(300)}})
    assert {fault.detail for fault in refused.value.faults} == {"give a number, such as 10"}
    assert len(refused.value.faults) == wire.FAULTS_SHOWN


@pytest.mark.parametrize(
    ("pointer", "name"),
    [
        ("", ""),
        ("/require/k", "k"),
        ("/weights/a~1b~0c", "a/b~c"),
        ("/attributes/0", "attributes"),
        ("/limit", "limit"),
    ],
)
def test_a_field_has_the_name_that_people_know(pointer, name):
    assert field_name(pointer) == name
