"""Keys over HTTP: administrators for their own tenant, operators for all."""

from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from tests.answers import pointers
from tests.service import create_key, prefix_of, running_app


@pytest.fixture
async def administrator(database_url):
    return await create_key(database_url, "owner", "administrator")


@pytest.fixture
async def operator(database_url):
    return await create_key(database_url, "elsewhere", "operator")


@pytest.fixture
async def guarded(database_url, administrator, operator):  # noqa: ARG001 -- with keys, it is not in development mode
    async with running_app(database_url) as api:
        yield api


async def created(api, caller, **asked):
    answer = await api.post("/v1/keys", json={"role": "provider"} | asked, headers=caller)
    assert answer.status_code == 201, answer.text
    return answer.json()


def bearing(key):
    return {"Authorization": f"Bearer {key['key']}"}


async def listed(api, caller, **params):
    return (await api.get("/v1/keys", headers=caller, params=params)).json()["items"]


async def test_a_key_is_shown_once_and_works_at_once(guarded, administrator):
    key = await created(guarded, administrator, role="consumer", expires_days=100)
    assert (key["tenant"], key["role"], key["state"]) == ("owner", "consumer", "valid")
    assert key["key"].startswith(key["prefix"] + "_")
    assert (await guarded.get("/v1/entries", headers=bearing(key))).status_code == 200
    assert key["key"] not in (await guarded.get("/v1/keys", headers=administrator)).text
    lifetime = datetime.fromisoformat(key["expires_at"]) - datetime.fromisoformat(key["created_at"])
    assert lifetime == timedelta(days=100)


async def test_administrators_have_the_keys_of_their_own_tenant_alone(guarded, administrator, operator):
    other = await created(guarded, operator, tenant="stranger")
    foreign = await guarded.post("/v1/keys", json={"role": "consumer", "tenant": "stranger"}, headers=administrator)
    stronger = await guarded.post("/v1/keys", json={"role": "operator"}, headers=administrator)
    revoked = await guarded.delete(f"/v1/keys/{other['prefix']}", headers=administrator)
    replaced = await guarded.post(f"/v1/keys/{other['prefix']}/successor", json={}, headers=administrator)
    asked = await guarded.get("/v1/keys", params={"tenant": "stranger"}, headers=administrator)
    answers = (foreign, stronger, revoked, replaced, asked)
    assert [answer.status_code for answer in answers] == [403, 403, 404, 404, 403]
    assert {key["tenant"] for key in await listed(guarded, administrator)} == {"owner"}
    assert {key["tenant"] for key in await listed(guarded, operator)} == {"owner", "elsewhere", "stranger"}
    assert [key["prefix"] for key in await listed(guarded, operator, tenant="stranger")] == [other["prefix"]]


async def test_an_operator_s_key_in_a_tenant_is_beyond_its_administrator(guarded, administrator, operator):
    strong = await created(guarded, operator, tenant="owner", role="operator")
    replaced = await guarded.post(f"/v1/keys/{strong['prefix']}/successor", json={}, headers=administrator)
    revoked = await guarded.delete(f"/v1/keys/{strong['prefix']}", headers=administrator)
    assert (replaced.status_code, revoked.status_code) == (403, 403)
    assert (await guarded.get("/v1/entries", headers=bearing(strong))).status_code == 200


async def test_a_revoked_key_is_refused_at_once(guarded, administrator):
    key = await created(guarded, administrator)
    first = await guarded.delete(f"/v1/keys/{key['prefix']}", headers=administrator)
    again = await guarded.delete(f"/v1/keys/{key['prefix']}", headers=administrator)
    assert [answer.json()["state"] for answer in (first, again)] == ["revoked", "revoked"]
    assert (await guarded.get("/v1/entries", headers=bearing(key))).status_code == 401
    replaced = await guarded.post(f"/v1/keys/{key['prefix']}/successor", json={}, headers=administrator)
    assert replaced.status_code == 422


async def test_a_key_is_replaced_while_both_are_valid(guarded, administrator):
    old = await created(guarded, administrator, expires_days=90)
    answer = await guarded.post(
        f"/v1/keys/{old['prefix']}/successor", json={"overlap_hours": 48}, headers=administrator
    )
    new = answer.json()
    assert (answer.status_code, new["replaces"], new["tenant"], new["role"]) == (
        201,
        old["prefix"],
        "owner",
        "provider",
    )
    assert [(await guarded.get("/v1/entries", headers=bearing(key))).status_code for key in (old, new)] == [200, 200]
    by_prefix = {key["prefix"]: key for key in await listed(guarded, administrator)}
    left = datetime.fromisoformat(by_prefix[old["prefix"]]["expires_at"]) - datetime.now(UTC)
    assert timedelta(hours=47) < left <= timedelta(hours=48)
    assert [by_prefix[key["prefix"]]["state"] for key in (old, new)] == ["expiring", "valid"]
    lifetime = datetime.fromisoformat(new["expires_at"]) - datetime.fromisoformat(new["created_at"])
    assert lifetime == timedelta(days=90)


