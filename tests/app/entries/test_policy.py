"""A service that requires disclosure control: what it refuses, with which words, and what it logs."""

import re
from copy import deepcopy

import pytest

from aegis_sdk.wire import EXAMPLE_NOISY_MASKING
from tests.running import serving
from tests.service import ask, example_entry, publish, running_app
from tests.waiting import PATIENCE


def merged(**changes):
    """The example with counts that are 0 or at least 15."""
    entry = example_entry(**changes)
    entry["attributes"][0]["maskings"][0] |= {
        "domain": ["*"],
        "mapping": [0] * 8,
        "joint": [[15, 25, 30, 16, 14]],
    }
    entry["attributes"][0].pop("histogram")
    return entry


def noisy():
    """The example with noise on every table."""
    entry = example_entry()
    noise = EXAMPLE_NOISY_MASKING["noise"]
    entry["label"] |= {"noise": noise}
    del entry["attributes"][0]["histogram"]
    entry["attributes"][0]["maskings"] = [deepcopy(EXAMPLE_NOISY_MASKING)]
    entry["configurations"][0]["maskings"] = {"age": EXAMPLE_NOISY_MASKING["id"]}
    del entry["configurations"][0]["suppressed"]
    return entry


@pytest.fixture
async def strict(shared_database_url):
    async with running_app(shared_database_url, min_cell=5) as client:
        yield client


async def test_small_counts_are_refused_with_their_places_and_without_them(strict):
    answer = await strict.post("/v1/entries", json=example_entry())
    assert answer.status_code == 422
    problem = answer.json()
    assert problem["detail"] == "The entry lacks disclosure control that this service requires."
    places = {fault["pointer"] for fault in problem["errors"]}
    assert "/attributes/0/maskings/0/joint/0/2" in places  # a count of 1
    assert "/attributes/0/maskings/0/joint/0/3" not in places  # a count of 7
    assert "/attributes/0/maskings/0/joint/0/0" not in places  # a count of 0
    assert len({fault["detail"] for fault in problem["errors"]}) == 1
    assert "aegis summarize --min-cell 5" in problem["errors"][0]["detail"]


async def test_a_new_version_is_held_to_the_policy_and_the_old_one_stays(api, database_url):
    head = await publish(api, example_entry(name="kept"))
    path = f"/v1/entries/{head['id']}"
    before = await api.get(path)
    async with running_app(database_url, min_cell=5) as strict:
        tag = {"If-Match": before.headers["etag"]}
        refused = await strict.put(path, json=example_entry(name="kept", title="new"), headers=tag)
        assert refused.status_code == 422
        assert (await strict.get(path)).json() == before.json()
        assert (await ask(strict, head["id"])).status_code in (200, 202)
        answer = await strict.put(path, json=merged(name="kept"), headers=tag)
        assert answer.status_code == 200, answer.text


async def test_noise_that_is_demanded_is_demanded_of_all(shared_database_url):
    async with running_app(shared_database_url, require_noise=True, max_epsilon=1.0) as strict:
        answer = await strict.post("/v1/entries", json=example_entry())
        assert {fault["pointer"] for fault in answer.json()["errors"]} == {
            "/label/histogram",
            "/attributes/0/histogram",
            "/attributes/0/maskings/0/joint",
            "/configurations/0/suppressed",
            "/disclosure_control/epsilon",
        }
        answer = await strict.post("/v1/entries", json=noisy() | {"disclosure_control": {"epsilon": 1.0}})
        assert answer.status_code == 201, answer.text


@pytest.mark.processes
@pytest.mark.long
def test_no_count_of_a_refused_upload_is_told_or_logged(shared_database_url):
    entry = example_entry(records=31_437)
    entry["label"]["histogram"][2] = 31_367
    entry["attributes"][0]["histogram"][3] += 31_337
    entry["attributes"][0]["maskings"][0]["joint"][1][2] += 31_337
    with serving(database_url=shared_database_url, min_cell="50000", log_level="DEBUG") as (client, server):
        answer = client.post("/v1/entries", json=entry)
        server.terminate()
        logged = "".join(server.communicate(timeout=PATIENCE))
    assert answer.status_code == 422
    assert "/attributes/0/maskings/0/joint/1/2" in {fault["pointer"] for fault in answer.json()["errors"]}
    assert not re.search(r"313[67]\d|31437", answer.text + logged)
