import hashlib
import json
import re
from datetime import UTC, datetime, timedelta

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.callers.service import OpenDoorError
from app.platform.callers import Role, draw_key, hash_secret
from tests.for_each import case
from tests.running import serving
from tests.service import create_key, example_entry, keyring_of, prefix_of, publish, running_app
from tests.waiting import PATIENCE


def key_in(header):
    return header["Authorization"].removeprefix("Bearer ")


def everything_in(database_url):
    """Every row of every table, as text."""
    with psycopg.connect(database_url) as connection:
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
        rows = (connection.execute(f"SELECT t::text FROM {table} t").fetchall() for (table,) in tables)
        return "\n".join(row for found in rows for (row,) in found)


async def test_a_key_is_stored_as_its_hash_alone(database_url):
    key = key_in(await create_key(database_url, "owner", "provider"))
    stored = everything_in(database_url)
    assert hashlib.sha256(key.encode()).hexdigest() in stored
    assert prefix_of(key) in stored
    secret = key.removeprefix(prefix_of(key) + "_")
    for kept in (key, secret, key.encode().hex(), secret.encode().hex()):
        assert kept not in stored


def test_no_two_keys_are_alike_and_each_has_a_readable_prefix():
    drawn = [draw_key() for _ in range(100)]
    assert len({key for key, _ in drawn}) == len({hash_secret(key) for key, _ in drawn}) == 100
    for key, prefix in drawn:
        assert re.fullmatch(r"aegis_[0-9a-f]{8}", prefix)
        assert re.fullmatch(re.escape(prefix) + r"_[\w-]{43}", key)


async def test_a_key_s_state_can_be_listed(database_url):
    async with keyring_of(database_url) as keyring:
        key, _ = await keyring.create("owner", Role.PROVIDER, timedelta(days=1))
        await keyring.create("other", Role.CONSUMER)
        await keyring.revoke(prefix_of(key))
        await keyring.revoke(prefix_of(key))
        first, second = await keyring.keys.all()
    assert (first.prefix, first.tenant, first.role) == (prefix_of(key), "owner", "provider")
    assert first.revoked_at is not None
    assert timedelta(hours=23) < first.expires_at - datetime.now(UTC) < timedelta(hours=25)
    assert not first.is_valid(datetime.now(UTC))
    assert second.is_valid(datetime.now(UTC))
    assert (second.expires_at, second.revoked_at) == (None, None)


NO_KEYS = [
    "{key}",
    "Basic {key}",
    "Bearer",
    "Bearer ",
    "Bearer {key}x",
    "Bearer {prefix}",
    "Bearer {hash}",
    "bearer\t{key}",
]


async def test_a_header_that_carries_no_key(database_url):
    key = key_in(await create_key(database_url, "owner", "provider"))
    async with running_app(database_url, wrong_keys=0) as api:
        for authorization in NO_KEYS:
            header = authorization.format(key=key, prefix=prefix_of(key), hash=hash_secret(key).hex())
            refused = await api.get("/v1/measures", headers={"Authorization": header})
            accepted = await api.get("/v1/measures", headers={"Authorization": f"bearer  {key} "})
            assert (refused.status_code, refused.json()["code"]) == (401, "unauthenticated"), authorization
            challenge = 'Bearer error="invalid_token"' if header.lower().startswith("bearer ") else "Bearer"
            assert refused.headers["WWW-Authenticate"] == challenge, authorization
            assert accepted.status_code == 200


async def test_a_key_that_is_revoked_while_the_service_runs_is_refused_at_once(database_url):
    header = await create_key(database_url, "owner", "provider")
    async with running_app(database_url) as api:
        before = await api.get("/v1/measures", headers=header)
        async with keyring_of(database_url) as keyring:
            await keyring.revoke(prefix_of(key_in(header)))
        after = await api.get("/v1/measures", headers=header)
    assert (before.status_code, after.status_code) == (200, 401)


async def test_development_mode_is_decided_at_the_start(database_url):
    async with running_app(database_url) as api:
        await create_key(database_url, "owner", "provider")
        head = await publish(api)
        assert head["tenant"] == "default"
    async with running_app(database_url) as api:
        assert (await api.get("/v1/entries")).status_code == 401


