"""The edge of the picture cuts off no word of a figure."""

import pytest

from aegis_provider.report.page import drawing
from aegis_provider.report.plots import costs, frontier, lattice
from tests.for_each import for_each
from tests.provider.report.plots.plotting import PRIVACY, UTILITIES, advice_of, clipped, entry_of

LONG = "a-name-of-an-entry-that-is-as-long-as-names-of-entries-may-well-be"


@pytest.mark.long
@for_each("better", ["higher", "lower"])
@for_each("name", ["short", LONG])
@for_each("figure", [frontier, costs, lattice])
def test_all_words_are_within_the_picture(figure, name, better):
    entry, advice = entry_of(PRIVACY, name=name), advice_of(UTILITIES, better=better)
    with drawing():
        assert clipped(figure(entry, advice)) == []


def test_a_note_about_what_is_left_out_is_within_the_picture_too():
    entry = entry_of(PRIVACY)
    maskings = entry.attributes[0].maskings[:1] * 30
    many = entry.attributes[0].model_copy(update={"maskings": maskings})
    with drawing():
        assert clipped(lattice(entry.model_copy(update={"attributes": [many]}))) == []
