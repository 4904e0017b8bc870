"""Bodies that are too large, cut off, or sent while the database is unavailable."""

import asyncio
import json
import socket
from urllib.parse import urlsplit

import psycopg
import pytest
from starlette.requests import Request

from app.platform.http.bodies import arriving
from app.platform.http.refusals import SlowBodyError
from tests.running import serving
from tests.service import example_entry, running_app

LIMIT = 10_000
JSON = {"Content-Type": "application/json"}
TABLES = (
    *("tenant", "entry", "entry_version", "count_table", "configuration_table", "reference", "reference_array"),
    *("advice", "procrastinate_jobs"),
)


def rows(database_url):
    """The number of rows of each table."""
    with psycopg.connect(database_url) as connection:
        return {table: connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in TABLES}


@pytest.fixture(scope="module")
def server(shared_database_url):
    """The address of a real server with a small limit."""
    with serving(database_url=shared_database_url, max_body_bytes=str(LIMIT)) as (client, _):
        yield client


def connect(server):
    address = urlsplit(str(server.base_url))
    return socket.create_connection((address.hostname, address.port), timeout=20)


def head_of(*lines):
    fields = ("POST /v1/entries HTTP/1.1", "Host: localhost", "Content-Type: application/json", *lines)
    return "\r\n".join((*fields, "", "")).encode()


def status_of(connection):
    """The status of the next answer on a connection."""
    return int(connection.recv(65536).split(b" ", 2)[1])


@pytest.mark.processes
def test_a_body_that_says_it_is_too_large_is_refused_unread(server):
    with connect(server) as connection:
        connection.sendall(head_of(f"Content-Length: {LIMIT + 1}"))
        assert status_of(connection) == 413


@pytest.mark.processes
def test_a_body_that_grows_too_large_is_refused_before_its_end(server):
    with connect(server) as connection:
        connection.sendall(head_of("Transfer-Encoding: chunked"))
        for _ in range(2):
            connection.sendall(b"1770\r\n" + b" " * 6000 + b"\r\n")
        assert status_of(connection) == 413


async def test_no_more_is_read_than_needed_to_refuse(database_url):
    read = 0

    async def endless():
        nonlocal read
        while True:
            read += 1000
            yield b" " * 1000

    async with running_app(database_url, max_body_bytes=LIMIT) as api:
        answer = await api.post("/v1/entries", content=endless(), headers=JSON)
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
    assert read <= LIMIT + 2000


@pytest.mark.parametrize(("path", "method"), [("", "POST"), ("/x", "PUT"), ("/x", "PATCH"), ("/x/advice", "POST")])
async def test_the_limit_holds_wherever_a_body_is_taken(database_url, path, method):
    async with running_app(database_url, max_body_bytes=LIMIT) as api:
        url, headers = f"/v1/entries{path}", JSON | {"If-Match": "*"}
        answers = [await api.request(method, url, content=b" " * size, headers=headers) for size in (LIMIT, LIMIT + 1)]
    assert [answer.status_code for answer in answers] == [400, 413]


def arriving_from(parts):
    """The body of a request that these parts come from."""

    async def receive():
        return {"type": "http.request", "body": await anext(parts), "more_body": True}

    return arriving(Request({"type": "http", "method": "POST", "headers": []}, receive), 10**9)


async def drips(byte):
    while True:
        await asyncio.sleep(0.001)
        yield byte


async def stops(parts):
    for part in parts:
        await asyncio.sleep(0)
        yield part
    await asyncio.Event().wait()


@pytest.mark.parametrize(
    "parts", [drips(b"a" * 10), drips(b""), stops([b"{"]), stops([b"a" * 10**6])], ids=["slow", "empty", "part", "much"]
)
async def test_a_body_that_hardly_arrives_is_refused(monkeypatch, parts):
    monkeypatch.setattr("app.platform.http.bodies.BODY_SECONDS", 0.1)
    monkeypatch.setattr("app.platform.http.bodies.BYTES_PER_SECOND", 10**6)
    body = arriving_from(parts)
    with pytest.raises(SlowBodyError):
        await anext(part async for part in body if part == b"never sent")


async def test_time_in_which_the_service_does_not_wait_does_not_count(monkeypatch):
    monkeypatch.setattr("app.platform.http.bodies.BODY_SECONDS", 0.5)
    body = arriving_from(stops([b"a"] * 3))
    for _ in range(3):
        await anext(body)
        await asyncio.sleep(0.3)
    await body.aclose()


@pytest.mark.processes
def test_a_client_that_leaves_in_the_middle_leaves_nothing(server, shared_database_url):
    before = rows(shared_database_url)
    body = json.dumps(example_entry(name="cut-off")).encode()
    with connect(server) as connection:
        connection.sendall(head_of(f"Content-Length: {len(body)}") + body[:-1])
    assert server.get("/readyz").status_code == 200
    assert rows(shared_database_url) == before


#: The last statement of a publication adds its job, so a failure there comes after everything else is stored.
FAILING_JOB = """
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no jobs today'; END $$;
CREATE TRIGGER refuse BEFORE INSERT ON procrastinate_jobs FOR EACH ROW EXECUTE FUNCTION refuse();
"""


@pytest.mark.parametrize(
    "obstacle",
    [
        "ALTER TABLE count_table ADD CONSTRAINT small CHECK (masking IS NULL)",
        "ALTER TABLE configuration_table ADD CONSTRAINT small CHECK (guarantee <> 'k')",
        FAILING_JOB,
    ],
    ids=["counts", "configurations", "job"],
)
async def test_a_publication_that_fails_in_the_middle_leaves_nothing(api, database_url, owner_url, obstacle):
    before = rows(database_url)
    with psycopg.connect(owner_url, autocommit=True) as connection:
        connection.execute(obstacle)
    answer = await api.post("/v1/entries", json=example_entry())
    assert (answer.status_code, answer.json()["code"]) == (500, "internal")
    assert rows(database_url) == before


async def test_an_entry_that_is_refused_leaves_nothing(api, database_url):
    before = rows(database_url)
    entry = example_entry()
    entry["attributes"][0]["maskings"][0]["joint"][0][0] += 1
    assert (await api.post("/v1/entries", json=entry)).status_code == 422
    assert rows(database_url) == before
