"""The service under load, as an operator starts it: with keys, a filled catalogue, and entries that can be asked about.

The clients are people and programs of twenty providers. All of them see the entries that can be asked about.
"""

import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil

from aegis_sdk import Client
from app.process.embedded import running_urls
from bench import made_up_entries
from bench.speed.copied_catalogue import fill

TENANTS, ENTRIES = 20, 10_000
SHAPE = made_up_entries.Shape(attributes=8, values=40, labels=3, groups=(4, 8, 16), configurations=100)
MEASURES = ("mutual_information", "chi_square", "g1", "g2", "g3", "theils_u", "cramers_v")

_SERVER = (sys.executable, "-m", "app.cli")
#: Seconds to wait for the service to stop.
_PATIENCE = 60.0


@dataclass(frozen=True)
class Tenant:
    """A provider: its key, and the id of its entry, about which everybody has asked by each of the measures."""

    key: str
    entry: str


@dataclass(frozen=True)
class Stage:
    """The running service: its address, its supervisor, its tenants, and where its log is."""

    url: str
    supervisor: psutil.Process
    tenants: tuple[Tenant, ...]
    log: Path

    def processes(self) -> dict[str, list[psutil.Process]]:
        """The processes by what they do. All of PostgreSQL are one, as are the children of a process."""
        kinds = {"supervisor": [self.supervisor]}
        for process in self.supervisor.children():
            command = " ".join(process.cmdline())
            kind = next((word for word in ("api", "worker") if command.endswith(f"app.cli {word}")), "postgres")
            children = process.children(recursive=True)
            if kind == "postgres":
                kinds[kind] = [process, *children]
            else:
                number = sum(name.startswith(kind) and "child" not in name for name in kinds) + 1
                name = f"{kind} {number}" if kind == "worker" else kind
                kinds |= {name: [process], f"children of {name}": children}
        return kinds

    def memory(self) -> dict[str, float]:
        """The megabytes of each, with its share of what several have in common (PSS)."""
        return {name: sum(map(_pss, every)) / 1e6 for name, every in self.processes().items()}

    def core_seconds(self) -> tuple[float, float]:
        """The core seconds that all have used, and those for which they waited for a core."""
        every = [process for kind in self.processes().values() for process in kind]
        return sum(map(_core_seconds, every)), sum(map(_waited_seconds, every))


@contextmanager
def stage(workers: int) -> Iterator[Stage]:
    """Run the service during the block."""
    with tempfile.TemporaryDirectory(prefix="aegis-load-") as name:
        place = Path(name)
        place.chmod(0o711)  # started by root, PostgreSQL runs as another user, who needs to pass through
        environment = {name: text for name, text in os.environ.items() if not name.startswith("AEGIS_")}
        environment |= {"AEGIS_DATA_DIR": str(place / "data"), "AEGIS_PORT": "0", "AEGIS_WORKERS": str(workers)}
        first = place / "first-key"
        migrated = [*_SERVER, "migrate", "--first-key-file", str(first)]
        subprocess.run(migrated, env=environment, check=True, capture_output=True)
        with (place / "log").open("w") as log:
            process = subprocess.Popen([*_SERVER, "serve"], stdout=subprocess.PIPE, stderr=log, env=environment)
        try:
            url = _address(process)
            tenants = _tenants(url, first.read_text().strip())
            _fill(place / "data")
            yield Stage(url, psutil.Process(process.pid), tenants, place / "log")
        finally:
            process.terminate()
            process.wait(_PATIENCE)


def _address(process: subprocess.Popen[bytes]) -> str:
    """The address that the service prints when it is ready; what it prints later is read, so that it never waits."""
    printed = process.stdout or ()
    for line in printed:
        if found := re.search(rb"listens on (http://\S+)", line):
            threading.Thread(target=lambda: list(printed), daemon=True).start()
            return found[1].decode()
    raise RuntimeError("the service did not start")


def _tenants(url: str, operator: str) -> tuple[Tenant, ...]:
    """Create keys, and publish an entry for each, which is asked about once."""
    with httpx.Client(base_url=url, headers=bearer(operator), timeout=60) as client:
        asked = [{"tenant": f"provider-{number}", "role": "provider"} for number in range(TENANTS)]
        keys = [client.post("/v1/keys", json=one).raise_for_status().json()["key"] for one in asked]
    return tuple(Tenant(key, _published(url, key, f"base-{number}")) for number, key in enumerate(keys))


def _published(url: str, key: str, name: str) -> str:
    with Client(url, key, timeout=300) as client:
        head = client.publish(made_up_entries.entry(SHAPE, name), accept_small_counts=True)
        client.set_visibility(head.id, "all")
        for measure in MEASURES:
            client.advise(head.id, measure)
        return head.id


def _fill(data_dir: Path) -> None:
    urls = running_urls(data_dir)
    if urls is None:
        raise RuntimeError("the service has no database")
    fill(urls.owner, ENTRIES)


def bearer(key: str) -> dict[str, str]:
    """The header of a key."""
    return {"Authorization": f"Bearer {key}"}


def _pss(process: psutil.Process) -> int:
    try:
        return process.memory_full_info().pss
    except psutil.Error:  # it has ended meanwhile
        return 0


def _waited_seconds(process: psutil.Process) -> float:
    """The seconds for which the main thread of a process could have worked, but had no core (Linux)."""
    try:
        return int(Path(f"/proc/{process.pid}/schedstat").read_text(encoding="ascii").split()[1]) / 1e9
    except (OSError, IndexError):
        return 0.0


def _core_seconds(process: psutil.Process) -> float:
    try:
        return sum(process.cpu_times()[:2])
    except psutil.Error:
        return 0.0
