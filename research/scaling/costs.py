"""Seconds and megabytes of a provider's counting, of the advisor, and of the service, by the size of a table.

Counting and the advisor are measured in processes of their own, in seconds of the CPU, which other load hardly changes.
The service is measured from outside: seconds until the answer has arrived.
"""

import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import NamedTuple

import orjson
import psutil
from threadpoolctl import threadpool_limits

from aegis_provider import document_of, summarize
from aegis_sdk import Client
from research.evaluation.choosing_costs import JOINT, Case
from research.evaluation.large_tables import MEMORY, Size, made, plan
from research.own_processes import grown, resident
from tests.running import address, process

ROLES = ("api", "worker")


SMALL = Size(attributes=2, configurations=4, records=1_000)
"""What warms a process up: what it does for the first time takes longer."""


class Spent(NamedTuple):
    """Seconds, and megabytes."""

    seconds: float
    megabytes: float


@dataclass(frozen=True)
class Counted:
    """Where the counts of a table are. `entry`: the file as it is sent."""

    entry: Path

    @property
    def case(self) -> Path:
        """The counts as the advisor takes them."""
        return self.entry.with_suffix(".case")


def counted(size: Size, name: str, place: Counted) -> Spent:
    """Count a made-up table with the pairs of its attributes, as `aegis summarize` does, and keep them by this name.

    The megabytes are those by which the process has grown.
    """
    with made(size) as table:
        before, start = resident(), process_time()
        summary = summarize(table, plan(size), name=name, memory_limit=MEMORY, pairs=True)
        entry = document_of(summary)
        spent = Spent(process_time() - start, grown(before))
    place.entry.write_bytes(orjson.dumps(entry))
    place.case.write_bytes(pickle.dumps(Case.of(entry)))
    return spent


def advised(place: Counted, small: Counted, measure: str) -> Spent:
    """Reconstruct every attribute, and answer a question about all: the first advice about an entry.

    The megabytes are those by which the process has grown after a small question. They include the counts.
    """
    with threadpool_limits(1):
        _answered(small, measure)
        before = resident()
        return Spent(_answered(place, measure), grown(before))


def _answered(place: Counted, measure: str) -> float:
    """Return the seconds from the counts to the answer."""
    with place.case.open("rb") as file:
        case: Case = pickle.load(file)
    start = process_time()
    case.ranked(case.reconstructed(), measure)
    return process_time() - start


@dataclass(frozen=True)
class Service:
    """The service in processes of its own, with its defaults and an empty database."""

    client: Client
    supervisor: psutil.Process

    def first_advice(self, place: Counted) -> Spent:
        """Publish an entry, and ask about it at once, by `joint`.

        The seconds begin when it is published. The megabytes are the most that one of its processes has meanwhile.
        """
        head = self.client.publish(place.entry.read_bytes(), accept_small_counts=True, accept_unique=True)
        for each in self._processes():
            _forget_peak(each)
        start = perf_counter()
        self.client.advise(head.id, JOINT)
        return Spent(perf_counter() - start, max(map(_peak, self._processes())) / 1e6)

    def _processes(self) -> list[psutil.Process]:
        """Return the API, the worker, and their child processes."""
        roles = [each for each in self.supervisor.children() if each.cmdline()[-1:] and each.cmdline()[-1] in ROLES]
        return [one for each in roles for one in (each, *each.children(recursive=True))]


@contextmanager
def running_service() -> Iterator[Service]:
    """Run the service on this machine; it has answered once, so that its processes are warm."""
    with (
        TemporaryDirectory(prefix="aegis-scaling-") as folder,
        process("serve", port="0", data_dir=str(Path(folder) / "data")) as started,
        Client(address(started)) as client,
    ):
        try:
            service = Service(client, psutil.Process(started.pid))
            small = Counted(Path(folder, "small.json"))
            counted(SMALL, "small", small)
            service.first_advice(small)
            yield service
        finally:
            started.terminate()
            started.wait()


def _forget_peak(of: psutil.Process) -> None:
    """Let the most memory of a process be what it has now (Linux)."""
    Path(f"/proc/{of.pid}/clear_refs").write_text("5", encoding="ascii")


def _peak(of: psutil.Process) -> int:
    status = Path(f"/proc/{of.pid}/status").read_text(encoding="ascii")
    return int(status.split("VmHWM:")[1].split()[0]) * 1024
