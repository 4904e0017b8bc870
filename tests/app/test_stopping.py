"""SIGTERM under way: every client gets an answer that says what to do next."""

import json
import signal
import socket
import threading
from contextlib import closing
from urllib.parse import urlsplit

import httpx
import pytest

from tests.running import serving
from tests.service import ACCEPTED, example_entry
from tests.waiting import PATIENCE, wait_until

pytestmark = pytest.mark.processes


def begun_upload(api):
    """A connection on which an upload has begun, and goes on slowly."""
    place = urlsplit(str(api.base_url))
    upload = socket.create_connection((place.hostname, place.port), timeout=PATIENCE)
    content = json.dumps(example_entry(name="slow")).encode()
    head = f"POST /v1/entries HTTP/1.1\r\nHost: {place.netloc}\r\nContent-Type: application/json\r\n"
    upload.sendall(head.encode() + b"Content-Length: %d\r\n\r\n" % len(content) + content[:-10])
    return upload


@pytest.mark.long
def test_whoever_waits_gets_202_with_the_id_and_running_uploads_503(database_url):
    with serving(database_url=database_url) as (api, server):
        head = api.post("/v1/entries", params=ACCEPTED, json=example_entry()).json()
        answers = []

        def ask():
            question = {"json": {"measure": "g3"}, "headers": {"Prefer": "wait=60"}}
            answers.append(httpx.post(f"{api.base_url}/v1/entries/{head['id']}/advice", timeout=PATIENCE, **question))

        upload = begun_upload(api)
        waiting = threading.Thread(target=ask)
        waiting.start()
        wait_until(lambda: api.get("/v1/questions").json()["items"], "the question has not arrived")
        server.send_signal(signal.SIGTERM)
        received = b""
        while part := upload.recv(65536):
            received += part
        upload.close()
        waiting.join()
        server.communicate(timeout=PATIENCE)
    assert (answers[0].status_code, answers[0].json()["status"]) == (202, "queued")
    assert answers[0].json()["id"] in answers[0].headers["Location"]
    headers, _, body = received.partition(b"\r\n\r\n")
    assert headers.startswith(b"HTTP/1.1 503 ")
    assert b"application/problem+json" in headers
    assert json.loads(body)["code"] == "interrupted"


def test_an_api_that_is_asked_to_end_goes_on_for_a_while_but_is_not_ready(database_url):
    with serving(database_url=database_url, drain_seconds="300") as (api, server):
        assert api.get("/readyz").status_code == 200

        def read(path):
            return httpx.get(f"{api.base_url}{path}", timeout=PATIENCE)  # on a new connection

        with closing(begun_upload(api)) as upload:
            server.send_signal(signal.SIGTERM)
            wait_until(lambda: read("/readyz").status_code != 200, "it is still ready")
            refused = read("/readyz")
            assert (refused.status_code, refused.json()["code"]) == (503, "interrupted")
            assert [read(path).status_code for path in ("/healthz", "/v1/entries")] == [200, 200]
            upload.sendall(json.dumps(example_entry(name="slow")).encode()[-10:])
            assert upload.recv(65536).startswith(b"HTTP/1.1 201 ")
        server.kill()


@pytest.mark.long
def test_an_api_that_has_gone_on_for_long_enough_ends(database_url):
    with serving(database_url=database_url, drain_seconds="0.5") as (_, server):
        server.send_signal(signal.SIGTERM)
        server.communicate(timeout=PATIENCE)
    assert server.returncode == -signal.SIGTERM  # uvicorn raises it again, once it has stopped well
