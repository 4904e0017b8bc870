"""Traces: one from the client's request through the queue to what a worker computes, without anything of an entry."""

import subprocess
import sys
import time
from contextlib import asynccontextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from app.platform.queue.lanes import JobWatch
from app.platform.telemetry import refuse_missing_exporter, span, tracer_for
from tests.app.platform.telemetry.unmistakable import assert_unseen, unmistakable_entry
from tests.service import Worker, ask, example_entry, publish, running_app

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
TRACEPARENT = {"traceparent": f"00-{TRACE}-{PARENT}-01"}


@asynccontextmanager
async def traced(database_url):
    """Yield the API, a worker, and what they export."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("tests")
    async with (
        running_app(database_url, tracer=tracer) as api,
        Worker.on(database_url, JobWatch(tracer=tracer)) as worker,
    ):
        yield api, worker, exporter


def spans(exporter):
    found = exporter.get_finished_spans()
    exporter.clear()
    return found


def children(found, parent):
    return sorted(one.name for one in found if one.parent is not None and one.parent.span_id == parent.context.span_id)


def named(found, name):
    [one] = [one for one in found if one.name == name]
    return one


async def test_a_trace_leads_from_the_request_through_the_queue_to_the_computation(database_url):
    async with traced(database_url) as (api, worker, exporter):
        head = await publish(api, **TRACEPARENT)
        await worker.run()
        found = spans(exporter)
        assert {f"{one.context.trace_id:032x}" for one in found} == {TRACE}
        request = named(found, "POST /v1/entries")
        assert (f"{request.parent.span_id:016x}", request.kind) == (PARENT, SpanKind.SERVER)
        assert children(found, request) == ["job reference", "job verdict", "job worth"]
        for job in ("job reference", "job verdict", "job worth"):
            assert named(found, job).kind is SpanKind.CONSUMER
            assert children(found, named(found, job)) == ["compute", "end", "load", "store"]

        api.headers.update(TRACEPARENT)
        await ask(api, head["id"])
        await worker.run()
        found = spans(exporter)
        asked = named(found, "POST /v1/entries/{entry_id}/advice")
        assert children(found, asked) == ["job advice"]
        assert children(found, named(found, "job advice")) == ["compute", "end", "load", "settle", "store"]
        assert dict(named(found, "job advice").attributes) == {
            "aegis.lane": "light",
            "aegis.try": 1,
            "aegis.outcome": "done",
        }


async def test_an_answer_that_waits_for_references_is_in_the_trace_of_the_job_that_stores_the_last_one(database_url):
    async with traced(database_url) as (api, worker, exporter):
        head = await publish(api, **TRACEPARENT)
        await ask(api, head["id"])
        await worker.run()
        found = spans(exporter)
        job = named(found, "job advice")
        assert f"{job.context.trace_id:032x}" == TRACE
        assert any(one.name == "store" and one.context.span_id == job.parent.span_id for one in found)


@pytest.mark.parametrize("given", ["", "rubbish", f"00-{'0' * 32}-{PARENT}-01", "00-" + "f" * 100_000], ids=len)
async def test_a_malformed_traceparent_begins_a_new_trace(database_url, given):
    async with traced(database_url) as (api, _, exporter):
        assert (await api.get("/v1/measures", headers={"traceparent": given})).status_code == 200
        [request] = spans(exporter)
        assert request.parent is None
        assert f"{request.context.trace_id:032x}" != TRACE


async def test_a_failure_is_marked_without_its_text(database_url):
    async with traced(database_url) as (api, _, exporter):
        await api.get("/v1/advice/nothing")
        await api.get("/nowhere/unmistakable")
        missing, unmatched = spans(exporter)
        assert dict(missing.attributes) == {
            "http.request.method": "GET",
            "http.response.status_code": 404,
            "http.route": "/v1/advice/{advice_id}",
        }
        assert (unmatched.name, "http.route" in unmatched.attributes) == ("GET", False)
    provider, exporter = TracerProvider(shutdown_on_exit=False), InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with pytest.raises(ValueError, match="7777771"), span(provider.get_tracer("tests"), "step"):
        raise ValueError("7777771")
    [failed] = spans(exporter)
    assert (failed.status.status_code, failed.status.description, failed.events) == (StatusCode.ERROR, "ValueError", ())


async def test_nothing_of_an_entry_is_in_a_span(database_url):
    async with traced(database_url) as (api, worker, exporter):
        head = await publish(api, unmistakable_entry())
        await ask(api, head["id"], attributes=["unmistakable_attribute"], require={"k": 1_111_110})
        await worker.run()
        await api.get(f"/v1/entries/{head['id']}")
        await api.get("/v1/entries", params={"query": "unmistakable_entry"})
        found = spans(exporter)
        assert len(found) > 10
        assert_unseen("\n".join(one.to_json() for one in found), head["id"], "127.0.0.1", "aegis?")


async def test_without_an_endpoint_the_client_s_trace_is_passed_on_all_the_same(database_url, worker):
    async with running_app(database_url) as api:
        await publish(api, example_entry(name="untraced"), **TRACEPARENT)
    jobs = await worker.queue.job_manager.list_jobs_async()
    assert {job.task_kwargs["traceparent"].split("-")[1] for job in jobs} == {TRACE}


class Collector(BaseHTTPRequestHandler):
    """An OpenTelemetry collector that only keeps what it gets."""

    def do_POST(self):
        self.server.received.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


def test_spans_are_sent_before_the_process_ends():
    with HTTPServer(("127.0.0.1", 0), Collector) as server:
        server.received = []
        serving = Thread(target=server.serve_forever)
        serving.start()
        address = f"http://127.0.0.1:{server.server_port}/v1/traces"
        with tracer_for(address, "aegis-test") as tracer, span(tracer, "work"):
            pass
        server.shutdown()
        serving.join()
    [(path, body)] = server.received
    assert path == "/v1/traces"
    assert b"aegis-test" in body
    assert b"work" in body


@pytest.mark.long
def test_a_collector_that_is_away_does_not_hold_up_the_end():
    start = time.monotonic()
    with tracer_for("http://127.0.0.1:1/v1/traces", "aegis-test") as tracer, span(tracer, "work"):
        pass
    assert time.monotonic() - start < 9


@pytest.mark.long
def test_a_service_without_traces_imports_none_of_it():
    code = "import app.main, app.worker.worker, sys; sys.exit('opentelemetry.sdk' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_missing_libraries_are_told_at_the_start(monkeypatch):
    refuse_missing_exporter("http://127.0.0.1:4318/v1/traces")
    monkeypatch.setattr("app.platform.telemetry.find_spec", lambda _: None)
    refuse_missing_exporter(None)
    with pytest.raises(ValueError, match="telemetry"):
        refuse_missing_exporter("http://127.0.0.1:4318/v1/traces")
