"""`aegis search` against the real service: by words, attributes and the privacy of what is offered."""

import json
from uuid import uuid4

import pytest

from aegis_sdk.wire import EXAMPLE_ENTRY

CONFIGURATIONS = [
    {"id": "c01", "maskings": {"age": "age-2"}, "privacy": {"k": 5, "t": 0.3}},
    {"id": "c02", "maskings": {"age": "drop"}, "privacy": {"k": 50}},
    {"id": "c03", "maskings": {"age": "identity"}},
]


@pytest.fixture
def named(client):
    """Publish an entry that only these words find."""
    word = uuid4().hex
    entry = EXAMPLE_ENTRY | {"name": f"health-{word}", "title": "A study of care", "configurations": CONFIGURATIONS}
    return word, client.publish(entry, accept_small_counts=True).id


def test_what_is_offered_is_shown(aegis, named):
    word, entry_id = named
    code, out, err = aegis("search", word.upper(), "study", "study of", "--attribute", "age", "--require", "k=5")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        f"health-{word[:20]}…  {entry_id}",
        "  how many records are alone on all shared columns is not stated",
        "  A study of care",
        "  100 records; predicts health from age",
        "  of default, licence CC0-1.0; 2 configurations with k=5",
    ]
    listed = json.loads(aegis("search", word, "--json")[1])
    assert ([each["id"] for each in listed["items"]], listed["more"]) == ([entry_id], False)


NOT_OFFERED = [
    ["no such word"],
    ["study of", "of study"],
    ["--attribute", "height"],
    ["--attribute", "age", "--attribute", "height"],
    ["--license", "CC0"],
    ["--require", "k=51"],
    ["--require", "t=0.2"],
    ["--require", "k=50", "--require", "t=0.3"],  # each of another configuration
]


def test_what_is_not_offered_is_not_shown(aegis, named):
    said = "no entries; words are searched in name, title and keywords; for other things use --label and --attribute\n"
    shown = [wanted for wanted in NOT_OFFERED if aegis("search", named[0], *wanted) != (0, said, "")]
    assert shown == []


def test_an_unknown_criterion_is_said(aegis):
    code, out, err = aegis("search", "--require", "kk=5")
    assert (code, out) == (2, "")
    assert "'kk' is not a privacy criterion; use one of k, l" in err
