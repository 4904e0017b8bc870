"""The report of `aegis advise`: the ranking with the privacy that is vouched for, and the costs with bounds."""

import pytest

from aegis_sdk.cli.advise import report
from aegis_sdk.reading import maskings_of, promises_of
from aegis_sdk.wire import EXAMPLE_ADVICE, Advice

LISTED = {
    "configurations": [
        {"id": "c1", "maskings": {"age": "age-2"}, "privacy": {"k": 5, "t": 0.25}, "suppressed": 12},
        {"id": "c2", "maskings": {"age": "drop"}, "privacy": None},
        {"id": "c3", "maskings": {"age": "drop"}, "privacy": {"k": 40, "l": 3}},
    ]
}
COLUMNS = {
    "configuration_table": {
        "ids": ["c1", "c2", "c3"],
        "maskings": {"age": ["age-2", "drop", "drop"]},
        "privacy": {"k": [5, None, 40], "l": [None, None, 3], "t": [0.25, None, None]},
    }
}
PRIVACY = {"k": [5, None, 40], "l": [None, None, 3], "t": [0.25, None, None]}


def advice_of(*ranked, **known):
    attribute = {**EXAMPLE_ADVICE["attributes"][0], **known}
    ranking = [{"configuration": each, "deviation": 0.1, "utility": 0.2} for each in ranked]
    fields = {"configuration": ranked[0], "ranking": ranking, "attributes": [attribute]}
    return Advice.model_validate(EXAMPLE_ADVICE | fields)


def tables(advice, schema):
    """The ranking and the costs, as lists of cells."""
    text = "\n".join(report(advice, schema))
    return [[line.split() for line in part.splitlines()] for part in text.split("\n\n")[1:]]


@pytest.mark.parametrize(("schema", "more"), [(LISTED, {"suppressed": [12, None, None]}), (COLUMNS, {})])
def test_promises_are_read_from_a_list_and_from_columns(schema, more):
    assert promises_of(schema, ["c1", "c2", "c3"]) == PRIVACY | more
    assert promises_of(schema, ["c3", "c2"]) == {"k": [40, None], "l": [3, None]}
    assert promises_of(schema, ["c2", "away"]) == {}
    assert maskings_of(schema, "c1") == {"age": "age-2"}
    assert maskings_of(schema, "away") == {}


def test_the_ranking_tells_what_is_vouched_for():
    ranking = tables(advice_of("c2", "c1", "c3"), LISTED)[0]
    assert ranking == [
        ["configuration", "deviation", "utility", "k", "l", "t", "suppressed"],
        ["c2", "0.100000", "0.200000", "-", "-", "-", "-"],
        ["c1", "0.100000", "0.200000", "5", "-", "0.250000", "12"],
        ["c3", "0.100000", "0.200000", "40", "3", "-", "-"],
    ]


def test_numbers_stand_below_each_other_even_where_the_first_is_missing():
    lines = list(report(advice_of("c2", "c1", "c3"), LISTED))
    start = next(place for place, line in enumerate(lines) if line.startswith("  configuration"))
    ends = {
        line.index(cell) + len(cell) for line, cell in zip(lines[start + 2 : start + 4], (" 5", " 40"), strict=True)
    }
    assert len(ends) == 1


def test_where_nothing_is_vouched_for_there_is_no_such_column():
    assert tables(advice_of("c2"), LISTED)[0][0] == ["configuration", "deviation", "utility"]


def test_of_an_attribute_that_may_tell_far_more_the_bounds_are_told():
    _, costs = tables(advice_of("c1", lower_bound=0.0901, upper_bound=0.84), LISTED)
    assert costs[1][-3:] == ["source", "of", "(bounds)"]
    assert costs[2][-4:] == ["counts", "0.09", "to", "0.84"]


@pytest.mark.parametrize(
    "known",
    [
        {},
        {"lower_bound": 0.0901, "upper_bound": 0.1},
        {"lower_bound": 0.0901},
        {"knowledge": "joint", "lower_bound": 0.01, "upper_bound": 0.84},
    ],
)
def test_in_the_ordinary_case_the_columns_are_as_ever(known):
    _, costs = tables(advice_of("c1", **known), LISTED)
    assert costs[1] == ["attribute", "masking", "deviation", "utility", "of", "source"]
    assert costs[2] == ["age", "age-2", "0.003100", "0.087000", "0.090100", "counts"]
