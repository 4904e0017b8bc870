"""Advice is stale for those who see a newer version of the entry."""

import pytest

from app.tenants.model import TenantPolicy
from tests.service import ACCEPTED, Worker, create_key, example_entry, publish, running_app, tenants_of


@pytest.fixture
async def keys(database_url):
    own = {role: await create_key(database_url, "owner", role) for role in ("provider", "reviewer", "consumer")}
    return own | {"other": await create_key(database_url, "stranger", "consumer")}


@pytest.fixture
async def guarded(database_url, keys):  # noqa: ARG001 -- with keys, it is not in development mode
    async with running_app(database_url) as api:
        yield api


async def replaced(api, head, key, **changes):
    document = example_entry(name=head["name"], visibility="all", **changes)
    answer = await api.put(f"/v1/entries/{head['id']}", json=document, headers=key | {"If-Match": "*"}, params=ACCEPTED)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def asked(api, head, key, **params):
    answer = await api.post(
        f"/v1/entries/{head['id']}/advice",
        json={"measure": "mutual_information"},
        headers=key | {"Prefer": "respond-async"},
        params=params,
    )
    assert answer.status_code == 202, answer.text
    return answer.json()


async def test_whoever_keeps_an_advice_learns_that_it_is_stale(guarded, keys, database_url):
    head = await publish(guarded, example_entry(visibility="all"), **keys["provider"])
    path = f"/v1/advice/{(await asked(guarded, head, keys['other']))['id']}"
    async with Worker.on(database_url) as worker:
        await worker.run()
    kept = (await guarded.get(path, headers=keys["other"])).headers["ETag"]
    revalidated = keys["other"] | {"If-None-Match": kept}
    assert (await guarded.get(path, headers=revalidated)).status_code == 304
    await replaced(guarded, head, keys["provider"], title="second")
    read = await guarded.get(path, headers=revalidated)
    assert (read.status_code, read.json()["stale"]) == (200, True)


async def is_stale(api, advice, key):
    return (await api.get(f"/v1/advice/{advice['id']}", headers=key)).json()["stale"]


async def test_a_new_version_makes_advice_on_the_older_one_stale(guarded, keys):
    head = await publish(guarded, example_entry(visibility="all"), **keys["provider"])
    own, other = [await asked(guarded, head, keys[who]) for who in ("provider", "other")]
    assert (own["stale"], other["stale"]) == (False, False)
    await replaced(guarded, head, keys["provider"], title="second")
    assert [await is_stale(guarded, *one) for one in ((own, keys["provider"]), (other, keys["other"]))] == [True] * 2
    latest = await asked(guarded, head, keys["other"])
    assert (latest["entry"]["version"], latest["stale"]) == (2, False)
    assert (await asked(guarded, head, keys["other"], version=1))["stale"]


async def test_a_version_that_awaits_its_sign_off_is_no_news_to_others(guarded, keys, database_url):
    head = await publish(guarded, example_entry(visibility="all"), **keys["provider"])
    own, other = [await asked(guarded, head, keys[who]) for who in ("provider", "other")]
    async with tenants_of(database_url) as tenants:
        await tenants.set_policy("owner", TenantPolicy(demands_sign_off=True))
    await replaced(guarded, head, keys["provider"], title="second")
    readers = ((own, keys["provider"]), (own, keys["reviewer"]), (other, keys["other"]))
    assert [await is_stale(guarded, *one) for one in readers] == [True, True, False]
    path = f"/v1/entries/{head['id']}"
    read = await guarded.get(path, headers=keys["reviewer"])
    await guarded.put(f"{path}/sign-off", headers=keys["reviewer"] | {"If-Match": read.headers["ETag"]})
    assert [await is_stale(guarded, *one) for one in readers] == [True, True, True]
