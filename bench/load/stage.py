"""The service under load, as an operator starts it: with keys, a filled catalogue, and entries that can be asked about.

The clients belong to twenty providers. All of them see the entries that can be asked about.
"""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil

from aegis_sdk import Client
from app.platform.process.embedded.server import running_urls
from bench.measuring import core_seconds, family
from bench.served import first_key, open_to_the_database, served
from tests import made_up_entries
from tests.copied_catalogue import fill

TENANTS = 20
SHAPE = made_up_entries.Shape(attributes=8, values=40, labels=3, groups=(4, 8, 16), configurations=100)


@dataclass(frozen=True)
class Tenant:
    """A provider: its key, and the id of its entry, about which questions by every measure have been asked."""

    key: str
    entry: str


@dataclass(frozen=True)
class Stage:
    """The running service: its address, its supervisor, and its tenants."""

    url: str
    supervisor: psutil.Process
    tenants: tuple[Tenant, ...]

    def processes(self) -> dict[str, list[psutil.Process]]:
        """The processes by kind. PostgreSQL is one kind, and so are the children of a process."""
        kinds = {"supervisor": [self.supervisor]}
        workers = 0
        for process in self.supervisor.children():
            kind = _kind(process)
            if kind is None:
                continue
            this, *children = family(process) or [process]
            if kind == "postgres":
                kinds[kind] = [this, *children]
            else:
                workers += kind == "worker"
                name = f"{kind} {workers}" if kind == "worker" else kind
                kinds |= {name: [this], f"children of {name}": children}
        return kinds

    def memory(self) -> dict[str, float]:
        """The memory of every kind in megabytes, with its share of shared memory (PSS)."""
        return {name: sum(map(_pss, every)) / 1e6 for name, every in self.processes().items()}

    def core_seconds(self) -> float:
        """The core seconds of all processes, also ended ones."""
        return core_seconds(self.supervisor)


class Waited:
    """The seconds in which the main threads of all processes were ready to run but had no core (Linux).

    They are lost when a process ends, so every call of `look` adds the increase.
    """

    def __init__(self, stage: Stage) -> None:
        self._stage, self._last = stage, _waited_seconds(stage.supervisor)
        self.seconds = 0.0

    def look(self) -> None:
        """Add the waiting time since the last call."""
        now = _waited_seconds(self._stage.supervisor)
        self.seconds += sum(seconds - self._last.get(process, 0.0) for process, seconds in now.items())
        self._last = now


@contextmanager
def stage(workers: int, entries: int) -> Iterator[Stage]:
    """Run the service during the block, with `entries` more entries than those that are asked about."""
    with tempfile.TemporaryDirectory(prefix="aegis-load-") as name:
        place = open_to_the_database(Path(name))
        settings = {"AEGIS_DATA_DIR": str(place / "data"), "AEGIS_WORKERS": str(workers)}
        operator = first_key(place, **settings)
        with served(place, **settings) as running:
            tenants = _tenants(running.url, operator)
            _fill(place / "data", entries)
            yield Stage(running.url, running.process, tenants)


def _tenants(url: str, operator: str) -> tuple[Tenant, ...]:
    """Create keys, publish an entry with each, and ask one question about it."""
    with httpx.Client(base_url=url, headers=bearer(operator), timeout=60) as client:
        asked = [{"tenant": f"provider-{number}", "role": "provider"} for number in range(TENANTS)]
        keys = [client.post("/v1/keys", json=one).raise_for_status().json()["key"] for one in asked]
    return tuple(Tenant(key, _published(url, key, f"base-{number}")) for number, key in enumerate(keys))


def _published(url: str, key: str, name: str) -> str:
    with Client(url, key, timeout=300) as client:
        head = client.publish(made_up_entries.entry(SHAPE, name), accept_small_counts=True)
        client.set_visibility(head.id, "all")
        for measure in made_up_entries.MEASURES:
            client.advise(head.id, measure)
        return head.id


def _fill(data_dir: Path, entries: int) -> None:
    urls = running_urls(data_dir)
    if urls is None:
        raise RuntimeError("the service has no database")
    fill(urls.owner, entries)


def bearer(key: str) -> dict[str, str]:
    """The header of a key."""
    return {"Authorization": f"Bearer {key}"}


def _kind(process: psutil.Process) -> str | None:
    """The kind of a child of the supervisor; None if it has just ended."""
    try:
        command = " ".join(process.cmdline())
    except psutil.Error:
        return None
    return next((word for word in ("api", "worker") if command.endswith(f"app.cli {word}")), "postgres")


def _pss(process: psutil.Process) -> int:
    try:
        return int(process.memory_full_info().pss)
    except psutil.Error:  # it has ended meanwhile
        return 0


def _waited_seconds(supervisor: psutil.Process) -> dict[psutil.Process, float]:
    waited = {}
    for process in family(supervisor):
        with suppress(OSError, IndexError):  # it has ended meanwhile
            words = Path(f"/proc/{process.pid}/schedstat").read_text(encoding="ascii").split()
            waited[process] = int(words[1]) / 1e9
    return waited
