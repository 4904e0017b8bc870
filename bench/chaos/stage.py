"""The target of the faults: two replicas of the service, with two workers each, on one database.

The first replica has the embedded database and reaches it directly; the second one uses a proxy. Each replica has its
own clock, as on separate machines, and the database has the first one's.
"""

import re
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import httpx
import psutil
import psycopg

from app.cli.environment import AUDIT_KEY
from app.platform.process.embedded.cluster import home_of, server_account
from app.platform.process.embedded.server import running_urls
from bench.chaos.clock import Clock
from bench.chaos.disk import Disk, disk
from bench.chaos.proxy import Proxy
from bench.served import Served, served

#: Seconds in which a replica must start or recover.
PATIENCE = 180.0

#: Seconds after which a fault has shown.
NOTICED_SECONDS = 0.3

#: Seconds in which all processes must stop.
_END_SECONDS = 30.0

#: The clock step in seconds that shows whether a database uses a clock; too small to affect anything else.
_PROBED = 20

_SOCKET = ".s.PGSQL.5432"

#: `aegis-server` with a database that uses the clock of its replica.
_SERVER = (sys.executable, "-m", "bench.chaos.serve")


@dataclass
class Stage:
    """All running parts.

    Attributes:
        replicas: the two replicas.
        proxy: the second one's way to the database.
        disk: the disk of the database.
        clocks: the clocks of the replicas.
        data_dir: the directory of the database's files.
        owner_url: the database's URL for its owner.
        left: the processes that still exist after the stop.
    """

    replicas: tuple[Served, Served]
    proxy: Proxy
    disk: Disk
    clocks: tuple[Clock, Clock]
    data_dir: Path
    owner_url: str
    left: list[str]

    def processes(self) -> list[psutil.Process]:
        """All processes of both replicas."""
        running = []
        for replica in self.replicas:
            try:
                running += [replica.process, *replica.process.children(recursive=True)]
            except psutil.NoSuchProcess:
                continue
        return running

    def named(self, words: str) -> list[psutil.Process]:
        """The processes whose command line contains these words."""
        return [one for one in self.processes() if re.search(words, _command(one))]

    def children_of(self, words: str) -> list[psutil.Process]:
        """The child processes of those."""
        return [child for one in self.named(words) for child in _children(one)]

    def recovered(self) -> float:
        """Wait until both replicas work; return the seconds."""
        start = time.monotonic()
        time.sleep(NOTICED_SECONDS)
        while not all(_is_ready(replica.url) for replica in self.replicas):
            if time.monotonic() - start > PATIENCE:
                raise TimeoutError(f"the service has not come back within {PATIENCE:g} s")
            time.sleep(0.05)
        return time.monotonic() - start

    def mend(self) -> None:
        """Undo interrupted faults."""
        self.proxy.delay = 0.0
        self.proxy.join()
        self.disk.clear()
        for clock in self.clocks:
            clock.step(0)
        for process in self.processes():
            with suppress(psutil.Error):
                process.resume()


@contextmanager
def stage(directory: Path) -> Iterator[Stage]:
    """Run both replicas during the block, and stop them; their logs stay in the directory."""
    with tempfile.TemporaryDirectory(prefix="aegis-chaos-", dir="/tmp") as sockets:
        Path(sockets).chmod(0o755)  # the account of the database must reach its disk
        with disk(Path(sockets) / "disk") as own:
            yield from _stage(directory, own, Path(sockets))


def _stage(directory: Path, own: Disk, place: Path) -> Iterator[Stage]:
    data_dir = own.place / "data"
    clocks = Clock(place / "first-clock"), Clock(place / "second-clock")
    left: list[str] = []
    try:
        with _served(directory / "first", AEGIS_DATA_DIR=str(data_dir), **clocks[0].environment) as first:
            owner = _owner_url(data_dir)
            clocks[0].is_own = clocks[0].is_own and _is_followed(clocks[0], owner)
            with (
                Proxy(place / _SOCKET, _socket(owner)) as proxy,
                _second(directory / "second", place, data_dir, owner, clocks[1]) as second,
            ):
                both = Stage((first, second), proxy, own, clocks, data_dir, owner, left)
                both.recovered()
                try:
                    yield both
                finally:
                    both.mend()
    finally:
        left += _left(place)  # before the disk is unmounted, by which they are recognised


def _second(directory: Path, place: Path, data_dir: Path, owner: str, clock: Clock) -> AbstractContextManager[Served]:
    """The replica that reaches the database through the proxy in `place`."""
    return _served(
        directory,
        AEGIS_DATABASE_URL=f"postgresql://aegis@/aegis?host={quote(str(place), safe='')}&port=5432",
        AEGIS_OWNER_DATABASE_URL=owner,
        AEGIS_AUDIT_KEY_FILE=str(home_of(data_dir, server_account()) / AUDIT_KEY),
        **clock.environment,
    )


def _served(directory: Path, **settings: str) -> AbstractContextManager[Served]:
    directory.mkdir(parents=True, exist_ok=True)
    return served(directory, "--workers", "2", server=_SERVER, **settings)


def _is_ready(url: str) -> bool:
    """Whether a replica responds and its database has workers."""
    try:
        return httpx.get(f"{url}/readyz", params={"require": "workers"}, timeout=5).status_code == 200
    except httpx.HTTPError:
        return False


def _owner_url(data_dir: Path) -> str:
    urls = running_urls(data_dir)
    if urls is None:
        raise RuntimeError("the first replica has no database")
    return urls.owner


def _socket(owner_url: str) -> Path:
    """The socket of the database itself."""
    with psycopg.connect(owner_url) as connection:
        row = connection.execute("SHOW unix_socket_directories").fetchone()
    return Path(str(row[0] if row else "").strip('"')) / _SOCKET


def _is_followed(clock: Clock, url: str) -> bool:
    """Whether the database uses a clock, so that it shows a step."""
    clock.step(_PROBED)
    try:
        with psycopg.connect(url) as connection:
            row = connection.execute("SELECT extract(epoch FROM clock_timestamp())").fetchone()
    finally:
        clock.step(0)
    return row is not None and float(row[0]) > time.time() + _PROBED / 2


def _command(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


def _children(process: psutil.Process) -> list[psutil.Process]:
    try:
        return list(process.children())
    except psutil.Error:
        return []


def _left(place: Path) -> list[str]:
    """The processes of `place`, orphans included, that still exist after some seconds."""
    deadline = time.monotonic() + _END_SECONDS
    while left := [one for one in psutil.process_iter() if _belongs(one, str(place))]:
        if time.monotonic() > deadline:
            break
        time.sleep(0.2)
    return [f"process {one.pid} is left behind: {_command(one)}" for one in left]


def _belongs(process: psutil.Process, place: str) -> bool:
    """Whether the arguments of a process, its environment or its directory name a place."""
    texts: list[str] = []
    for look in (process.cmdline, lambda: process.environ().values(), lambda: [process.cwd()]):
        with suppress(psutil.Error):
            texts += look()
    return any(place in text for text in texts)