@pytest.mark.parametrize("gone", [{"revoked": True}, {"lifetime": timedelta(seconds=-1)}], ids=str)
async def test_keys_that_are_gone_keep_the_door_shut(database_url, gone):
    await create_key(database_url, "owner", "provider", **gone)
    async with running_app(database_url) as api:
        assert (await api.get("/v1/entries")).status_code == 401


async def test_without_keys_nobody_else_may_reach_the_service(database_url):
    hosts = ["0.0.0.0", "::", "192.0.2.1", "aegis.example", ""]
    for host in hosts:
        with case(host), pytest.raises(OpenDoorError):
            async with running_app(database_url, host=host):
                pass
    await create_key(database_url, "owner", "operator")
    for host in hosts:
        with case(host):
            async with running_app(database_url, host=host) as api:
                assert (await api.get("/v1/entries")).status_code == 401


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost"])
async def test_without_keys_this_machine_may(database_url, host):
    async with running_app(database_url, host=host) as api:
        assert (await api.get("/v1/entries")).status_code == 200


HOSTS = [
    ("127.0.0.1", 200),
    ("127.0.0.1:8000", 200),
    ("LocalHost:1", 200),
    ("[::1]:8000", 200),
    ("[::1]", 200),
    ("page.example", 403),
    ("page.example:8000", 403),
    ("127.0.0.1.page.example", 403),
    ("localhost.page.example:8000", 403),
    ("[page.example]", 403),
    ("", 403),
]


async def test_without_keys_a_web_page_under_another_name_is_refused(api):
    statuses = [(host, (await api.get("/v1/entries", headers={"Host": host})).status_code) for host, _ in HOSTS]
    assert statuses == HOSTS


async def test_with_keys_the_service_has_any_name(database_url):
    header = await create_key(database_url, "owner", "provider")
    async with running_app(database_url) as api:
        answer = await api.get("/v1/entries", headers=header | {"Host": "aegis.exchange.example"})
    assert answer.status_code == 200


@given(st.text(alphabet=st.characters(codec="latin-1", exclude_categories=["Cc"]), max_size=60))
def test_any_text_can_be_looked_up_as_a_key(text):
    assert len(hash_secret(text)) == 32


#: Numbers and words that occur only in the entry.
COUNT, WORD = 7_777_771, "unmistakable"


@pytest.mark.processes
@pytest.mark.long
async def test_no_key_no_count_and_no_body_is_ever_logged(database_url, owner_url):
    header = await create_key(database_url, "owner", "provider")
    entry = example_entry(records=COUNT, description=WORD)
    entry["label"]["histogram"] = [COUNT, 0, 0, 0, 0]
    entry["attributes"][0]["histogram"] = [0] * 7 + [COUNT]
    entry["attributes"][0]["maskings"][0]["joint"] = [[0] * 5, [COUNT, 0, 0, 0, 0]]
    with serving(database_url=database_url, log_level="DEBUG") as (client, server):
        client.headers.update(header)
        published = client.post("/v1/entries", json=entry)
        path = published.headers["Location"]
        asked = client.post(f"{path}/advice", json={"measure": "g3"}, headers={"Prefer": "respond-async"})
        unknown = client.get("/v1/entries", headers={"Authorization": f"Bearer {prefix_of(key_in(header))}_{WORD}"})
        broken = client.post(
            "/v1/entries", content=json.dumps(entry)[:-1], headers={"Content-Type": "application/json"}
        )
        entry["label"]["histogram"][0] += 1
        wrong = client.post("/v1/entries", json=entry)
        with psycopg.connect(owner_url, autocommit=True) as connection:
            connection.execute("ALTER TABLE entry_version ADD CONSTRAINT never CHECK (false) NOT VALID")
        entry["label"]["histogram"][0] -= 1
        failed = client.post("/v1/entries", json=entry | {"name": "fails"})
        server.terminate()
        logged = "".join(server.communicate(timeout=PATIENCE))
    statuses = [answer.status_code for answer in (published, asked, unknown, broken, wrong, failed)]
    assert statuses == [201, 202, 401, 400, 422, 500]
    [line] = [line for line in logged.splitlines() if "unexpected error" in line]
    assert json.loads(line)["request_id"] == failed.json()["request_id"] == failed.headers["X-Request-ID"]
    for secret in (key_in(header), str(COUNT), WORD, hash_secret(key_in(header)).hex()):
        assert secret not in logged
