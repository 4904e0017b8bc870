"""`make fuzz` repeats no requests that may have met a crash or a hang."""

import socket
import threading
from contextlib import closing, contextmanager

import pytest

from bench.hostile import sending
from bench.hostile.cases import case
from bench.hostile.sending import Sender, send_all

IDS = dict.fromkeys(("entry", "request", "key", "webhook", "provider", "operator"), "x")


def receive(connection):
    """Read one request."""
    with connection.makefile("rb") as reader:
        size = 0
        while line := reader.readline().strip().lower():
            name, _, value = line.partition(b": ")
            size = int(value) if name == b"content-length" else size
        reader.read(size)


ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


def sender_to(listener):
    """A sender to a socket, which has a port by now, but need not listen."""
    if listener.getsockname()[1] == 0:
        listener.bind(("127.0.0.1", 0))
    return Sender(f"http://127.0.0.1:{listener.getsockname()[1]}", IDS)


def answer_one(listener):
    listener.listen()
    with closing(listener.accept()[0]) as connection:
        receive(connection)
        connection.sendall(ANSWER)


@contextmanager
def serving(*connections):
    """A server that answers this many requests by each connection and ends the next; None: it never answers again."""
    over = threading.Event()

    def serve():
        for answers in connections:
            with closing(listener.accept()[0]) as connection:
                for _ in range(answers or 0):
                    receive(connection)
                    connection.sendall(ANSWER)
                receive(connection)
                if answers is None:
                    over.wait()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = threading.Thread(target=serve)
        server.start()
        with closing(sender_to(listener)) as sender:
            yield sender
        over.set()
        server.join()


def test_a_request_is_repeated_if_a_connection_ends_that_has_answered():
    with serving(1, 1) as sender:
        assert [sender.send(case(1, number)).status for number in (1, 2)] == [200, 200]


def test_a_request_is_not_repeated_if_a_new_connection_ends():
    with serving(0) as sender:
        answer = sender.send(case(1, 1))
    assert answer.is_failure
    assert b"RemoteDisconnected" in answer.body


def test_a_request_without_an_answer_is_not_repeated(monkeypatch):
    monkeypatch.setattr(sending, "PATIENCE", 0.2)
    with serving(None) as sender:
        answer = sender.send(case(1, 1))
    assert answer.is_failure
    assert b"TimeoutError" in answer.body
    assert answer.seconds >= 0.2


def test_a_request_waits_for_a_service_that_starts_again():
    with socket.socket() as listener, closing(sender_to(listener)) as sender:
        waiting = threading.Timer(0.3, answer_one, [listener])
        waiting.start()
        answer = sender.send(case(1, 1))
        waiting.join()
    assert answer.status == 200


def test_a_service_that_does_not_come_back_is_a_failure(monkeypatch):
    monkeypatch.setattr(sending, "PATIENCE", 0.2)
    with socket.socket() as listener, closing(sender_to(listener)) as sender:
        answer = sender.send(case(1, 1))
    assert answer.is_failure
    assert b"ConnectionRefusedError" in answer.body


def test_an_error_of_the_experiment_itself_does_not_pass_unseen(monkeypatch):
    def fail(*_):
        raise LookupError("no such case")

    monkeypatch.setattr(sending, "case", fail)
    with pytest.raises(LookupError, match="no such case"):
        send_all("http://127.0.0.1:1", {}, 1, iter(range(9)), clients=2)
