"""Probes an address at a steady pace from a process of its own, so that what this process does cannot delay it."""

import http.client
import multiprocessing
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from urllib.parse import urlsplit

#: Seconds from one probe to the next.
INTERVAL = 0.010


@contextmanager
def probing(url: str, path: str) -> Iterator[list[float]]:
    """Probe while the block runs; the seconds of every probe stand in the list afterwards.

    A probe's time counts from the moment at which it was due: one that waits for a slow one before it is slow itself.
    """
    found: list[float] = []
    ours, theirs = multiprocessing.Pipe()
    context = multiprocessing.get_context("spawn")
    process = context.Process(target=_probe, args=(url, path, theirs), daemon=True)
    process.start()
    ours.recv()
    try:
        yield found
    finally:
        ours.send("stop")
        found += ours.recv()
        process.join()


def _probe(url: str, path: str, told: Connection) -> None:
    """Probe until told to stop, then report."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc)
    _get(connection, path)
    told.send("ready")
    seconds: list[float] = []
    due = time.perf_counter()
    while not told.poll(max(0.0, due - time.perf_counter())):
        _get(connection, path)
        seconds.append(time.perf_counter() - due)
        due += INTERVAL
    told.send(seconds)


def _get(connection: http.client.HTTPConnection, path: str) -> None:
    connection.request("GET", path)
    answer = connection.getresponse()
    answer.read()
    if answer.status != http.client.OK:
        raise RuntimeError(f"{path} answered {answer.status}")
