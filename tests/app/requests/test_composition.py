"""Two grants of one table at once."""

import asyncio

from tests.app.requests.asking import advised, entry, read, step
from tests.service import ACCEPTED, publish


async def test_of_two_that_are_not_nested_and_are_approved_at_once_one_is_granted(guarded, keys, worker):
    document = entry(configurations=[{"id": name, "maskings": {"age": name}} for name in ("age-2", "odd")])
    document["attributes"][0]["maskings"].append({"id": "odd", "domain": ["even", "odd"], "mapping": [0, 1] * 4})
    head = await publish(guarded, document, **keys["provider"])
    ids = [
        await advised(guarded, keys, head, worker, require=None, configuration=each, measure="g3")
        for each in ("age-2", "odd")
    ]
    both = await asyncio.gather(*(step(guarded, keys["provider"], each, "approve") for each in ids))
    assert sorted(each.status_code for each in both) == [200, 409]
    refused = next(each.json() for each in both if each.status_code == 409)
    assert refused["code"] == "not_composed"
    assert refused["allowed"] in ("age-2", "odd")
    # The provider takes the approval back, and the other one is granted.
    granted, blocked = sorted(ids, key=lambda each: both[ids.index(each)].status_code)
    assert (await step(guarded, keys["consumer"], granted, "decline", reason="no")).status_code == 403
    taken = await step(guarded, keys["provider"], granted, "decline", reason="It cannot be delivered")
    assert (taken.status_code, taken.json()["state"]) == (200, "declined")
    seen = (await read(guarded, keys["consumer"], granted)).json()
    assert (seen["changes"][-1]["action"], seen["changes"][-1]["reason"]) == ("decline", "It cannot be delivered")
    assert (await step(guarded, keys["provider"], blocked, "approve")).status_code == 200


async def test_what_was_granted_before_the_entry_named_its_table_counts(guarded, keys, worker):
    document = entry(configurations=[{"id": name, "maskings": {"age": name}} for name in ("age-2", "odd")])
    document["attributes"][0]["maskings"].append({"id": "odd", "domain": ["even", "odd"], "mapping": [0, 1] * 4})
    head = await publish(guarded, document, **keys["provider"])
    first = await advised(guarded, keys, head, worker, require=None, configuration="age-2", measure="g3")
    assert (await step(guarded, keys["provider"], first, "approve")).status_code == 200
    put = {**keys["provider"], "If-Match": "*"}
    named = await guarded.put(
        f"/v1/entries/{head['id']}", json=document | {"table": "patients"}, headers=put, params=ACCEPTED
    )
    assert named.status_code == 200, named.text
    second = await advised(guarded, keys, named.json(), worker, require=None, configuration="odd", measure="g3")
    refused = await step(guarded, keys["provider"], second, "approve")
    assert (refused.status_code, refused.json()["code"]) == (409, "not_composed")
