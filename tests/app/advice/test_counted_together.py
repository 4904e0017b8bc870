"""Entries in whose pair counts masked values are counted together: published, read back, refused, asked."""

import copy
import hashlib

import numpy as np
import pytest
import rfc8785

from tests.answers import pointers
from tests.service import ask, create_key, running_app
from tests.thin import thin_entry

pytestmark = pytest.mark.usefixtures("_one_loop")


@pytest.fixture(scope="module")
def thin(tmp_path_factory):
    entry = thin_entry(tmp_path_factory.mktemp("thin"))
    assert any(map(together, entry["pairs"]))
    return entry


def together(pair):
    return "counted_with" in pair


async def published(api, entry, **headers):
    """The head of an entry that is published although nobody accepts small counts: it shows none."""
    answer = await api.post("/v1/entries", json=entry, headers=headers)
    assert answer.status_code == 201, answer.text
    return answer.json()


async def test_it_comes_back_as_it_was_and_the_same_content_is_no_version(api, thin):
    head = await published(api, thin)
    path = f"/v1/entries/{head['id']}"
    assert head["digest"] == f"sha256:{hashlib.sha256(rfc8785.dumps(thin)).hexdigest()}"
    summaries = (await api.get(f"{path}/summaries")).json()
    assert summaries == thin
    again = (await api.put(path, json=summaries, headers={"If-Match": "*"})).json()
    assert (again["version"], again["digest"]) == (1, head["digest"])


async def test_other_places_are_another_version(api, thin):
    """Two codes that were counted by neighbours are declared to be counted with the last one: no count is there."""
    head = await published(api, thin)
    other = copy.deepcopy(thin)
    pair = next(pair for pair in other["pairs"] if together(pair))
    del pair["within"]  # it would not keep the published sums
    rows = pair["counted_with"][0]
    rows[0] = max(rows)
    answer = await api.put(f"/v1/entries/{head['id']}", json=other, headers={"If-Match": "*"})
    assert answer.json()["version"] == 2
    assert (await api.get(f"/v1/entries/{head['id']}/summaries")).json() == other


async def test_only_owners_read_with_what_values_are_counted(database_url, thin):
    entry = thin | {"visibility": "all"}
    owner = await create_key(database_url, "acme", "provider")
    consumer = await create_key(database_url, "other", "consumer")
    async with running_app(database_url) as api:
        head = await published(api, entry, **owner)
        path = f"/v1/entries/{head['id']}"
        seen = (await api.get(path, headers=consumer)).json()
        refused = await api.get(f"{path}/summaries", headers=consumer)
        assert (await api.get(f"{path}/summaries", headers=owner)).json() == entry
    assert refused.status_code in {403, 404}
    counted = [pair for pair in thin["pairs"] if "joint" in pair]
    assert seen["schema"]["pairs"] == [
        {name: pair[name] for name in ("attributes", "maskings", "rounded_to")} for pair in counted
    ]


@pytest.mark.parametrize("measure", ["joint", "joint_interactions"])
async def test_joint_measures_rank_it(api, worker, thin, measure):
    head = await published(api, thin)
    asked = await ask(api, head["id"], measure=measure)
    await worker.run()
    answer = (await api.get(asked.headers["Location"])).json()
    assert answer["status"] == "succeeded", answer
    assert answer["considered"] == 4
    assert answer["ranking"][-1]["configuration"] == "alone"  # the place tells, too


def with_change(entry, change):
    """The entry with a change in a pair in which values are counted together, and the place of the pair."""
    other = copy.deepcopy(entry)
    place = next(place for place, pair in enumerate(other["pairs"]) if together(pair))
    change(other["pairs"][place])
    return other, place


def with_counts_elsewhere(pair):
    pair["joint"][0][0] = 15


def with_a_row_that_is_far_too_large(pair):
    row = pair["counted_with"][0][0]
    pair["joint"][row] = (np.array(pair["joint"][row]) + 300).tolist()


def with_an_unknown_place(pair):
    pair["counted_with"][1][-1] = len(pair["counted_with"][1])


def with_the_most_frequent_value_counted_elsewhere(pair):
    """The last code has most of the records; it is counted with those before it."""
    rows = pair["counted_with"][0]
    last = len(rows) - 1
    before = max(place for place in rows if place < last)
    joint = np.array(pair["joint"])
    joint[before] += joint[last]
    joint[last] = 0
    pair["counted_with"][0] = [before if place == last else place for place in rows]
    pair["joint"] = joint.tolist()


def without_saying_it(pair):
    with_the_most_frequent_value_counted_elsewhere(pair)
    del pair["counted_with"]


async def test_what_is_counted_elsewhere_is_expected_there(api, thin):
    entry, _ = with_change(thin, with_the_most_frequent_value_counted_elsewhere)
    head = await published(api, entry)
    assert (await api.get(f"/v1/entries/{head['id']}/summaries")).json() == entry


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        (with_counts_elsewhere, "/joint/0"),
        (with_a_row_that_is_far_too_large, "/joint"),
        (with_an_unknown_place, "/counted_with/1"),
        (without_saying_it, "/joint/40"),
    ],
)
async def test_what_cannot_be_is_refused_where_it_is(api, thin, change, pointer):
    entry, place = with_change(thin, change)
    answer = await api.post("/v1/entries", json=entry)
    assert answer.status_code == 422
    assert f"/pairs/{place}{pointer}" in pointers(answer)
