"""Bars of several series, read back from the drawing."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from aegis_sdk.charts import BAD, GOOD, NEUTRAL, Axis, Lengths, SeriesBars, document
from tests.sdk.charts.svg import SVG, drawing_of, number_of, outside, overlapping, parsed, texts_of

SHARE = Axis("share", "share of the records", "share")


def bars_of(chart):
    """The start, the length and the top of each bar."""
    rectangles = [each for each in drawing_of(chart).iter(f"{SVG}rect") if "chart-outline" in each.get("class", "")]
    return [(number_of(each.get("x")), number_of(each.get("width")), float(each.get("y"))) for each in rectangles]


def test_bars_start_at_nothing_and_say_their_numbers():
    chart = SeriesBars("Lost", SHARE, ["a", "3 others, together"], [Lengths("lost", BAD, [0.2, 0.003])])
    assert [(start, length) for start, length, _ in bars_of(chart)] == [(0, 100), (0, 1.5)]
    assert {"20 %", "0.3 %"} <= set(texts_of(drawing_of(chart)))


def test_stacked_bars_follow_each_other_to_the_end():
    series = [
        Lengths("alone", BAD, [0.25, 0.0]),
        Lengths("few", NEUTRAL, [0.25, 0.5]),
        Lengths("many", GOOD, [0.5, 0.5]),
    ]
    chart = SeriesBars("Classes", SHARE, ["c1", "c2"], series, is_stacked=True)
    assert [(start, length) for start, length, _ in bars_of(chart)] == [(0, 25), (25, 25), (50, 50), (0, 50), (50, 50)]


def test_series_differ_without_colour():
    series = [Lengths(name, BAD, [0.5]) for name in ("a", "b", "c")]
    fills = {each.get("fill") for each in drawing_of(SeriesBars("T", SHARE, ["g"], series)).iter(f"{SVG}rect")}
    assert {None, "url(#bars-hatch-0)", "url(#bars-hatch-1)"} <= fills


counts = st.integers(0, 10**7)


@given(st.lists(st.tuples(st.text(min_size=1, max_size=60), counts, counts), min_size=1, max_size=6))
def test_on_a_logarithmic_scale_more_is_longer_and_all_words_have_room(rows):
    groups, first, second = zip(*rows, strict=True)
    series = [Lengths("in tables", GOOD, first), Lengths("derived", BAD, second)]
    chart = SeriesBars("Counts", Axis("counts", "counts"), groups, series, is_logarithmic=True)
    places = [chart.scale.place(each) for each in sorted({*first, *second})]
    assert all(0 <= one < other <= 1 for one, other in pairwise(places))
    assert len(bars_of(chart)) == sum(1 for each in (*first, *second) if each)
    svg = document(chart)
    assert (outside(svg), overlapping(svg)) == ([], [])


def test_without_groups_there_is_a_sentence():
    assert "There is nothing to draw." in "".join(parsed(SeriesBars("T", SHARE, [], [])).itertext())
