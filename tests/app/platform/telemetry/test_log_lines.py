"""Lines of the log for requests and jobs, and what they never say."""

import json
import logging

import psycopg
import pytest
from structlog.testing import capture_logs

from tests.app.platform.telemetry.unmistakable import assert_unseen, unmistakable_entry
from tests.running import serving
from tests.service import ACCEPTED, Worker, ask, create_key, prefix_of, publish, running_app
from tests.waiting import PATIENCE


def lines(logged, event):
    return [line for line in logged if line["event"] == event]


async def test_a_request_has_one_line_with_its_route_and_its_size(shared_api):
    body = b'{"measure": "entropy"}'
    with capture_logs() as logged:
        answer = await shared_api.post(
            "/v1/entries/made-up/advice?version=1", content=body, headers={"Content-Type": "application/json"}
        )
        missing = await shared_api.get("/v9/made-up")
        head = await shared_api.head("/v1/measures")
    assert [answer.status_code, missing.status_code, head.status_code] == [404, 404, 200]
    asked, unmatched, measures = lines(logged, "request")
    assert asked["ms"] >= 0
    assert {name: asked[name] for name in ("method", "route", "status", "bytes_in", "bytes_out", "log_level")} == {
        "method": "POST",
        "route": "/v1/entries/{entry_id}/advice",
        "status": 404,
        "bytes_in": len(body),
        "bytes_out": len(answer.content),
        "log_level": "info",
    }
    assert (unmatched["route"], measures["route"]) == ("unmatched", "/v1/measures")
    assert (measures["method"], measures["bytes_out"]) == ("HEAD", 0)
    assert "made-up" not in str(logged)


async def test_methods_that_callers_invent_have_one_name(shared_api):
    with capture_logs() as logged:
        for number in range(3):
            assert (await shared_api.request(f"INVENTED{number}", "/v1/measures")).status_code == 405
    assert {line["method"] for line in lines(logged, "request")} == {"_OTHER"}
    metrics = (await shared_api.get("/metrics")).text
    assert "INVENTED" not in metrics
    assert 'method="_OTHER",route="/v1/measures",status="405"' in metrics


async def test_probes_are_logged_for_who_looks_closely(shared_api):
    with capture_logs() as logged:
        for path in ("/healthz", "/readyz", "/metrics"):
            await shared_api.get(path)
    assert [line["log_level"] for line in lines(logged, "request")] == ["debug"] * 3


async def test_a_request_that_fails_has_a_line_too(api, owner_url):
    with psycopg.connect(owner_url, autocommit=True) as connection:
        connection.execute("ALTER TABLE entry_version ADD CONSTRAINT never CHECK (false) NOT VALID")
    with capture_logs() as logged:
        assert (await api.post("/v1/entries", json=unmistakable_entry(), params=ACCEPTED)).status_code == 500
    [line] = lines(logged, "request")
    assert (line["route"], line["status"]) == ("/v1/entries", 500)


async def test_a_job_has_one_line_for_each_try(api, worker):
    head = await publish(api)
    await ask(api, head["id"])
    with capture_logs() as logged:
        await worker.run()
    ended = lines(logged, "job ended")
    assert sorted((line["task"], line["lane"], line["try"], line["outcome"]) for line in ended) == [
        ("advice", "light", 1, "done"),
        ("reference", "light", 1, "done"),
        ("verdict", "heavy", 1, "done"),
        ("worth", "heavy", 1, "done"),
    ]
    assert all(line["waited_ms"] >= 0 and line["ran_ms"] > 0 for line in ended)


async def test_the_line_of_a_job_that_fails_says_why(api, database_url, worker):
    head = await publish(api)
    await ask(api, head["id"], measure="joint", attributes=["age"])
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("UPDATE procrastinate_jobs SET attempts = 3 WHERE task_name = 'reference'")
    with capture_logs() as logged:
        await worker.run()
    [failed] = [line for line in lines(logged, "job ended") if line["outcome"] == "failed"]
    assert (failed["task"], failed["try"], failed["problem"]) == ("reference", 4, "internal")


async def test_nothing_of_an_entry_is_in_the_log_at_any_level(database_url, caplog):
    caplog.set_level(logging.DEBUG)
    header = await create_key(database_url, "owner", "provider")
    key = header["Authorization"].removeprefix("Bearer ")
    async with running_app(database_url) as api, Worker.on(database_url) as worker:
        api.headers.update(header)
        head = await publish(api, unmistakable_entry())
        await ask(api, head["id"], require={"k": 1_111_110})
        await ask(api, head["id"], attributes=["unmistakable_attribute"], weights={"unmistakable_attribute": 2})
        await worker.run()
        await api.get(f"/v1/entries/{head['id']}")
        await api.get("/v1/entries", params={"query": "unmistakable_entry"})
    ours = [record for record in caplog.records if not record.name.startswith(("httpx", "httpcore"))]
    said = "\n".join(str(vars(record)) for record in ours)
    assert "job ended" in said
    assert said.count("'bytes_in'") == 5
    assert_unseen(said, key, key.removeprefix(prefix_of(key)))


@pytest.mark.processes
@pytest.mark.long
async def test_the_log_of_the_real_processes_is_json_and_says_nothing_either(database_url):
    header = await create_key(database_url, "owner", "provider")
    with serving(database_url=database_url, log_level="DEBUG") as (client, server):
        client.headers.update(header)
        published = client.post("/v1/entries", json=unmistakable_entry(), params=ACCEPTED)
        assert published.status_code == 201
        server.terminate()
        logged = server.communicate(timeout=PATIENCE)[1]
    requests = [json.loads(line) for line in logged.splitlines() if '"request"' in line]
    assert [line["route"] for line in requests if line["level"] == "info"] == ["/v1/entries"]
    assert_unseen(logged)
