"""A chart as a file of its own."""

import re
from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegis_sdk.charts import Bars, Frontier, document, style
from aegis_sdk.charts.costs import costs_chart
from aegis_sdk.charts.kept import frontier_chart
from aegis_sdk.charts.rendering import wrapped
from tests.for_each import for_each
from tests.sdk.charts.answers import full_advice, realistic, schema_of
from tests.sdk.charts.svg import SVG, outside, overlapping


def charts(count):
    ks, deviations = realistic(count)
    advice, schema = full_advice(deviations, alike=2), schema_of(ks)
    return frontier_chart(advice, schema), costs_chart(advice, schema)


@for_each("count", [3, 40, 200])
def test_no_word_is_cut_off_or_lies_over_another(count):
    for chart in charts(count):
        svg = document(chart)
        assert (outside(svg), overlapping(svg)) == ([], [])


def test_it_stands_alone_with_its_title_legend_axes_and_notes():
    frontier, _ = charts(40)
    svg = document(frontier)
    root = ET.fromstring(svg)
    said = " ".join("".join(each.itertext()) for each in root.iter(f"{SVG}text"))
    for words in (frontier.title, frontier.x.title, frontier.y.title, "the best ranked", *frontier.all_notes):
        assert words.split()[0] in said
        assert " ".join(words.split()[:4]) in said
    assert {each.get("id") for each in root.iter()} >= {"title", "desc"}
    assert "var(" not in svg
    assert "prefers-color-scheme: dark" in svg
    assert not re.search(r"url\((?!#)|@import|<script|https?://(?!www\.w3\.org/2000/svg)", svg)


def test_every_reference_is_to_an_element_of_the_file_and_every_class_has_a_rule():
    for chart in charts(40):
        root = ET.fromstring(document(chart))
        ids = {each.get("id") for each in root.iter()}
        assert {each.get("href")[1:] for each in root.iter(f"{SVG}use")} <= ids
        used = {name for each in root.iter() for name in each.get("class", "").split()}
        unstyled = {"chart-name"}
        assert {name for name in used - unstyled if f".{name}" not in style()} == set()


def test_where_nothing_can_be_drawn_there_is_no_file():
    empty = [replace(one, points=()) if isinstance(one, Frontier) else replace(one, groups=()) for one in charts(3)]
    assert isinstance(empty[1], Bars)
    for chart in empty:
        with pytest.raises(ValueError, match=re.escape(chart.empty)):
            document(chart)


@given(st.lists(st.text("ab日", min_size=1, max_size=8), min_size=1, max_size=20), st.integers(40, 300))
def test_lines_have_all_words_in_order_and_none_could_take_the_next(words, room):
    lines = wrapped(" ".join(words), room, 12.0)
    assert " ".join(lines).split(" ") == words
    for line, following in pairwise(lines):
        longer = f"{line} {following.split(' ')[0]}"
        assert sum(12 if each == "日" else 6.72 for each in longer) > room
