"""The service as an operator starts it, by `aegis-server serve`, for all external experiments."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil

from app.platform.process.bound import bound_command

SERVER: Final = (sys.executable, "-m", "app.cli")

#: Seconds for the service to print its address (a busy machine needs minutes), and to stop.
START_SECONDS, STOP_SECONDS = 300.0, 60.0

#: The number of characters of the log shown after a failure, since its directory is often deleted then.
_SHOWN = 3_000


@dataclass(frozen=True)
class Served:
    """A running service.

    Attributes:
        url: its address.
        process: its supervisor.
        log: the file of its processes' log.
    """

    url: str
    process: psutil.Process
    log: Path


@contextmanager
def served(directory: Path, *arguments: str, server: Sequence[str] = (), **settings: str) -> Iterator[Served]:
    """Run the service on a free loopback port during the block, and stop it, by force if necessary.

    It also ends if this process is killed (Linux); start it from the main thread, which it is bound to.

    Args:
        directory: for its log and its output.
        arguments: additional ones of `aegis-server serve`.
        server: the command in place of `aegis-server`.
        settings: environment variables.

    Raises:
        RuntimeError: the service ended instead of starting.
        TimeoutError: it did not start in time.
        subprocess.TimeoutExpired: it did not stop in time, and was killed.
    """
    log, output = directory / "service.log", directory / "output.txt"
    # Its output goes to a file, since an unread pipe would fill and block it.
    with log.open("wb") as errors, output.open("wb") as printed:
        started = subprocess.Popen(
            bound_command([*(server or SERVER), "serve", *arguments], on_parent_death=signal.SIGTERM),
            env=environment(AEGIS_PORT="0", **settings),
            stdout=printed,
            stderr=errors,
            start_new_session=True,  # Ctrl-C reaches only this process, which then stops the service in its own way
        )
    try:
        yield Served(_address(started, output), psutil.Process(started.pid), log)
    except Exception:
        words = log.read_text(encoding="utf-8", errors="replace")
        sys.stderr.write(f"The service's log ends with:\n{words[-_SHOWN:]}\n")
        raise
    finally:
        _end(started)


def first_key(directory: Path, **settings: str) -> str:
    """Create the database and the first key, an operator's, before the service starts with the same settings."""
    file = directory / "first-key"
    command = [*SERVER, "migrate", "--first-key-file", str(file)]
    subprocess.run(command, env=environment(**settings), check=True, stdout=subprocess.DEVNULL)
    return file.read_text(encoding="ascii").strip()


def environment(**settings: str) -> dict[str, str]:
    """The environment of this process with these settings of the service and no others."""
    return {name: text for name, text in os.environ.items() if not name.startswith("AEGIS_")} | settings


def open_to_the_database(directory: Path) -> Path:
    """Make a directory passable for PostgreSQL's user (not root), and return it."""
    directory.chmod(0o711)
    return directory


def _address(started: subprocess.Popen[bytes], output: Path) -> str:
    """The printed address of the service."""
    until = time.monotonic() + START_SECONDS
    while started.poll() is None:
        # The following blank shows that the address is complete.
        if address := re.search(r"listens on (http://\S+)\s", output.read_text(encoding="utf-8")):
            return address[1]
        if time.monotonic() > until:
            raise TimeoutError(f"the service has not started within {START_SECONDS:g} s")
        time.sleep(0.1)
    raise RuntimeError(f"the service ended with status {started.returncode} instead of starting")


def _end(started: subprocess.Popen[bytes]) -> None:
    started.terminate()
    try:
        started.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        started.kill()
        started.wait()
        raise
