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


def test_entries_of_people_are_found_and_advised_as_such(aegis, client, tmp_path):
    name, unit = f"people-{uuid4().hex[:9]}", {"format": 3, "unit": "person", "people": 40, "rows_per_person": 4}
    head = client.publish(EXAMPLE_ENTRY | {"name": name} | unit, accept_small_counts=True)
    records = client.publish(EXAMPLE_ENTRY | {"name": f"records-{name}"}, accept_small_counts=True)
    code, found, _ = aegis("search", name, "--require", "k=5", "--require", "unit=person")
    assert (code, found.count(" configurations with k=5 of people")) == (0, 1)
    assert f"{name}  {head.id}" in found
    assert "100 records of 40 people; predicts health" in found
    asked = ("--measure", "mutual_information", "--require", "k=5", "--require", "unit=person")
    assert aegis("advise", head.id, *asked)[0] == 0
    code, _, complaint = aegis("advise", records.id, *asked)
    assert code != 0
    assert "k >= 5 people (the entry counts records)" in complaint
    advice = client.advise(head.id, "mutual_information", require={"k": 5}, unit="person")
    assert (advice.configuration, advice.request["unit"]) == ("c01", "person")
    listed = aegis("entries", "list", "--query", name)[1]
    assert [line.count("5 people") for line in listed.splitlines() if name in line] in ([1, 0], [0, 1])
    file = tmp_path / "entry.json"
    file.write_text(json.dumps(EXAMPLE_ENTRY | unit), encoding="utf-8")
    assert "100 records of 40 people, whom privacy counts" in aegis("entries", "show", file)[1]
