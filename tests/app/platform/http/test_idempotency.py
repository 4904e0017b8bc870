"""Requests with an `Idempotency-Key` are carried out once."""

import asyncio
import gzip
import json
from uuid import uuid4

import psycopg
import pytest

from app.edge import idempotency, state
from app.factory import Factory
from app.platform.callers import Caller, Role
from app.platform.database.session import Database
from app.platform.queue.queue import queue_app
from tests.service import ACCEPTED, Worker, create_key, example_entry, running_app
from tests.waiting import until

CALLS = {
    "POST /v1/entries": lambda name: example_entry(name=name),
    "POST /v1/keys": lambda _: {"role": "consumer"},
}

HEARD_OF = "SELECT 1 FROM idempotency_key WHERE created_at > now() - interval '10 seconds'"


@pytest.fixture
async def operator(database_url):
    return await create_key(database_url, "owner", "operator")


@pytest.fixture
async def guarded(database_url, operator):
    async with running_app(database_url) as api:
        api.headers = operator
        api.url_of_database = database_url
        yield api


def with_key(key=None):
    return {"Idempotency-Key": key or str(uuid4())}


def count(database_url, table):
    with psycopg.connect(database_url) as connection:
        return connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]


async def test_every_post_takes_one(api):
    paths = (await api.get("/openapi.json")).json()["paths"]
    posts = {path: operations["post"] for path, operations in paths.items() if "post" in operations}
    # In the Dataspace Protocol, the consumer's id of a process says which one it is.
    posts = {path: operation for path, operation in posts.items() if path.startswith("/v1/")}
    assert len(posts) >= 4
    for path, operation in posts.items():
        named = {parameter["name"].lower() for parameter in operation["parameters"]}
        assert "idempotency-key" in named, path
        assert {"409", "422"} <= operation["responses"].keys(), path


@pytest.mark.parametrize("call", CALLS, ids=str)
async def test_the_first_answer_is_given_again(guarded, call):
    path, document, headers = call.split()[1], CALLS[call](f"e-{uuid4().hex}"), with_key()
    params = ACCEPTED if path == "/v1/entries" else {}
    first, again = [await guarded.post(path, json=document, headers=headers, params=params) for _ in range(2)]
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.content == again.content
    kept = ("content-type", "location", "etag")
    assert [first.headers.get(name) for name in kept] == [again.headers.get(name) for name in kept]
    assert "Idempotency-Replayed" not in first.headers
    assert again.headers["Idempotency-Replayed"] == "true"


async def test_a_question_and_a_successor_are_kept_too(guarded):
    head = (await guarded.post("/v1/entries", json=example_entry(), params=ACCEPTED)).json()
    created = (await guarded.post("/v1/keys", json={"role": "consumer"})).json()
    for path, document in (
        (f"/v1/entries/{head['id']}/advice", {"measure": "g3"}),
        (f"/v1/keys/{created['prefix']}/successor", {}),
    ):
        headers = with_key() | {"Prefer": "respond-async"}
        first, again = [await guarded.post(path, json=document, headers=headers) for _ in range(2)]
        assert first.content == again.content
        assert again.headers["Idempotency-Replayed"] == "true"
        assert again.headers["Location"] == first.headers["Location"]


async def test_a_key_belongs_to_one_request_of_one_caller(guarded, database_url):
    headers = with_key()
    await guarded.post("/v1/keys", json={"role": "consumer"}, headers=headers)
    body = await guarded.post("/v1/keys", json={"role": "provider"}, headers=headers)
    path = await guarded.post("/v1/entries", json={"role": "consumer"}, headers=headers)
    entry = {"json": example_entry(), "headers": with_key()}
    await guarded.post("/v1/entries", **entry, params=ACCEPTED)
    query = await guarded.post("/v1/entries", **entry, params={"accept_small_counts": "1"})
    assert [(answer.status_code, answer.json()["code"]) for answer in (body, path, query)] == [
        (422, "idempotency_key_reused")
    ] * 3
    for tenant in ("owner", "stranger"):
        other = await create_key(database_url, tenant, "operator")
        answer = await guarded.post("/v1/keys", json={"role": "provider"}, headers=headers | other)
        assert (answer.status_code, answer.json()["tenant"]) == (201, tenant)


