"""Conversion of stored documents into evidence for some of their attributes."""

import numpy as np
import orjson
import pytest

from aegis_advisor.evidence import associations_of, evidence_of, pairs_of
from app.entries.api.mapping import entry_document
from app.entries.model.documents import (
    compress,
    decompress,
    entry_in,
    stored_attributes,
    stored_entry,
    with_counts,
    without,
    without_counts,
)
from tests.labels import LABELS, entry_of, some_records
from tests.pairs import PAIRED, VALUES, associated_entry, pair, paired_entry
from tests.service import publication


def stored():
    content = publication(paired_entry()).content
    return stored_entry(content.schema, content.count_tables)


@pytest.mark.parametrize("places", [None, (0, 1, 2), (2, 0), (1, 2), (1,), ()])
def test_pairs_of_the_selected_attributes_are_at_their_positions(places):
    names = [list(VALUES)[place] for place in ((0, 1, 2) if places is None else places)]
    expected = [(attributes, maskings) for attributes, maskings in PAIRED if set(attributes) <= set(names)]
    found = tuple(pairs_of(stored(), places).values())
    assert [(tuple(names[place] for place in one.attributes), one.maskings) for one in found] == expected
    for one, which in zip(found, expected, strict=True):
        assert one.joint.dtype == np.int64
        assert one.joint.tolist() == pair(*which)["joint"]


def test_positions_are_those_of_the_evidence():
    names = [attribute.name for attribute in evidence_of(stored(), (2, 0))]
    [one] = pairs_of(stored(), (2, 0)).values()
    assert [names[place] for place in one.attributes] == ["sex", "age"]


@pytest.mark.parametrize("places", [(0, 1, 2), (2, 0), (1,)])
def test_attributes_that_are_read_alone_are_those_of_the_whole_entry(places):
    content = publication(paired_entry()).content
    some = stored_attributes(content.schema, places, content.count_tables)
    whole = [stored().attributes[place] for place in places]
    assert [orjson.dumps(each, option=orjson.OPT_SERIALIZE_NUMPY) for each in some.attributes] == [
        orjson.dumps(each, option=orjson.OPT_SERIALIZE_NUMPY) for each in whole
    ]
    assert (some.records, some.label.histogram.tolist()) == (stored().records, stored().label.histogram.tolist())


def test_the_counts_that_were_stored_are_attached_to_their_pairs():
    content = publication(paired_entry()).content
    schema = decompress(content.schema)
    attached = with_counts(schema, content.count_tables)
    assert [one["joint"].tolist() for one in attached["pairs"]] == [one["joint"] for one in paired_entry()["pairs"]]


def test_a_version_that_knows_one_label_shows_others_no_statistics_of_more():
    """It runs beside this one, and leaves out counts and `with_label` only."""
    traces = {"joint_trace": {"value": 0.9}, "joint_traces": {"smoker": {"value": 0.7}}}
    entry = entry_of(some_records(0), LABELS, **traces)
    content = publication(entry).content
    before = (("label", "histogram"), ("joint_trace",), ("pairs", "*", "joint"), ("pairs", "*", "with_label"))
    shown = orjson.dumps(without(decompress(content.schema), before))
    assert not [each for each in (b"chi_square", b"with_labels", b"joint_traces", b"0.7") if each in shown]
    assert b"chi_square" not in orjson.dumps(entry_document(content.schema, content.configurations, in_full=False))
    owned = entry_document(content.schema, content.configurations, content.count_tables, in_full=True)
    assert orjson.loads(orjson.dumps(owned, option=orjson.OPT_SERIALIZE_NUMPY)) == entry
    whole, read = entry_in(entry), stored_entry(content.schema, content.count_tables, content.configurations)
    assert [pair.with_labels for pair in read.pairs] == [pair.with_labels for pair in whole.pairs]
    assert (read.joint_traces, read.label.name) == (whole.joint_traces, whole.label.name)
    assert stored_entry(content.schema).label.histogram is None


def test_without_the_counts_of_pairs_the_others_are_attached():
    content = publication(paired_entry()).content
    tables = tuple(table for table in content.count_tables if table.kind.value != "pairs")
    attached = with_counts(decompress(content.schema), tables)
    assert not any(isinstance(one["joint"], np.ndarray) for one in attached["pairs"])
    assert attached["attributes"][0]["histogram"].tolist() == paired_entry()["attributes"][0]["histogram"]


def test_only_pairs_that_had_counts_get_them_back():
    entry = associated_entry()
    entry["pairs"][0]["with_label"] = None
    entry["pairs"][-1]["joint"] = None
    content = publication(entry).content
    attached = with_counts(decompress(content.schema), content.count_tables)
    assert orjson.loads(orjson.dumps(attached["pairs"], option=orjson.OPT_SERIALIZE_NUMPY)) == entry["pairs"]
    read = stored_entry(content.schema, content.count_tables)
    assert len(pairs_of(read)) == len(PAIRED) < len(entry["pairs"])
    assert [one.chi_square for one in associations_of(read).values()] == [
        one["with_label"]["chi_square"] for one in entry["pairs"][1:]
    ]


def test_schemas_stored_before_pairs_could_lack_counts_are_read():
    content = publication(paired_entry()).content
    schema = decompress(content.schema)
    for one in schema["pairs"]:
        del one["joint"]
    read = pairs_of(stored_entry(compress(schema), content.count_tables))
    attached = with_counts(schema, content.count_tables)
    joints = [one["joint"] for one in paired_entry()["pairs"]]
    assert [one["joint"].tolist() for one in attached["pairs"]] == joints
    assert [one.joint.tolist() for one in read.values()] == joints


def test_without_counts_nothing_is_left_of_what_pairs_tell():
    bare = without_counts(decompress(publication(associated_entry()).content.schema))
    assert all(set(one) == {"attributes", "maskings"} for one in bare["pairs"])


def test_an_entry_without_pairs_has_none():
    assert pairs_of(entry_in(paired_entry(pairs=[]))) == {}
    assert pairs_of(entry_in({name: value for name, value in paired_entry().items() if name != "pairs"})) == {}
