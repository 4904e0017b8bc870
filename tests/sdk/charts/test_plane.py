"""Series between two axes, read back from the drawing."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from aegis_sdk.charts import BAD, GOOD, NEUTRAL, TONES, Axis, Interval, Measured, Plane, Series, Spot, document
from aegis_sdk.charts.plot import HEIGHT, TOP
from tests.for_each import for_each
from tests.sdk.charts.svg import SVG, drawing_of, number_of, outside, overlapping, parsed, texts_of

LEVELS = {"the table as it is": 1.0, "nothing shared": 0.0}
KEPT = Axis("kept", "kept of what the table tells about health", "share", levels=LEVELS)
PRIVACY = Axis("privacy", "required privacy")
PLACES = ("k = 2", "k = 5", "k = 10")
HOSTILE = "<script>alert(1)</script>\"'&\x00"


def told(*numbers, name="told", tone=GOOD):
    known = [None if each is None else Measured(each) for each in numbers]
    return Series.at_places(name, tone, known, is_joined=True)


def predicted(*numbers):
    limits = [None if each is None else Measured(each, Interval(each - 0.05, each + 0.02)) for each in numbers]
    return Series.at_places("predicted", BAD, limits)


def levels(*series, places=PLACES, **changes):
    return Plane(PRIVACY, KEPT, series, places, **changes)


def plain(texts):
    return {each.replace("\N{NO-BREAK SPACE}", " ") for each in texts}


def marks_of(chart):
    """The place of each mark: the share of the width, and pixels from the top."""
    return [(number_of(each.get("x")) / 100, float(each.get("y"))) for each in drawing_of(chart).iter(f"{SVG}use")]


def height(share):
    return TOP + (HEIGHT - TOP) * (1 - share)


def test_levels_and_shares_stand_where_they_should():
    chart = levels(told(0.9, 0.8, 0.5), predicted(0.85, None, 0.3))
    assert [y for _, y in marks_of(chart)] == [round(height(each), 1) for each in (0.9, 0.8, 0.5, 0.85, 0.3)]
    lines = [each for each in drawing_of(chart).iter(f"{SVG}line") if each.get("class") == "chart-level"]
    assert [float(each.get("y1")) for each in lines] == [height(1), height(0)]
    assert {"90 %", "80 %", "50 %", "85 %", "30 %", *LEVELS} <= plain(texts_of(drawing_of(chart)))


def test_series_stand_beside_each_other():
    xs = [x for x, _ in marks_of(levels(told(0.9, 0.8, 0.5), predicted(0.9, 0.8, 0.5)))]
    assert all(one < other for one, other in zip(xs[:3], xs[3:], strict=True))
    assert all(other < one for one, other in zip(xs[1:3], xs[3:5], strict=True))


def test_of_many_series_no_number_is_written():
    chart = levels(told(0.9, 0.8, 0.5), predicted(0.85, None, 0.3), told(0.89, 0.81, 0.5, tone=NEUTRAL))
    assert not [each for each in drawing_of(chart).iter(f"{SVG}text") if each.get("class") == "chart-label"]


def test_intervals_are_drawn_where_they_are_known():
    chart = levels(told(0.9, 0.8, 0.5), predicted(0.85, None, 0.3))
    lines = [each for each in drawing_of(chart).iter(f"{SVG}line") if "chart-error" in each.get("class")]
    spans = [(float(each.get("y1")), float(each.get("y2"))) for each in lines]
    assert spans == [(round(height(low), 1), round(height(low + 0.07), 1)) for low in (0.8, 0.25)]
    assert "interval" in "".join(parsed(chart).itertext())


@for_each("shares", [(0.9, 0.8, 0.5), (0.01, 0.0, 1.0), (1.04, 1.0, -0.05), (7.0, -3.0, 0.5)])
def test_the_axis_goes_from_nothing_to_all(shares):
    chart = levels(told(*shares))
    texts = plain(texts_of(drawing_of(chart)))
    assert {f"{share} %" for share in range(0, 101, 20)} <= texts
    assert -0.31 < chart.up.low <= 0
    assert 1 <= chart.up.high < 1.5
    assert (chart.up.low == 0) == (min(shares) >= 0)
    assert all(TOP <= y <= HEIGHT for _, y in marks_of(chart))


def test_the_chosen_place_is_named_and_shaded():
    chart = levels(told(0.9, 0.8, 0.5), marked=(1, "this release"))
    strong = [each.text for each in drawing_of(chart).iter(f"{SVG}text") if "chart-strong" in each.get("class", "")]
    assert strong == ["k = 5", "this release"]
    [shade] = [each for each in drawing_of(chart).iter(f"{SVG}rect") if each.get("class") == "chart-chosen"]
    left, width = number_of(shade.get("x")) / 100, number_of(shade.get("width")) / 100
    assert left < chart.across.place(1) < left + width < chart.across.place(2)


shares = st.one_of(st.none(), st.floats(0, 1))
names = st.one_of(st.text(max_size=40), st.just("linkability\nfrom half of the quasi-identifiers"), st.just("k = 5"))


@given(st.lists(st.tuples(names, shares, shares), min_size=1, max_size=8), st.booleans())
def test_whatever_is_drawn_no_word_lies_over_another_or_is_cut_off(rows, is_marked):
    places, first, second = zip(*rows, strict=True)
    chart = levels(told(*first), predicted(*second), places=places, marked=(0, "this release") if is_marked else None)
    if chart.drawing is None:
        assert not any(each is not None for each in (*first, *second))
        return
    svg = document(chart)
    assert (outside(svg), overlapping(svg)) == ([], [])


def test_the_names_of_many_points_are_written_as_far_as_they_fit():
    spots = [Spot(0.5 + place / 100, 0.4 + place % 7 / 20, name=f"release-{place}") for place in range(60)]
    auc = Axis("AUC", "success of membership inference (AUC)", levels={"chance": 0.5})
    chart = Plane(auc, KEPT, [Series("masked", GOOD, spots)])
    svg = document(chart)
    assert (outside(svg), overlapping(svg)) == ([], [])
    written = [each for each in texts_of(drawing_of(chart)) if each.startswith("release-")]
    assert 3 < len(written) < 60
    assert "chance" in texts_of(drawing_of(chart))
    xs = [x for x, _ in marks_of(chart)]
    assert all(one < other for one, other in pairwise(xs))


def test_lines_of_one_name_share_a_sign_and_have_no_marks():
    faint = [
        Series("configurations", TONES[2], [Spot(k, k * of / 900) for k in (1, 10, 50)], True, False, True)
        for of in (1, 2, 3)
    ]
    thick = Series("as it is", BAD, [Spot(k, 1 - 1 / k) for k in (1, 10, 50)], True, False)
    chart = Plane(Axis("k", "k"), Axis("share", "share to suppress", "share"), [*faint, thick], is_whole=False)
    assert [words for _, words in chart.drawing.legend] == ["configurations", "as it is"]
    paths = [each.get("d") for each in drawing_of(chart).iter(f"{SVG}path") if "chart-stroke" in each.get("class", "")]
    assert len(paths) == 4
    assert paths[3] == f"M0 {HEIGHT}L183.7 {height(0.9 / 0.98):.1f}L1000 {TOP}"
    assert marks_of(chart) == []


def test_a_map_has_a_dot_for_each_point_and_no_axes():
    series = [
        Series("real", GOOD, [Spot(0.0, 1.0), Spot(2.0, 3.0)]),
        Series("made up", BAD, [Spot(4.0, -1.0)]),
        Series("none", NEUTRAL, []),
    ]
    chart = Plane(Axis("", ""), Axis("map", "Records"), series, is_map=True)
    paths = [each.get("d") for each in drawing_of(chart).iter(f"{SVG}path") if "chart-dots" in each.get("class", "")]
    assert paths[:2] == ["M40 170h0M500 32h0", "M960 308h0"]
    assert texts_of(drawing_of(chart)) == []
    assert "2 points" in chart.description


def test_hostile_names_are_text_and_the_description_has_the_numbers():
    series = [told(0.9, 0.8, 0.5, name=HOSTILE)]
    x, y = Axis(HOSTILE, HOSTILE), Axis("a", HOSTILE, "share")
    chart = Plane(x, y, series, (HOSTILE, "b", "c"), (0, HOSTILE), [HOSTILE])
    assert not [each for each in parsed(chart).iter() if "script" in each.tag]
    assert "b 80\N{NO-BREAK SPACE}%" in chart.description
    assert outside(document(chart)) == []


def test_without_points_there_is_a_sentence():
    assert "There is nothing to draw." in "".join(parsed(levels(told(None, None, None))).itertext())
