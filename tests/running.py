"""The service as it is really run: in separate processes, on loopback."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, Protocol

import httpx

from tests.waiting import PATIENCE, PAUSE

COMMAND = (sys.executable, "-m", "app.cli")


class Version(Protocol):
    """Another version of the service: where its checkout is, and the search path of its packages."""

    tree: Path

    @property
    def path(self) -> str: ...


def environment(**settings: str) -> dict[str, str]:
    """Return this environment, with these settings of the service instead of the shell's."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("AEGIS_")}
    return inherited | {f"AEGIS_{name.upper()}": value for name, value in settings.items()}


class Running(subprocess.Popen[str]):
    """A command whose output and log are files: nobody reads them meanwhile, and a full pipe would stop it.

    Args:
        command: its command line.
        folder: where the files are.
        options: those of `Popen`.
    """

    def __init__(self, command: Sequence[str], folder: Path, **options: Any) -> None:
        places = folder / "stdout", folder / "stderr"
        with places[0].open("wb") as stdout, places[1].open("wb") as stderr:
            super().__init__(command, stdout=stdout, stderr=stderr, **options)
        self.stdout, self.stderr = (place.open(encoding="utf-8") for place in places)

    def communicate(self, _: str | None = None, timeout: float | None = None) -> tuple[str, str]:
        """Wait until it has ended; return the rest of its output and of its log."""
        assert self.stdout is not None
        assert self.stderr is not None
        self.wait(timeout)
        return self.stdout.read(), self.stderr.read()

    def whole_log(self) -> str:
        """What it has logged since it began."""
        assert self.stderr is not None
        self.stderr.seek(0)
        return self.stderr.read()


@contextmanager
def process(*arguments: str, version: Version | None = None, **settings: str) -> Iterator[Running]:
    """Run an operator's command, of another version of the service if one is given; kill it at the end of the block.

    It logs warnings only, unless a test asks for more.
    """
    environ = environment(**{"log_level": "WARNING"} | settings)
    if version is not None:
        environ["PYTHONPATH"] = version.path
    place = None if version is None else version.tree
    with (
        TemporaryDirectory() as folder,
        Running([*COMMAND, *arguments], Path(folder), cwd=place, env=environ) as started,
    ):
        try:
            yield started
        finally:
            started.kill()


def address(server: Running) -> str:
    """Wait for the address of a starting server in its output."""
    listens = re.compile(r"listens on (http://\S+)")
    line = _line(server, server.stdout, lambda line: listens.search(line) is not None)
    return listens.findall(line)[0]


def line_with(running: Running, text: str) -> str:
    """Wait for the next line with this text in the log of a process, and return it."""
    return _line(running, running.stderr, lambda line: text in line)


def _line(running: Running, stream: IO[str] | None, matches: Callable[[str], bool]) -> str:
    """Wait for the next line that matches; fail if the process ends without one."""
    assert stream is not None
    deadline, line = time.monotonic() + PATIENCE, ""
    while time.monotonic() < deadline:
        has_ended = running.poll() is not None  # asked first: what it wrote until then is read below
        line += stream.readline()
        if not line.endswith("\n"):
            assert not has_ended, "the process ended: " + running.whole_log()
            time.sleep(PAUSE)
        elif matches(line):
            return line
        else:
            line = ""
    raise AssertionError("the process has not written the line: " + running.whole_log())


@contextmanager
def serving(version: Version | None = None, **settings: str) -> Iterator[tuple[httpx.Client, Running]]:
    """Run the API in a separate process without workers; yield a client and the process."""
    with (
        process("api", version=version, port="0", **settings) as server,
        httpx.Client(base_url=address(server), timeout=120) as client,
    ):
        yield client, server
