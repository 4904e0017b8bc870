"""Conversion of stored documents into evidence for some of their attributes."""

import numpy as np
import pytest

from app.domain.documents import attach, decompress, evidence_of, pairs_of
from tests.pairs import PAIRED, VALUES, pair, paired_entry
from tests.service import publication


def document():
    content = publication(paired_entry()).content
    return attach(decompress(content.schema), content.count_tables)


@pytest.mark.parametrize("places", [None, (0, 1, 2), (2, 0), (1, 2), (1,), ()])
def test_pairs_of_the_selected_attributes_are_at_their_positions(places):
    names = [list(VALUES)[place] for place in ((0, 1, 2) if places is None else places)]
    expected = [(attributes, maskings) for attributes, maskings in PAIRED if set(attributes) <= set(names)]
    found = pairs_of(document(), places)
    assert [(tuple(names[place] for place in one.attributes), one.maskings) for one in found] == expected
    for one, which in zip(found, expected, strict=True):
        assert one.joint.dtype == np.int64
        assert one.joint.tolist() == pair(*which)["joint"]


def test_positions_are_those_of_the_evidence():
    names = [attribute.name for attribute in evidence_of(document(), (2, 0))]
    [one] = pairs_of(document(), (2, 0))
    assert [names[place] for place in one.attributes] == ["sex", "age"]


def test_the_counts_that_were_stored_are_attached_to_their_pairs():
    content = publication(paired_entry()).content
    schema = decompress(content.schema)
    assert all(set(one) == {"attributes", "maskings"} for one in schema["pairs"])
    attached = attach(schema, content.count_tables)
    assert [one["joint"].tolist() for one in attached["pairs"]] == [one["joint"] for one in paired_entry()["pairs"]]


def test_without_the_counts_of_pairs_the_others_are_attached():
    content = publication(paired_entry()).content
    tables = tuple(table for table in content.count_tables if table.kind.value != "pairs")
    attached = attach(decompress(content.schema), tables)
    assert all("joint" not in one for one in attached["pairs"])
    assert attached["attributes"][0]["histogram"].tolist() == paired_entry()["attributes"][0]["histogram"]


def test_an_entry_without_pairs_has_none():
    assert pairs_of(paired_entry(pairs=[])) == ()
    assert pairs_of({name: value for name, value in paired_entry().items() if name != "pairs"}) == ()
