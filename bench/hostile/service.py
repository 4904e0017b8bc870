"""The service under hostile input, with keys: its processes, their memory, and its log."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

import psutil

from bench.measuring import MEGABYTE, family, repeated
from bench.served import first_key, open_to_the_database, served

Sizes = dict[psutil.Process, tuple[str, float, float]]
"""By process: its kind, its memory in use and its peak so far in MB."""


@dataclass
class Service:
    """A running service.

    Attributes:
        url: its address.
        process: its supervisor.
        log: the file of its log.
        operator: the key of an operator.
        seen: the last reading of every process that ever existed.
    """

    url: str
    process: psutil.Process
    log: Path
    operator: str
    seen: Sizes = field(default_factory=dict)

    def look(self) -> Sizes:
        """Read the memory of all processes, and store it, since ended processes lose their peaks."""
        now = {one: size for one in family(self.process) if (size := _size(one)) is not None}
        self.seen = self.seen | now  # a new dictionary, since another thread may be iterating over the old one
        return now

    def members(self) -> dict[int, str]:
        """The supervisor's processes by id, which changes after a crash."""
        kinds = {one.pid: _kind_or_none(one) for one in self.process.children()}
        return {process_id: kind for process_id, kind in kinds.items() if kind is not None}

    def errors(self) -> list[str]:
        """The errors in the log, and text that is not a log line, such as a traceback or an interpreter's crash."""
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        errors = []
        for level, alike in groupby(filter(str.strip, lines), _level):
            if level is None:
                errors.append("\n".join(alike))
            elif level in {"error", "critical"}:
                errors += alike
        return errors


def _level(line: str) -> str | None:
    """The level of a log line; None if it is not one."""
    try:
        return str(json.loads(line)["level"])
    except (ValueError, TypeError, KeyError):
        return None


def _size(process: psutil.Process) -> tuple[str, float, float] | None:
    try:
        words = Path(f"/proc/{process.pid}/status").read_text(encoding="ascii", errors="replace")
        return _kind(process), _megabytes(words, "VmRSS"), _megabytes(words, "VmHWM")
    except (OSError, psutil.Error):  # it has just ended
        return None


def _kind_or_none(process: psutil.Process) -> str | None:
    try:
        return _kind(process)
    except psutil.Error:
        return None


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
    """Run the service with its own database and one worker during the block, and read its memory every second."""
    data = open_to_the_database(directory) / "data"
    settings = {"AEGIS_DATA_DIR": str(data), "AEGIS_WORKERS": "1", "AEGIS_LOG_LEVEL": "WARNING"}
    operator = first_key(directory, **settings)
    with served(directory, **settings) as running:
        service = Service(running.url, running.process, running.log, operator)
        with repeated(service.look, 1):
            yield service
