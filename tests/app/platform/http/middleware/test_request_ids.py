"""A request has an id: in its answer, in its problem, in the log and in its jobs."""

import re

import psycopg
import pytest
import structlog
from structlog.testing import capture_logs

from app.platform.log import bound, bound_request_id
from tests.app.platform.http.test_body_limit import FAILING_JOB
from tests.service import ask, example_entry, publish

DRAWN = re.compile(r"[0-9a-f]{32}")


def sent(value):
    return {"X-Request-ID": value}


@pytest.mark.parametrize("given", ["a", "A-z_0.9", "x" * 128])
async def test_an_id_of_the_client_comes_back(shared_api, given):
    for path in ("/healthz", "/v1/entries", "/v1/advice/nothing", "/nowhere"):
        assert (await shared_api.get(path, headers=sent(given))).headers.get_list("X-Request-ID") == [given]


NO_IDS = ["", "x" * 129, "a b", "a,b", 'a"b', "a\tb", "a;b", "ä".encode(), b"a\x00b", "../a", "a%0d%0aSet-Cookie: b"]


async def test_what_is_no_id_is_replaced(shared_api):
    for given in NO_IDS:
        answer = await shared_api.get("/healthz", headers=sent(given))
        [drawn] = answer.headers.get_list("X-Request-ID")
        assert DRAWN.fullmatch(drawn), given
        assert "Set-Cookie" not in answer.headers, given


async def test_two_ids_are_none(shared_api):
    answer = await shared_api.get("/healthz", headers=[("X-Request-ID", "a"), ("X-Request-ID", "b")])
    assert DRAWN.fullmatch(answer.headers["X-Request-ID"])


async def test_each_request_has_an_id_of_its_own(shared_api):
    ids = {(await shared_api.get("/healthz")).headers["X-Request-ID"] for _ in range(3)}
    assert len(ids) == 3


async def test_a_failure_names_the_request_in_the_body_and_in_the_log(api, owner_url):
    with psycopg.connect(owner_url, autocommit=True) as connection:
        connection.execute(FAILING_JOB)
    with capture_logs(processors=[structlog.contextvars.merge_contextvars]) as logged:
        answer = await api.post("/v1/entries", json=example_entry(), headers=sent("failing"))
    assert (answer.status_code, answer.json()["request_id"]) == (500, "failing")
    assert answer.headers["X-Request-ID"] == "failing"
    assert [line["request_id"] for line in logged if line["event"] == "unexpected error"] == ["failing"]
    assert bound_request_id() is None
    refused = await api.get("/v1/advice/nothing", headers=sent("refused"))
    assert "request_id" not in refused.json()


async def test_jobs_carry_the_id_of_their_request(api, database_url, worker):
    await publish(api, example_entry(), **sent("publishing"))
    with psycopg.connect(database_url) as connection:
        jobs = connection.execute("SELECT args ->> 'request_id' FROM procrastinate_jobs").fetchall()
    assert jobs
    assert {request_id for (request_id,) in jobs} == {"publishing"}
    await worker.run()


async def test_a_job_that_waits_for_its_turn_carries_it_too(api, database_url):
    head = await publish(api, example_entry(), **sent("publishing"))
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("UPDATE procrastinate_jobs SET queueing_lock = NULL")
        for limit in range(6):
            await ask(api, head["id"], limit=limit)
        waiting = connection.execute("SELECT arguments ->> 'request_id' FROM waiting_job").fetchall()
        queued = connection.execute("SELECT count(DISTINCT args ->> 'request_id') FROM procrastinate_jobs").fetchone()
    assert all(DRAWN.fullmatch(request_id) for (request_id,) in waiting)
    assert queued[0] >= 1


async def test_a_worker_s_log_names_job_and_request(api, worker, owner_url):
    await publish(api, example_entry(), **sent("publishing"))
    with psycopg.connect(owner_url, autocommit=True) as connection:
        connection.execute("UPDATE procrastinate_jobs SET attempts = 2")
        connection.execute("ALTER TABLE reference ADD CONSTRAINT none CHECK (false)")
    with capture_logs(processors=[structlog.contextvars.merge_contextvars]) as logged:
        await worker.run()
    failed = [line for line in logged if line["event"] == "job failed"]
    assert failed
    assert all(line["request_id"] == "publishing" and line["job_id"] > 0 for line in failed)


def test_what_is_bound_ends_with_its_block():
    with bound(request_id="outer", job_id=None):
        with bound(request_id="inner"):
            assert bound_request_id() == "inner"
        assert bound_request_id() == "outer"
        assert structlog.contextvars.get_contextvars() == {"request_id": "outer"}
    assert bound_request_id() is None
