"""Pages, read back by Python's own HTML parser."""

import re

import pytest

from aegis_provider.report.model import Report, Section, Terms, TextTable
from aegis_provider.report.rendering import render_page
from aegis_sdk.charts import BAD, Axis, Lengths, SeriesBars
from tests.provider.report.html_page import Reader

HOSTILE = "</td><script>alert('x')</script>&amp;\"$x^2$"


def chart_of(name, lengths):
    return SeriesBars(name, Axis("n", "number"), [name] * len(lengths), [Lengths("n", BAD, lengths)])


@pytest.fixture
def page():
    table = TextTable((HOSTILE, "records"), [(HOSTILE, 20190), ("share", 0.123456)], HOSTILE)
    parts = (HOSTILE, table, Terms([(HOSTILE, HOSTILE)]), chart_of(HOSTILE, [1, 2]), chart_of("two", [3, 4, 5]))
    return render_page(Report(HOSTILE, [], [Section(HOSTILE, parts)]))


def test_hostile_names_are_text_everywhere(page):
    read = Reader(page)
    assert read.elements["script"] == 0
    # Title and heading of the page, heading of the section, paragraph, header, cell and caption of the table, term,
    # meaning; heading, title and two bars of the chart.
    assert read.texts.count(HOSTILE) == 13


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


def test_the_same_report_is_rendered_the_same():
    report = Report("a", [], [Section("a", [chart_of("a", [1, 2])])])
    assert render_page(report) == render_page(report)


def test_a_page_is_readable_in_the_dark():
    page = render_page(Report("a", ["b"], []))
    assert "color-scheme: light dark" in page
    assert "prefers-color-scheme: dark" in page
