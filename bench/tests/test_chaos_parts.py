"""The parts of `make chaos` that could hide a fault: its clients, its network, its reading of logs and of answers."""

import json
import socket
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from bench.chaos.damage import Damage, Verdict
from bench.chaos.load import BEFORE, Client, Notes
from bench.chaos.logs import errors_in, is_expected
from bench.chaos.proxy import Proxy
from bench.chaos.report import show
from bench.chaos.run import Run
from bench.chaos.verdict import has


@contextmanager
def _answering(status, body, times):
    """A service that always answers the same, and an event that is set once it has done so a number of times."""
    answered, enough = [], threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
            answered.append(status)
            if len(answered) >= times:
                enough.set()

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", enough
        finally:
            server.shutdown()
            serving.join()


def _client(status, body):
    with _answering(status, body, 2) as (url, enough):
        client = Client((url,), Notes(), 1)
        client.start()
        assert enough.wait(30)
        client.end()
    return client


@pytest.mark.parametrize("body", [b"not JSON", b"[]", b'{"code": "invalid"}'])
def test_a_refusal_is_noted_and_the_client_goes_on(body):
    client = _client(422, body)
    assert len(client.refused) >= 2
    assert client.failed == []


@pytest.mark.parametrize("body", [b"not JSON", b"{}"])
def test_an_acknowledgement_that_says_nothing_is_a_failure_and_the_client_goes_on(body):
    client = _client(201, body)
    assert client.failed


def test_while_the_network_is_cut_not_even_the_end_of_a_connection_arrives(tmp_path):
    front, back = tmp_path / "front", tmp_path / "back"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(back))
        server.listen()
        with Proxy(front, back) as proxy, socket.socket(socket.AF_UNIX) as client:
            client.connect(str(front))
            there, _ = server.accept()
            there.sendall(b"a")
            assert client.recv(1) == b"a"
            proxy.cut()
            there.close()
            client.settimeout(0.3)
            with pytest.raises(TimeoutError):
                client.recv(1)
            proxy.join()
            client.settimeout(30)
            assert client.recv(1) == b""


def test_errors_are_counted_by_what_happened_and_tracebacks_by_what_they_name(tmp_path):
    log = tmp_path / "service.log"
    lines = [
        json.dumps({"event": "job 7 failed", "level": "error", "logger": "app.worker"}),
        json.dumps({"event": "job 8 failed", "level": "error", "logger": "app.worker"}),
        json.dumps({"event": "request", "level": "info", "logger": "app.platform"}),
        json.dumps({"event": "worker 1 ended (SIGKILL) and starts again in 0.1 s", "level": "warning"}),
        json.dumps({"event": "worker 1 ended (SIGSEGV) and starts again in 0.1 s", "level": "warning"}),
        *(
            "Traceback (most recent call last):",
            '  File "a.py", line 1',
            "psycopg.errors.DiskFull: no space",
            "HINT: free",
        ),
        *("Traceback (most recent call last):", '  File "a.py", line 1', "KeyError: 'id'"),
        "Fatal Python error: Segmentation fault",
    ]
    log.write_text("\n".join(lines) + "\n")
    happened = errors_in(log)
    assert sorted(happened.values()) == [1, 1, 1, 1, 2]
    assert happened["app.worker: job * failed"] == 2
    assert [error for error in happened if is_expected(error)] == ["psycopg.errors.DiskFull: no space"]


def test_an_answer_has_what_was_sent_if_nothing_in_it_is_different():
    sent = {"name": "a", "parts": [{"counts": [1, 2]}]}
    assert has({"name": "a", "parts": [{"counts": [1, 2], "noise": None}], "title": ""}, sent)
    for other in ({"counts": [1, 3]}, {"counts": [1, 2, 3]}, {}):
        assert not has({"name": "a", "parts": [other]}, sent)
    assert not has({"name": "a", "parts": []}, sent)


def test_rows_add_up_and_a_run_without_any_fault_has_a_report(capsys):
    done = Run()
    done.notes.after = {"1": BEFORE, "2": "API killed"}
    done.recovered["API killed"].append(0.5)
    done.verdict.lost = [Damage("2", "gone"), Damage("3", "never acknowledged")]
    show(done)
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["all", "1", "2", "2", "0", "0", "0.5", "0.5"] in rows
    assert ["(before", "the", "first)", "0", "1", "0", "0", "0", "-", "-"] in rows
    assert ["(not", "acknowledged)", "0", "0", "1", "0", "0", "-", "-"] in rows
    show(Run())
    assert "0 entries" in capsys.readouterr().out


def test_what_cannot_be_judged_is_no_clean_verdict():
    verdict = Verdict()
    assert verdict.is_clean
    with verdict.judging("entries"):
        raise KeyError("id")
    assert not verdict.is_clean


def test_a_service_that_fails_by_itself_is_not_clean_whatever_the_faults_were(tmp_path, capsys):
    log = tmp_path / "service.log"
    failure = {
        "event": "unexpected error",
        "level": "error",
        "logger": "app.platform.http.refusals",
        "exception": "KeyError",
    }
    log.write_text(json.dumps(failure) + "\n")
    done = Run()
    assert done.is_clean
    done.logged["service.log"] = errors_in(log)
    assert not done.is_clean
    show(done)
    assert "defects: 1" in capsys.readouterr().out