async def test_what_is_refused_may_be_mended_with_the_same_key(guarded):
    headers = with_key()
    refused = await guarded.post("/v1/keys", json={"role": "king"}, headers=headers)
    mended = await guarded.post("/v1/keys", json={"role": "consumer"}, headers=headers)
    assert (refused.status_code, mended.status_code) == (422, 201)


async def test_of_many_at_once_one_is_carried_out(guarded, database_url):
    document, headers = example_entry(name="many"), with_key()
    calls = (guarded.post("/v1/entries", json=document, headers=headers, params=ACCEPTED) for _ in range(8))
    answers = await asyncio.gather(*calls)
    codes = {answer.status_code for answer in answers}
    assert 201 in codes
    assert codes <= {201, 409}
    assert {answer.json()["code"] for answer in answers if answer.status_code == 409} <= {"in_flight"}
    assert all("Retry-After" in answer.headers for answer in answers if answer.status_code == 409)
    assert len({answer.content for answer in answers if answer.status_code == 201}) == 1
    assert count(database_url, "entry_version") == 1


async def test_whoever_died_over_a_request_does_not_hold_it_for_ever(guarded, database_url):
    headers, made = with_key(), {"role": "consumer"}
    await guarded.post("/v1/keys", json=made, headers=headers)
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("UPDATE idempotency_key SET answer = NULL")
        assert (await guarded.post("/v1/keys", json=made, headers=headers)).status_code == 409
        connection.execute("UPDATE idempotency_key SET created_at = created_at - interval '16 seconds'")
    assert (await guarded.post("/v1/keys", json=made, headers=headers)).status_code == 201


async def test_whoever_takes_long_over_a_request_goes_on_holding_it(guarded, database_url, owner_url, monkeypatch):
    monkeypatch.setattr(idempotency, "BEAT", 0.05)
    document, headers = example_entry(name="long"), with_key()
    with psycopg.connect(owner_url) as blocking, psycopg.connect(database_url, autocommit=True) as connection:
        blocking.execute("LOCK TABLE entry_version IN ACCESS EXCLUSIVE MODE")
        publishing = asyncio.create_task(guarded.post("/v1/entries", json=document, headers=headers, params=ACCEPTED))
        await until(lambda: connection.execute("SELECT 1 FROM idempotency_key").fetchone())
        for _ in range(2):
            connection.execute("UPDATE idempotency_key SET created_at = created_at - interval '1 hour'")
            await until(lambda: connection.execute(HEARD_OF).fetchone())
    assert (await publishing).status_code == 201


async def test_after_a_day_the_key_is_free(guarded, database_url):
    headers = with_key()
    first = await guarded.post("/v1/keys", json={"role": "consumer"}, headers=headers)
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("UPDATE idempotency_key SET created_at = created_at - interval '25 hours'")
    later = await guarded.post("/v1/keys", json={"role": "provider"}, headers=headers)
    assert (first.json()["role"], later.json()["role"]) == ("consumer", "provider")


async def test_the_database_tells_neither_the_key_nor_the_secret_of_an_answer(guarded, database_url):
    headers = with_key()
    answer = await guarded.post("/v1/keys", json={"role": "consumer"}, headers=headers)
    with psycopg.connect(database_url) as connection:
        stored = connection.execute("SELECT name || fingerprint || answer FROM idempotency_key").fetchone()[0]
    secret = answer.json()["key"].encode()
    for told in (secret, headers["Idempotency-Key"].encode()):
        assert told not in stored
        assert told.hex().encode() not in stored


async def test_a_failed_commit_keeps_no_answer(guarded, owner_url):
    headers, document = with_key(), example_entry(name="unlucky")
    with psycopg.connect(owner_url, autocommit=True) as connection:
        connection.execute("ALTER TABLE entry_version ADD CONSTRAINT never CHECK (false) NOT VALID")
        failed = await guarded.post("/v1/entries", json=document, headers=headers, params=ACCEPTED)
        connection.execute("ALTER TABLE entry_version DROP CONSTRAINT never")
    again = await guarded.post("/v1/entries", json=document, headers=headers, params=ACCEPTED)
    assert (failed.status_code, again.status_code) == (500, 201)
    assert "Idempotency-Replayed" not in again.headers


