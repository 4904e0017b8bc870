"""The documents' commands, run for real; `python -m docs.generate` writes what they print into the documents.

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
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from aegis_provider.state import lasting_randomness
from examples.demo import address_of

ROOT = Path(__file__).parents[1]
BIN = Path(sys.executable).parent
#: Where the documents say that the service listens.
ADDRESS = "http://127.0.0.1:8000"
LEFT_OUT = "..."
#: The storage of docs/workflow.md is on this machine.
PRIVATE = {"AEGIS_LINKS_ALLOW_PRIVATE": "true"}
#: Less than this is rounding noise.
NOISE = 1e-12

_FENCE = re.compile(r"^```(.*)$")
_MARK = "-- end of command"
_VARYING = (
    (re.compile(r"reach (AUC|R2) .*"), "expected"),  # rounding is drawn anew for each table
    (re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "ID"),
    (re.compile(r"\b[0-9a-f]{64}\b"), "SHA-256"),
    # The audit log has what the other documents did, too.
    (re.compile(r"^ +\d+(?=  \d{4}-\d\d-\d\dT)|record \d+ of|^\d+ records, none.*"), "RECORD"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"), "TIME"),
    (re.compile(r"\d{4}-\d\d-\d\d"), "DATE"),
    (re.compile(r"aegis_[0-9a-f]{8}(_[\w-]{43})?"), "KEY"),
    (re.compile(r'"version": ?"\d+\.\d+\.\d+"'), "VERSION"),
    (re.compile(r'"elapsed_ms": ?[\d.]+'), "ELAPSED"),
    (re.compile(r"\d+ passed.*"), "PASSED"),
    (re.compile(r"\d+(?= records left out, rounded)"), "ROUNDED"),
    (re.compile(r"\d+(\.\d+)? s\b|127\.0\.0\.1:\d+"), "VARIES"),
)
_DECIMAL = re.compile(r"-?\d+\.\d+(e[+-]?\d+)?|-?\d+e[+-]?\d+")


class CommandError(Exception):
    """A document's command failed; says which, and what it printed."""


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
    folders = ("", "advisor/", "sdk/", "provider/", "docs/**/", "examples/**/", "research/**/")
    return sorted(place for folder in folders for place in ROOT.glob(f"{folder}*.md"))


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
    listed = list(blocks(lines))
    commands: list[Step] = []
    for place, block in enumerate(listed):
        if block.info == kind:
            commands += _console(lines, block)
        elif block.info == "python" and kind == "console":
            program = "\n".join(lines[block.start : block.stop])
            printed = listed[place + 1]
            commands.append(Step(f"python - <<'END'\n{program}\nEND", printed.start, printed.stop))
    return commands


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


def run(commands: Sequence[Step], directory: Path, url: str = ADDRESS) -> list[list[str]]:
    """What each step prints, in lines.

    Args:
        commands: the steps of one document, in their order.
        directory: where they run.
        url: of the service, in place of the one that the documents say.

    Raises:
        CommandError: one of them ended with another exit code than 0.
    """
    script = "\n".join(f"{step.command}\nprintf '\\n{_MARK} %s\\n' $?" for step in commands).replace(ADDRESS, url)
    environment = _environment(PATH=f"{BIN}:{os.environ['PATH']}", COLUMNS="100", AEGIS_URL=url, **PRIVATE)
    shell = ["sh", "-c", f"exec 2>&1\n{script}"]
    ran = subprocess.run(  # noqa: S603 - the documents' own commands
        shell, cwd=directory, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=False
    )
    *pieces, _ = re.split(rf"\n{_MARK} (\d+)\n", ran.stdout.replace(url, ADDRESS))
    printed, codes = pieces[::2], pieces[1::2]
    failed = [
        f"{step.command}\n{text}" for step, text, code in zip(commands, printed, codes, strict=True) if code != "0"
    ]
    if failed:
        raise CommandError(failed[0])
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
    return f"{value:.6g}" if abs(value) > NOISE else "0"


@contextmanager
def running_service() -> Iterator[tuple[Path, str]]:
    """The service as `make serve` starts it, on a free port: the directory that it runs in, and its address."""
    with _directory() as directory:
        log_path = directory / "service.log"
        command = [str(BIN / "aegis-server"), "serve", "--port", "0"]
        with log_path.open("w") as log:
            service = subprocess.Popen(  # noqa: S603
                command, cwd=directory, env=_environment(**PRIVATE), stdout=subprocess.PIPE, stderr=log, text=True
            )
        try:
            yield directory, address_of(service, log_path)
        finally:
            service.terminate()
            service.wait(30)
            if service.stdout:
                service.stdout.close()


@contextmanager
def _directory() -> Iterator[Path]:
    """A directory with the repository's `examples`; root's PostgreSQL, which runs as another user, may pass through."""
    with tempfile.TemporaryDirectory(prefix="aegis-docs-") as name:
        directory = Path(name)
        directory.chmod(0o711)
        (directory / "examples").symlink_to(ROOT / "examples")
        yield directory


def _environment(**more: str) -> dict[str, str]:
    """The shell's variables without our own, and some more."""
    return {name: value for name, value in os.environ.items() if not name.startswith("AEGIS_")} | more


def write(document: Path, commands: Sequence[Step], printed: Sequence[Sequence[str]]) -> None:
    """Put what the steps print into their document, all of it from one run, if it says something else."""
    lines = document.read_text(encoding="utf-8").splitlines()
    said = [lines[step.start : step.stop] for step in commands]
    news = [abridged(output, shown) for output, shown in zip(printed, said, strict=True)]
    if [essence(each) for each in news] == [essence(each) for each in said]:
        return
    for step, output in reversed(list(zip(commands, news, strict=True))):
        lines[step.start : step.stop] = output
    document.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    """Write the outputs of every document; with `--all` those that take minutes, too."""
    with tempfile.TemporaryDirectory(prefix="aegis-state-") as state, running_service() as (directory, url):
        os.environ["XDG_STATE_HOME"] = state
        lasting_randomness()  # makes a key, of which the first command would warn
        for document in documents():
            if commands := steps(document.read_text(encoding="utf-8").splitlines()):
                write(document, commands, run(commands, directory, url))
    for document in documents() if "--all" in sys.argv else ():
        if commands := steps(document.read_text(encoding="utf-8").splitlines(), "console repository"):
            write(document, commands, run(commands, ROOT))


if __name__ == "__main__":
    main()
