"""Downloads from servers that try to hold their client forever, or send what no file has."""

import socket
import threading
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from hashlib import sha256
from itertools import cycle, repeat

import pytest

from aegis_sdk._downloads import Download, DownloadError, Patience, _alone
from aegis_sdk._links import Links
from aegis_sdk.wire import Delivery

CONTENT = b"x" * 200_000
PART = b"HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n" + CONTENT[:100_000]
UNSATISFIABLE = b"HTTP/1.1 416 No\r\nContent-Length: 0\r\n\r\n"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

LAST = b"nobody asks after this"

#: Whoever still waits after so many is not given up by the client, but by the server.
MOST_DRIPS = 400


def partial(told):
    return f"HTTP/1.1 206 Partial\r\nContent-Length: 9\r\nContent-Range: {told}\r\n\r\n".encode() + b"x" * 9


@contextmanager
def sending(answers):
    """Serve an answer on each connection: its first bytes, and then the others one by one, until nobody should wait."""
    stopped = threading.Event()
    asked = []

    def serve(listener):
        for first, dripped in answers:
            with suppress(OSError):
                line, _ = listener.accept()
                with line:
                    request = line.recv(65_536)
                    if request == LAST:
                        return
                    asked.append(request)
                    line.sendall(first)
                    for _ in range(MOST_DRIPS if dripped else 0):
                        if stopped.wait(0.01):
                            break
                        line.sendall(dripped)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, args=(listener,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/t.csv", asked
        stopped.set()
        # On a busy machine the client may have given up what is not accepted yet: that is asked before the last one.
        with socket.create_connection(listener.getsockname()) as line:
            line.sendall(LAST)
            thread.join(60)


def given_up(answers, part, begun=b"", begin=0.2):
    """How often a link was asked until it was given up, and why."""
    part.write_bytes(begun)
    told = {"configuration": "c", "records": 1, "delivered_at": datetime(2026, 1, 1, tzinfo=UTC)}
    file = {"size": len(CONTENT), "sha256": sha256(CONTENT).hexdigest(), "media_type": "text/csv"}
    with sending(answers) as (url, asked):
        delivery = Delivery.model_validate(told | file | {"url": url})
        links = Links(allow_private=True, connect=1.0, read=5.0, begin=begin)
        patience = Patience(attempts=3, window=begin)
        with pytest.raises(DownloadError) as refused:
            Download(delivery, part, links, patience, pause=lambda _: None).run()
    return len(asked), str(refused.value)


DRIPPED = {
    "headers": (b"HTTP/1.1 200 OK\r\nX: ", b"x"),
    "early hints": (b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"),
    "chunk extension": (CHUNKED + b"5;", b"e"),
    "chunk extension after a chunk": (CHUNKED + b"1\r\nx\r\n1;", b"e"),
}


def test_a_server_that_drips_what_is_no_file_is_given_up(tmp_path):
    told = {name: given_up(repeat(drips), tmp_path / name, begin=0.05) for name, drips in DRIPPED.items()}
    assert {name: (asked, "it does not answer in time" in why) for name, (asked, why) in told.items()} == dict.fromkeys(
        DRIPPED, (3, True)
    )


@pytest.mark.parametrize("then", [UNSATISFIABLE, partial("bytes 7-15/200000"), partial("nothing")])
def test_what_is_read_again_is_no_progress(tmp_path, then):
    asked, _ = given_up(cycle([(PART, b""), (then, b"")]), tmp_path / "t.part")
    assert asked == 4  # the first was progress


def test_a_refused_link_leaves_no_empty_file(tmp_path):
    refused = b"HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n"
    assert given_up(repeat((refused, b"")), tmp_path / "t.part")[0] == 1
    assert not (tmp_path / "t.part").exists()
    given_up(repeat((refused, b"")), tmp_path / "t.part", begun=CONTENT[:7])
    assert (tmp_path / "t.part").read_bytes() == CONTENT[:7]


def test_what_ended_a_download_is_said_even_if_somebody_removed_its_file(tmp_path):
    def end(part):
        with _alone(part):
            part.unlink()
            raise DownloadError("the link has expired")

    with pytest.raises(DownloadError, match="the link has expired"):
        end(tmp_path / "t.part")


@pytest.mark.parametrize("digits", [19, 5_000])
def test_numbers_that_no_file_can_have_are_refused(tmp_path, digits):
    told = partial(f"bytes {'1' * digits}-15/200000")
    asked, why = given_up(repeat((told, b"")), tmp_path / "t.part", begun=CONTENT[:7])
    assert asked == 3
    assert "does not give the file" in why
    told = b"HTTP/1.1 200 OK\r\nContent-Length: " + b"1" * digits + b"\r\n\r\n"
    asked, why = given_up(repeat((told, b"")), tmp_path / "t.part")
    assert asked == 3
    assert "does not give the file" in why
