"""Exact counts of 1 to 4: a service with keys publishes them only if the call accepts them, and keeps that it did."""

import re

import pytest

from tests.app.entries.test_policy import merged
from tests.running import serving
from tests.service import ACCEPTED, create_key, example_entry, running_app
from tests.waiting import PATIENCE

REFUSE = {"small_counts": "refuse"}
CONFIRM = {"small_counts": "confirm"}
ACCEPT = {"small_counts": "accept"}


@pytest.fixture
async def owner(_one_loop, shared_database_url):
    return await create_key(shared_database_url, "owner", "provider")


@pytest.mark.parametrize(
    ("settings", "params", "status"),
    [
        ({}, {}, 422),  # with keys, the default is `confirm`
        ({}, ACCEPTED, 201),
        ({}, {"accept_small_counts": "false"}, 422),
        (CONFIRM, {}, 422),
        (CONFIRM, ACCEPTED, 201),
        (REFUSE, ACCEPTED, 422),
        (ACCEPT, {}, 201),
    ],
)
async def test_the_setting_and_the_call_decide(database_url, settings, params, status):
    key = await create_key(database_url, "owner", "provider")
    async with running_app(database_url, **settings) as api:
        answer = await api.post("/v1/entries", json=example_entry(), headers=key, params=params)
        assert answer.status_code == status, answer.text
        assert (await api.post("/v1/entries", json=merged(name="larger"), headers=key)).status_code == 201


async def test_the_refusal_says_where_and_what_to_do_and_no_count(shared_database_url, owner):
    async with running_app(shared_database_url) as api:
        problem = (await api.post("/v1/entries", json=example_entry(), headers=owner)).json()
    assert (problem["status"], problem["code"]) == (422, "small_counts")
    assert {fault["pointer"] for fault in problem["errors"]} == {
        "/attributes/0/histogram/0",
        "/attributes/0/histogram/2",
        "/attributes/0/maskings/0/joint/0/2",
        "/attributes/0/maskings/0/joint/1/4",
    }
    assert {fault["detail"] for fault in problem["errors"]} == {"An exact count of 1 to 4"}
    assert all(way in problem["detail"] for way in ("--exact", "--accept-small-counts", "AEGIS_SMALL_COUNTS"))


async def test_development_mode_accepts_them_with_a_warning(api, database_url):
    answer = (await api.post("/v1/entries", json=example_entry())).json()
    [warning] = answer["warnings"]
    assert "--accept-small-counts" in warning
    assert answer["accepted_small_counts"] is True
    unwarned = await api.post("/v1/entries", json=example_entry(name="asked"), params=ACCEPTED)
    assert (unwarned.json()["warnings"], unwarned.json()["accepted_small_counts"]) == ([], True)
    larger = (await api.post("/v1/entries", json=merged(name="larger"), params=ACCEPTED)).json()
    [no_question] = larger["warnings"]  # its one group tells nothing
    assert "no question can be answered" in no_question
    assert larger["accepted_small_counts"] is False
    async with running_app(database_url, **CONFIRM) as strict:
        refused = await strict.post("/v1/entries", json=example_entry(name="other"))
        assert refused.json()["code"] == "small_counts"


async def test_the_acceptance_is_kept_with_the_version_and_told_to_who_may_read_the_counts(database_url):
    owner, consumer = [await create_key(database_url, "owner", role) for role in ("provider", "consumer")]
    async with running_app(database_url) as api:
        head = (await api.post("/v1/entries", json=example_entry(), params=ACCEPTED, headers=owner)).json()
        path, tag = f"/v1/entries/{head['id']}", owner | {"If-Match": "*"}
        larger = merged(name=head["name"])
        assert (await api.put(path, json=larger, headers=tag)).json()["accepted_small_counts"] is False
        kept = [
            (await api.get(path, params={"version": version}, headers=key)).json()["accepted_small_counts"]
            for key in (owner, consumer)
            for version in (1, 2)
        ]
        assert kept == [True, False, None, None]
        listed = [(await api.get("/v1/entries", headers=key)).json()["items"] for key in (owner, consumer)]
        assert [one["accepted_small_counts"] for [one] in listed] == [False, None]


async def test_what_is_stored_is_left_alone(api, database_url):
    """A service that refuses small counts takes the same content again, reads it, and refuses what would be new."""
    head = (await api.post("/v1/entries", json=example_entry())).json()
    path = f"/v1/entries/{head['id']}"
    async with running_app(database_url, **REFUSE) as strict:
        again = await strict.put(path, json=example_entry(), headers={"If-Match": "*"})
        assert (again.status_code, again.json()) == (200, head | {"warnings": []})
        changed = await strict.put(path, json=example_entry(title="new"), headers={"If-Match": "*"}, params=ACCEPTED)
        assert (changed.status_code, changed.json()["code"]) == (422, "small_counts")
        taken = await strict.post("/v1/entries", json=example_entry())
        assert taken.json()["code"] == "name_taken"
        assert (await strict.get(f"{path}/summaries")).json() == example_entry()
        assert (await strict.get(path)).json()["version"] == 1
        # What was refused left its name free.
        other = example_entry(name="refused")
        assert (await strict.post("/v1/entries", json=other)).status_code == 422
        assert (await strict.post("/v1/entries", json=merged(name="refused"))).status_code == 201


async def test_an_answer_that_is_not_yes_or_no_is_named(shared_database_url, owner):
    async with running_app(shared_database_url) as api:
        params = {"accept_small_counts": "perhaps"}
        answer = await api.post("/v1/entries", json=example_entry(), headers=owner, params=params)
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/accept_small_counts")


@pytest.mark.processes
@pytest.mark.long
def test_the_log_says_that_they_were_accepted_and_no_count(database_url):
    entry = example_entry(records=31_437)
    entry["label"]["histogram"][2] = 31_367
    entry["attributes"][0]["histogram"][3] += 31_337
    entry["attributes"][0]["maskings"][0]["joint"][1][2] += 31_337
    with serving(database_url=database_url, log_level="DEBUG") as (client, server):
        head = client.post("/v1/entries", json=entry).json()
        server.terminate()
        logged = "".join(server.communicate(timeout=PATIENCE))
    [line] = [line for line in logged.splitlines() if "small counts accepted" in line]
    assert head["id"] in line
    assert '"level": "warning"' in line
    assert not re.search(r"313[67]\d|31437", logged)
