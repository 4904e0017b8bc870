"""What is kept between questions is what the next question would have unpacked."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from app.advice.model import Advice, AdviceQuestion, Status
from app.advice.service import advice_input
from app.advice.service.advice_input import AdviceInput, RecentInputs, known_of
from app.advice.service.computation import ReferenceInput, compute_references
from tests.app.worker.shared import shared_entry
from tests.pairs import associated_entry
from tests.service import publication


@pytest.fixture(autouse=True)
def _nothing_kept(monkeypatch):
    monkeypatch.setattr(advice_input, "_RECENT", type(advice_input._RECENT)())


def given(entry, measure="mutual_information"):
    content = publication(entry).content
    places = tuple(range(len(content.outline)))
    tables = tuple(content.count_tables)
    references = tuple(compute_references(ReferenceInput(content.schema, places, tables), seconds=60))
    return AdviceInput(
        version_id=1,
        digest="digest",
        question=AdviceQuestion(measure=measure),
        outline=content.outline,
        places=places,
        schema=content.schema,
        count_tables=tables,
        configurations=content.configuration_table,
        references=references,
    )


def asked(question, version_id=1, digest="digest"):
    return Advice("id", Status.QUEUED, "entry", 1, version_id, digest, question, "model", datetime.now(UTC))


def without_histograms(entry):
    for attribute in entry["attributes"]:
        del attribute["histogram"]
    return entry


def test_the_same_input_is_unpacked_once():
    one = given(shared_entry(2))
    assert known_of(one) is known_of(replace(one, question=AdviceQuestion(measure="g3")))


def test_other_counts_are_other_inputs_even_under_the_same_id():
    known, _ = known_of(given(shared_entry(2)))
    other, _ = known_of(given(without_histograms(shared_entry(2))))
    assert known.evidence[0].histogram is not None
    assert other.evidence[0].histogram is None


def test_what_pairs_tell_is_known_where_attributes_are_taken_together():
    entry = associated_entry()
    known, _ = known_of(given(entry, measure="joint_interactions"))
    assert [one.chi_square for one in known.associations] == [one["with_label"]["chi_square"] for one in entry["pairs"]]
    assert len(known.pairs) == sum("joint" in one for one in entry["pairs"])
    advice_input._RECENT.clear()
    alone, _ = known_of(given(entry))
    assert alone.pairs == alone.associations == ()


def test_only_a_few_small_inputs_are_kept(monkeypatch):
    for attributes in range(1, advice_input.MOST_KEPT + 3):
        known_of(given(shared_entry(attributes)))
    assert len(advice_input._RECENT) == advice_input.MOST_KEPT
    monkeypatch.setattr(advice_input, "LARGEST_KEPT", 10)
    one = given(shared_entry(2))
    assert known_of(one) is not known_of(one)


def test_inputs_are_found_for_other_questions_about_the_same_attributes():
    recent, one = RecentInputs(), given(shared_entry(2))
    recent.keep(one)
    other = AdviceQuestion(measure="g3", weights={"a0": 2.0})
    assert recent.find(asked(other)) == replace(one, question=other)
    assert recent.find(asked(other, version_id=2)) is None
    assert recent.find(asked(other, digest="that of a restored backup")) is None
    assert recent.find(asked(replace(other, attributes=("a0",)))) is None
    assert recent.find(asked(AdviceQuestion(measure="joint"))) is None


def test_inputs_with_pair_counts_large_ones_and_many_are_not_kept(monkeypatch):
    recent, one = RecentInputs(), given(shared_entry(2))
    recent.keep(replace(one, question=AdviceQuestion(measure="joint")))
    assert recent.find(asked(one.question)) is None
    for version in range(advice_input.MOST_KEPT + 1):
        recent.keep(replace(one, version_id=version))
    assert recent.find(asked(one.question, 0)) is None
    assert recent.find(asked(one.question)) is not None
    monkeypatch.setattr(advice_input, "LARGEST_KEPT", 10)
    recent.keep(replace(one, version_id=99))
    assert recent.find(asked(one.question, 99)) is None
