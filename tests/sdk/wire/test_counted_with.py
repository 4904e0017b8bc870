"""Masked values that are counted with others must be so in the table, and at places that exist."""

import json

import numpy as np
import pytest
from pydantic import ValidationError

from aegis_sdk.wire import EntryDocument, faults_of, read_entry
from tests.pairs import paired_entry
from tests.sdk.wire.documents import changed

ALONE = [[0, 1, 2, 3], [0, 1, 2]]
TOGETHER = [[1, 1, 3, 3], [0, 2, 2]]


def pooled(joint, places):
    """The counts with those of a masked value moved to the place where it is counted."""
    moved = [[0] * len(row) for row in joint]
    for row, counts in enumerate(joint):
        for column, count in enumerate(counts):
            moved[places[0][row]][places[1][column]] += count
    return moved


def counted(places, **others):
    """The entry whose first pair, rounded, declares these places; its counts are as `TOGETHER` needs them."""
    entry = paired_entry()
    entry["pairs"][0] |= {
        "rounded_to": 5,
        "counted_with": places,
        "joint": pooled(entry["pairs"][0]["joint"], TOGETHER),
    }
    entry["pairs"][0] |= others
    return entry


def with_array(body):
    """The document with the counts of its first pair as an array, as the service's parser makes them."""
    document = json.loads(body)
    if (joint := document["pairs"][0]["joint"]) is not None:
        document["pairs"][0]["joint"] = np.array(joint)
    return document


def faults_from(document):
    """The faults as (pointer, message), the same from lists and from arrays."""
    body, found = json.dumps(document), []
    for read in (read_entry, lambda text: read_entry(text, with_array), EntryDocument.model_validate_json):
        with pytest.raises(ValidationError) as caught:
            read(body)
        found.append([(fault.pointer, fault.detail) for fault in faults_of(caught.value)])
    assert found[0] == found[1] == found[2]
    return found[0]


def cell(row, column):
    """The sound entry with a count at a place that must be 0."""
    return changed(("pairs", 0, "joint", row, column), 5, counted(TOGETHER))


AT = "/pairs/0/counted_with"
NOT_THERE = "A masked value is counted with one that is itself counted elsewhere"
REFUSED = {
    "one list": (counted(TOGETHER[:1]), [(AT, "Has 1 lists; give exactly two")]),
    "three lists": (counted([*TOGETHER, [0]]), [(AT, "Has 3 lists; give exactly two")]),
    "too short": (counted([[1, 1, 3], TOGETHER[1]]), [(f"{AT}/0", "Has 3 indices, but there are 4 masked values")]),
    "too long": (counted([TOGETHER[0], [0, 2, 2, 3]]), [(f"{AT}/1", "Has 4 indices, but there are 3 masked values")]),
    "empty": (counted([TOGETHER[0], []]), [(f"{AT}/1", "Has 0 indices, but there are 3 masked values")]),
    "beyond the last": (counted([[1, 1, 3, 4], TOGETHER[1]]), [(f"{AT}/0", NOT_THERE)]),
    "far beyond": (counted([TOGETHER[0], [0, 2, 2**53 - 1]]), [(f"{AT}/1", NOT_THERE)]),
    "with one that is counted elsewhere": (counted([[1, 2, 3, 3], TOGETHER[1]]), [(f"{AT}/0", NOT_THERE)]),
    "both wrong": (counted([[3, 2, 1, 0], [1, 0, 2]]), [(f"{AT}/0", NOT_THERE), (f"{AT}/1", NOT_THERE)]),
    "negative": (counted([[1, 1, -1, 3], TOGETHER[1]]), [(f"{AT}/0/2", "A count cannot be negative")]),
    "exact counts": (
        counted(TOGETHER, rounded_to=None),
        [(AT, "Masked values are counted with others only in rounded counts, without noise")],
    ),
    "noisy counts": (
        counted(TOGETHER, noise={"kind": "laplace", "scale": 2.0}),
        [(AT, "Masked values are counted with others only in rounded counts, without noise")],
    ),
    "a fraction": (counted([TOGETHER[0], [0, 2, 2.0]]), [(f"{AT}/1/2", "A count is an integer, not a fraction")]),
    "no list": (counted([TOGETHER[0], 2]), [(f"{AT}/1", "A list is expected, not an integer")]),
    "without counts": (
        counted(TOGETHER, joint=None, rounded_to=None, with_label={"chi_square": 1.5, "combinations": 3}),
        [(AT, "Describes the joint counts, but the pair has none")],
    ),
    "kept sums of exact counts": (
        counted(ALONE, rounded_to=None, counted_with=None, within=1),
        [("/pairs/0/within", "Describes rounded counts, without noise")],
    ),
    "kept sums of no counts": (
        counted(
            TOGETHER,
            joint=None,
            rounded_to=None,
            counted_with=None,
            within=2,
            with_label={"chi_square": 1.5, "combinations": 3},
        ),
        [("/pairs/0/within", "Describes the joint counts, but the pair has none")],
    ),
    "off by no base": (
        counted(TOGETHER, within=0),
        [("/pairs/0/within", "Input should be greater than or equal to 1")],
    ),
    "a row with counts": (
        cell(2, 0),
        [("/pairs/0/joint/2", "Must be 0, since its masked value is counted at index 3")],
    ),
    "a column with counts": (
        cell(3, 1),
        [("/pairs/0/joint", "Column 1 must be 0, since its masked value is counted at index 2")],
    ),
    "both with counts": (
        cell(0, 1),
        [
            ("/pairs/0/joint/0", "Must be 0, since its masked value is counted at index 1"),
            ("/pairs/0/joint", "Column 1 must be 0, since its masked value is counted at index 2"),
        ],
    ),
}


def test_what_cannot_be_is_refused_where_it_is():
    told = {name: faults_from(document) for name, (document, _) in REFUSED.items()}
    assert told == {name: expected for name, (_, expected) in REFUSED.items()}


def test_a_table_of_the_wrong_shape_is_told_once():
    entry = counted(TOGETHER)
    entry["pairs"][0]["joint"].pop()
    assert faults_from(entry) == [("/pairs/0/joint", "Has 3 rows, but 'age' has 4 masked values")]


def test_what_fits_is_read_as_it_is():
    for places in (TOGETHER, ALONE, None):
        entry = counted(places)
        for parse in (json.loads, with_array):
            _, read = read_entry(json.dumps(entry), parse)
            assert read.pairs[0].counted_with == places
