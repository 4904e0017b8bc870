"""The service as an operator starts it, with a temporary database, and probes of it."""

import http.client
import multiprocessing
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from urllib.parse import urlsplit

import psutil

from bench.measuring import core_seconds, core_seconds_of_children
from bench.served import open_to_the_database, served

#: Seconds from one probe to the next.
INTERVAL = 0.010


@dataclass(frozen=True)
class Usage:
    """The resources of a process: resident bytes, and core seconds since it started."""

    memory: int
    seconds: float

    @classmethod
    def of(cls, process: psutil.Process) -> "Usage":
        """Read the current usage."""
        times = process.cpu_times()
        return cls(process.memory_info().rss, times.user + times.system)


@dataclass(frozen=True)
class Service:
    """A running service: its address, the directory of its database, and its supervisor."""

    url: str
    data_dir: Path
    process: psutil.Process

    def usage(self) -> dict[str, Usage]:
        """Return the usage of the API, of the worker, and of the child processes of each together."""
        usage: dict[str, Usage] = {}
        for role in ("api", "worker"):
            (process,) = self._processes(role)
            memory = sum(map(_resident, process.children()))
            whole = Usage(memory, core_seconds_of_children(process))
            usage |= {role: Usage.of(process), f"{role}'s children": whole}
        return usage

    def worker_seconds(self) -> float:
        """Return the core seconds that all workers and their child processes have used."""
        return core_seconds(*self._processes("worker"))

    def usage_of_api_children(self) -> float:
        """Return the core seconds of the API's child processes, also ended ones."""
        (api,) = self._processes("api")
        return core_seconds_of_children(api)

    def _processes(self, role: str) -> list[psutil.Process]:
        return [process for process in self.process.children() if process.cmdline()[-2:] == ["app.cli", role]]


def _resident(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.NoSuchProcess:
        return 0


@contextmanager
def running_service(workers: int = 1) -> Iterator[Service]:
    """Run the service with this many workers on a free port of this machine, ready to answer."""
    with tempfile.TemporaryDirectory(prefix="aegis-bench-") as name:
        place = open_to_the_database(Path(name))
        data = place / "data"
        with served(place, AEGIS_DATA_DIR=str(data), AEGIS_WORKERS=str(workers)) as running:
            yield Service(running.url, data, running.process)


@contextmanager
def probing(url: str, path: str) -> Iterator[list[float]]:
    """Probe while the block runs; the list has the seconds of every probe afterwards.

    A probe's time counts from the moment when it was due, so one that waits for a slow probe is slow itself.
    """
    probes: list[float] = []
    ours, theirs = multiprocessing.Pipe()
    context = multiprocessing.get_context("spawn")
    process = context.Process(target=_probe, args=(url, path, theirs), daemon=True)
    process.start()
    theirs.close()  # so that the end of the process is noticed
    ours.recv()
    try:
        yield probes
    finally:
        ours.send("stop")
        probes += ours.recv()
        process.join()


def _probe(url: str, path: str, pipe: Connection) -> None:
    """Probe until the pipe says stop, then report."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc)
    _get(connection, path)
    pipe.send("ready")
    seconds: list[float] = []
    due = time.perf_counter()
    while not pipe.poll(max(0.0, due - time.perf_counter())):
        _get(connection, path)
        seconds.append(time.perf_counter() - due)
        due += INTERVAL
    pipe.send(seconds)


def _get(connection: http.client.HTTPConnection, path: str) -> None:
    connection.request("GET", path)
    answer = connection.getresponse()
    answer.read()
    if answer.status != http.client.OK:
        raise RuntimeError(f"{path} answered {answer.status}")
