"""The service as an operator starts it, with a temporary database, and probes of it."""

import http.client
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from urllib.parse import urlsplit

import psutil

#: Seconds to wait for the service to stop.
PATIENCE = 60.0
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
    """A running service: its address, where its database lives, and the process that supervises it."""

    url: str
    data_dir: Path
    process: psutil.Process

    def usage(self) -> dict[str, Usage]:
        """Return the usage of the API, of the worker, and of the child processes in which each computes, added up."""
        usage: dict[str, Usage] = {}
        for role in ("api", "worker"):
            (process,) = self._processes(role)
            children = [Usage.of(child) for child in process.children()]
            whole = Usage(sum(one.memory for one in children), sum(one.seconds for one in children))
            usage |= {role: Usage.of(process), f"{role}'s children": whole}
        return usage

    def worker_seconds(self) -> float:
        """Return the core seconds that all workers and their child processes have used."""
        workers = self._processes("worker")
        every = [*workers, *(child for worker in workers for child in worker.children())]
        return sum(Usage.of(process).seconds for process in every)

    def usage_of_api_children(self) -> float:
        """Return the core seconds that the API's child processes have used."""
        (api,) = self._processes("api")
        return sum(Usage.of(child).seconds for child in api.children())

    def _processes(self, role: str) -> list[psutil.Process]:
        return [process for process in self.process.children() if process.cmdline()[-2:] == ["app.cli", role]]


@contextmanager
def running_service(workers: int = 1) -> Iterator[Service]:
    """Run the service with this many workers on a free port of this machine, ready to answer."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("AEGIS_")}
    with tempfile.TemporaryDirectory(prefix="aegis-bench-") as name:
        place = Path(name)
        place.chmod(0o711)  # started by root, PostgreSQL runs as another user, who needs to pass through
        command = [sys.executable, "-m", "app.cli", "serve", "--port", "0", "--data-dir", str(place / "data")]
        command += ["--workers", str(workers)]
        with (place / "log").open("w") as log:
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, env=environment)
        try:
            yield Service(_address(process), place / "data", psutil.Process(process.pid))
        except Exception:
            sys.stderr.write(f"The service's log ends with:\n{(place / 'log').read_text()[-3000:]}\n")
            raise
        finally:
            process.terminate()
            process.wait(PATIENCE)


def _address(process: subprocess.Popen[str]) -> str:
    """Return the address that the service prints when it is ready."""
    for line in process.stdout or ():
        if line.startswith("Aegis listens on "):
            return line.split()[-1]
    raise RuntimeError("the service did not start")


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
    ours.recv()
    try:
        yield probes
    finally:
        ours.send("stop")
        probes += ours.recv()
        process.join()


def _probe(url: str, path: str, pipe: Connection) -> None:
    """Probe until told to stop, then report."""
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
