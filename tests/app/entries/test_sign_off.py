"""Versions that others see only once a reviewer has signed them off."""

import pytest

from app.tenants.model import TenantPolicy
from tests.service import ACCEPTED, ask, create_key, example_entry, publish, running_app, tenants_of

DEMANDED = {"sign_off": True}


@pytest.fixture
async def keys(database_url):
    """A key of each kind, by name; `other` is a consumer of another tenant."""
    roles = {"provider", "reviewer", "administrator", "consumer"}
    own = {role: await create_key(database_url, "owner", role) for role in roles}
    return own | {
        "second": await create_key(database_url, "owner", "provider"),
        "other": await create_key(database_url, "stranger", "consumer"),
        "rival": await create_key(database_url, "stranger", "reviewer"),
        "operator": await create_key(database_url, "elsewhere", "operator"),
    }


@pytest.fixture
async def guarded(database_url, keys):  # noqa: ARG001 -- with keys, it is not in development mode
    """A service whose tenant `owner` demands a sign-off."""
    async with tenants_of(database_url) as tenants:
        await tenants.set_policy("owner", TenantPolicy(demands_sign_off=True))
    async with running_app(database_url) as api:
        yield api


async def version_of(api, path, key, **params):
    """The version that a caller reads; None if it finds none."""
    answer = await api.get(path, headers=key, params=params)
    return answer.json()["version"] if answer.status_code == 200 else None


async def replaced(api, head, key, **changes):
    document = example_entry(name=head["name"], visibility="all", **changes)
    path, headers = f"/v1/entries/{head['id']}", key | {"If-Match": "*"}
    answer = await api.put(path, json=document, headers=headers, params=ACCEPTED)
    assert answer.status_code == 200, answer.text
    return answer


async def signed(api, path, key, **params):
    read = await api.get(path, headers=key, params=params)
    return await api.put(f"{path}/sign-off", headers=key | {"If-Match": read.headers["ETag"]}, params=params)


async def listed(api, key):
    return [(head["name"], head["version"]) for head in (await api.get("/v1/entries", headers=key)).json()["items"]]


async def test_others_see_a_version_once_it_is_signed_off(guarded, keys):
    head = await publish(guarded, example_entry(visibility="all"), **keys["provider"])
    path = f"/v1/entries/{head['id']}"
    outside, inside = ("consumer", "administrator", "other"), ("provider", "second", "reviewer", "operator")
    assert (head["awaits_sign_off"], head["signed_off_by"]) == (True, None)
    assert [await version_of(guarded, path, keys[who]) for who in outside] == [None] * 3
    assert [await version_of(guarded, path, keys[who]) for who in inside] == [1] * 4
    assert [await listed(guarded, keys[who]) for who in ("other", "reviewer")] == [[], [(head["name"], 1)]]
    before = await guarded.get(path, headers=keys["provider"])
    answer = await signed(guarded, path, keys["reviewer"])
    after = await guarded.get(path, headers=keys["provider"] | {"If-None-Match": before.headers["ETag"]})
    assert (after.status_code, after.json()["awaits_sign_off"]) == (200, False)  # whoever keeps it hears of it
    assert (answer.status_code, answer.json()["awaits_sign_off"]) == (200, False)
    assert answer.json()["signed_off_by"] == keys["reviewer"]["Authorization"].split()[1][:14]
    assert answer.json()["published_by"] == keys["provider"]["Authorization"].split()[1][:14]
    assert [await version_of(guarded, path, keys[who]) for who in outside + inside] == [1] * 7
    seen = (await guarded.get(path, headers=keys["other"])).json()
    assert (seen["published_by"], seen["signed_off_by"]) == (None, None)


async def test_a_new_version_that_waits_leaves_others_the_one_before(guarded, keys):
    head = await publish(guarded, example_entry(visibility="all"), **keys["provider"])
    path = f"/v1/entries/{head['id']}"
    await signed(guarded, path, keys["reviewer"])
    answer = await replaced(guarded, head, keys["provider"], title="second")
    assert "until a reviewer signs it off" in answer.json()["warnings"][0]
    await replaced(guarded, head, keys["provider"], title="third")
    assert await version_of(guarded, path, keys["other"]) == 1
    assert await listed(guarded, keys["other"]) == [(head["name"], 1)]
    assert await listed(guarded, keys["reviewer"]) == [(head["name"], 3)]
    assert [await version_of(guarded, path, keys["other"], version=number) for number in (1, 2, 3)] == [1, None, None]
    assert (await signed(guarded, path, keys["reviewer"], version=3)).status_code == 200
    assert (await signed(guarded, path, keys["reviewer"], version=2)).status_code == 200
    assert await version_of(guarded, path, keys["other"]) == 3  # an older one does not become the latest again
    assert await version_of(guarded, path, keys["other"], version=2) == 2


