import math
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegis_sdk.charts import Axis, Frontier, Point, rendered
from aegis_sdk.charts.points import MOST_MARKS, chosen_of, frontier_of

coarse = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])
axes = st.builds(Axis, st.just("n"), st.just("number"), higher_is_better=st.booleans())


@given(st.lists(st.tuples(coarse, coarse), max_size=12), axes, axes)
def test_the_frontier_is_what_no_other_beats(places, x, y):
    def beats(one, other):
        gains = x.gain(one[0]) - x.gain(other[0]), y.gain(one[1]) - y.gain(other[1])
        return min(gains) >= 0 and max(gains) > 0

    edge = frontier_of(places, x, y)
    assert set(edge) == {one for one in places if not any(beats(other, one) for other in places)}
    assert edge == sorted(edge, key=lambda each: x.gain(each[0]))


def _many(count):
    """Points whose frontier has 60 places or so; the best comes first."""
    below = ((place * 7_919) % count / count for place in range(count))
    return [
        Point(f"c{place}", k, (1 - share) * (1 - k / 120), is_best=place == 0)
        for place, share in enumerate(below)
        if (k := 2 + place % 60)
    ]


def test_of_many_points_the_frontier_and_the_best_are_drawn_and_all_others_counted():
    points, x, y = _many(2_000), Axis("k", "k"), Axis("kept", "kept", "share")
    chosen = chosen_of(points, x, y)
    drawn = [point for mark in chosen.marks for point in mark.points]
    assert len(chosen.marks) <= MOST_MARKS
    assert chosen.marks[-1].first.is_best
    assert {(each.x, each.y) for each in drawn} >= set(chosen.steps)
    assert chosen.left_out > 1_000
    assert len(drawn) + chosen.left_out == 2_000


@pytest.mark.long
def test_a_hundred_thousand_points_are_drawn_in_time():
    points = _many(100_000)
    start = process_time()
    html = rendered(Frontier("f", "Many", Axis("k", "k"), Axis("kept", "kept", "share"), points))
    assert process_time() - start < 5  # 0.5 s on an idle core
    assert len(html) < 150_000


def test_a_frontier_of_twenty_thousand_places_is_thinned_too():
    points = [Point(f"c{n}", n, 1 - n / 20_000, is_best=n == 0) for n in range(20_000)]
    frontier = Frontier("f", "Many", Axis("k", "k"), Axis("kept", "kept", "share"), points)
    assert len(frontier.chosen.marks) <= MOST_MARKS
    assert {frontier.chosen.marks[0].first.x, frontier.chosen.marks[-2].first.x} >= {19_999}
    assert len(frontier.path) < 20_000
    assert "configurations are drawn" in " ".join(frontier.all_notes)


def test_points_without_a_place_are_counted_and_not_drawn():
    points = [
        Point("a", 1, 0.5, is_best=True),
        Point("b", math.nan, 0.5),
        Point("c", 1, math.inf),
        Point("d", 1e300, 0),
    ]
    chosen = chosen_of(points, Axis("k", "k"), Axis("kept", "kept"))
    assert [each.first.name for each in chosen.marks] == ["a"]
    assert chosen.unplaced == 3


def test_points_at_one_place_share_a_mark():
    points = [Point("a", 1, 0.5), Point("b", 1, 0.5, is_best=True), Point("c", 1, 0.4)]
    chosen = chosen_of(points, Axis("k", "k"), Axis("kept", "kept"))
    assert [[point.name for point in mark.points] for mark in chosen.marks] == [["c"], ["a", "b"]]
    assert chosen.marks[1].first.name == "b"
