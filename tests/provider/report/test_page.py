"""Pages, read back by Python's own HTML parser."""

import re

import pytest
from matplotlib.figure import Figure

from aegis_provider.report.charts import legend_above
from aegis_provider.report.model import Plot, Report, Section, Terms, TextTable
from aegis_provider.report.page import drawing, figure_svg, render_page
from tests.provider.report.html_page import Reader

HOSTILE = "</td><script>alert('x')</script>&amp;\"$x^2$"


def plot_of(name, heights):
    with drawing():
        figure = Figure(figsize=(4, 2))
        axes = figure.subplots()
        axes.bar(range(len(heights)), heights)
        axes.set_title(name)
        return Plot(figure_svg(figure), name)


@pytest.fixture
def page():
    table = TextTable((HOSTILE, "records"), [(HOSTILE, 20190), ("share", 0.123456)], HOSTILE)
    parts = (HOSTILE, table, Terms([(HOSTILE, HOSTILE)]), plot_of(HOSTILE, [1, 2]), plot_of("two", [3, 4, 5]))
    return render_page(Report(HOSTILE, [], [Section(HOSTILE, parts)]))


def test_hostile_names_are_text_everywhere(page):
    read = Reader(page)
    assert read.elements["script"] == 0
    # Title and heading of the page, heading of the section, paragraph, header, cell and caption of the table, term,
    # meaning, title and caption of the plot.
    assert read.texts.count(HOSTILE) == 11


def test_nothing_is_loaded_from_elsewhere(page):
    read = Reader(page)
    assert not read.elements.keys() & {"link", "img", "iframe", "object", "script", "base", "image"}
    addresses = [value for name, value in read.attributes if name in {"src", "href", "xlink:href"}]
    assert all(value.startswith("#") for value in addresses)
    assert "@import" not in page
    assert not re.search(r"url\((?!#)", page)


def test_numbers_are_readable(page):
    texts = Reader(page).texts
    assert "20,190" in texts
    assert "0.1235" in texts


def test_every_reference_of_a_plot_is_to_an_element_of_the_page(page):
    ids = Reader(page).ids
    assert set(re.findall(r'(?:url\(|href=")#([^)"]+)', page)) <= ids.keys()


def test_the_same_figure_is_drawn_the_same():
    assert plot_of("a", [1, 2]) == plot_of("a", [1, 2])
    assert plot_of("a", [1, 2]) != plot_of("a", [1, 3])


def test_the_legend_is_above_the_bars_however_high_they_are():
    with drawing():
        figure = Figure(figsize=(4, 2))
        axes = figure.subplots()
        for name in ("table as it is", "as released"):
            axes.bar(range(3), [1, 1, 1], label=name)
        legend_above(figure)
        figure.draw_without_rendering()
        [legend] = figure.legends
        assert [text.get_text() for text in legend.get_texts()] == ["table as it is", "as released"]
        assert legend.get_window_extent().y0 >= axes.get_window_extent().y1
