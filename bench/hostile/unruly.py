"""Clients that occupy connections: how long a service allows that, and how many lock everyone else out.

`python -m bench.hostile.unruly http://127.0.0.1:8000` tests a running service, or a proxy in front of it.
"""

import argparse
import socket
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from urllib.parse import urlsplit

from bench.measuring import heading, table

#: Seconds for which a client is observed, and the number of connections that try to lock others out.
PATIENCE, MANY = 90.0, 1_000

_HOST = b"Host: 127.0.0.1\r\n"
_GET = b"GET /openapi.json HTTP/1.1\r\n" + _HOST
_POST = b"POST /v1/entries HTTP/1.1\r\n" + _HOST + b"Content-Type: application/json\r\n"
_HEADER = b"X: " + b"a" * 1_000 + b"\r\n"

#: By kind of client: what it sends first, and then ten times per second until the connection ends.
SENDERS = {
    "says nothing": (b"", b""),
    "sends headers slowly": (_GET + b"X: ", b"a"),
    "begins a second request": (_GET + b"\r\n" + b"G", b""),
    "sends a body slowly": (_POST + b"Content-Length: 9999\r\n\r\n{", b" "),
    "stops in a body": (_POST + b"Content-Length: 9999\r\n\r\n{", b""),
    "sends on after its answer": (_GET.replace(b"GET /openapi", b"POST /no") + b"Content-Length: 9999\r\n\r\n", b"a"),
    "sends 10 MB of headers": (_GET + _HEADER * 10_000, b""),
    "sends no HTTP": (b"\x16\x03\x01\r\n\r\n", b""),
}


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m bench.hostile.unruly", description=__doc__)
    options.add_argument("url", help="the service, or a proxy in front of it")
    place = urlsplit(options.parse_args().url)
    where = place.hostname or "127.0.0.1", place.port or 80
    kinds: dict[str, Callable[[], str]] = {kind: _sending(where, *sent) for kind, sent in SENDERS.items()}
    kinds |= {"reads nothing": lambda: _deaf(where), "half-closes, then reads": lambda: _half_closed(where)}
    heading("How long a connection of each kind of client is held")
    with ThreadPoolExecutor(len(kinds)) as pool:
        held = [pool.submit(kind) for kind in kinds.values()]
    table(("client", "held"), [[kind, each.result()] for kind, each in zip(kinds, held, strict=True)])
    heading(f"What everybody else is answered while {MANY:,} connections are held")
    table(("first bytes", "answers of 5"), [[kind, _others(where, SENDERS[kind][0])] for kind in list(SENDERS)[:2]])
    return 0


def _connected(where: tuple[str, int]) -> socket.socket:
    return socket.create_connection(where, timeout=10)


def _sending(where: tuple[str, int], first: bytes, then: bytes) -> Callable[[], str]:
    return lambda: _held(where, first, then)


def _held(where: tuple[str, int], first: bytes, then: bytes) -> str:
    """How long a connection lasts, and the status of its last response."""
    start, received = time.monotonic(), b""
    with _connected(where) as connection, suppress(ConnectionError):
        connection.sendall(first)
        connection.settimeout(0.1)
        while time.monotonic() - start < PATIENCE:
            with suppress(TimeoutError):
                part = connection.recv(65536)
                if not part:
                    break
                received += part
            connection.send(then)
    return _words(time.monotonic() - start, received)


def _deaf(where: tuple[str, int]) -> str:
    """How long a client that reads nothing is connected; after that, sending fails."""
    start = time.monotonic()
    with socket.socket() as connection, suppress(ConnectionError):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect(where)
        connection.sendall((_GET + b"\r\n") * 50)
        while time.monotonic() - start < PATIENCE:
            connection.send(b" ")
            time.sleep(0.1)
    return _words(time.monotonic() - start, b"")


def _half_closed(where: tuple[str, int]) -> str:
    start, received = time.monotonic(), b""
    with _connected(where) as connection, suppress(ConnectionError):
        connection.sendall(_GET + b"\r\n")
        connection.shutdown(socket.SHUT_WR)
        while part := connection.recv(65536):
            received += part
    return _words(time.monotonic() - start, received)


def _words(seconds: float, received: bytes) -> str:
    status = received.rpartition(b"HTTP/1.1 ")[2][:3].decode() or "no answer"
    return f"more than {PATIENCE:.0f} s, {status}" if seconds >= PATIENCE else f"{seconds:.0f} s, {status}"


def _others(where: tuple[str, int], first: bytes) -> str:
    """The responses to five successive clients while many connections are occupied."""
    answers = []
    with ExitStack() as held:
        for _ in range(MANY):
            with suppress(OSError):
                held.enter_context(_connected(where)).sendall(first)
        for _ in range(5):
            with suppress(OSError), _connected(where) as connection:
                connection.sendall(_GET + b"\r\n")
                answers.append(connection.recv(65536)[9:12].decode() or "closed")
    return ", ".join(answers) or "none"


if __name__ == "__main__":
    sys.exit(main())
