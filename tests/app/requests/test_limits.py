"""Approvals with a limit: the service counts what a tenant was granted, whoever approves."""

import asyncio

import pytest

from tests.app.requests.asking import advised, step


async def approve(guarded, keys, request_id, **limit):
    return await step(guarded, keys["provider"], request_id, "approve", limit=limit)


async def test_a_limit_holds_for_many_that_approve_at_once(guarded, keys, head, worker):
    waiting = [await advised(guarded, keys, head, worker) for _ in range(4)]
    granted = (await approve(guarded, keys, waiting[0], requests=10_000)).json()
    assert granted["state"] == "approved"
    before = await granted_until_now(guarded, keys)
    answers = await asyncio.gather(*(approve(guarded, keys, each, requests=before + 2) for each in waiting[1:]))
    assert sorted(answer.status_code for answer in answers) == [200, 200, 409]
    [refused] = [answer.json() for answer in answers if answer.status_code == 409]
    assert (refused["code"], refused["detail"]) == (
        "enough_granted",
        f"insurer was granted {before + 2} requests or more in 30 days.",
    )
    [left] = [each for each, answer in zip(waiting[1:], answers, strict=True) if answer.status_code == 409]
    assert (await step(guarded, keys["provider"], left, "approve")).status_code == 200  # a person may


async def granted_until_now(guarded, keys):
    """How many requests of this tenant were approved, whatever has become of them."""
    listed = (await guarded.get("/v1/requests", params={"limit": 200}, headers=keys["provider"])).json()["items"]
    read = [(await guarded.get(f"/v1/requests/{each['id']}", headers=keys["provider"])).json() for each in listed]
    return sum(any(change["state"] == "approved" for change in each["changes"]) for each in read)


async def test_what_was_withdrawn_later_counts_too(guarded, keys, head, worker):
    first, second = [await advised(guarded, keys, head, worker) for _ in range(2)]
    await approve(guarded, keys, first, requests=10_000)
    await step(guarded, keys["consumer"], first, "withdraw")
    assert (await approve(guarded, keys, second, requests=1)).json()["code"] == "enough_granted"


@pytest.mark.parametrize("limit", [{"requests": -1}, {"requests": 1, "days": 0}, {"days": 3}, {"requests": 1.5}])
async def test_what_is_no_limit_is_refused(guarded, keys, head, worker, limit):
    request_id = await advised(guarded, keys, head, worker)
    assert (await approve(guarded, keys, request_id, **limit)).json()["code"] == "invalid"
