"""Which counts are small: exact ones of 1 to 4, wherever an entry has them."""

import numpy as np
import pytest

from aegis_provider import load_plan, prepare_entry
from app.entries.service.admission import SmallCounts, SmallCountsGate, small_counts
from app.platform.errors import InvalidDocumentError
from tests.app.entries.service.test_policy import EVERYWHERE, entry, noisy_entry, published
from tests.service import publication


def places(document):
    return [fault.pointer for fault in small_counts(published(document))]


def test_they_are_found_in_every_kind_of_table():
    assert places(entry()) == EVERYWHERE


@pytest.mark.parametrize(("count", "is_small"), [(0, False), (1, True), (4, True), (5, False)])
def test_small_are_one_to_four(count, is_small):
    document = noisy_entry()
    del document["label"]["noise"]
    document["label"]["histogram"] = [80, count]
    assert places(document) == ["/label/histogram/1"] * is_small


def test_one_place_is_told_alike_whichever_count_it_has():
    told = set()
    for count in (1, 2, 3, 4):
        document = entry()
        document["label"]["histogram"][1] = count
        told.add(small_counts(published(document))[0])
    assert len(told) == 1


def test_counts_with_noise_or_rounding_are_not_those_of_people():
    assert places(noisy_entry()) == []
    assert places(noisy_entry(scale=0.04)) == ["/label/histogram/1", "/attributes/0/maskings/0/joint/1/0"]
    rounded = noisy_entry()
    for table in (rounded["label"], rounded["attributes"][0]["maskings"][0]):
        del table["noise"]
        table["rounded_to"] = 3
    rounded["label"]["histogram"] = [81, 3]
    rounded["attributes"][0]["maskings"][0]["joint"] = [[90, 3], [3, 51]]
    assert places(rounded) == []


def test_what_was_rounded_once_is_rounded_everywhere_but_in_pairs_that_do_not_say_so():
    once = entry(disclosure_control={"rounded_to": 3, "drawn_once": True}, configurations=[{"suppressed": 3}])
    assert places(once) == ["/pairs/0/joint/1/0"]


def test_a_few_records_left_out_are_a_small_count():
    document = noisy_entry(configurations=[{"suppressed": number} for number in (0, 1, 4, 5, None)])
    assert places(document) == ["/configurations/1/suppressed", "/configurations/2/suppressed"]
    assert places(document | {"disclosure_control": {"rounded_to": 3, "drawn_once": True}}) == []
    cells = noisy_entry(configurations=[{"suppressed_cells": number} for number in (0, 4, 5, None)])
    assert places(cells) == ["/configurations/1/suppressed_cells"]


@pytest.mark.parametrize(("records", "is_small"), [(100, False), (99, True), (96, True), (95, False)])
def test_a_masking_that_lacks_a_few_records_tells_how_many(records, is_small):
    document = noisy_entry()
    del document["label"]["noise"]
    document["label"]["histogram"] = [80, 20]
    document["attributes"][0]["maskings"][0]["records"] = records
    assert places(document) == ["/attributes/0/maskings/0/records"] * is_small


def test_of_an_inexact_total_a_masking_lacks_nobody_knows_how_many():
    document = noisy_entry()
    document["attributes"][0]["maskings"][0]["records"] = 80
    assert places(document) == []


def test_the_first_hundred_places_are_told():
    document = entry()
    document["attributes"][0]["joint"] = np.ones((200, 300), dtype=np.int64)
    assert len(places(document)) == 100


@pytest.mark.parametrize(
    ("rule", "is_confirmed", "is_refused"),
    [
        (SmallCounts.REFUSE, False, True),
        (SmallCounts.REFUSE, True, True),
        (SmallCounts.CONFIRM, False, True),
        (SmallCounts.CONFIRM, True, False),
        (SmallCounts.ACCEPT, False, False),
        (SmallCounts.ACCEPT, True, False),
    ],
)
def test_what_becomes_of_them_is_a_matter_of_the_rule_and_the_call(rule, is_confirmed, is_refused):
    gate, found = SmallCountsGate(rule, is_confirmed=is_confirmed), small_counts(published(entry()))
    gate.refuse(())
    assert list(gate.warnings(())) == []
    if not is_refused:
        gate.refuse(found)
        assert len(list(gate.warnings(found))) == (not is_confirmed)
        return
    with pytest.raises(InvalidDocumentError) as refused:
        gate.refuse(found)
    assert (refused.value.code, refused.value.faults) == ("small_counts", found)
    assert ("--accept-small-counts" in refused.value.detail) == (rule is SmallCounts.CONFIRM)
    assert "--exact" in refused.value.detail
    assert "AEGIS_SMALL_COUNTS" in refused.value.detail


def test_what_is_summarised_by_default_has_none(tmp_path):
    """The default rounds every count, so nobody is asked anything."""
    table, plan = tmp_path / "t.csv", tmp_path / "plan.yaml"
    table.write_text("a,y\n" + "1,n\n1,m\n2,n\n" * 40 + "7,n\n7,m\n9,m\n", encoding="utf-8")
    plan.write_text("label: y\nattributes: {a: {maskings: {one: {suppress: {}}}}}\nconfigurations: {c: {a: identity}}")
    by_default, exact = (prepare_entry(table, load_plan(plan), name="t", exact=each).entry for each in (False, True))
    assert publication(by_default.model_dump(mode="json", exclude_unset=True)).small_counts == ()
    assert publication(exact.model_dump(mode="json", exclude_unset=True)).small_counts
