"""The report of `aegis advise`: the ranking with the privacy that is vouched for, and the costs with bounds."""

import pytest

from aegis_sdk.cli.advise import report
from aegis_sdk.reading import maskings_of, promises_of
from aegis_sdk.wire import EXAMPLE_ADVICE, EXAMPLE_COARSE_ADVICE, Advice, CoarseAdvice, Expected

LABEL = {"name": "health", "domain": ["good", "fair", "poor"]}
LISTED = {
    "label": LABEL,
    "configurations": [
        {"id": "c1", "maskings": {"age": "age-2"}, "privacy": {"k": 5, "t": 0.25}, "suppressed": 12},
        {"id": "c2", "maskings": {"age": "drop"}, "privacy": None},
        {"id": "c3", "maskings": {"age": "drop"}, "privacy": {"k": 40, "l": 3}},
    ],
}
COLUMNS = {
    "label": LABEL,
    "configuration_table": {
        "ids": ["c1", "c2", "c3"],
        "maskings": {"age": ["age-2", "drop", "drop"]},
        "privacy": {"k": [5, None, 40], "l": [None, None, 3], "t": [0.25, None, None]},
    },
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


def test_advice_on_an_older_version_says_so():
    said = "stale: this is about version 1, but the entry has a newer one; ask again"
    assert said not in list(report(advice_of("c1"), LISTED))
    assert said in list(report(advice_of("c1").model_copy(update={"stale": True}), LISTED))


def test_suppressed_cells_are_told_and_that_no_utility_counts_them():
    starred = {**LISTED["configurations"][0], "suppressed_cells": 1234}
    schema = {**LISTED, "configurations": [starred, *LISTED["configurations"][1:]]}
    text = list(report(advice_of("c1", "c2"), schema))
    assert "c1 suppresses 1,234 single cells (they become *), which its utility does not count" in text
    header, first, second = tables(advice_of("c1", "c2"), schema)[0]
    assert header[-2:] == ["suppressed", "suppressed_cells"]
    assert (first[-2:], second[-2:]) == (["12", "1234"], ["-", "-"])
    for advice, stated in ((advice_of("c2"), schema), (advice_of("c1"), LISTED), (advice_of("c1"), COLUMNS)):
        assert not any("single cells" in line for line in report(advice, stated))


def test_the_ranking_tells_what_is_vouched_for():
    ranking = tables(advice_of("c2", "c1", "c3"), LISTED)[0]
    assert ranking == [
        ["configuration", "deviation", "(bit)", "utility", "(bit)", "k", "l", "t", "suppressed"],
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
    assert tables(advice_of("c2"), LISTED)[0][0] == ["configuration", "deviation", "(bit)", "utility", "(bit)"]


def test_of_an_attribute_that_may_tell_far_more_the_bounds_are_told():
    _, costs = tables(advice_of("c1", lower_bound=0.0901, upper_bound=0.84), LISTED)
    assert costs[1][-3:] == ["source", "unmasked,", "proven"]
    assert costs[3][:7] == ["unmasked", "is", "the", "known", "utility", "of", "the"]
    assert costs[2][-4:] == ["counts", "0.09", "to", "0.84"]


@pytest.mark.parametrize(
    "known",
    [
        {},
        {"lower_bound": 0.0901, "upper_bound": 0.1},
        {"lower_bound": 0.0901},
        {"knowledge": "joint", "bound": "exact", "lower_bound": 0.01, "upper_bound": 0.84},
    ],
)
def test_in_the_ordinary_case_the_columns_are_as_ever(known):
    _, costs = tables(advice_of("c1", **known), LISTED)
    columns = [word for name in ("deviation", "utility", "unmasked") for word in (name, "(bit)")]
    assert costs[1] == ["attribute", "masking", *columns, "source"]
    assert costs[2] == ["age", "age-2", "0.003100", "0.087000", "0.090100", "counts"]


def test_a_joint_measure_of_inexact_counts_has_an_interval():
    joint = {"reference_utility": 0.3, "lower_bound": None, "dimensions": 3, "interactions": 0.1}
    known = advice_of("c1", "c2").model_dump(mode="json") | {"joint": joint}
    for error, lines in (
        (0.01, ["by exact counts, the utility of c1 would be 0.180400 to 0.219600 (95 %)"]),
        (9.0, ["by exact counts, the utility of c1 would be 0.000000 to 2.000000 (95 %)"]),  # three values of the label
        (None, []),
    ):
        known["ranking"][0]["standard_error"] = error
        told = report(Advice.model_validate(known), LISTED)
        assert [line for line in told if line.startswith("by exact counts")] == lines


def test_a_coarse_answer_has_ranks_shares_and_words():
    advice = CoarseAdvice.model_validate(
        EXAMPLE_COARSE_ADVICE
        | {
            "ranking": [
                {"configuration": "c17", "rank": 1, "utility_share": 0.97, "deviation_share": 0.03},
                {"configuration": "c03", "rank": 2, "utility_share": None, "deviation_share": None},
            ]
        }
    )
    schema = {"label": LABEL, "configurations": [{"id": "c17", "maskings": {"age": "age-2", "sex": "drop"}}]}
    head, ranking, kept = "\n".join(report(advice, schema)).split("\n\n")
    assert head.splitlines()[:3] == [
        "c17 keeps about 97 % of what the table is known to tell about health",
        "it is the best of 60 by mutual_information, in bits",
        "how many records are alone on all shared columns is not stated",
    ]
    assert "coarse" in head
    assert [line.split() for line in ranking.splitlines()] == [
        ["configuration", "rank", "utility", "kept"],
        ["c17", "1", "97", "%"],
        ["c03", "2", "-"],
    ]
    assert [line.split() for line in kept.splitlines()[1:]] == [
        ["attribute", "masking", "kept"],
        ["age", "age-2", "all"],
        ["sex", "drop", "none"],
    ]


def test_a_coarse_answer_about_one_attribute_is_the_order_alone():
    advice = CoarseAdvice.model_validate(EXAMPLE_COARSE_ADVICE | {"attributes": []})
    text = "\n".join(report(advice, {"label": LABEL, "configurations": []}))
    assert "keeps of each attribute" not in text
    assert "order only" in text
    assert "utility kept" not in text
    assert "c17" in text


MEASURED = {"model": "gradient boosting", "auc": 0.634, "low": 0.627, "high": 0.64, "raw_auc": 0.75}


@pytest.mark.parametrize(
    ("measured", "cell"),
    [
        (MEASURED, ["AUC", "0.634", "of", "0.750"]),
        ({"model": "gradient boosting", "share": 0.54}, ["54", "%"]),
        ({"model": "gradient boosting", "share": None}, None),
        (None, None),
    ],
)
def test_what_was_measured_stands_beside_the_ranking(measured, cell):
    known, other = ({"id": name, "maskings": {"age": "age-2"}} for name in ("c1", "c2"))
    schema = {"label": {"name": "health"}, "configurations": [known | {"measured": measured}, other]}
    full = tables(advice_of("c2", "c1"), schema)[0]
    ranking = [{"configuration": name, "rank": place} for place, name in enumerate(("c2", "c1"), 1)]
    coarse = tables(CoarseAdvice.model_validate(EXAMPLE_COARSE_ADVICE | {"ranking": ranking}), schema)[0]
    for before, rows in (([["0.100000", "0.200000"]] * 2, full), ([["1", "-"], ["2", "-"]], coarse)):
        assert [row[1:] for row in rows[1:]] == [
            [*numbers, *(each if cell else [])] for numbers, each in zip(before, (["-"], cell), strict=True)
        ]
        assert ("measured" in rows[0]) == (cell is not None)


def test_what_was_measured_on_the_best_is_in_the_first_line():
    listed = [each | {"measured": MEASURED} for each in LISTED["configurations"]]
    attributes = [scored("age", 0.1, "exact")]
    advice = Advice.model_validate(
        EXAMPLE_ADVICE | {"configuration": "c1", "deviation": 0.019, "attributes": attributes}
    )
    line = next(report(advice, LISTED | {"configurations": listed}))
    assert line == "c1 keeps 81 % of what the table tells about health (AUC 0.634 of 0.750, measured by its provider)"


def first_line(**fields):
    return next(report(Advice.model_validate(EXAMPLE_ADVICE | {"configuration": "c1"} | fields), LISTED))


def scored(name, whole, bound=None):
    return {**EXAMPLE_ADVICE["attributes"][0], "name": name, "reference_utility": whole, "bound": bound}


@pytest.mark.parametrize(
    ("deviation", "kept"),
    [(0.0, "all"), (0.0002, "more than 99 %"), (0.019, "81 %"), (0.0998, "less than 1 %"), (0.1, "nothing")],
)
def test_the_first_line_says_how_much_is_kept(deviation, kept):
    known = first_line(deviation=deviation, attributes=[scored("age", 0.1, "exact")])
    assert known == f"c1 keeps {kept} of what the table tells about health"
    unknown = first_line(deviation=deviation, attributes=[scored("age", 0.1)])
    assert unknown == f"c1 keeps {kept} of what the table is known to tell about health"


def test_the_whole_is_weighted_as_the_question_is():
    request = EXAMPLE_ADVICE["request"] | {"weights": {"age": 3, "sex": 0}}
    attributes = [scored("age", 0.1, "exact"), scored("sex", 0.9), scored("zip", 0.5, "exact")]
    line = first_line(request=request, deviation=0.05, attributes=attributes)  # of (3 * 0.1 + 0.5) / 4
    assert line == "c1 keeps 75 % of what the table tells about health"


@pytest.mark.parametrize(("source", "tells"), [("published", "tells"), ("known", "is known to tell")])
def test_of_attributes_together_the_whole_may_be_published(source, tells):
    joint = {"reference_utility": 0.4, "reference_source": source, "dimensions": 3}
    lines = list(report(Advice.model_validate(EXAMPLE_ADVICE | {"deviation": 0.1, "joint": joint}), LISTED))
    assert lines[0] == f"c17 keeps 75 % of what the table {tells} about health"
    assert "in squared correlations with the label, at most 2 in all" in lines[1]
    assert ("of the known utility: that of the table may be higher" in "\n".join(lines)) == (source == "known")


def test_what_a_model_should_reach_stands_first_and_in_the_ranking():
    told = {"auc": 0.7034, "accuracy": 0.68, "low": 0.694, "high": 0.712}
    advice = advice_of("c1", "c2")
    assert "  expected" not in "\n".join(report(advice, LISTED))
    advice = Advice.model_validate(advice.model_dump() | {"expected": {**told, "auc": 0.745}})
    row = advice.ranking[0].model_copy(update={"expected": Expected(**told)})
    advice = advice.model_copy(update={"ranking": [row, advice.ranking[1]]})
    first, second, *_ = report(advice, LISTED)
    assert first == "c1: a model should reach AUC 0.70 (0.69 to 0.71); on the table as it is 0.745"
    assert second.startswith("c1 keeps")
    [header, one, other], *_ = tables(advice, LISTED)
    assert "expected" in header
    assert "0.70 (0.69 to 0.71)" in " ".join(one)
    assert "0.70" not in " ".join(other)
    row = row.model_copy(update={"expected": Expected(r2=0.3134, rmse=12.5, low=0.304, high=0.322)})
    whole = advice.expected.model_copy(update={"auc": None, "r2": 0.41})
    first = next(report(advice.model_copy(update={"ranking": [row], "expected": whole}), LISTED))
    assert first == "c1: a model should reach R2 0.31 (0.30 to 0.32), RMSE 12; on the table as it is 0.410"


@pytest.mark.parametrize(
    ("deviation", "source", "told"),
    [
        (0.0, "known", ["the share is of the known utility, which is what c17 itself keeps: "]),
        (0.1, "known", ["the share is of the known utility: "]),
        (0.0, "published", []),
    ],
)
def test_where_the_best_is_itself_all_that_is_known_that_is_said(deviation, source, told):
    joint = {"reference_utility": 0.4, "reference_source": source, "dimensions": 3}
    lines = report(Advice.model_validate(EXAMPLE_ADVICE | {"deviation": deviation, "joint": joint}), LISTED)
    assert [line for line in lines if line.startswith("the share is of")] == [
        f"{line}that of the table may be higher" for line in told
    ]


@pytest.mark.parametrize(
    "fields",
    [
        {"better": "lower"},
        {"request": EXAMPLE_ADVICE["request"] | {"reference": "own"}},
        {"attributes": [scored("a", 0)]},
    ],
)
def test_without_a_whole_no_share_is_said(fields):
    assert first_line(**fields) == "c1 is the best of 60: none keeps more about health"


def test_a_certain_label_is_a_warning_and_no_promise():
    schema = LISTED | {"configurations": [each | {"privacy": {"k": 5, "l": 1}} for each in LISTED["configurations"]]}
    *lines, warning = report(advice_of("c2", "c1"), schema)
    assert warning == (
        "warning: the label of some people may be certain: in some classes all records may have the same health "
        "(l = 1 in c2, c1)"
    )
    row = next(line.split() for line in lines if line.startswith("  c2 "))
    assert row == ["c2", "0.100000", "0.200000", "5", "-", "-"]
    assert not any(line.startswith("warning") for line in report(advice_of("c2", "c1"), LISTED))
