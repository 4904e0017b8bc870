"""Entries with counts of pairs of attributes: published, read, changed, refused."""

import hashlib
import json

import pytest
import rfc8785

from tests.answers import pointers
from tests.pairs import associated_entry, paired_entry
from tests.sdk.wire.documents import changed
from tests.service import ask, publish

ENTRY = paired_entry()


async def test_the_summaries_are_the_entry_as_published(shared_api):
    entry = paired_entry(name="published")
    head = await publish(shared_api, entry)
    assert head["digest"] == f"sha256:{hashlib.sha256(rfc8785.dumps(entry)).hexdigest()}"
    assert (await shared_api.get(f"/v1/entries/{head['id']}/summaries")).json() == entry


async def test_pairs_without_counts_are_published_as_they_are(shared_api):
    entry = associated_entry(name="associated")
    head = await publish(shared_api, entry)
    assert head["digest"] == f"sha256:{hashlib.sha256(rfc8785.dumps(entry)).hexdigest()}"
    assert (await shared_api.get(f"/v1/entries/{head['id']}/summaries")).json() == entry
    only = associated_entry(name="associations", pairs=associated_entry()["pairs"][-2:])
    head = await publish(shared_api, only)
    assert (await shared_api.get(f"/v1/entries/{head['id']}/summaries")).json() == only


async def test_members_that_are_null_stay_null(shared_api):
    entry = associated_entry(name="nulls")
    entry["pairs"][0]["with_label"] = None
    entry["pairs"][-1]["joint"] = None
    head = await publish(shared_api, entry)
    assert head["digest"] == f"sha256:{hashlib.sha256(rfc8785.dumps(entry)).hexdigest()}"
    assert (await shared_api.get(f"/v1/entries/{head['id']}/summaries")).json() == entry


async def test_the_schema_names_the_pairs_that_have_counts_without_these(shared_api):
    for entry in (paired_entry(name="schema"), associated_entry(name="told")):
        head = await publish(shared_api, entry)
        schema = (await shared_api.get(f"/v1/entries/{head['id']}")).json()["schema"]
        counted = [pair for pair in entry["pairs"] if "joint" in pair]
        named = [{name: pair[name] for name in ("attributes", "maskings")} for pair in counted]
        assert schema["pairs"] == named


@pytest.mark.parametrize("pairs", [ENTRY["pairs"][1:], ENTRY["pairs"][::-1], []], ids=["fewer", "turned", "none"])
async def test_other_pairs_are_another_version(shared_api, request, pairs):
    entry = paired_entry(name=f"versions-{request.node.callspec.id}")
    head = await publish(shared_api, entry)
    path, headers = f"/v1/entries/{head['id']}", {"If-Match": "*"}
    assert (await shared_api.put(path, json=entry, headers=headers)).json()["version"] == 1
    assert (await shared_api.put(path, json=entry | {"pairs": pairs}, headers=headers)).json()["version"] == 2
    assert (await shared_api.get(f"{path}/summaries")).json() == entry | {"pairs": pairs}
    assert (await shared_api.get(f"{path}/summaries", params={"version": 1})).json() == entry


def swapped(index):
    """The entry with records moved so that no row or column sum of the pair changes."""
    joint = [list(row) for row in ENTRY["pairs"][index]["joint"]]
    for row, column, difference in ((0, 0, 1), (0, 1, -1), (1, 0, -1), (1, 1, 1)):
        joint[row][column] += difference
    return changed(("pairs", index, "joint"), joint, ENTRY)


def told(part, value, place=0):
    """An entry whose pairs have label associations, with one number changed."""
    return changed(("pairs", place, "with_label", part), value, associated_entry())


def noisy(entry=None):
    """The entry with noise declared for a masking that pairs name."""
    entry = paired_entry() if entry is None else entry
    masking = 0 if len(entry["pairs"]) > 1 else 1
    entry["attributes"][0]["maskings"][masking]["noise"] = {"kind": "laplace", "scale": 1.0}
    return entry


FIRST = ENTRY["pairs"][0]["joint"][0]
REFUSED = {
    "a count too many": (
        changed(("pairs", 0, "joint", 0, 0), FIRST[0] + 1, ENTRY),
        {"/pairs/0/joint": ("301", "300", "1 too many"), "/pairs/0/joint/0": ("'age-4'", "1 too many")},
    ),
    "a record in another column": (
        changed(("pairs", 0, "joint", 0), [FIRST[0] + 1, FIRST[1] - 1, FIRST[2]], ENTRY),
        {"/pairs/0/joint": ("column 0", "'zip-3'", "1 too many")},
    ),
    "a coarser table that does not follow": (swapped(1), {"/pairs/1/joint/0/0": ("pair of 'age-4'", "1 too many")}),
    "inexact": (noisy(), {"/pairs/0/maskings/0": ("'age-4'", "noise"), "/pairs/3/maskings/1": ("'age-4'", "noise")}),
    "too large a chi-square": (
        told("chi_square", 301.0),
        {"/pairs/0/with_label/chi_square": ("301", "between", "300")},
    ),
    "a chi-square below that of the two alone": (
        told("chi_square", 1.0),
        {"/pairs/0/with_label/chi_square": ("is 1",)},
    ),
    "combinations that do not occur": (told("combinations", 13), {"/pairs/0/with_label/combinations": ("13", "12")}),
    "associations of inexact counts": (
        noisy(
            associated_entry(
                pairs=[one for one in associated_entry()["pairs"] if one["maskings"] == ["age-2", "identity"]]
            )
        ),
        {"/pairs/0/maskings/0": ("'age-2'", "noise")},
    ),
    "structure": (
        changed(("pairs", 0, "maskings"), ["drop", "zip-3"], ENTRY),
        {"/pairs/0/maskings/0": ("drop",)},
    ),
}


