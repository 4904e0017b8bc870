from itertools import pairwise

import pytest

from aegis_sdk.charts import Axis, Bar, Bars, Group, Interval, category_bars
from aegis_sdk.reading import DASH
from tests.sdk.charts.svg import SVG, drawing_of, names_within, number_of, parsed, texts_of

AXIS = Axis("deviation", "deviation by mutual information (bit)")
HOSTILE = "<script>alert(1)</script>\"'&\x00"


def _bars(*bars, **changes):
    return Bars("costs", "What each masking costs", AXIS, [Group("age", bars)], **changes)


def _rectangles(chart, kind):
    return [each for each in drawing_of(chart).iter(f"{SVG}rect") if each.get("class") == f"chart-bar-{kind}"]


def test_lengths_are_in_proportion_from_zero_within_the_whole():
    chart = _bars(Bar("age-2", 0.5, "0.5", whole=2.0), Bar("drop", 2.0, "2", whole=2.0, tone="best"))
    assert [each.get("width") for each in _rectangles(chart, "plain")] == ["25%"]
    assert [each.get("width") for each in _rectangles(chart, "best")] == ["100%"]
    assert [each.get("width") for each in _rectangles(chart, "whole")] == ["100%", "100%"]


def test_a_range_starts_above_zero():
    (bar,) = _rectangles(_bars(Bar("age-2", 0.65, "some", start=0.35, whole=1.0)), "plain")
    assert (bar.get("x"), bar.get("width")) == ("35%", "30%")


def test_an_interval_is_a_line_with_ends():
    chart = _bars(Bar("age-2", 0.5, "0.5", interval=Interval(0.25, 1.0)))
    lines = [each for each in drawing_of(chart).iter(f"{SVG}line") if each.get("class") == "chart-whisker"]
    assert [(each.get("x1"), each.get("x2")) for each in lines] == [("25%", "100%"), ("25%", "25%"), ("100%", "100%")]


def test_a_whole_that_is_not_certain_is_drawn_otherwise_and_the_second_of_a_pair_is_hatched():
    chart = _bars(Bar("age-2", 1, "1", whole=2, is_whole_certain=False, tone="second", mark="B"))
    assert len(_rectangles(chart, "unsure")) == 1
    assert _rectangles(chart, "second")[0].get("fill") == "url(#costs-hatch)"
    assert "B age-2" in texts_of(drawing_of(chart))


def test_rows_do_not_overlap_and_end_above_the_axis():
    chart = Bars("b", "B", AXIS, [Group(f"a{n}", [Bar("x", n, str(n)), Bar("y", n, str(n))]) for n in range(5)])
    tops = [float(each.get("y")) for each in _rectangles(chart, "plain")]
    [axis] = [each for each in drawing_of(chart).iter(f"{SVG}line") if each.get("class") == "chart-base"]
    assert all(after - before >= 32 for before, after in pairwise(tops))
    assert tops[-1] + 8 < float(axis.get("y1")) < chart.drawing.height


@pytest.mark.parametrize("lengths", [(), (0.0,), (float("nan"), 1.0), (float("inf"),), (5, 5), (1e-300, 1e99)])
def test_odd_numbers_give_no_places_that_are_no_numbers(lengths):
    chart = _bars(*(Bar("age-2", each, "-") for each in lengths))
    for each in parsed(chart).iter(f"{SVG}rect"):
        if each.get("width", "").endswith("%"):
            assert 0 <= number_of(each.get("width")) <= 100


def test_texts_are_escaped_cut_and_whole_in_titles():
    name = HOSTILE * 5
    chart = Bars("b", HOSTILE, Axis(HOSTILE, HOSTILE), [Group(name, [Bar(name, 1, HOSTILE)], HOSTILE)], notes=[HOSTILE])
    figure = parsed(chart)
    assert not {"script", f"{SVG}script"} & {each.tag for each in figure.iter()}
    assert not [name for each in figure.iter() for name in each.attrib if name == "style" or name.startswith("on")]
    assert any(text.count("alert(1)") > 5 for text in names_within(drawing_of(chart)))
    assert any(text.endswith("…") for text in texts_of(drawing_of(chart)))


def test_the_table_has_the_numbers_of_the_bars_and_of_those_left_out():
    chart = _bars(
        Bar("age-2", 0.5, "0.5", whole=2.0, interval=Interval(0.25, 1.0)),
        rest=[Group("zip", [Bar("drop", 0.1, "0.1")])],
    )
    assert [column.name for column in chart.table.columns] == [
        "attribute",
        "masking",
        "deviation",
        "95 % interval",
        "of",
    ]
    assert [[cell.text for cell in row] for row in chart.table.rows] == [
        ["age", "age-2", "0.5", "0.25 to 1", "2"],
        ["zip", "drop", "0.1", DASH, DASH],
    ]
    assert [row[2].value for row in chart.table.rows] == [0.5, 0.1]


def test_without_bars_there_is_a_sentence():
    figure = parsed(Bars("b", "B", AXIS, [], empty="No masking is scored."))
    assert "No masking is scored." in "".join(figure.itertext())


def test_categories_keep_their_order_and_say_their_shares():
    chart = category_bars("labels", "Records by health", [("good", 75), ("poor", 25)])
    assert [bar.text.replace("\N{NO-BREAK SPACE}", " ") for _, bar in chart.drawn] == ["75 (75 %)", "25 (25 %)"]


def test_beyond_twenty_categories_the_others_share_a_bar_and_are_in_the_table():
    chart = category_bars("labels", "Records", [(f"v{n}", n) for n in range(50)])
    assert len(chart.drawn) == 20
    _, last = chart.drawn[-1]
    assert (last.name, last.end) == ("31 others together", sum(range(19, 50)))
    assert {row[0].text for row in chart.table.rows} >= {f"v{n}" for n in range(50)}


def test_no_records_are_no_bars():
    assert not category_bars("labels", "Records", [("good", 0), ("poor", 0)]).scale.is_point
    assert "No records are counted." in "".join(parsed(category_bars("labels", "Records", [])).itertext())
