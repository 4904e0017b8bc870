"""Pair counts must fit the attributes of their entry."""

import json

import pytest
from pydantic import ValidationError

from aegis_sdk.wire import EntryDocument, NotJsonError, faults_of, read_entry
from tests.for_each import for_each
from tests.pairs import PAIRED, associated_entry, pair, paired_entry
from tests.sdk.wire.documents import assert_read_whole, changed, entry_pointers, without

ENTRY = paired_entry()
AGE_ZIP = ENTRY["pairs"][0]


def paired(pairs):
    return paired_entry(pairs=pairs)


def broken(part, value):
    return changed(("pairs", 0, part), value, ENTRY)


WITH_LABEL = {"chi_square": 12.5, "combinations": 12}


def without_joint(one):
    return {name: member for name, member in one.items() if name != "joint"}


def told(**changes):
    """The entry with something else told of the label by its first pair."""
    return broken("with_label", WITH_LABEL | changes)


BROKEN = {
    "no list": (paired({}), ["/pairs"]),
    "null": (paired(None), ["/pairs"]),
    "no object": (paired([[]]), ["/pairs/0"]),
    "unknown field": (broken("label", "x"), ["/pairs/0/label"]),
    "no counts": (paired([{"attributes": ["age", "zip"], "maskings": ["age-4", "zip-3"]}]), ["/pairs/0/joint"]),
    "counts null": (broken("joint", None), ["/pairs/0/joint"]),
    "neither counts nor what it tells": (paired([without_joint(AGE_ZIP)]), ["/pairs/0/joint"]),
    "a negative chi-square": (told(chi_square=-1.0), ["/pairs/0/with_label/chi_square"]),
    "a boolean": (told(chi_square=True), ["/pairs/0/with_label/chi_square"]),
    "text": (told(chi_square="1"), ["/pairs/0/with_label/chi_square"]),
    "no combinations": (told(combinations=0), ["/pairs/0/with_label/combinations"]),
    "a fraction of a combination": (told(combinations=1.5), ["/pairs/0/with_label/combinations"]),
    "nothing told": (broken("with_label", {}), ["/pairs/0/with_label/chi_square", "/pairs/0/with_label/combinations"]),
    "something else told": (told(lift=2), ["/pairs/0/with_label/lift"]),
    "what the same pair tells": (
        paired([*ENTRY["pairs"], without_joint(AGE_ZIP) | {"with_label": WITH_LABEL}]),
        ["/pairs/5"],
    ),
    "one attribute": (broken("attributes", ["age"]), ["/pairs/0/attributes"]),
    "three attributes": (broken("attributes", ["age", "zip", "sex"]), ["/pairs/0/attributes"]),
    "no attribute": (broken("attributes", []), ["/pairs/0/attributes"]),
    "an attribute that is no name": (broken("attributes", ["age", 1]), ["/pairs/0/attributes/1"]),
    "one masking": (broken("maskings", ["age-4"]), ["/pairs/0/maskings"]),
    "a masking that is no name": (broken("maskings", [None, "zip-3"]), ["/pairs/0/maskings/0"]),
    "an attribute with itself": (
        paired([AGE_ZIP | {"attributes": ["age", "age"], "maskings": ["age-4", "age-2"]}]),
        ["/pairs/0/attributes/1"],
    ),
    "an unknown attribute": (broken("attributes", ["age", "place"]), ["/pairs/0/attributes/1"]),
    "two unknown attributes": (
        broken("attributes", ["ages", "place"]),
        ["/pairs/0/attributes/0", "/pairs/0/attributes/1"],
    ),
    "an unknown masking": (broken("maskings", ["age-5", "zip-3"]), ["/pairs/0/maskings/0"]),
    "another attribute's masking": (broken("maskings", ["age-4", "age-2"]), ["/pairs/0/maskings/1"]),
    "drop": (broken("maskings", ["drop", "zip-3"]), ["/pairs/0/maskings/0"]),
    "the same pair": (paired([*ENTRY["pairs"], AGE_ZIP]), ["/pairs/5"]),
    "the same pair turned round": (
        paired([*ENTRY["pairs"], pair(("zip", "age"), ("zip-3", "age-4"))]),
        ["/pairs/5"],
    ),
    "too few rows": (broken("joint", AGE_ZIP["joint"][:3]), ["/pairs/0/joint"]),
    "no rows": (broken("joint", []), ["/pairs/0/joint"]),
    "no columns": (broken("joint", [[]] * 4), ["/pairs/0/joint"]),
    "too many columns": (broken("joint", [[*row, 0] for row in AGE_ZIP["joint"]]), ["/pairs/0/joint"]),
    "counts of another masking": (broken("maskings", ["identity", "zip-3"]), ["/pairs/0/joint"]),
    "rows of unequal length": (broken("joint", [[1, 2, 3], [1, 2]]), ["/pairs/0/joint/1"]),
    "a fraction": (changed(("pairs", 0, "joint", 1, 2), 0.5, ENTRY), ["/pairs/0/joint/1/2"]),
    "a negative count": (changed(("pairs", 0, "joint", 1, 2), -1, ENTRY), ["/pairs/0/joint/1/2"]),
    "a count that is too large": (changed(("pairs", 0, "joint", 1, 2), 2**53, ENTRY), ["/pairs/0/joint/1/2"]),
}


def test_what_does_not_fit_is_pointed_at():
    told = {name: entry_pointers(document) for name, (document, _) in BROKEN.items()}
    assert told == {name: expected for name, (_, expected) in BROKEN.items()}


def test_a_chi_square_is_finite():
    text = json.dumps(told(chi_square=12.5))
    with pytest.raises(ValidationError) as raised:
        read_entry(text.replace("12.5", "1e999"))
    assert [one.pointer for one in faults_of(raised.value)] == ["/pairs/0/with_label/chi_square"]
    with pytest.raises(NotJsonError):
        read_entry(text.replace("12.5", "NaN"))


SOUND = {
    "pairs": ENTRY,
    "no pairs": paired([]),
    "pairs not mentioned": {name: value for name, value in ENTRY.items() if name != "pairs"},
    "pairs with label associations": associated_entry(),
    "only what a pair tells": paired([without_joint(AGE_ZIP) | {"with_label": WITH_LABEL}]),
    "the same attributes masked otherwise": paired([pair(*PAIRED[0]), pair(("age", "zip"), ("age-2", "zip-odd"))]),
    "one attribute's masking named like another's": json.loads(json.dumps(ENTRY).replace("zip-3", "age-4")),
}


@for_each("name", SOUND)
def test_what_fits_is_accepted(name):
    assert_read_whole(SOUND[name])


def test_an_entry_without_pairs_has_none():
    assert EntryDocument.model_validate(without(("title",))).pairs == []
