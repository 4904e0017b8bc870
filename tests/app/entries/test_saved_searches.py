"""Saved searches: told once of what the listing shows their tenant, and by worth only of what is better."""

import asyncio
from contextlib import asynccontextmanager

from tests.answers import hold_event, pointers
from tests.app.advice.test_views import guarded
from tests.app.entries.test_worth import entry
from tests.app.worker.database import rows
from tests.service import ACCEPTED, create_key, publish

BY_WORTH = {"sort": "worth", "label": "default", "require": "k=5"}


@asynccontextmanager
async def listening(database_url):
    """The API, a worker and keys as in `guarded`, with a webhook of the tenant `stranger`, and a function that returns
    by search the names and versions of the entries that it was told of since the last call."""
    async with guarded(database_url) as (api, worker, keys):
        asked = {"url": "https://stranger.example/", "events": ["entry.found"], "tenant": "stranger"}
        assert (await api.post("/v1/webhooks", json=asked, headers=keys["operator"])).status_code == 201

        async def told():
            for _ in range(20):
                await worker.run()
                if not rows(database_url, "SELECT 1 FROM worth WHERE state = 'pending'"):
                    break
                await asyncio.sleep(0.5)  # a busy machine tries some again
            events = rows(database_url, "DELETE FROM delivery RETURNING type, data")
            for kind, data in events:
                hold_event({"type": kind, "timestamp": "2026-03-01T12:05:00Z", "data": data})
            return sorted((one["search"]["id"], one["entry"]["name"], one["entry"]["version"]) for _, one in events)

        yield api, keys, told


async def saved(api, keys, tenant="stranger", **search):
    answer = await api.post("/v1/searches", json=search | {"tenant": tenant}, headers=keys["operator"])
    assert answer.status_code == 201, answer.text
    return answer.json()["id"]


async def shown(api, keys, head, visibility):
    path = f"/v1/entries/{head['id']}"
    answer = await api.patch(path, json={"visibility": visibility}, headers=keys["owner"] | {"If-Match": "*"})
    assert answer.status_code == 200, answer.text


async def test_by_worth_only_what_is_better_than_all_before_is_found_and_once(database_url):
    fair, better, best = (entry("fair", 1000, strength) for strength in (0.1, 0.3, 0.5))
    async with listening(database_url) as (api, keys, told):
        await publish(api, fair, **keys["owner"])
        await told()
        search = await saved(api, keys, **BY_WORTH)
        other = await saved(api, keys, **BY_WORTH | {"label": "married"})  # the same in each table
        hidden = await publish(api, best | {"name": "hidden", "visibility": "private"}, **keys["owner"])
        assert await told() == []
        await publish(api, better | {"name": "better"}, **keys["owner"])
        assert rows(database_url, "SELECT 1 FROM delivery") == []  # its worth is not known yet
        assert await told() == [(search, "better", 1)]
        for visibility, found in (("all", [(search, "hidden", 1)]), ("private", []), ("all", [])):
            await shown(api, keys, hidden, visibility)
            assert await told() == found
        await publish(api, fair | {"name": "worse"}, **keys["owner"])
        assert await told() == []
        listed = (await api.get("/v1/searches", params={"tenant": "stranger"}, headers=keys["operator"])).json()
    assert [(one["id"], one["found_at"] is None) for one in listed["items"]] == [(search, False), (other, True)]
    assert listed["items"][0]["search"] == BY_WORTH


SEARCHES = [
    {},
    {"query": "CaRd other"},
    {"query": "100%"},
    {"label": "married", "needs": "AGE,PAY"},
    {"needs": "SEX"},
    {"require": "k=20"},
    {"require": "k=21"},
    {"require": "k=5,unit=person"},
    {"require": "t=0.5", "sort": "changed_at"},
    {"keyword": "money"},
    {"license": "ODbL-1.0", "attribute": "PAY"},
    {"modified_since": "2100-01-01T00:00:00Z"},
    {"modified_since": "2000-01-01T00:00:00Z", "query": "card"},
]


