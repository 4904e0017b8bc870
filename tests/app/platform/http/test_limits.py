"""Limits for tenants and addresses: requests in a minute, wrong keys, what is stored and asked."""

from datetime import timedelta

import psycopg
import pytest

from app.edge import state
from app.platform.errors import OverloadedError, TooManyGuessesError, UnknownKeyError
from app.platform.http.bodies import BodyBudget
from app.platform.http.rate_limit import Guesses, Rate
from app.tenants.model import Quota
from tests.running import serving
from tests.service import ACCEPTED, ask, create_key, example_entry, publish, running_app


@pytest.fixture
async def keys(database_url):
    return {
        "provider": await create_key(database_url, "owner", "provider"),
        "consumer": await create_key(database_url, "owner", "consumer"),
        "other": await create_key(database_url, "stranger", "provider"),
        "operator": await create_key(database_url, "elsewhere", "operator"),
    }


@pytest.fixture
def slow_time(monkeypatch):
    """Rates of a minute are rates of a day, so that nothing comes back however slow the machine is."""
    monkeypatch.setattr(state, "MINUTE", 86_400.0)


async def test_a_tenant_sends_so_many_requests_and_others_are_not_held_up(database_url, keys, slow_time):  # noqa: ARG001
    async with running_app(database_url, rate_limit=3) as api:
        for number, who in enumerate(("provider", "consumer", "provider")):
            answer = await api.get("/v1/measures", headers=keys[who])
            assert answer.status_code == 200
            assert answer.headers["RateLimit-Policy"] == '"tenant";q=3;w=86400'
            assert answer.headers["RateLimit"].startswith(f'"tenant";r={2 - number};t=')
        refused = await api.get("/v1/measures", headers=keys["provider"])
        assert (refused.status_code, refused.json()["code"]) == (429, "rate_exceeded")
        assert 28_000 <= int(refused.headers["Retry-After"]) <= 28_800
        assert refused.headers["RateLimit"].startswith('"tenant";r=0')
        assert (await api.get("/v1/measures", headers=keys["other"])).status_code == 200
        assert (await api.get("/healthz")).status_code == 200


async def test_there_is_no_limit_in_development_mode_nor_if_it_is_0(database_url, keys, api):
    assert "RateLimit" not in (await api.get("/v1/measures")).headers
    async with running_app(database_url, rate_limit=0) as unlimited:
        assert "RateLimit" not in (await unlimited.get("/v1/measures", headers=keys["other"])).headers


async def test_wrong_keys_lock_their_address_out_and_right_ones_stay_in(database_url, keys, slow_time):  # noqa: ARG001
    wrong = {"Authorization": "Bearer aegis_00000000_wrong"}
    async with running_app(database_url, wrong_keys=5) as api:
        assert (await api.get("/v1/measures", headers=keys["provider"])).status_code == 200
        guesses = [(await api.get("/v1/measures", headers=wrong)).status_code for _ in range(300)]
        assert guesses == [401] * 5 + [429] * 295
        locked = await api.get("/v1/measures", headers=wrong)
        assert (locked.status_code, locked.json()["code"]) == (429, "too_many_guesses")
        assert 17_000 <= int(locked.headers["Retry-After"]) <= 17_280
        assert (await api.get("/v1/measures", headers=keys["provider"])).status_code == 200  # known to be right
        assert (await api.get("/v1/measures", headers=keys["other"])).status_code == 429  # not known yet
        assert (await api.get("/v1/measures")).status_code == 401  # no guess


def test_guesses_are_counted_by_site_and_a_revoked_key_is_not_right_any_more():
    guesses = Guesses(Rate(1, 60))

    def wrong(address, key="k"):
        with pytest.raises((UnknownKeyError, TooManyGuessesError)) as refused, guesses.attempt(address, key):
            raise UnknownKeyError("wrong")
        return type(refused.value)

    with guesses.attempt("2001:db8::1", "right"):
        pass
    assert wrong("2001:db8::1") is UnknownKeyError
    assert wrong("2001:db8::ffff:2") is TooManyGuessesError
    assert wrong("2001:db8:0:1::1") is UnknownKeyError
    assert wrong("2001:db8::1", "right") is UnknownKeyError  # it was right, and is revoked now
    assert wrong("2001:db8::1", "right") is TooManyGuessesError
    assert [wrong(address) for address in ("testclient", "testclient", "192.0.2.1", "::ffff:192.0.2.1")] == [
        UnknownKeyError,
        TooManyGuessesError,
        UnknownKeyError,
        TooManyGuessesError,
    ]
    assert wrong("::ffff:192.0.2.2") is UnknownKeyError


def test_large_bodies_share_the_memory():
    budget = BodyBudget(100)
    with budget.share() as first:
        first(60)
        with budget.share() as second:
            second(30)
            with pytest.raises(OverloadedError):
                second(11)
            first(10)
        first(30)
    with budget.share() as alone:
        alone(100)


async def test_too_many_large_bodies_at_once_are_refused_in_time(database_url, monkeypatch):
    monkeypatch.setattr(state, "LARGE_BODIES", 0)
    async with running_app(database_url) as api:
        answer = await api.post("/v1/entries", json=example_entry(), params=ACCEPTED)
    assert (answer.status_code, answer.json()["code"], answer.headers["Retry-After"]) == (503, "overloaded", "1")


