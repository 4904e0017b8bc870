"""Where texts of a delivered column belong, also if entries and files are hostile."""

import time

from aegis_provider.plan.model import Roles
from aegis_provider.receiving.delivered import STARRED, UNKNOWN, Listed, can_be_output, placed
from aegis_provider.receiving.verification import StatedRoles
from aegis_provider.table.values import ValueType
from aegis_sdk.texts import Span, span_of
from tests.for_each import for_each


def function(name, **parameters):
    return {"name": name, "parameters": parameters}


def in_groups(listed, texts):
    """Return the listed texts that are compared together, and those of each text."""
    placing = placed(listed, texts)
    names = [
        {text for text, group in zip(listed.texts, placing.groups.groups, strict=True) if group == place}
        for place in range(placing.groups.size)
    ]
    return {text: names[at] if at >= 0 else at for text, at in placing.of_text.items()}


def test_listed_texts_are_themselves_and_others_unknown():
    listed = Listed(["a", "b or others"])
    assert in_groups(listed, ["a", "c", "*"]) == {"a": {"a"}, "c": UNKNOWN, "*": STARRED}


def test_a_star_that_is_a_masked_value_is_no_suppressed_cell():
    assert in_groups(Listed(["*"]), ["*"]) == {"*": {"*"}}


def test_rare_values_are_in_what_takes_them_together():
    listed = Listed(["a", "b or others", "rare values"], exact=False)
    together = {"b or others", "rare values"}
    assert in_groups(listed, ["a", "c", "b"]) == {"a": {"a"}, "c": together, "b": together}


def test_numbers_are_in_their_interval_and_rounded_ones_where_they_may_come_from():
    texts = ["(-inf,15)", "[15,20)", "[20,inf)"]
    raw = Listed(texts, ValueType.INTEGER, exact=False)
    assert in_groups(raw, ["14", "15.0", "300"]) == {"14": {texts[0]}, "15.0": {texts[1]}, "300": {texts[2]}}
    # Of 15 and 16, rounded to tens, 20 may be made, although [15,20) does not contain it.
    rounded = Listed(texts, ValueType.INTEGER, function("round", to=10), exact=False)
    assert in_groups(rounded, ["20", "10", "21"]) == {"20": set(texts), "10": set(texts), "21": UNKNOWN}


def test_missing_values_are_where_they_are_named():
    listed = Listed(["(-inf,5) or missing", "[5,inf)"], ValueType.INTEGER, exact=False)
    assert in_groups(listed, ["", "7"]) == {"": {"(-inf,5) or missing"}, "7": {"[5,inf)"}}


def test_spellings_of_an_unmasked_number_are_one_value():
    listed = Listed(["5", "7.5"], ValueType.NUMBER)
    assert in_groups(listed, ["5.0", "7.50", "5"]) == {"5.0": {"5"}, "7.50": {"7.5"}, "5": {"5"}}


def test_nobody_knows_what_a_mapping_makes_of_what_once_rare_values_stay():
    listed = Listed(["a", "b", "others"], function=function("mapping"), exact=False)
    assert in_groups(listed, ["a", "b"]) == {"a": {"a"}, "b": {"b"}}
    assert in_groups(listed, ["a", "b", "c"]) == {text: {"a", "b", "others"} for text in "abc"}


@for_each(
    ("text", "stated", "can"),
    [
        ("20-24", function("bucketize", width=5), True),
        ("20-29", function("bucketize", width=5), False),
        ("[20,25)", function("bucketize", width=5), True),
        ("[0.5,1.0)", function("bucketize", width=0.5), True),
        ("[0.5,1)", function("bucketize", width=0.5), False),
        ("65+", function("bucketize", edges=[0, 18, 65, "inf"]), True),
        ("17-64", function("bucketize", edges=[0, 18, 65, "inf"]), False),
        ("7.5", function("round", to=2.5), True),
        ("7", function("round", to=2.5), False),
        ("60+", function("top_bottom", top=60, bottom=25), True),
        ("61", function("top_bottom", top=60, bottom=25), False),
        ("12***", function("blur", keep=2), True),
        ("123**", function("blur", keep=2), False),
        ("1**4*", function("blur", positions=[2, 3, -1]), True),
        ("*", function("suppress"), True),
        ("x", function("suppress"), False),
        ("x", function("pram"), True),
        ("", function("round", to=5), True),
        ("x", None, True),
    ],
)
def test_what_a_function_can_make(text, stated, can):
    assert can_be_output(text, stated, ValueType.INTEGER) == can


@for_each(
    "stated",
    [
        function("round"),
        function("round", to="a"),
        function("round", to="1e-999999999"),
        function("round", to=[1]),
        function("round", to=0),
        function("bucketize", width=None),
        function("bucketize", edges="abc"),
        function("bucketize", edges=[3, 1]),
        function("bucketize", width=1e-300),
        function("blur", keep=2.5),
        function("blur", keep="x"),
        function("blur", positions=[[1]]),
        function("top_bottom", top={}),
        {"name": "round", "parameters": None},
        {"name": "blur"},
    ],
)
@for_each("text", ["20", "[1e999999999,inf)", "1e99999999-2", "[nan,inf)", "snan", "9" * 500])
def test_parameters_and_texts_that_nobody_expects_cost_no_time(stated, text):
    began = time.process_time()
    listed = Listed(["[1,2)", "[2,inf)", "others"], ValueType.NUMBER, stated, exact=False)
    assert set(placed(listed, [text]).of_text) == {text}
    assert time.process_time() - began < 1


def test_spans():
    assert span_of("[2020-01-01,2021-01-01)").overlaps(span_of("2020-06-15"))
    assert not span_of("[0,5)").overlaps(span_of("5"))
    assert span_of("<5").overlaps(span_of("4"))
    assert not span_of("<5").overlaps(span_of("5+"))
    assert span_of("-5--1") == Span(span_of("-5").low, span_of("-1").low)
    assert [span_of(text) for text in ("SE", "", "2020-13-40", "[a,b)")] == [None] * 4


@for_each("card", [None, {}, {"columns": 7}, {"columns": [1, {"name": [2], "role": {}}]}])
def test_without_a_card_that_says_so_the_roles_are_those_of_a_plan_that_says_nothing(card):
    assert StatedRoles.of(card, ["a", "b"], "y") == StatedRoles.by_default(["a", "b"], "y")


@for_each("role", ["other", "sensitive"])
def test_a_card_that_names_nothing_that_identifies_people_says_nothing(role):
    card = {"columns": [{"name": name, "role": role} for name in ("a", "b", "y")]}
    assert StatedRoles.of(card, ["a", "b"], "y") == StatedRoles.by_default(["a", "b"], "y")


def test_roles_are_those_of_the_card():
    told = {"a": "quasi-identifier", "b": "other", "y": "sensitive", "gone": "sensitive"}
    card = {"columns": [{"name": name, "role": role} for name, role in told.items()]}
    assert StatedRoles.of(card, ["a", "b"], "y") == StatedRoles((Roles(("a",), ("y",)),), known=True)
