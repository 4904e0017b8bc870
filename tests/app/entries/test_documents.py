"""Conversion of stored documents into evidence for some of their attributes."""

import numpy as np
import orjson
import pytest

from app.entries.model.documents import associations_of, attach, decompress, evidence_of, pairs_of, without_counts
from tests.pairs import PAIRED, VALUES, associated_entry, pair, paired_entry
from tests.service import publication


def document():
    content = publication(paired_entry()).content
    return attach(decompress(content.schema), content.count_tables)


@pytest.mark.parametrize("places", [None, (0, 1, 2), (2, 0), (1, 2), (1,), ()])
def test_pairs_of_the_selected_attributes_are_at_their_positions(places):
    names = [list(VALUES)[place] for place in ((0, 1, 2) if places is None else places)]
    expected = [(attributes, maskings) for attributes, maskings in PAIRED if set(attributes) <= set(names)]
    found = tuple(pairs_of(document(), places).values())
    assert [(tuple(names[place] for place in one.attributes), one.maskings) for one in found] == expected
    for one, which in zip(found, expected, strict=True):
        assert one.joint.dtype == np.int64
        assert one.joint.tolist() == pair(*which)["joint"]


def test_positions_are_those_of_the_evidence():
    names = [attribute.name for attribute in evidence_of(document(), (2, 0))]
    [one] = pairs_of(document(), (2, 0)).values()
    assert [names[place] for place in one.attributes] == ["sex", "age"]


def test_the_counts_that_were_stored_are_attached_to_their_pairs():
    content = publication(paired_entry()).content
    schema = decompress(content.schema)
    attached = attach(schema, content.count_tables)
    assert [one["joint"].tolist() for one in attached["pairs"]] == [one["joint"] for one in paired_entry()["pairs"]]


def test_without_the_counts_of_pairs_the_others_are_attached():
    content = publication(paired_entry()).content
    tables = tuple(table for table in content.count_tables if table.kind.value != "pairs")
    attached = attach(decompress(content.schema), tables)
    assert not any(isinstance(one["joint"], np.ndarray) for one in attached["pairs"])
    assert attached["attributes"][0]["histogram"].tolist() == paired_entry()["attributes"][0]["histogram"]


def test_only_pairs_that_had_counts_get_them_back():
    entry = associated_entry()
    entry["pairs"][0]["with_label"] = None
    entry["pairs"][-1]["joint"] = None
    content = publication(entry).content
    attached = attach(decompress(content.schema), content.count_tables)
    assert orjson.loads(orjson.dumps(attached["pairs"], option=orjson.OPT_SERIALIZE_NUMPY)) == entry["pairs"]
    assert len(pairs_of(attached)) == len(PAIRED) < len(entry["pairs"])
    assert [one.chi_square for one in associations_of(attached).values()] == [
        one["with_label"]["chi_square"] for one in entry["pairs"][1:]
    ]


def test_schemas_stored_before_pairs_could_lack_counts_are_read():
    content = publication(paired_entry()).content
    schema = decompress(content.schema)
    for one in schema["pairs"]:
        del one["joint"]
    attached = attach(schema, content.count_tables)
    assert [one["joint"].tolist() for one in attached["pairs"]] == [one["joint"] for one in paired_entry()["pairs"]]


def test_without_counts_nothing_is_left_of_what_pairs_tell():
    bare = without_counts(decompress(publication(associated_entry()).content.schema))
    assert all(set(one) == {"attributes", "maskings"} for one in bare["pairs"])


def test_an_entry_without_pairs_has_none():
    assert pairs_of(paired_entry(pairs=[])) == {}
    assert pairs_of({name: value for name, value in paired_entry().items() if name != "pairs"}) == {}
