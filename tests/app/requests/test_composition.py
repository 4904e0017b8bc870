"""Two grants of one table at once."""

import asyncio

from tests.app.requests.asking import advised, entry, step
from tests.service import publish


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
