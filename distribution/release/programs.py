"""Programs that a release runs, and what it says meanwhile."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
BIN: Final = Path(sys.executable).parent


class ReleaseError(Exception):
    """There is no release; the message says why, and what to do."""


def run(*command: str | Path, where: Path = ROOT, environ: Mapping[str, str] | None = None) -> str:
    """Run a program, and return what it prints.

    Args:
        environ: Variables besides those of this process, of which those of Aegis and Python are left out.

    Raises:
        ReleaseError: It failed; the end of what it said is in the message.
    """
    words = list(map(str, command))
    ran = subprocess.run(  # noqa: S603 -- the release's own commands
        words, cwd=where, env=clean(environ), capture_output=True, text=True, check=False
    )
    if ran.returncode:
        said = "\n  ".join((ran.stdout + ran.stderr).strip().splitlines()[-20:])
        raise ReleaseError(f"{' '.join(words)} failed with exit code {ran.returncode}:\n  {said}")
    return ran.stdout


def clean(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """The variables of this process without those of Aegis and Python, so that nothing of a checkout is found."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("AEGIS_", "PYTHON", "VIRTUAL"))}
    return kept | dict(environ or {})


def git(*arguments: str) -> str:
    """What git prints, without the last line break."""
    return run(shutil.which("git") or "git", *arguments).rstrip("\n")


@contextmanager
def step(what: str) -> Iterator[None]:
    """Say what is done, and how long it took."""
    start = time.perf_counter()
    say(f"{what} ...")
    yield
    say(f"  {time.perf_counter() - start:.0f} s")


def say(line: str) -> None:
    """Print a line now."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
