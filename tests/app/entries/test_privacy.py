"""What a provider promises, and what a question requires of it."""

import pytest

from aegis_sdk.wire import PRIVACY_CRITERIA
from tests.answers import pointers
from tests.service import ask, example_entry, publish

AT_LEAST = [name for name, better in PRIVACY_CRITERIA.items() if better == "higher"]
AT_MOST = [name for name, better in PRIVACY_CRITERIA.items() if better == "lower"]


def vouching(name, first, second):
    """The example with two configurations that promise these numbers."""
    entry = example_entry(name=f"vouches-for-{name.replace('_', '-')}-{first}-{second}")
    for configuration, number in zip(entry["configurations"], (first, second), strict=True):
        configuration["privacy"] = {name: number}
    return entry


async def considered(api, worker, entry, require):
    """The configurations that meet these requirements of a question."""
    head = await publish(api, entry)
    asked = await ask(api, head["id"], require=require, limit=None)
    assert asked.status_code == 202, asked.text
    await worker.run()
    answer = (await api.get(asked.headers["Location"])).json()
    return [each["configuration"] for each in answer["ranking"]]


async def test_more_is_better(api, worker):
    told = {name: await considered(api, worker, vouching(name, 2, 4), {name: 3}) for name in AT_LEAST}
    assert told == {name: ["c02"] for name in AT_LEAST}


@pytest.mark.long
async def test_less_is_better(api, worker):
    told = {name: await considered(api, worker, vouching(name, 2, 4), {name: 3}) for name in AT_MOST}
    assert told == {name: ["c01"] for name in AT_MOST}


async def test_a_name_that_privacy_does_not_have_is_refused(api):
    entry = vouching("delta", 1, 1)
    answer = await api.post("/v1/entries", json=entry)
    assert answer.status_code == 422
    assert set(pointers(answer)) == {f"/configurations/{place}/privacy/delta" for place in (0, 1)}


async def test_the_rule_that_made_the_values_is_part_of_the_entry_and_its_schema(api):
    entry = example_entry(name="discretized")
    entry["attributes"][0]["discretization"] = {"rule": "equal_frequency", "parameters": {"bins": 8, "edges": [10, 80]}}
    head = await publish(api, entry)
    schema = (await api.get(f"/v1/entries/{head['id']}")).json()["schema"]
    assert schema["attributes"][0]["discretization"] == entry["attributes"][0]["discretization"]
    assert (await api.get(f"/v1/entries/{head['id']}/summaries")).json() == entry


async def test_a_discretization_names_its_rule(api):
    entry = example_entry(name="nameless-rule")
    entry["attributes"][0]["discretization"] = {"parameters": {}}
    answer = await api.post("/v1/entries", json=entry)
    assert (answer.status_code, pointers(answer)) == (422, ["/attributes/0/discretization/rule"])