async def test_what_does_not_add_up_is_refused_with_place_and_difference(shared_api):
    for name, (entry, expected) in REFUSED.items():
        answer = await shared_api.post("/v1/entries", json=entry)
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid"), name
        said = dict.fromkeys(pointers(answer), "")
        for fault in answer.json()["errors"]:
            said[fault["pointer"]] += fault["detail"]
        missing = [
            (pointer, word) for pointer, words in expected.items() for word in words if word not in said[pointer]
        ]
        assert missing == [], (name, said)


def reversed_pairs():
    """An entry with the pairs without counts first, so that places among the counts differ from those of pairs."""
    return associated_entry(pairs=associated_entry()["pairs"][::-1])


async def test_a_place_is_that_in_the_list_of_the_document(shared_api):
    entry = reversed_pairs()
    last = len(entry["pairs"]) - 1
    assert "joint" not in entry["pairs"][0]
    entry["pairs"][last]["with_label"]["chi_square"] = 301.0
    answer = await shared_api.post("/v1/entries", json=entry)
    assert [fault["pointer"] for fault in answer.json()["errors"]] == [f"/pairs/{last}/with_label/chi_square"]
    entry["pairs"][last]["joint"][0][0] += 1
    answer = await shared_api.post("/v1/entries", json=entry)
    assert {fault["pointer"].split("/")[2] for fault in answer.json()["errors"]} == {str(last)}


MALFORMED = {
    "neither part": ('{"attributes": ["age", "zip"], "maskings": ["age-2", "zip-odd"]}', "/joint"),
    "both null": (
        '{"attributes": ["age", "zip"], "maskings": ["age-2", "zip-odd"], "joint": null, "with_label": null}',
        "/joint",
    ),
    "an unknown masking": (
        '{"attributes": ["age", "zip"], "maskings": ["age-2", "zip-9"], "with_label": %s}',
        "/maskings/1",
    ),
    "a pair named twice": ('{"attributes": ["age", "zip"], "maskings": ["age-4", "zip-3"], "with_label": %s}', ""),
    "a pair named twice, swapped": (
        '{"attributes": ["zip", "age"], "maskings": ["zip-3", "age-4"], "with_label": %s}',
        "",
    ),
    "the marker of the storage": (
        '{"attributes": ["age", "zip"], "maskings": ["age-2", "zip-odd"], "joint": true}',
        "/joint",
    ),
}
NUMBERS = {
    "negative": ('{"chi_square": -1, "combinations": 4}', "/chi_square"),
    "infinite": ('{"chi_square": 1e999, "combinations": 4}', "/chi_square"),
    "boolean": ('{"chi_square": true, "combinations": 4}', "/chi_square"),
    "text": ('{"chi_square": "1", "combinations": 4}', "/chi_square"),
    "no combinations": ('{"chi_square": 1, "combinations": 0}', "/combinations"),
    "a fraction": ('{"chi_square": 1, "combinations": 1.5}', "/combinations"),
    "an extra member": ('{"chi_square": 1, "combinations": 4, "p_value": 0.1}', "/p_value"),
    "no object": ("[1, 4]", ""),
}
LABELLED = '{"attributes": ["age", "zip"], "maskings": ["age-2", "zip-odd"], "with_label": %s}'
MALFORMED |= {name: (LABELLED % told, f"/with_label{path}") for name, (told, path) in NUMBERS.items()}


def body_with(pair):
    """The entry as JSON with one more pair, at place 5, which is given as text."""
    pair = pair.replace("%s", '{"chi_square": 80.0, "combinations": 12}')
    return json.dumps(ENTRY | {"pairs": [*ENTRY["pairs"], "PAIR"]}).replace('"PAIR"', pair)


async def test_a_malformed_pair_is_refused_at_its_place(shared_api):
    headers, told = {"Content-Type": "application/json"}, {}
    for name, (pair, _) in MALFORMED.items():
        answer = await shared_api.post("/v1/entries", content=body_with(pair), headers=headers)
        told[name] = answer.status_code, answer.json()["code"], *pointers(answer)
    assert told == {name: (422, "invalid", f"/pairs/5{path}") for name, (_, path) in MALFORMED.items()}


async def test_a_number_that_json_does_not_have_is_no_json(shared_api):
    body = body_with(LABELLED % '{"chi_square": NaN, "combinations": 4}')
    answer = await shared_api.post("/v1/entries", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400


@pytest.mark.long
async def test_other_measures_do_not_need_the_pairs(api, worker):
    answers = []
    for entry in (paired_entry(), paired_entry(name="without", pairs=[])):
        asked = await ask(api, (await publish(api, entry))["id"])
        await worker.run()
        answers.append((await api.get(asked.headers["Location"])).json())
    assert answers[0]["status"] == "succeeded"
    assert answers[0]["ranking"] == answers[1]["ranking"]
