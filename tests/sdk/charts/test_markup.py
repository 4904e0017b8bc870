"""Texts that others wrote, made fit for a chart, and markup that no text can break out of."""

from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from aegis_sdk.charts.drawing import cut, fit, isolated, joined, tag


def test_long_texts_are_cut_and_unfit_characters_replaced():
    assert cut("physical_limitation", 9) == "physical…"
    assert cut("short", 5) == "short"
    assert fit("a\x00b\u202ec\ufffe") == "a\ufffdb\ufffdc\ufffd"
    assert fit("👩\u200d🔬") == "👩\u200d🔬"


def test_a_text_from_right_to_left_is_isolated_from_its_sentence():
    assert isolated("صحة") == "\u2068صحة\u2069"
    assert isolated("c17") == "c17"


@given(st.text(), st.text())
def test_any_text_stays_a_text(inner, attribute):
    element = ET.fromstring(tag("p", inner, tag("b", inner), class_=attribute, data_more=None))
    assert "".join(element.itertext()) == fit(inner) * 2
    assert element.attrib == {"class": fit(attribute)}


def test_markup_is_not_escaped_again():
    assert joined("<", tag("br", "<"), None) == "&lt;<br>&lt;</br>"