async def test_other_searches_are_told_once_of_each_version_that_the_listing_shows(database_url):
    made = {
        "cards": entry("cards", 200, title="Other cards", keywords=["money"]),
        "plain": entry("plain", 200, license="ODbL-1.0", title="100% of it"),
    }
    made["cards"]["configurations"][0]["privacy"]["t"] = 0.4
    async with listening(database_url) as (api, keys, told):
        await publish(api, entry("before", 200), **keys["owner"])
        await told()
        ids = [await saved(api, keys, **search) for search in SEARCHES]
        blind = await saved(api, keys, tenant="elsewhere")
        heads = [await publish(api, one, **keys["owner"]) for one in made.values()]
        listed = {}
        for search_id, search in zip(ids, SEARCHES, strict=True):
            answer = await api.get("/v1/entries", params=search, headers=keys["stranger"])
            listed[search_id] = {one["name"] for one in answer.json()["items"]} - {"before"}
        expected = sorted((one, name, 1) for one, names in listed.items() for name in names)
        assert len({frozenset(names) for names in listed.values()}) == 4  # none, each, both
        assert await told() == expected
        for visibility in ("private", {"tenants": ["stranger"]}):
            await shown(api, keys, heads[0], visibility)
            assert await told() == []
        path, headers = f"/v1/entries/{heads[0]['id']}", keys["owner"] | {"If-Match": "*"}
        again = made["cards"] | {"title": "Other cards, corrected"}
        assert (await api.put(path, json=again, headers=headers, params=ACCEPTED)).status_code == 200
        assert await told() == [(one, name, 2) for one, name, _ in expected if name == "cards"]
        assert (await api.delete(f"/v1/searches/{ids[0]}", headers=keys["operator"])).status_code == 204
        await publish(api, entry("last", 200), **keys["owner"])
        assert ids[0] not in {one for one, *_ in await told()}
        assert (await api.get(f"/v1/searches/{blind}", headers=keys["operator"])).json()["found_at"] is not None


async def test_a_version_is_found_when_it_is_signed_off(database_url):
    async with listening(database_url) as (api, keys, told):
        await api.put("/v1/policy", params={"tenant": "owner"}, json={"sign_off": True}, headers=keys["operator"])
        search = await saved(api, keys, query="cards")
        head = await publish(api, entry("cards", 200), **keys["owner"])
        assert await told() == []
        read = await api.get(f"/v1/entries/{head['id']}", headers=keys["operator"])
        headers = keys["operator"] | {"If-Match": read.headers["ETag"]}
        assert (await api.put(f"/v1/entries/{head['id']}/sign-off", headers=headers)).status_code == 200
        assert await told() == [(search, "cards", 1)]


REFUSED = {
    "/sort": [{"sort": "worth"}, {"sort": "best"}],
    "/require": [{"sort": "worth", "label": "default", "require": "k=1000000000"}, {"require": "k=2,t=0.1"}],
    "/label": [{"sort": "worth", "label": "defualt"}, {"label": "a\nb"}],
    "/needs": [{"needs": "a\u0000"}],
    "/modified_since": [{"modified_since": "yesterday"}],
    "/limit": [{"limit": 5}],
}


async def test_what_the_listing_refuses_cannot_be_saved(shared_api):
    for place, searches in REFUSED.items():
        for search in searches:
            answer = await shared_api.post("/v1/searches", json=search)
            assert (answer.status_code, pointers(answer)) == (422, [place]), search


async def test_administrators_have_at_most_a_hundred_of_their_own_tenant(database_url):
    async with guarded(database_url) as (api, _, keys):
        own, rival = [await create_key(database_url, name, "administrator") for name in ("owner", "stranger")]
        made = [await api.post("/v1/searches", json={"query": "x"}, headers=own)]
        copied = "tenant_id, asked, words, facets, required"
        many = f"INSERT INTO saved_search (id, {copied}) SELECT gen_random_uuid(), {copied} FROM saved_search, "
        rows(database_url, many + "generate_series(1, 98) RETURNING 1")
        made += [await api.post("/v1/searches", json={"query": "x"}, headers=own) for _ in range(2)]
        assert [one.status_code for one in made] == [201, 201, 422]
        path = f"/v1/searches/{made[0].json()['id']}"
        for answer, status in (
            (await api.get(path, headers=rival), 404),
            (await api.delete(path, headers=rival), 404),
            (await api.get("/v1/searches", params={"tenant": "owner"}, headers=rival), 403),
            (await api.post("/v1/searches", json={"tenant": "owner"}, headers=rival), 403),
            (await api.post("/v1/searches", json={}, headers=keys["consumer"]), 403),
            (await api.post("/v1/searches", json={}, headers=rival), 201),
            (await api.delete(path, headers=own), 204),
        ):
            assert answer.status_code == status, answer.request.url
