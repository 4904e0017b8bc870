"""Figures as arrays, and as the shares that others read."""

import copy

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegis_advisor.evidence import TransferContent
from app.entries.model.documents import with_shares
from app.entries.model.published import ALL_TOGETHER, MEASURES, Figures
from app.platform.database.arrays import pack, unpack
from tests.generated import figure, mixed_entry

NAMES = ("a", "b", "c")
FIGURES = st.integers(-50, 50).map(lambda number: figure(number / 10))
TRANSFERS = st.none() | st.builds(
    lambda attributes, joint: {"attributes": attributes} | ({} if joint is None else {"joint": joint}),
    st.dictionaries(st.sampled_from(NAMES), st.dictionaries(st.sampled_from(["mutual_information", "g3"]), FIGURES)),
    st.none() | FIGURES,
)


@given(releases=st.lists(TRANSFERS, min_size=1, max_size=5), data=st.data())
def test_they_are_found_by_measure_and_attributes_as_in_the_document(releases, data):
    measure = data.draw(st.sampled_from(["mutual_information", "g3", "joint"]))
    names = ["joint"] if measure == "joint" else data.draw(st.lists(st.sampled_from(NAMES), min_size=1, unique=True))
    places = sorted([ALL_TOGETHER] if measure == "joint" else [NAMES.index(name) for name in names])
    given_figures = Figures.of(msgspec.convert(releases, list[TransferContent | None]), NAMES)
    stored = Figures(unpack(pack(given_figures.places)), unpack(pack(given_figures.numbers)))
    figures = stored.by(measure, places)

    def declared(release):
        if measure == "joint":
            return [(release or {}).get("joint")]
        known = (release or {}).get("attributes", {})
        return [known.get(NAMES[place], {}).get(measure) for place in places]

    table = [declared(release) for release in releases]
    complete = [row for row, own in enumerate(table) if None not in own]
    assert figures.complete(places).tolist() == complete
    expected = [[[one["value"], one["low"], one["high"]] for one in table[row]] for row in complete]
    assert figures.table(np.array(complete, dtype=np.int64), places).tolist() == expected
    best = max if MEASURES[measure] == "higher" else min
    for column, found in enumerate(figures.best(measure, places)):
        values = [own[column]["value"] for own in table if own[column] is not None]
        assert found == best(values) if values else np.isnan(found)


def test_the_document_keeps_its_figures():
    entry = mixed_entry()
    before = copy.deepcopy(entry)
    shown = with_shares(entry)
    assert entry == before
    assert shown["configurations"][1]["transfer"]["attributes"]["age"]["mutual_information"] == 0.5
    assert shown["configurations"][2] == entry["configurations"][2]


@pytest.mark.parametrize("unmasked", [True, False])
def test_shares_are_of_the_best_that_is_declared(unmasked):
    entry = mixed_entry()
    if not unmasked:
        del entry["holdout"]["unmasked"]
    shown = with_shares(entry)["configurations"]
    assert shown[0]["transfer"]["joint"] == (0.84 if unmasked else 0.93)  # 0.42 of 0.5, or of 0.45
    assert shown[1]["transfer"]["joint"] == (0.9 if unmasked else 1.0)