async def test_questions_about_a_version_that_waits_are_for_insiders(guarded, keys):
    head = await publish(guarded, example_entry(visibility="all"), **keys["provider"])
    guarded.headers = keys["other"]
    assert (await ask(guarded, head["id"])).status_code == 404
    guarded.headers = keys["reviewer"]
    asked = await ask(guarded, head["id"])
    assert (asked.status_code, asked.json()["view"]) == (202, "full")
    read = await guarded.get(f"/v1/advice/{asked.json()['id']}", headers=keys["consumer"])
    assert read.status_code == 404


async def test_who_may_sign_off(guarded, keys):
    head = await publish(guarded, example_entry(visibility="all"), **keys["provider"])
    path = f"/v1/entries/{head['id']}/sign-off"
    statuses = {}
    for who in ("provider", "consumer", "administrator", "other", "rival"):
        statuses[who] = (await guarded.put(path, headers=keys[who] | {"If-Match": '"x"'})).status_code
    assert statuses == {"provider": 403, "consumer": 404, "administrator": 404, "other": 404, "rival": 404}
    blind = await guarded.put(path, headers=keys["reviewer"])
    stale = await guarded.put(path, headers=keys["reviewer"] | {"If-Match": '"1-0000000000000000-00000000"'})
    assert (blind.status_code, stale.status_code) == (428, 412)
    unread = await guarded.put(path, headers=keys["reviewer"] | {"If-Match": "*"})
    assert (unread.status_code, "not *" in unread.json()["detail"]) == (428, True)
    entry = f"/v1/entries/{head['id']}"
    assert (await signed(guarded, entry, keys["operator"])).status_code == 200
    again = await signed(guarded, entry, keys["reviewer"])
    assert again.json()["signed_off_by"] == keys["operator"]["Authorization"].split()[1][:14]  # the first one counts


async def test_nobody_signs_off_what_they_published(guarded, keys):
    head = await publish(guarded, example_entry(), **keys["operator"])
    assert head["awaits_sign_off"] is False  # its tenant asks for nothing
    await guarded.put("/v1/policy", params={"tenant": "elsewhere"}, json=DEMANDED, headers=keys["operator"])
    await replaced(guarded, head, keys["operator"], title="second")
    answer = await signed(guarded, f"/v1/entries/{head['id']}", keys["operator"])
    assert answer.status_code == 403
    assert "published this version yourself" in answer.json()["detail"]


async def test_nor_with_the_successor_of_the_key(guarded, keys):
    await guarded.put("/v1/policy", params={"tenant": "elsewhere"}, json=DEMANDED, headers=keys["operator"])
    head = await publish(guarded, example_entry(), **keys["operator"])
    old = keys["operator"]["Authorization"].split()[1][:14]
    new = await guarded.post(f"/v1/keys/{old}/successor", json={}, headers=keys["operator"])
    successor = {"Authorization": f"Bearer {new.json()['key']}"}
    assert (await signed(guarded, f"/v1/entries/{head['id']}", successor)).status_code == 403


async def test_a_policy_neither_hides_nor_shows_what_is_there(guarded, keys):
    await guarded.put("/v1/policy", json={}, headers=keys["administrator"])
    head = await publish(guarded, example_entry(visibility="all"), **keys["provider"])
    path = f"/v1/entries/{head['id']}"
    await guarded.put("/v1/policy", json=DEMANDED, headers=keys["administrator"])
    assert await version_of(guarded, path, keys["other"]) == 1
    await replaced(guarded, head, keys["provider"], title="second")
    await guarded.put("/v1/policy", json={}, headers=keys["administrator"])
    assert await version_of(guarded, path, keys["other"]) == 1
    await replaced(guarded, head, keys["provider"], title="third")
    assert await version_of(guarded, path, keys["other"]) == 3
    assert (await signed(guarded, path, keys["reviewer"], version=2)).status_code == 200
    assert await version_of(guarded, path, keys["other"]) == 3


async def test_publishing_says_whether_a_sign_off_is_demanded(guarded, keys):
    told = [(await guarded.get("/v1/publishing", headers=keys[who])).json() for who in ("provider", "operator")]
    assert [terms["sign_off"] for terms in told] == [True, False]
