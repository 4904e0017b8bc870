"""The service that is sent hostile input: `aegis-server serve` in development mode, and the memory of its processes."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from bench.measuring import MEGABYTE


@dataclass
class Service:
    """A running service.

    Attributes:
        url: its address.
        process: its supervisor.
        log: where its log is written to.
    """

    url: str
    process: psutil.Process
    log: Path

    def memory(self) -> dict[str, tuple[int, float, float]]:
        """By kind of process: how many there are, and of the largest the memory in use and its peak, in MB."""
        found: dict[str, list[tuple[float, float]]] = {}
        for one in [self.process, *self.process.children(recursive=True)]:
            try:
                words = Path(f"/proc/{one.pid}/status").read_text(encoding="ascii")
                found.setdefault(_kind(one), []).append((_megabytes(words, "VmRSS"), _megabytes(words, "VmHWM")))
            except (OSError, psutil.Error):  # it has just ended
                continue
        return {kind: (len(sizes), *map(max, zip(*sizes, strict=True))) for kind, sizes in sorted(found.items())}

    def errors(self) -> list[str]:
        """The errors in the log, one line each."""
        lines = self.log.read_text(encoding="utf-8").splitlines()
        return [
            line for line in lines if line.startswith("{") and json.loads(line).get("level") in {"error", "critical"}
        ]


def _kind(process: psutil.Process) -> str:
    words = " ".join(process.cmdline())
    for name in ("serve", "api", "worker"):
        if re.search(rf"app\.cli {name}\b", words):
            return name
    if "anyio" in words:
        parent = process.parent()
        return "child process" if parent is None else f"child of {_kind(parent)}"
    return "postgres" if "postgres" in words else "other"


def _megabytes(status: str, name: str) -> float:
    held = re.search(rf"{name}:\s+(\d+) kB", status)
    return int(held[1]) * 1024 / MEGABYTE if held else 0.0


@contextmanager
def serving(directory: Path) -> Iterator[Service]:
    """Run the service with a database of its own and one worker during the block, and stop it."""
    plain = {name: text for name, text in os.environ.items() if not name.startswith("AEGIS_")}
    settings = {"AEGIS_DATA_DIR": str(directory / "data"), "AEGIS_LOG_LEVEL": "WARNING"}
    command = [sys.executable, "-m", "app.cli", "serve", "--port", "0", "--workers", "1"]
    log = directory / "service.log"
    with log.open("wb") as errors, (directory / "output.txt").open("w+b") as printed:
        started = subprocess.Popen(command, env=plain | settings, stdout=printed, stderr=errors)
        try:
            yield Service(_address(started, directory / "output.txt"), psutil.Process(started.pid), log)
        finally:
            started.send_signal(signal.SIGTERM)
            started.wait(60)


def _address(started: subprocess.Popen[bytes], output: Path) -> str:
    """Where it listens, once it says so."""
    while started.poll() is None:
        if address := re.search(r"listens on (http://\S+)", output.read_text(encoding="utf-8")):
            return address[1]
        time.sleep(0.1)
    raise RuntimeError(f"the service did not start: see {output.parent}")
