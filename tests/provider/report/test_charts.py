"""Charts of any report, read back from the figures."""

from matplotlib.collections import LineCollection

from aegis_provider.report.charts import drawn
from aegis_provider.report.model import Bars, Levels, Measured, Points, Series
from aegis_provider.report.page import drawing
from tests.for_each import for_each
from tests.provider.report.plots.plotting import clipped

LEVELS = {"the table\nas it is": 1.0, "nothing\nshared": 0.0}


def levels(*series, marked=None, places=("k = 2", "k = 5", "k = 10")):
    with drawing():
        figure = drawn(Levels(places, series, LEVELS, ("required privacy", "kept"), "Caption.", marked))
        figure.draw_without_rendering()
    return figure


def told(*numbers, joined=True):
    return Series("told", "#0072b2", [None if each is None else Measured(each) for each in numbers], joined)


def predicted(*numbers):
    known = [None if each is None else Measured(each, (each - 0.05, each + 0.02)) for each in numbers]
    return Series("predicted", "#d55e00", known)


def test_levels_and_shares_stand_where_they_should():
    axes = levels(told(0.9, 0.8, 0.5), predicted(0.85, None, 0.3)).axes[0]
    dashed = [each.get_ydata()[0] for each in axes.lines if each.get_linestyle() == "--"]
    assert dashed == [1.0, 0.0]
    heights = {each.get_label(): list(each.get_ydata()) for each in axes.lines if each.get_marker() == "o"}
    assert heights == {"told": [0.9, 0.8, 0.5], "predicted": [0.85, 0.3]}
    texts = {each.get_text(): each.get_position()[1] for each in axes.texts}
    assert {name: texts[name] for name in LEVELS} == LEVELS
    assert {"90 %", "80 %", "50 %", "85 %", "30 %"} <= texts.keys()


def test_of_many_series_no_number_is_written_over_another():
    axes = levels(told(0.9, 0.8, 0.5), predicted(0.85, None, 0.3), told(0.89, 0.81, 0.5)).axes[0]
    assert {each.get_text() for each in axes.texts} == LEVELS.keys()


def test_intervals_are_drawn_where_they_are_known():
    axes = levels(told(0.9, 0.8, 0.5), predicted(0.85, None, 0.3)).axes[0]
    spans = [
        (round(low[1], 9), round(high[1], 9))
        for bars in axes.collections
        if isinstance(bars, LineCollection)
        for low, high in bars.get_segments()
    ]
    assert spans == [(0.8, 0.87), (0.25, 0.32)]


@for_each("shares", [(0.9, 0.8, 0.5), (0.01, 0.0, 1.0), (1.04, 1.0, -0.05), (7.0, -3.0, 0.5)])
def test_the_axis_goes_from_nothing_to_all(shares):
    axes = levels(told(*shares)).axes[0]
    low, high = axes.get_ylim()
    assert [each.get_text() for each in axes.get_yticklabels()] == [f"{share} %" for share in range(0, 101, 20)]
    assert -0.31 < low <= 0
    assert 1 < high < 1.5
    assert (low == 0) == (min(shares) >= 0)


def test_the_chosen_place_is_named_and_shaded():
    axes = levels(told(0.9, 0.8, 0.5), marked=(1, "this release")).axes[0]
    labels = [(each.get_text(), each.get_fontweight()) for each in axes.get_xticklabels()]
    assert labels == [("k = 2", "normal"), ("k = 5\nthis release", "bold"), ("k = 10", "normal")]
    [shade] = axes.patches
    assert shade.get_x() < 1 < shade.get_x() + shade.get_width()
    assert shade.get_width() < 1


def test_no_word_is_cut_off():
    assert clipped(levels(told(1.0, 0.0, 0.5), predicted(0.85, 0.9, 0.3), marked=(2, "this release"))) == []


def test_bars_start_at_nothing():
    with drawing():
        axes = drawn(Bars(["a", "3 others, together"], {("lost", "#d55e00"): [0.2, 0.003]}, "share", "Caption.")).axes[
            0
        ]
    assert axes.get_xlim()[0] == 0
    assert [bar.get_width() for bar in axes.patches] == [0.2, 0.003]
    assert [each.get_text() for each in axes.texts] == ["20 %", "0.3 %"]


def test_points_of_each_kind_stand_where_they_should():
    series = {
        ("real", "#0072b2"): [(0.0, 1.0), (2.0, 3.0)],
        ("made up", "#d55e00"): [(4.0, -1.0)],
        ("none", "#555555"): [],
    }
    with drawing():
        figure = drawn(Points(series, "Caption."))
        figure.draw_without_rendering()
    axes = figure.axes[0]
    found = {each.get_label(): [tuple(point) for point in each.get_offsets().tolist()] for each in axes.collections}
    assert found == {name: points for (name, _), points in series.items()}
    assert not axes.get_xticks().size
    assert not axes.get_yticks().size
    assert clipped(figure) == []
