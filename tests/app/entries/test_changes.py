"""How a mirror follows the catalogue: what has changed since, in which order, and how many there are."""

import re
from itertools import product
from uuid import uuid4

import pytest

from app.entries.store import searches as store
from app.routes import ROUTERS
from app.tenants.model import TenantPolicy
from tests.answers import document, pointers
from tests.service import ACCEPTED, create_key, example_entry, publish, running_app, tenants_of


async def listed(api, headers=None, **params):
    """The names of all pages of a listing, one entry on each."""
    names, params = [], {"limit": 1, **params}
    while params:
        answer = await api.get("/v1/entries", params=params, headers=headers)
        assert answer.status_code == 200, answer.text
        names += [head["name"] for head in answer.json()["items"]]
        token = answer.json()["next_page_token"]
        params = params | {"page_token": token} if token else None
    return names


async def changed_at(api, head, headers=None):
    return (await api.get(f"/v1/entries/{head['id']}", headers=headers)).json()["changed_at"]


@pytest.mark.parametrize("first", [0, 2, 1_000], ids=["by index", "both", "among the first"])
async def test_a_mirror_reads_what_has_changed(api, monkeypatch, first):
    monkeypatch.setattr(store, "FIRST", first)
    heads = {name: await publish(api, example_entry(name=name)) for name in "1234"}
    assert all(head["changed_at"] >= head["created_at"] for head in heads.values())
    for name in "31":
        await api.patch(f"/v1/entries/{heads[name]['id']}", json={"visibility": "all"})
    since = await changed_at(api, heads["3"])
    orders = {sort: await listed(api, sort=sort) for sort in ("created_at", "-created_at", "changed_at", "-changed_at")}
    said = {"created_at": "1234", "-created_at": "4321", "changed_at": "2431", "-changed_at": "1342"}
    assert orders == {sort: list(names) for sort, names in said.items()}
    asked: list[tuple[dict[str, str], str]] = [
        ({"sort": "changed_at"}, "31"),
        ({}, "31"),
        ({"sort": "created_at"}, "13"),
        ({"query": "1", "sort": "changed_at"}, "1"),
        ({"query": "2"}, ""),
        ({"modified_since": "2999-01-01T00:00:00+02:00"}, ""),
        ({"modified_since": "0001-01-01T00:00:00+02:00"}, "4321"),
    ]
    for search, names in asked:
        wanted = {"modified_since": since, **search}
        assert await listed(api, **wanted) == list(names), search
        counted = await api.get("/v1/entries", params=wanted | {"total": "true", "limit": "1"})
        assert counted.json()["total"] == len(names), search
    token = (await api.get("/v1/entries", params={"limit": 1, "sort": "changed_at"})).json()["next_page_token"]
    other = await api.get("/v1/entries", params={"page_token": token})
    assert (other.status_code, pointers(other)) == (422, ["/page_token"])


async def test_no_time_but_of_rfc_3339_and_no_other_order(shared_api):
    times = ("2026-01-01T00:00:00", "x", "1767225600", "1e9", "-1", "2026-01-01", "2026-01-01 00:00:00Z")
    wrong = [*({"modified_since": time} for time in times), {"sort": "name"}, {"total": "2"}]
    for asked in wrong:
        answer = await shared_api.get("/v1/entries", params=asked)
        assert (answer.status_code, pointers(answer)) == (422, [f"/{next(iter(asked))}"]), asked


async def test_an_entry_changes_when_what_others_see_does(database_url):
    keys = {role: await create_key(database_url, "owner", role) for role in ("provider", "reviewer")}
    reader = await create_key(database_url, "reader", "consumer")
    async with running_app(database_url) as api:
        head = await publish(api, example_entry(visibility="all"), **keys["provider"])
        path, changes = f"/v1/entries/{head['id']}", keys["provider"] | {"If-Match": "*"}

        async def moved(answer):
            nonlocal last
            assert answer.is_success, answer.text
            before, last = last, await changed_at(api, head, reader)
            return last > before

        last = head["changed_at"]
        assert not await moved(await api.patch(path, json={"visibility": "all"}, headers=keys["provider"]))
        assert not await moved(await api.put(path, json=example_entry(), headers=changes, params=ACCEPTED))
        second = example_entry(title="second")
        assert await moved(await api.put(path, json=second, headers=changes, params=ACCEPTED))
        async with tenants_of(database_url) as tenants:
            await tenants.set_policy("owner", TenantPolicy(demands_sign_off=True))
        third = example_entry(title="third")
        assert not await moved(await api.put(path, json=third, headers=changes, params=ACCEPTED))
        tag = (await api.get(path, headers=keys["reviewer"])).headers["ETag"]
        assert await moved(await api.put(f"{path}/sign-off", headers=keys["reviewer"] | {"If-Match": tag}))
        assert await moved(await api.patch(path, json={"visibility": {"tenants": ["reader"]}}, headers=changes))


