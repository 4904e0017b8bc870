from dataclasses import replace
from itertools import pairwise
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegis_sdk.charts import Axis, Frontier, Interval, Point, rendered
from aegis_sdk.charts.plot import HEIGHT, TOP
from tests.sdk.charts.svg import SVG, drawing_of, marks_of, names_within, number_of, parsed, texts_of

K = Axis("k", "k: records in the smallest class (more is more private)")
T = Axis("t", "t: distance from the table (less is more private)", higher_is_better=False)
KEPT = Axis("kept", "kept of what the table tells", "share", levels={"the table as it is": 1.0, "nothing shared": 0.0})
HOSTILE = "<script>alert(1)</script>\"'&{{ 7*7 }}\x00\u202e]]>"
POINTS = (
    Point("c1", 2, 0.9, Interval(0.85, 0.95), is_best=True, href="/c/1"),
    Point("c2", 2, 0.88, Interval(0.83, 0.93), is_alike=True, href="/c/2"),
    Point("c3", 10, 0.7, Interval(0.65, 0.75), href="/c/3"),
    Point("c4", 5, 0.6, href="/c/4"),
    Point("c5", 100, 0.2, href="/c/5"),
)


def _frontier(points=POINTS, x=K, **changes):
    return Frontier("frontier", "Utility kept against k", x, KEPT, points, **changes)


class TestPlaces:
    def test_the_better_is_up_and_to_the_right(self):
        places = {kind: (x, y) for kind, x, y in marks_of(_frontier())}
        assert places["best"] == (0.04, pytest.approx(TOP + (HEIGHT - TOP) * 0.1))
        assert max(x for _, x, _ in marks_of(_frontier())) == 0.96

    def test_less_is_to_the_right_where_less_is_better(self):
        points = (Point("c1", 0.1, 0.2), Point("c2", 0.3, 0.9, is_best=True))
        assert {kind: x for kind, x, _ in marks_of(_frontier(points, T))} == {"best": 0.04, "edge": 0.96}

    numbers = st.floats(allow_nan=True, allow_infinity=True)

    @given(st.lists(st.tuples(numbers, numbers), max_size=30), st.sampled_from([K, T]))
    def test_every_mark_is_within_the_plot_and_in_order(self, numbers, x):
        points = [Point(f"c{place}", *pair, is_best=place == 0) for place, pair in enumerate(numbers)]
        chart = Frontier("f", "Any numbers", x, Axis("utility", "utility"), points)
        html = str(rendered(chart))
        assert "nan" not in html.replace("nance", "")
        assert "inf%" not in html
        if not chart.drawn:
            return
        marks = sorted((x.gain(each.mark.first.x), number_of(each.x)) for each in chart.drawn)
        assert all(one[1] <= other[1] for one, other in pairwise(marks))
        heights = sorted((-each.mark.first.y, float(each.y)) for each in chart.drawn)
        assert all(one[1] <= other[1] for one, other in pairwise(heights))
        assert all(0 <= x <= 1 and TOP <= y <= HEIGHT for _, x, y in marks_of(chart))

    def test_the_line_has_a_corner_at_each_place_of_the_frontier(self):
        chart = _frontier()
        path = next(each for each in drawing_of(chart).iter(f"{SVG}path") if each.get("class") == "chart-line")
        edge = [(each.x, each.y) for each in chart.drawn if each.mark.on_frontier]
        places = sorted((number_of(x) * 10, float(y)) for x, y in edge)
        expected = f"M{places[0][0]:g} {places[0][1]:g}" + "".join(f"V{y:g}H{round(x, 1):g}" for x, y in places[1:])
        assert path.get("d") == expected

    def test_intervals_are_lines_around_their_points(self):
        lines = [each for each in drawing_of(_frontier()).iter(f"{SVG}line") if each.get("class") == "chart-whisker"]
        assert len(lines) == 3
        best = next(each for each in _frontier().drawn if each.kind == "best")
        assert float(best.high) < float(best.y) < float(best.low)

    def test_an_axis_of_high_shares_says_where_it_starts(self):
        chart = _frontier((Point("c1", 2, 0.93, is_best=True), Point("c2", 5, 0.87)))
        assert "The upward axis starts at 85\N{NO-BREAK SPACE}%." in chart.all_notes
        assert "nothing shared" not in texts_of(drawing_of(chart))
        assert "the table as it is" in texts_of(drawing_of(chart))

    @pytest.mark.parametrize("share", [0.0, 0.3, 0.5, 0.51, 0.999, 1.0])
    def test_one_point_or_equal_ones_have_a_place(self, share):
        points = [Point("c1", 5, share, is_best=True), Point("c2", 5, share)]
        ((kind, x, y),) = marks_of(_frontier(points))
        assert (kind, x) == ("best", 0.5)
        assert TOP <= y <= HEIGHT

    def test_ranks_are_whole_numbers_from_the_top(self):
        points = [Point(f"c{rank}", rank, rank, is_best=rank == 1) for rank in (1, 2, 3)]
        chart = Frontier("f", "Order", K, Axis("rank", "rank", "rank", higher_is_better=False), points)
        assert [tick.text for tick in chart.y_ticks] == ["1", "2", "3"]
        assert {kind: y for kind, _, y in marks_of(chart)}["best"] == TOP