async def test_of_advice_a_name_is_kept_and_who_may_not_read_it_any_more_does_not(guarded, database_url):
    head = (await guarded.post("/v1/entries", json=example_entry(visibility="all"), params=ACCEPTED)).json()
    headers = with_key() | {"Prefer": "respond-async"} | await create_key(database_url, "stranger", "consumer")
    path = f"/v1/entries/{head['id']}/advice"
    asked = await guarded.post(path, json={"measure": "g3"}, headers=headers)
    async with Worker.on(database_url) as worker:
        await worker.run()
    again = await guarded.post(path, json={"measure": "g3"}, headers=headers)
    assert (asked.status_code, again.status_code, again.json()["id"]) == (202, 200, asked.json()["id"])
    with psycopg.connect(database_url) as connection:
        assert connection.execute("SELECT max(length(answer)) FROM idempotency_key").fetchone()[0] < 100
    await guarded.patch(f"/v1/entries/{head['id']}", json={"visibility": "private"})
    assert (await guarded.post(path, json={"measure": "g3"}, headers=headers)).status_code == 404


async def test_who_lost_the_role_is_not_shown_the_secret_again(guarded, database_url):
    headers = with_key() | await create_key(database_url, "owner", "administrator")
    assert (await guarded.post("/v1/keys", json={"role": "consumer"}, headers=headers)).status_code == 201
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("UPDATE api_key SET role = 'consumer' WHERE role = 'administrator'")
    assert (await guarded.post("/v1/keys", json={"role": "consumer"}, headers=headers)).status_code == 403


async def test_a_claim_is_given_up_only_while_there_is_no_answer(database_url):
    caller, database = (
        Caller("owner", frozenset({Role.OPERATOR}), "aegis_00000000"),
        Database(database_url, pool_size=1),
    )

    async def services(work):
        async with database.transaction() as session:
            return await work(Factory(session, queue_app(database_url)).idempotency())

    claim = await services(lambda service: service.claim(caller, "0123456789abcdef", b"asked"))
    await services(lambda service: service.keep(claim, b"the answer"))
    await services(lambda service: service.release(claim))  # its owner never heard of the commit
    assert await services(lambda service: service.claim(caller, "0123456789abcdef", b"asked")) == b"the answer"
    await database.close()


async def test_so_many_keys_a_day(guarded, monkeypatch):
    monkeypatch.setattr(state, "MOST_KEYS", 2)
    async with running_app(guarded.url_of_database) as limited:
        answers = [
            await limited.post("/v1/keys", json={"role": "consumer"}, headers=dict(guarded.headers) | with_key())
            for _ in range(3)
        ]
    assert [answer.status_code for answer in answers] == [201, 201, 429]


async def test_two_keys_are_none(guarded):
    headers = [
        *guarded.headers.items(),
        ("Idempotency-Key", "0123456789abcdef"),
        ("Idempotency-Key", "0123456789abcdeF"),
    ]
    answer = await guarded.post("/v1/keys", json={"role": "consumer"}, headers=headers)
    assert answer.status_code == 400


async def test_the_same_body_in_another_coding_is_the_same_request(guarded):
    headers, body = with_key() | {"Content-Type": "application/json"}, json.dumps({"role": "consumer"}).encode()
    first = await guarded.post("/v1/keys", content=body, headers=headers)
    packed = await guarded.post("/v1/keys", content=gzip.compress(body), headers=headers | {"Content-Encoding": "gzip"})
    assert (packed.content, packed.headers["Idempotency-Replayed"]) == (first.content, "true")


@pytest.mark.parametrize("key", ["", "short", "x" * 256, "with blanks in it, many", "ünïcödé-ünïcödé-ünïcödé"])
async def test_keys_that_are_none(guarded, key):
    headers = {"Idempotency-Key": key.encode()}
    answer = await guarded.post("/v1/keys", json={"role": "consumer"}, headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (400, "malformed")
