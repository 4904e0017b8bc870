"""The service as an operator starts it, by `aegis-server serve`: one start for all that try it from outside."""

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

#: Seconds for the service to say where it listens (a machine that is very busy needs minutes), and to stop.
START_SECONDS, STOP_SECONDS = 300.0, 60.0

#: So much of the log is shown if something fails: its directory is often gone by then.
_SHOWN = 3_000


@dataclass(frozen=True)
class Served:
    """A running service.

    Attributes:
        url: its address.
        process: its supervisor.
        log: what its processes write there.
    """

    url: str
    process: psutil.Process
    log: Path


@contextmanager
def served(directory: Path, *arguments: str, server: Sequence[str] = (), **settings: str) -> Iterator[Served]:
    """Run the service on a free port of this machine during the block, and end it, by force if need be.

    It also ends if this process is killed (Linux); start it from the main thread, which it is bound to.

    Args:
        directory: for its log and for what it prints.
        arguments: further ones of `aegis-server serve`.
        server: the command in place of `aegis-server`.
        settings: environment variables.

    Raises:
        RuntimeError: the service ended instead of starting.
        TimeoutError: it did not start in time.
        subprocess.TimeoutExpired: it did not stop in time, and was killed.
    """
    log, output = directory / "service.log", directory / "output.txt"
    # What it prints goes into a file: nobody has to read on, as from a pipe, which would fill and hold it up.
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
    """Make the database and the first key, an operator's, before the service starts with the same settings."""
    file = directory / "first-key"
    command = [*SERVER, "migrate", "--first-key-file", str(file)]
    subprocess.run(command, env=environment(**settings), check=True, stdout=subprocess.DEVNULL)
    return file.read_text(encoding="ascii").strip()


def environment(**settings: str) -> dict[str, str]:
    """The environment of this process with these settings of the service, and none of its own."""
    return {name: text for name, text in os.environ.items() if not name.startswith("AEGIS_")} | settings


def open_to_the_database(directory: Path) -> Path:
    """The same directory: started by root, PostgreSQL runs as another user, who needs to pass through."""
    directory.chmod(0o711)
    return directory


def _address(started: subprocess.Popen[bytes], output: Path) -> str:
    """Where it listens, once it says so."""
    until = time.monotonic() + START_SECONDS
    while started.poll() is None:
        # The blank after it says that the whole of it has arrived.
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