async def test_each_caller_counts_what_it_sees(database_url):
    owner = await create_key(database_url, "owner", "provider")
    readers = [await create_key(database_url, name, "consumer") for name in ("named", "stranger")]
    async with running_app(database_url) as api:
        for name, visibility in (("a", "private"), ("b", "all"), ("c", {"tenants": ["named"]})):
            await publish(api, example_entry(name=name, visibility=visibility), **owner)
        totals = [
            (await api.get("/v1/entries?total=true&limit=1", headers=key)).json()["total"] for key in (owner, *readers)
        ]
        assert totals == [3, 2, 1]


async def test_an_unknown_parameter_is_refused_by_every_path(shared_api):
    routes = [route for router in ROUTERS for route in router.routes if route.path.startswith(("/v1/", "/readyz"))]
    assert len(routes) >= 40
    told = {}
    for route in routes:
        for method in route.methods:
            answer = await shared_api.request(method, route.path, params={"visibilty": "all"})
            told[method, route.path] = answer.status_code, answer.json()["code"], *pointers(answer)
    assert told == dict.fromkeys(told, (422, "unknown_parameter", "/visibilty"))
    answer = await shared_api.get("/v1/entries", params={"modifed_since": "2026-01-01T00:00:00Z"})
    assert "modified_since" in answer.json()["detail"]


async def _nothing():
    """A body without a byte, whose length is not told before."""
    for part in (b"",):
        yield part


async def test_an_empty_body_is_none_also_where_it_is_declared_as_json(shared_api):
    """Nothing has the ids that are sent, which is found out once the body is read."""
    posts = {path: methods["post"] for path, methods in document()["paths"].items() if "post" in methods}
    bodies = {path: post["requestBody"]["required"] for path, post in posts.items() if "requestBody" in post}
    assert set(bodies.values()) == {True, False}
    declared = {"Content-Type": "application/json"}
    sent = [({}, bytes, 415), (declared, bytes, 400), (declared, _nothing, 400)]
    for (path, is_required), (headers, content, refusal) in product(bodies.items(), sent):
        named = re.sub(r"\{\w+\}", str(uuid4()), path)
        answer = await shared_api.post(named, headers=headers, content=content())
        found = 201 if path == "/v1/searches" else 404  # a search for anything has no id
        assert answer.status_code == (refusal if is_required else found), (path, headers, answer.text)


async def test_a_post_needs_no_body_where_no_member_is_required(database_url):
    operator = await create_key(database_url, "owner", "operator")
    provider = await create_key(database_url, "owner", "provider")
    async with running_app(database_url) as api:
        head = await publish(api, example_entry(visibility="all"), **provider)
        asked = {"measure": "g3", "purpose": "a study", "contact": "me", "terms": head["terms"]}
        made = await api.post(f"/v1/entries/{head['id']}/requests", json=asked, headers=provider)
        hook = await api.post(
            "/v1/webhooks", json={"url": "https://a.example/", "events": ["advice.stale"]}, headers=operator
        )
        prefix = provider["Authorization"].removeprefix("Bearer ")[: len("aegis_00000000")]
        bare = {
            f"/v1/webhooks/{hook.json()['id']}/secret": 200,
            f"/v1/keys/{prefix}/successor": 201,
            f"/v1/requests/{made.json()['id']}/lease": 409,  # the request is not approved
            f"/v1/requests/{made.json()['id']}/actions": 415,  # which action is required
        }
        answers = {path: (await api.post(path, headers=operator)).status_code for path in bare}
        assert answers == bare
        reset = [
            await api.put(path, headers=operator | extra)
            for path, extra in product(("/v1/policy", "/v1/quota"), ({}, {"Content-Type": "application/json"}))
        ]
        assert [answer.status_code for answer in reset] == [415, 400, 415, 400]
