"""Who has asked what, for operators."""

import pytest

from tests.service import ask, create_key, example_entry, publish, running_app


@pytest.fixture
async def keys(database_url):
    roles = {"owner": "provider", "stranger": "consumer", "elsewhere": "operator"}
    return {tenant: await create_key(database_url, tenant, role) for tenant, role in roles.items()}


async def test_operators_read_who_has_asked_what(database_url, keys):
    async with running_app(database_url) as api:
        heads = [await publish(api, example_entry(name=name, visibility="all"), **keys["owner"]) for name in "ab"]
        for tenant, measure in (("owner", "g3"), ("stranger", "chi_square"), ("stranger", "chi_square")):
            api.headers = keys[tenant]
            for head in heads:
                await ask(api, head["id"], measure=measure, limit=3)
        api.headers = keys["elsewhere"]

        async def listed(**params):
            return (await api.get("/v1/questions", params=params)).json()["items"]

        every = await listed()
        assert [(one["tenant"], one["entry"]["id"], one["request"]["measure"], one["view"]) for one in every] == [
            (tenant, head["id"], measure, view)
            for tenant, measure, view in (("stranger", "chi_square", "coarse"), ("owner", "g3", "full"))
            for head in reversed(heads)
        ]
        assert every[0]["request"]["limit"] == 3
        assert await listed(tenant="owner") == every[2:]
        assert await listed(entry=heads[0]["id"]) == every[1::2]
        assert await listed(entry=heads[0]["id"], tenant="nobody") == []
        assert (await api.get("/v1/questions", params={"entry": "'; --"})).status_code == 422
        first = (await api.get("/v1/questions", params={"limit": 3})).json()
        assert first["items"] + await listed(limit=3, page_token=first["next_page_token"]) == every
        assert (await api.get("/v1/questions", params={"page_token": "no"})).status_code == 422
        read = await api.get(f"/v1/advice/{every[0]['advice']}")
        assert read.json()["id"] == every[0]["advice"]
        for tenant in ("owner", "stranger"):
            assert (await api.get("/v1/questions", headers=keys[tenant])).status_code == 403
