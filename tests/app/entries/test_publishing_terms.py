"""What publishing asks for, as a provider can read it before it makes an entry."""

import pytest

from app.tenants.model import RequiredPrivacy, TenantPolicy
from tests.answers import pointers
from tests.service import ACCEPTED, create_key, example_entry, publish, running_app, tenants_of

NOTHING = {"named": None, "require": {}, "min_cell": None, "require_noise": False, "max_epsilon": None}


async def terms(api, key=None, **params):
    answer = await api.get("/v1/publishing", params=params, headers=key)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_by_default_nothing_is_asked(api):
    told = await terms(api)
    assert told | NOTHING == told
    assert (told["tenant"], told["small_counts"]) == ("default", "accept")


async def test_the_limits_are_those_of_the_service_and_the_tenant(database_url):
    key = await create_key(database_url, "hospital", "provider")
    async with tenants_of(database_url) as tenants:
        await tenants.set_policy("hospital", TenantPolicy(RequiredPrivacy({"k": 7, "l": 2})))
    settings = {"require_privacy": {"k": 5, "t": 0.2}, "min_cell": 10, "max_epsilon": 1.5, "max_body_bytes": 5000}
    async with running_app(database_url, **settings) as api:
        told = await terms(api, key)
    assert told["require"] == {"k": 7, "l": 2, "t": 0.2}
    limits = {name: told[name] for name in ("min_cell", "require_noise", "max_epsilon", "max_bytes", "small_counts")}
    assert limits == {
        "min_cell": 10,
        "require_noise": True,
        "max_epsilon": 1.5,
        "max_bytes": 5000,
        "small_counts": "confirm",
    }


async def test_a_name_is_looked_up_among_the_tenant_s_own(database_url):
    own, other = [await create_key(database_url, tenant, "provider") for tenant in ("one", "two")]
    async with running_app(database_url) as api:
        head = await publish(api, example_entry(visibility="all"), **own)
        assert (await terms(api, own, name=head["name"]))["named"] == head
        assert (await terms(api, own, name="free"))["named"] is None
        assert (await terms(api, other, name=head["name"]))["named"] is None
        answer = await api.post("/v1/entries", json=example_entry(), headers=other, params=ACCEPTED)
        assert answer.status_code == 201  # so the name was free


@pytest.mark.parametrize("name", ["", "Bad name", "a" * 101, "-a"])
async def test_a_name_that_no_entry_can_have_is_refused(shared_api, name):
    answer = await shared_api.get("/v1/publishing", params={"name": name})
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid")
    assert len(pointers(answer)) == 1
