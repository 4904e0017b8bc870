"""Counts are parsed as arrays, which must not change what is refused, stored or answered."""

import json

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from aegis_sdk.wire import COUNT_MAX, EntryDocument, NotJsonError, faults_of, read_json
from app.entries.api.uploads import parse_entry, read_publication
from app.entries.service import publications
from app.entries.service.publications import digest
from app.platform.errors import InvalidDocumentError
from tests.for_each import for_each
from tests.pairs import associated_entry, paired_entry
from tests.service import example_entry
from tests.tables import raised

#: The levels of brackets and braces that the JSON parser accepts.
NESTING = 200

PLACES = [
    ("label", "histogram"),
    ("attributes", 0, "histogram"),
    ("attributes", 0, "joint"),
    ("attributes", 0, "maskings", 0, "mapping"),
    ("attributes", 0, "maskings", 0, "joint"),
    ("attributes", 0, "maskings", 0, "transition"),
    ("attributes", 0, "maskings"),
    ("attributes",),
    ("pairs", 0, "joint"),
    ("pairs", 0, "attributes"),
    ("pairs", 0, "with_label"),
    ("pairs", 0, "with_label", "chi_square"),
    ("pairs", 0, "with_label", "combinations"),
    ("pairs", -1, "joint"),
    ("pairs",),
]
#: Around the ends of int64 and beyond those of uint64, where a parser of machine integers saturates or wraps.
LARGE = [sign * 2**bits + step for sign in (-1, 1) for bits in (63, 64) for step in (-1, 0, 1)]
CELL = (
    st.integers(-3, 60)
    | st.sampled_from([COUNT_MAX, COUNT_MAX + 1, -COUNT_MAX, *LARGE, 10**30, -(10**30), 1.0, -0.0, 1e300])
    | st.sampled_from([None, True, False, "1", "[", {}, []])
)
VALUE = st.recursive(CELL, lambda part: st.lists(part, max_size=9), max_leaves=20) | st.lists(st.lists(CELL))


def changed(document, path, value):
    owner = document
    for step in path[:-1]:
        owner = owner[step]
    owner[path[-1]] = value
    return document


def faults(document):
    try:
        EntryDocument.model_validate(document)
    except ValidationError as error:
        return faults_of(error)
    return []


def plain(value):
    """A document with lists instead of arrays."""
    if isinstance(value, dict):
        return {name: plain(member) for name, member in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value.tolist() if isinstance(value, np.ndarray) else value


def same(left, right):
    """Whether two JSON values are equal, whatever the order of members; unlike in Python, 1, 1.0 and true differ."""
    return json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)


@given(st.sampled_from(PLACES), VALUE, st.sampled_from([(",", ":"), (", ", ": "), ("\r\n,\t", " :\n")]))
def test_whatever_stands_there_is_read_and_refused_alike(path, value, separators):
    body = json.dumps(changed(associated_entry(), path, value), separators=separators).encode()
    read, arrays = read_json(body), parse_entry(body)
    assert same(plain(arrays), read)
    assert faults(arrays) == faults(read)


@pytest.mark.parametrize("document", [example_entry(), paired_entry(), associated_entry()])
def test_counts_are_arrays_and_the_digest_is_that_of_lists(document):
    arrays = parse_entry(orjson.dumps(document))
    attribute = arrays["attributes"][0]
    counts = [attribute["histogram"], *(attribute["maskings"][0][name] for name in ("mapping", "joint"))]
    assert [each.dtype for each in counts] == [np.int64] * 3
    assert digest(arrays) == digest(document)


NO_ENTRIES = [
    b"[]",
    b"7",
    b'"text"',
    b'{"attributes": [1]}',
    b'{"attributes": {}}',
    b'{"a": 1, "a": 2}',
    b'{"attributes": [{"joint": [[1, 2], [3]]}, {"joint": [[]]}, {"joint": [ ]}, {"joint": [[ ], [ ]]}]}',
    b'{"attributes": [{"joint": [[ ]]}, {"joint": [-0, 1]}, {"joint": []}, {"histogram": [ 1\t, 2\r\n]}]}',
    b'{"pairs": [{"joint": [[1], [2]], "joint": [[3]]}]}',
    b'{"pairs": [{"joint": [[1, 2, 3, 4], 5]}, {"joint": [[[1, 2], [3, 4]]]}]}',
    b'{"pairs": [{"with_label": null, "joint": [[1]]}, {"with_label": [1, 2]}, {"with_label": {"joint": [[1]]}}]}',
    b'{"pairs": [{"with_label": {"chi_square": 1, "chi_square": 2.50, "combinations": 1E2}}]}',
]


def test_what_is_no_entry_is_read_as_ever():
    assert [body for body in NO_ENTRIES if not same(plain(parse_entry(body)), read_json(body))] == []


def test_what_is_not_json_is_refused_with_the_place_in_the_whole_body():
    body = b'{"name": "x", "attributes": [{"histogram": [1, 2], "maskings": [{"joint": [[0, %b]]}]}]}'
    for number in [b"01", b"+1", b"1.", b"- 1", b"NaN", b"1 2", b"", b",1", b'"\\ud800"', b'"\xff"']:
        expected = raised(NotJsonError, read_json, body % number)
        assert expected is not None, number
        assert raised(NotJsonError, parse_entry, body % number) == expected


def nested(levels):
    return b"[" * levels + b"0" + b"]" * levels


#: Values at every depth where another parser takes over, and the number of brackets and braces around them.
NESTED_PLACES = [
    (b'{"name": %b}', 1),
    (b'{"attributes": %b}', 1),
    (b'{"attributes": [{"domain": %b}]}', 3),
    (b'{"attributes": [{"joint": %b}]}', 3),
    (b'{"attributes": [{"maskings": [{"joint": %b}]}]}', 5),
    (b'{"attributes": [{"maskings": [{"parameters": {"a": %b}}]}]}', 6),
    (b'{"pairs": [{"joint": %b}]}', 3),
    (b'{"pairs": [{"with_label": %b}]}', 3),
    (b'{"pairs": [{"with_label": {"chi_square": %b}}]}', 4),
]


@for_each(("place", "depth"), NESTED_PLACES)
def test_the_limit_of_nesting_is_that_of_the_whole_body(place, depth):
    deepest, too_deep = place % nested(NESTING - depth), place % nested(NESTING - depth + 1)
    assert same(plain(parse_entry(deepest)), read_json(deepest))
    expected = raised(NotJsonError, read_json, too_deep)
    assert "recursion limit exceeded" in expected
    assert raised(NotJsonError, parse_entry, too_deep) == expected


@for_each("number", [-(2**63) - 1, -(10**30), 2**63 - 1, 2**63, 2**64 + 1])
def test_integers_beyond_int64_are_refused_as_what_they_are(number):
    document = changed(example_entry(), ("attributes", 0, "histogram", 2), number)
    body = json.dumps(document).encode()
    assert same(plain(parse_entry(body)), read_json(body))
    assert faults(parse_entry(body)) == faults(read_json(body)) != []


def test_nothing_is_prepared_of_an_entry_that_is_refused(monkeypatch):
    digested = []
    monkeypatch.setattr(publications, "digest", digested.append)
    with pytest.raises(InvalidDocumentError):
        read_publication(orjson.dumps(changed(example_entry(), ("attributes", 0, "histogram", 2), 10**6)))
    assert digested == []
