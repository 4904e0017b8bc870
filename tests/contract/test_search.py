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


NO_WORD = "; words are searched in name, title, keywords, and the names of label and attributes"
NO_OTHER = ": the words occur, but in no entry that meets the other options"
NOT_OFFERED = [
    (["no such word"], NO_WORD),
    (["no such word", "--require", "k=51"], NO_WORD),
    (["study of", "of study"], NO_WORD),
    (["--attribute", "height"], NO_OTHER),
    (["--attribute", "age", "--attribute", "height"], NO_OTHER),
    (["--license", "CC0"], NO_OTHER),
    (["--license", "CC0", "--require", "k=51"], NO_OTHER),
    (["--require", "k=51"], ": of those that meet the rest, none has a configuration with k=51"),
    (["--require", "t=0.2"], ": of those that meet the rest, none has a configuration with t=0.2"),
    # Each of another configuration.
    (
        ["--require", "k=50", "--require", "t=0.3"],
        ": of those that meet the rest, none has a configuration with k=50 and t=0.3",
    ),
]


def test_what_is_not_offered_is_not_shown_and_what_excludes_it_is_said(aegis, named):
    said = [(wanted, aegis("search", named[0], *wanted)) for wanted, _ in NOT_OFFERED]
    assert said == [(wanted, (0, f"no entries{why}\n", "")) for wanted, why in NOT_OFFERED]


def test_without_words_none_are_blamed(aegis, named):
    assert aegis("search", "--label", named[0]) == (0, "no entries\n", "")


def test_an_unknown_criterion_is_said(aegis):
    code, out, err = aegis("search", "--require", "kk=5")
    assert (code, out) == (2, "")
    assert "'kk' is not a privacy criterion; use one of k, l" in err
