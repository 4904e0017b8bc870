"""Scores of a label's classes in an entry."""

import copy

import pytest
from pydantic import ValidationError

from aegis_sdk.wire import EntryDocument, faults_of
from tests.for_each import for_each
from tests.service import example_entry

CLASSES = len(example_entry()["label"]["domain"])
MIDDLES = [float(at) for at in range(CLASSES)]


def entry_with(scores, form=4):
    entry = copy.deepcopy(example_entry())
    entry["format"] = form
    entry["label"]["scores"] = scores
    return entry


def test_scores_of_any_order_are_accepted():
    scores = EntryDocument.model_validate(entry_with({"values": MIDDLES[::-1]})).label.scores
    assert (scores.values, scores.variance) == (MIDDLES[::-1], None)


@for_each(
    ("scores", "pointer"),
    [
        ({"values": MIDDLES[1:]}, "/label/scores/values"),
        ({"values": []}, "/label/scores/values"),
        ({"values": [*MIDDLES[1:], float("nan")]}, f"/label/scores/values/{CLASSES - 1}"),
        ({"values": [*MIDDLES[1:], float("inf")]}, f"/label/scores/values/{CLASSES - 1}"),
        ({"values": [1e300, *MIDDLES[1:]]}, "/label/scores/values/0"),
        ({"values": MIDDLES, "variance": float("nan")}, "/label/scores/variance"),
        ({"values": MIDDLES, "variance": -1}, "/label/scores/variance"),
        ({"values": MIDDLES, "variance": 1e-3}, "/label/scores/variance"),
        ({"values": MIDDLES, "mean": 1}, "/label/scores/mean"),
    ],
)
def test_faults_have_their_place(scores, pointer):
    with pytest.raises(ValidationError) as error:
        EntryDocument.model_validate(entry_with(scores))
    assert [fault.pointer for fault in faults_of(error.value)] == [pointer]


@for_each(
    ("place", "score", "is_inside"),
    [(0, -1e9, True), (0, 0, True), (0, 0.5, False), (1, 0, True), (1, 2.5, True), (1, -1, False), (2, 2, False)],
)
def test_a_score_lies_within_its_bin(place, score, is_inside):
    entry = entry_with({"values": [-1, 1, *MIDDLES[2:]]})
    entry["label"]["domain"] = ["(-inf,0)", "[0,2.5)", "[2.5,inf)", *entry["label"]["domain"][3:]]
    entry["label"]["scores"]["values"][2] = 7
    entry["label"]["scores"]["values"][place] = score
    if is_inside:
        assert EntryDocument.model_validate(entry).label.scores.values[place] == score
        return
    with pytest.raises(ValidationError, match="Is outside its bin") as error:
        EntryDocument.model_validate(entry)
    assert [fault.pointer for fault in faults_of(error.value)] == [f"/label/scores/values/{place}"]


def test_they_need_format_4_and_a_label():
    with pytest.raises(ValidationError) as error:
        EntryDocument.model_validate(entry_with({"values": MIDDLES}, form=3))
    assert "/label/scores" in [fault.pointer for fault in faults_of(error.value)]
    entry = example_entry()
    entry["format"] = 4
    entry["attributes"][0]["scores"] = {"values": [0] * len(entry["attributes"][0]["domain"])}
    with pytest.raises(ValidationError) as error:
        EntryDocument.model_validate(entry)
    assert "/attributes/0/scores" in [fault.pointer for fault in faults_of(error.value)]
