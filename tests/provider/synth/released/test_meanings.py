"""What released texts stand for, against the functions that mask them and against lists made by hand."""

from decimal import Decimal

import pyarrow as pa

from aegis_provider.masking.hierarchy import DateHierarchy
from aegis_provider.masking.numbers import EdgeBuckets, EqualBuckets
from aegis_provider.masking.texts import Blur
from aegis_provider.records import Column
from aegis_provider.synth.released.meanings import meanings_of
from tests.for_each import for_each

AGES = ["", "7", "18", "19", "20", "25", "29", "30", "34"]
TOWNS = ["", "1210", "1220", "1300", "99"]
DAYS = ["2023-12-31", "2024-01-01", "2024-03-31", "2024-04-01"]


def column(values):
    return Column.of("a", pa.array(values))


def values(text, domain, others=()):
    """The values of a domain that a text stands for, beside other texts."""
    one = column(domain)
    meaning = meanings_of([text, *others], one).of_text[0]
    return meaning if isinstance(meaning, float) else {one.domain.texts[place] for place in meaning}


@for_each(
    ("text", "expected"),
    [
        ("20", {"20"}),
        ("20.0", {"20"}),
        ("", {""}),
        ("*", set(AGES)),
        ("[20,30)", {"20", "25", "29"}),
        ("[20, 30)", {"20", "25", "29"}),
        ("(20, 30]", {"25", "29", "30"}),
        ("20-29", {"20", "25", "29"}),
        ("< 20", {"7", "18", "19"}),
        ("<=20", {"7", "18", "19", "20"}),
        (">= 30", {"30", "34"}),
        ("30+", {"30", "34"}),
        ("(-inf,18)", {"7"}),
        ("[30,inf)", {"30", "34"}),
        ("1*", {"18", "19"}),
    ],
)
def test_numbers(text, expected):
    assert values(text, AGES) == expected


def test_a_number_that_no_record_has_is_itself_and_an_interval_without_one_its_middle():
    assert values("21.5", AGES) == 21.5
    assert values("[21,24)", AGES) == 22.5


@for_each(
    ("text", "expected"),
    [
        ("12**", {"1210", "1220"}),
        ("1***", {"1210", "1220", "1300"}),
        ("1210 | 99", {"1210", "99"}),
        ("missing | 99", {"", "99"}),
        ("1210 | 99 (2)", {"1210", "99"}),
    ],
)
def test_categories(text, expected):
    assert values(text, [*TOWNS, "a"]) == expected


def test_a_group_with_more_has_the_values_that_no_other_text_stands_for():
    assert values("1210 and 2 more", [*TOWNS, "a"], ["99", "a", "missing | 1300"]) == {"1210", "1220"}


def test_a_text_that_is_not_understood_tells_nothing_and_is_named():
    found = meanings_of(["elsewhere", "99"], column([*TOWNS, "a"]))
    assert len(found.of_text[0]) == len(TOWNS) + 1
    assert found.not_understood == ("elsewhere",)


@for_each(
    ("function", "domain"),
    [
        (EqualBuckets(Decimal(10)), AGES),
        (EqualBuckets(Decimal("2.5")), [*AGES, "7.5"]),
        (EdgeBuckets((Decimal(0), Decimal(18), Decimal(30), Decimal("Infinity"))), AGES),
        (Blur(2), [*TOWNS, "a"]),
        (DateHierarchy(("month",), 1), DAYS),
        (DateHierarchy(("quarter", "year"), 1), DAYS),
        (DateHierarchy(("year", "decade"), 2), DAYS),
    ],
)
def test_masked_values_stand_for_exactly_what_is_masked_so(function, domain):
    one = column(domain)
    masked = function.mask(one.domain)
    distinct = sorted(set(masked))
    found = meanings_of(distinct, one)
    assert not found.not_understood
    for text, members in zip(distinct, found.of_text, strict=True):
        assert [one.domain.texts[place] for place in members] == [
            value for value, to in zip(one.domain.texts, masked, strict=True) if to == text
        ]


def test_what_is_known_of_a_text_goes_before_its_look():
    one = column(["a", "b", "c"])
    assert meanings_of(["a"], one, {"a": [1, 2]}).of_text == [[1, 2]]