class TestShapes:
    def test_what_cannot_be_told_apart_has_a_shape_of_its_own(self):
        assert [kind for kind, _, _ in marks_of(_frontier())] == ["alike-other", "other", "edge", "edge", "best"]
        drawing = drawing_of(_frontier())
        shapes = {each.get("id"): each.get("d") for each in drawing.iter(f"{SVG}path")}
        assert shapes["frontier-alike-other"] != shapes["frontier-best"]

    def test_the_legend_explains_what_is_drawn_and_no_more(self):
        legend = ["".join(each.itertext()).strip() for each in parsed(_frontier()).iter("li")]
        assert legend[:5] == [
            "the best ranked",
            "on the frontier: no other is better in both",
            "another configuration",
            "cannot be told apart from the best (95 %)",
            "95 % interval",
        ]
        alone = _frontier([Point("c1", 5, 0.9, is_best=True)])
        assert next("".join(each.itertext()).strip() for each in parsed(alone).iter("li")) == "the best ranked"
        assert alone.kinds == ["best"]


class TestAccess:
    def test_the_keyboard_stops_at_the_best_and_at_the_frontier_only(self):
        links = list(drawing_of(_frontier()).iter(f"{SVG}a"))
        assert [each.get("href") for each in links if each.get("tabindex") is None] == ["/c/3", "/c/5", "/c/1"]
        assert all(each.get("aria-label") for each in links if each.get("tabindex") is None)
        assert len(links) == 5

    def test_points_without_a_page_can_be_focused_too(self):
        drawing = drawing_of(_frontier([Point("c1", 5, 0.9, is_best=True)]))
        (group,) = (each for each in drawing.iter(f"{SVG}g") if each.get("tabindex"))
        assert (group.get("role"), group.get("aria-label")) == ("img", names_within(group)[0])

    def test_every_point_says_its_numbers(self):
        titles = [each.replace("\N{NO-BREAK SPACE}", " ") for each in names_within(drawing_of(_frontier()))]
        assert "c1: kept 90 % (85 % to 95 %), k 2; the best; on the frontier" in titles
        assert "c2: kept 88 % (83 % to 93 %), k 2; cannot be told apart from the best" in titles

    def test_the_best_says_what_a_model_should_reach(self):
        points = [replace(point, expected="AUC 0.70 (0.69 to 0.71)") for point in POINTS]
        labels = [each.text for each in drawing_of(_frontier(points)).iter(f"{SVG}text")]
        assert [text for text in labels if "AUC" in text] == ["c1: AUC 0.70 (0.69 to 0.71)"]

    def test_the_drawing_has_a_name_and_a_description(self):
        drawing = drawing_of(_frontier())
        ids = {each.get("id"): each for each in drawing.iter()}
        assert ids[drawing.get("aria-labelledby")].text == "Utility kept against k"
        assert "c1: kept" in ids[drawing.get("aria-describedby")].text

    def test_the_table_has_the_numbers_of_the_chart(self):
        chart = _frontier()
        numbers = {row[0].text: (row[3].value, row[1].value) for row in chart.table.rows}
        assert numbers == {each.name: (each.x, each.y) for each in POINTS}
        assert [row[0].text for row in chart.table.rows] == ["c1", "c3", "c5", "c2", "c4"]
        assert [row[0].href for row in chart.table.rows] == ["/c/1", "/c/3", "/c/5", "/c/2", "/c/4"]
        cells = ["".join(each.itertext()).strip() for each in parsed(chart).iter("td")]
        assert cells[:4] == [cell.text for cell in chart.table.rows[0][1:]]

    def test_a_long_table_is_folded_and_says_what_it_leaves_out(self):
        chart = _frontier([Point(f"c{n}", 2 + n % 40, n / 300, is_best=n == 299) for n in range(299, -1, -1)])
        assert len(chart.table.rows) == 100
        assert chart.table.note == "The first 100 of 300 that are drawn."
        assert any(each.tag == "details" for each in parsed(chart).iter())


class TestHostileTexts:
    def test_every_text_is_escaped_and_nothing_has_a_style(self):
        points = [
            Point(HOSTILE, 2, 0.9, is_best=True, href=f"/c/{quote(HOSTILE)}"),
            Point(HOSTILE * 9, 5, 0.5, is_alike=True, href='"><script>'),
        ]
        axis = Axis(HOSTILE, HOSTILE, levels={HOSTILE: 0.5})
        chart = Frontier("f", HOSTILE, axis, axis, points, notes=[HOSTILE])
        figure = parsed(chart)
        tags = {each.tag for each in figure.iter()}
        assert not {f"{SVG}script", "script", "style", f"{SVG}style"} & tags
        assert not [name for each in figure.iter() for name in each.attrib if name == "style" or name.startswith("on")]
        assert any("<script>alert(1)</script>" in text for text in names_within(figure))

    def test_long_names_are_cut_beside_their_points_and_whole_in_titles(self):
        name = "an-extraordinarily-long-name" * 9
        drawing = drawing_of(_frontier([Point(name, 2, 0.9, is_best=True)]))
        assert "an-extraordinaril…" in texts_of(drawing)
        assert any(name in title for title in names_within(drawing))


def test_without_points_there_is_a_sentence_and_no_drawing():
    figure = parsed(_frontier((), empty="Nothing was ranked."))
    assert "Nothing was ranked." in "".join(figure.itertext())
    assert not list(figure.iter(f"{SVG}svg"))
