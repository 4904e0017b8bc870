"""The frontier of a search as a report, from results that were made up by hand."""

from math import nan

import pytest

from aegis_provider import Configuration
from aegis_provider.report.figures import frontier_report
from aegis_provider.report.model import TextTable
from aegis_provider.search import FrontierPoint, Requirement, SearchResult
from aegis_sdk.charts import Interval, Plane, Spot


def point(k, left_out, share, *, more=0.0):
    chosen = None if share is None else Configuration(f"c{k}", {"a": "drop"}, {"k": k}, 3)
    found = (nan, nan) if share is None else (share / 2, share)
    return FrontierPoint(Requirement({"k": k}, left_out), chosen, *found, None, more == 0.0, more)


def report(*points):
    result = SearchResult((), (), (), points, "joint", 0.5, 1000, 10, False, {}, 200, {})
    [section] = frontier_report(result, "people.csv", "ill").sections
    return section.parts


def test_there_is_a_series_for_each_share_left_out_and_a_place_for_each_requirement():
    table, picture = report(
        point(2, 0.0, 0.8), point(2, 0.01, 0.9, more=0.05), point(5, 0.0, None), point(5, 0.01, 0.6, more=None)
    )
    assert isinstance(table, TextTable)
    assert [row[:5] for row in table.rows] == [
        ("k = 2", "0 %", "c2", "3", "80 %"),
        ("k = 2", "1 %", "c2", "3", "90 %"),
        ("k = 5", "0 %", "-", "-", "-"),
        ("k = 5", "1 %", "c5", "3", "60 %"),
    ]
    assert isinstance(picture, Plane)
    assert picture.places == ["k = 2", "k = 5"]
    assert {each.name: each.spots for each in picture.series} == {
        "at most 0 % of the records left out": [Spot(0, 0.8)],
        "at most 1 % of the records left out": [Spot(0, 0.9, up=Interval(0.9, pytest.approx(0.945))), Spot(1, 0.6)],
    }
    assert sorted(picture.y.levels.values()) == [0, 1]


def test_no_limit_is_above_the_table_as_it_is():
    assert point(2, 0.0, 0.9, more=0.5).at_most == 1.0
