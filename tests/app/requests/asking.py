"""What consumers and providers send about data requests."""

from uuid import uuid4

from tests.service import example_entry


def entry(**changes):
    return example_entry(name=f"entry-{uuid4().hex}", visibility="all", configurations=CONFIGURATIONS) | changes


CONFIGURATIONS = [
    {"id": "c01", "maskings": {"age": "age-2"}, "privacy": {"k": 5}},
    {"id": "c02", "maskings": {"age": "drop"}, "privacy": {"k": 50}},
    {"id": "c03", "maskings": {"age": "identity"}, "privacy": {"k": 2}},
]


def wanted(head, **changes):
    return {
        "measure": "mutual_information",
        "require": {"k": 5},
        "purpose": "A study of local care",
        "contact": "data@insurer.example",
        "terms": head["terms"],
    } | changes


async def requested(guarded, keys, head, **changes):
    path = f"/v1/entries/{head['id']}/requests"
    return await guarded.post(path, json=wanted(head, **changes), headers=keys["consumer"])


async def advised(guarded, keys, head, worker, **changes):
    made = await requested(guarded, keys, head, **changes)
    assert made.status_code == 201, made.text
    await worker.run()
    return made.json()["id"]


async def step(guarded, key, request_id, action, **asked):
    return await guarded.post(f"/v1/requests/{request_id}/actions", json={"action": action} | asked, headers=key)


async def read(guarded, key, request_id):
    return await guarded.get(f"/v1/requests/{request_id}", headers=key)