@pytest.mark.processes
@pytest.mark.long
async def test_forwarded_addresses_are_believed_of_trusted_proxies_alone(database_url, keys):
    wrong = {"Authorization": "Bearer aegis_00000000_wrong"}
    assert keys
    for trusted, last in (("", 429), ("127.0.0.1", 401)):
        with serving(database_url=database_url, wrong_keys="1", trusted_proxies=trusted) as (client, _):
            statuses = [
                client.get("/v1/measures", headers=wrong | {"X-Forwarded-For": f"192.0.2.{number}"}).status_code
                for number in range(3)
            ]
        assert statuses == [401, last, last]


async def test_a_key_that_expires_soon_says_so(database_url):
    soon = await create_key(database_url, "owner", "consumer", timedelta(days=13))
    later = await create_key(database_url, "owner", "consumer", timedelta(days=15))
    async with running_app(database_url) as api:
        told = [(await api.get("/v1/measures", headers=key)).headers.get("Aegis-Key-Expires") for key in (soon, later)]
    assert told[0].endswith("Z")
    assert told[1] is None


async def test_a_tenant_stores_so_many_entries_versions_and_bytes(database_url, keys):
    async with running_app(database_url, quota={"entries": 2, "versions": 3}) as api:
        head = await publish(api, example_entry(name="one"), **keys["provider"])
        await publish(api, example_entry(name="two"), **keys["provider"])
        third = await api.post(
            "/v1/entries", json=example_entry(name="three"), headers=keys["provider"], params=ACCEPTED
        )
        assert (third.status_code, third.json()["code"]) == (403, "quota_exceeded")
        assert "may have 2 entries, and this would make 3" in third.json()["detail"]
        await publish(api, example_entry(name="one"), **keys["other"])

        statuses = []
        for title in ("b", "c"):
            answer = await api.put(
                f"/v1/entries/{head['id']}",
                json=example_entry(name="one", title=title),
                headers=keys["operator"] | {"If-Match": "*"},  # it counts for the entry's tenant
                params=ACCEPTED,
            )
            statuses.append(answer.status_code)
        assert statuses == [200, 403]

        quota = (await api.get("/v1/quota", headers=keys["consumer"])).json()
        assert quota["limits"] == {"entries": 2, "versions": 3, "bytes": None, "advice": None, "jobs": 4}
        used = quota["used"]
        assert (used["entries"], used["versions"], used["advice"]) == (2, 3, 0)
        assert 1_000 < used["bytes"] < 10_000
        more = {"entries": 3, "bytes": used["bytes"], "versions": 9}
        await api.put("/v1/quota", params={"tenant": "owner"}, json=more, headers=keys["operator"])
        full = await api.post(
            "/v1/entries", json=example_entry(name="three"), headers=keys["provider"], params=ACCEPTED
        )
        assert f"may have {used['bytes']:,} bytes" in full.json()["detail"]
        await api.delete(f"/v1/entries/{head['id']}", headers=keys["provider"])
        await publish(api, example_entry(name="three"), **keys["provider"])


async def test_a_tenant_asks_so_many_new_questions_a_day(database_url, keys):
    async with running_app(database_url, quota={"advice": 2}) as api:
        head = await publish(api, example_entry(visibility="all"), **keys["provider"])
        api.headers = keys["provider"]
        measures = ("g3", "chi_square", "mutual_information", "g3")
        answers = [await ask(api, head["id"], measure=measure) for measure in measures]
        assert [answer.status_code for answer in answers] == [202, 202, 429, 202]
        assert answers[2].json()["code"] == "quota_spent"
        assert 86_000 < int(answers[2].headers["Retry-After"]) <= 86_400
        api.headers = keys["other"]
        assert (await ask(api, head["id"], measure="mutual_information")).status_code == 202
        api.headers = keys["provider"]
        with psycopg.connect(database_url, autocommit=True) as connection:
            connection.execute("UPDATE question SET created_at = created_at - interval '25 hours'")
        assert (await ask(api, head["id"], measure="mutual_information")).status_code == 202


async def test_quotas_are_the_operators(database_url, keys):
    async with running_app(database_url) as api:
        for who, status in (("consumer", 403), ("provider", 403), ("operator", 200)):
            answer = await api.put("/v1/quota", params={"tenant": "owner"}, json={"jobs": 2}, headers=keys[who])
            assert answer.status_code == status
        foreign = await api.get("/v1/quota", params={"tenant": "owner"}, headers=keys["other"])
        assert foreign.status_code == 403
        own = (await api.get("/v1/quota", headers=keys["provider"])).json()
        assert (own["limits"]["jobs"], own["limits"]["entries"]) == (2, 1_000)
        bad = await api.put("/v1/quota", json={"jobs": 0, "rows": 1}, headers=keys["operator"])
        assert bad.status_code == 422


@pytest.mark.parametrize(
    ("numbers", "told"),
    [({"rows": 1}, "there is no quota 'rows'"), ({"jobs": 0}, "from 1 to"), ({"entries": 1.5}, "whole number")],
    ids=str,
)
def test_a_quota_that_is_none(numbers, told):
    with pytest.raises(ValueError, match=told):
        Quota.from_numbers(numbers)
