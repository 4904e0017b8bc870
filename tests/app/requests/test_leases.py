"""Leases: two programs never fulfil the same request, and what a dead one has begun is taken over."""

import asyncio
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import psycopg
import pytest

from tests.app.requests.asking import step
from tests.app.requests.test_deliveries import delivered


async def leased(guarded, keys, request_id, key="provider", **asked):
    return await guarded.post(f"/v1/requests/{request_id}/lease", json=asked, headers=keys[key])


async def released(guarded, keys, request_id, lease, key="provider"):
    return await guarded.delete(f"/v1/requests/{request_id}/lease/{lease}", headers=keys[key])


def lapse(url, request_id):
    """End a lease, as time does."""
    with psycopg.connect(url) as connection:
        past = "UPDATE lease SET expires_at = now() - interval '1 second' WHERE request_id = %s"
        connection.execute(past, [request_id])


async def test_only_its_holder_delivers_until_it_ends(guarded, keys, head, approved):
    first = await leased(guarded, keys, approved, seconds=60)
    assert first.status_code == 200, first.text
    until = datetime.fromisoformat(first.json()["expires_at"])
    assert timedelta(seconds=50) < until - datetime.now(UTC) < timedelta(seconds=70)
    for other in (
        await leased(guarded, keys, approved),
        await leased(guarded, keys, approved, lease=str(uuid4())),
        await delivered(guarded, keys, head, approved),
        await delivered(guarded, keys, head, approved, lease=str(uuid4())),
    ):
        assert (other.status_code, other.json()["code"]) == (409, "leased")
        assert "has its lease until 20" in other.json()["detail"]
    answer = await delivered(guarded, keys, head, approved, lease=first.json()["lease"])
    assert (answer.status_code, answer.json()["state"]) == (200, "delivered")


async def test_it_is_renewed_released_and_given_to_the_next(guarded, keys, approved):
    first = (await leased(guarded, keys, approved, seconds=10)).json()
    longer = (await leased(guarded, keys, approved, lease=first["lease"], seconds=3600)).json()
    assert longer["lease"] == first["lease"]
    assert longer["expires_at"] > first["expires_at"]
    assert (await released(guarded, keys, approved, uuid4())).status_code == 204
    assert (await leased(guarded, keys, approved)).status_code == 409
    assert (await released(guarded, keys, approved, first["lease"])).status_code == 204
    assert (await leased(guarded, keys, approved)).json()["lease"] != first["lease"]


async def test_a_dead_programs_request_is_taken_over(guarded, keys, head, approved, shared_database_url):
    dead = (await leased(guarded, keys, approved)).json()["lease"]
    lapse(shared_database_url, approved)
    heir = (await leased(guarded, keys, approved)).json()["lease"]
    assert heir != dead
    assert (await delivered(guarded, keys, head, approved, lease=dead)).json()["code"] == "leased"
    assert (await leased(guarded, keys, approved, lease=dead)).json()["code"] == "leased"
    assert (await delivered(guarded, keys, head, approved, lease=heir)).status_code == 200


async def test_a_slow_program_renews_a_lease_that_nobody_has_taken_since(guarded, keys, approved, shared_database_url):
    slow = (await leased(guarded, keys, approved)).json()["lease"]
    lapse(shared_database_url, approved)
    assert (await leased(guarded, keys, approved, lease=slow)).json()["lease"] == slow


async def test_of_many_that_take_it_at_once_one_has_it(guarded, keys, approved):
    answers = await asyncio.gather(*(leased(guarded, keys, approved) for _ in range(8)))
    assert sorted(answer.status_code for answer in answers) == [200] + [409] * 7


async def test_only_providers_take_it_and_only_of_approved_requests(guarded, keys, head, approved):
    assert (await leased(guarded, keys, approved, key="consumer")).status_code == 403
    assert (await leased(guarded, keys, approved, key="other")).status_code == 404
    assert (await released(guarded, keys, approved, uuid4(), key="consumer")).status_code == 403
    assert (await released(guarded, keys, approved, uuid4(), key="other")).status_code == 404
    await delivered(guarded, keys, head, approved)
    late = await leased(guarded, keys, approved)
    assert (late.status_code, late.json()["code"], late.json()["possible"]) == (409, "not_possible", ["relink"])


async def test_a_withdrawn_request_has_none(guarded, keys, approved, shared_database_url):
    lease = (await leased(guarded, keys, approved)).json()["lease"]
    assert (await step(guarded, keys["consumer"], approved, "withdraw")).status_code == 200
    assert (await leased(guarded, keys, approved, lease=lease)).json()["code"] == "not_possible"
    with psycopg.connect(shared_database_url) as connection:
        assert connection.execute("SELECT count(*) FROM lease WHERE request_id = %s", [approved]).fetchone() == (0,)


@pytest.mark.parametrize("asked", [{"seconds": 4}, {"seconds": 3601}, {"seconds": 60.5}, {"lease": "mine"}, {"s": 1}])
async def test_what_is_no_lease_is_refused(guarded, keys, approved, asked):
    answer = await leased(guarded, keys, approved, **asked)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid")