async def test_an_overlap_never_lengthens_a_key_s_life(guarded, administrator):
    for hours, state in ((0, "expired"), (24 * 90, "expiring")):
        old = await created(guarded, administrator, expires_days=1)
        await guarded.post(f"/v1/keys/{old['prefix']}/successor", json={"overlap_hours": hours}, headers=administrator)
        by_prefix = {key["prefix"]: key for key in await listed(guarded, administrator)}
        assert by_prefix[old["prefix"]]["state"] == state
        assert by_prefix[old["prefix"]]["expires_at"] <= old["expires_at"]


async def test_a_key_has_one_successor(guarded, administrator):
    old = await created(guarded, administrator)
    path = f"/v1/keys/{old['prefix']}/successor"
    first, again = [await guarded.post(path, json={}, headers=administrator) for _ in range(2)]
    assert (first.status_code, again.status_code) == (201, 422)
    assert f"already been replaced by {first.json()['prefix']}" in again.json()["detail"]
    await guarded.delete(f"/v1/keys/{first.json()['prefix']}", headers=administrator)
    assert (await guarded.post(path, json={}, headers=administrator)).status_code == 201


async def test_the_last_use_is_kept_to_the_hour(guarded, database_url, administrator):
    key = await created(guarded, administrator)

    async def last_use():
        return next(k["last_used_at"] for k in await listed(guarded, administrator) if k["prefix"] == key["prefix"])

    assert await last_use() is None
    await guarded.get("/v1/entries", headers=bearing(key))
    first = await last_use()
    assert abs(datetime.fromisoformat(first) - datetime.now(UTC)) < timedelta(minutes=10)
    await guarded.get("/v1/entries", headers=bearing(key))
    assert await last_use() == first
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("UPDATE api_key SET last_used_at = last_used_at - interval '2 hours'")
    await guarded.get("/v1/entries", headers=bearing(key))
    assert await last_use() >= first


async def test_pages_of_keys(guarded, operator):
    for _ in range(5):
        await created(guarded, operator, tenant="many")
    seen, token = [], None
    while True:
        params = {"limit": 2, "tenant": "many"} | ({} if token is None else {"page_token": token})
        page = (await guarded.get("/v1/keys", params=params, headers=operator)).json()
        seen += [key["prefix"] for key in page["items"]]
        token = page["next_page_token"]
        if token is None:
            break
    assert len(seen) == len(set(seen)) == 5


BAD = [
    ({}, "/role"),
    ({"role": "root"}, "/role"),
    ({"role": "provider", "expires_days": 0}, "/expires_days"),
    ({"role": "provider", "expires_days": 10**9}, "/expires_days"),
    ({"role": "provider", "tenant": ""}, "/tenant"),
    ({"role": "provider", "tenant": "x" * 256}, "/tenant"),
    ({"role": "provider", "tenant": "a\u0000b"}, "/tenant"),
    ({"role": "provider", "key": "mine"}, "/key"),
]


async def test_bad_input(guarded, operator):
    answers = [(asked, await guarded.post("/v1/keys", json=asked, headers=operator)) for asked, _ in BAD]
    assert {answer.status_code for _, answer in answers} == {422}
    assert [(asked, *pointers(answer)) for asked, answer in answers] == BAD


async def test_bad_tokens_and_prefixes(guarded, operator, administrator):
    token = await guarded.get("/v1/keys", params={"page_token": "'; DROP TABLE api_key"}, headers=operator)
    unknown = await guarded.delete("/v1/keys/aegis_00000000", headers=operator)
    odd = await guarded.delete(f"/v1/keys/{'x' * 3000}", headers=operator)
    assert [answer.status_code for answer in (token, unknown, odd)] == [422, 404, 404]
    nul = (
        await guarded.delete("/v1/keys/%00", headers=operator),
        await guarded.post("/v1/keys/a%00/successor", json={}, headers=operator),
        *[await guarded.get(f"/v1/{path}?tenant=a%00", headers=operator) for path in ("keys", "quota", "questions")],
        await guarded.get("/v1/questions?entry=a%00", headers=operator),
    )
    assert [answer.status_code for answer in nul] == [404, 404, 422, 422, 422, 422]
    assert prefix_of(administrator["Authorization"].split()[1]) in {
        key["prefix"] for key in await listed(guarded, operator)
    }


async def test_a_policy_over_http(guarded, administrator, operator):
    policy = {"require": {"k": 10, "t": 0.2}, "sign_off": True}
    answer = await guarded.put("/v1/policy", json=policy, headers=administrator)
    assert answer.json() == {"tenant": "owner", "unit": None, "composition": None} | policy
    assert (await guarded.get("/v1/policy", params={"tenant": "owner"}, headers=operator)).json() == answer.json()
    assert (await guarded.get("/v1/policy", headers=operator)).json()["sign_off"] is False
    foreign = await guarded.put("/v1/policy", params={"tenant": "elsewhere"}, json={}, headers=administrator)
    unknown = await guarded.put("/v1/policy", json={"require": {"q": 1}}, headers=administrator)
    assert (foreign.status_code, unknown.status_code) == (403, 422)
    cleared = await guarded.put("/v1/policy", json={}, headers=administrator)
    assert cleared.json() == {"tenant": "owner", "require": {}, "unit": None, "sign_off": False, "composition": None}
