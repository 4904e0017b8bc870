"""The service as it is really run: in separate processes, on loopback."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Protocol

import httpx

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


@contextmanager
def process(*arguments: str, version: Version | None = None, **settings: str) -> Iterator[subprocess.Popen[str]]:
    """Run an operator's command, of another version of the service if one is given; kill it at the end of the block.

    It logs warnings only, unless a test asks for more: nobody reads the pipe meanwhile, and a full one would stop it.
    """
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    environ = environment(**{"log_level": "WARNING"} | settings)
    if version is not None:
        environ["PYTHONPATH"] = version.path
    place = None if version is None else version.tree
    with subprocess.Popen([*COMMAND, *arguments], cwd=place, env=environ, text=True, **pipes) as started:
        try:
            yield started
        finally:
            started.kill()


def address(server: subprocess.Popen[str]) -> str:
    """Read the address of a starting server from its output."""
    assert server.stdout is not None
    for line in server.stdout:
        if found := re.search(r"listens on (http://\S+)", line):
            return found[1]
    raise AssertionError("the server ended: " + (server.stderr.read() if server.stderr else ""))


def line_with(stream: IO[str] | None, text: str) -> str:
    """Read a process's output up to the first line with this text, and return it."""
    assert stream is not None
    return next(line for line in stream if text in line)


@contextmanager
def serving(version: Version | None = None, **settings: str) -> Iterator[tuple[httpx.Client, subprocess.Popen[str]]]:
    """Run the API in a separate process without workers; yield a client and the process."""
    with (
        process("api", version=version, port="0", **settings) as server,
        httpx.Client(base_url=address(server), timeout=120) as client,
    ):
        yield client, server
