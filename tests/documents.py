"""The documents' commands, run for real; `python -m tests.documents` writes what they print into the documents.

A block `console` holds commands (each after `$ `) and what they print. A block `python` holds a program, and the block
`text` after it what that prints. Those of a document run in their order, in one shell, in a directory that has the
repository's `examples`, and where `make serve` was said: a service in development mode. A line `...` stands for what
is left out between the first and the last lines of an output. A block `console repository` runs in the repository
itself, and only when it is written anew: it takes minutes.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from examples.demo import address_of
from tests.postgres import throwaway_directory

ROOT = Path(__file__).parents[1]
BIN = Path(sys.executable).parent
#: Where the documents say that the service listens.
ADDRESS = "http://127.0.0.1:8000"
LEFT_OUT = "..."

_FENCE = re.compile(r"^```(.*)$")
_MARK = "-- end of command"
_VARYING = (
    (re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "ID"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"), "TIME"),
    (re.compile(r"\d{4}-\d\d-\d\d"), "DATE"),
    (re.compile(r"aegis_[0-9a-f]{8}(_[\w-]{43})?"), "KEY"),
    (re.compile(r'"elapsed_ms": ?[\d.]+'), "ELAPSED"),
    (re.compile(r"\d+ passed.*"), "PASSED"),
    (re.compile(r"\d+(\.\d+)? s\b|127\.0\.0\.1:\d+"), "VARIES"),
)
_DECIMAL = re.compile(r"-?\d+\.\d+(e[+-]?\d+)?|-?\d+e[+-]?\d+")


@dataclass(frozen=True)
class Step:
    """A command, and the lines `start` to `stop` (excluded) of its document that say what it prints."""

    command: str
    start: int
    stop: int


@dataclass(frozen=True)
class Block:
    """A fenced block: what follows the fence, and its lines, `start` to `stop` (excluded)."""

    info: str
    start: int
    stop: int


def documents() -> list[Path]:
    """Every document of the repository that people read."""
    return sorted(
        place
        for pattern in ("*.md", "advisor/*.md", "sdk/*.md", "provider/*.md", "docs/**/*.md", "examples/**/*.md")
        for place in ROOT.glob(pattern)
    )


def blocks(lines: Sequence[str]) -> Iterator[Block]:
    """The fenced blocks of a document."""
    opened: tuple[str, int] | None = None
    for number, line in enumerate(lines):
        fence = _FENCE.match(line)
        if fence and opened is None:
            opened = fence[1], number + 1
        elif fence and opened is not None:
            yield Block(*opened, number)
            opened = None


def steps(lines: Sequence[str], kind: str = "console") -> list[Step]:
    """The steps of a document: its `console` blocks and its programs, or its blocks `console repository`."""
    found = list(blocks(lines))
    taken: list[Step] = []
    for place, block in enumerate(found):
        if block.info == kind:
            taken += _console(lines, block)
        elif block.info == "python" and kind == "console":
            program = "\n".join(lines[block.start : block.stop])
            printed = found[place + 1]
            taken.append(Step(f"python - <<'END'\n{program}\nEND", printed.start, printed.stop))
    return taken


def _console(lines: Sequence[str], block: Block) -> Iterator[Step]:
    number = block.start
    while number < block.stop:
        command = [lines[number].removeprefix("$ ")]
        number += 1
        while command[-1].endswith("\\"):
            command.append(lines[number])
            number += 1
        start = number
        while number < block.stop and not lines[number].startswith("$ "):
            number += 1
        yield Step("\n".join(command), start, number)


def run(taken: Sequence[Step], directory: Path, url: str = ADDRESS) -> list[list[str]]:
    """What each step prints, in lines. `AssertionError` if one fails."""
    script = "\n".join(f"{step.command}\nprintf '\\n{_MARK} %s\\n' $?" for step in taken).replace(ADDRESS, url)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("AEGIS_")}
    environment |= {"PATH": f"{BIN}:{os.environ['PATH']}", "COLUMNS": "100", "AEGIS_URL": url}
    shell = ["sh", "-c", f"exec 2>&1\n{script}"]
    ran = subprocess.run(
        shell, cwd=directory, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=False
    )
    *pieces, _ = re.split(rf"\n{_MARK} (\d+)\n", ran.stdout.replace(url, ADDRESS))
    printed, codes = pieces[::2], pieces[1::2]
    failed = [f"{step.command}\n{text}" for step, text, code in zip(taken, printed, codes, strict=True) if code != "0"]
    assert not failed, failed[0]
    return [[line.rstrip() for line in text.splitlines()] for text in printed]


def abridged(printed: Sequence[str], said: Sequence[str]) -> list[str]:
    """As many of the first and the last lines as the document shows, where it leaves out some."""
    if LEFT_OUT not in said:
        return list(printed)
    first = said.index(LEFT_OUT)
    last = len(said) - first - 1
    return [*printed[:first], LEFT_OUT, *printed[len(printed) - last :]]


def essence(printed: Sequence[str]) -> list[str]:
    """The lines without what differs from run to run, numbers to six digits."""
    return [_DECIMAL.sub(_rounded, _without_varying(line)) for line in printed]


def _without_varying(line: str) -> str:
    for pattern, name in _VARYING:
        line = pattern.sub(name, line)
    return line


def _rounded(number: re.Match[str]) -> str:
    value = float(number[0])
    return f"{value:.6g}" if abs(value) > 1e-12 else "0"


@contextmanager
def running_service(directory: Path) -> Iterator[str]:
    """The service as `make serve` starts it, in this directory and on a free port; its address."""
    (directory / "examples").symlink_to(ROOT / "examples")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("AEGIS_")}
    command = [BIN / "aegis-server", "serve", "--port", "0"]
    log_path = directory / "service.log"
    with log_path.open("w") as log:
        service = subprocess.Popen(
            command, cwd=directory, env=environment, stdout=subprocess.PIPE, stderr=log, text=True
        )
    try:
        yield address_of(service, log_path)
    finally:
        service.terminate()
        service.wait(30)
        if service.stdout:
            service.stdout.close()


def write(document: Path, taken: Sequence[Step], printed: Sequence[Sequence[str]]) -> None:
    """Put what the steps print into their document, all of it from one run, if it says something else."""
    lines = document.read_text(encoding="utf-8").splitlines()
    said = [lines[step.start : step.stop] for step in taken]
    news = [abridged(found, shown) for found, shown in zip(printed, said, strict=True)]
    if [essence(each) for each in news] == [essence(each) for each in said]:
        return
    for step, found in reversed(list(zip(taken, news, strict=True))):
        lines[step.start : step.stop] = found
    document.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    """Write the outputs of every document; with `--all` those that take minutes, too."""
    with throwaway_directory() as directory, running_service(directory) as url:
        for document in documents():
            if taken := steps(document.read_text(encoding="utf-8").splitlines()):
                write(document, taken, run(taken, directory, url))
    for document in documents() if "--all" in sys.argv else ():
        if taken := steps(document.read_text(encoding="utf-8").splitlines(), "console repository"):
            write(document, taken, run(taken, ROOT))


if __name__ == "__main__":
    main()
