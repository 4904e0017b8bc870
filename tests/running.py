"""The service as it is really run: in separate processes, on loopback."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

import httpx

COMMAND = (sys.executable, "-m", "app.cli")


def environment(**settings: str) -> dict[str, str]:
    """Return this environment, with these settings of the service instead of the shell's."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("AEGIS_")}
    return inherited | {f"AEGIS_{name.upper()}": value for name, value in settings.items()}


@contextmanager
def process(*arguments: str, **settings: str) -> Iterator[subprocess.Popen[str]]:
    """Run an operator's command, which is killed at the end of the block.

    It logs warnings only, unless a test asks for more: nobody reads the pipe meanwhile, and a full one would stop it.
    """
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    environ = environment(**{"log_level": "WARNING"} | settings)
    with subprocess.Popen([*COMMAND, *arguments], env=environ, text=True, **pipes) as started:
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
def serving(**settings: str) -> Iterator[tuple[httpx.Client, subprocess.Popen[str]]]:
    """Run the API in a separate process without workers; yield a client and the process."""
    with (
        process("api", port="0", **settings) as server,
        httpx.Client(base_url=address(server), timeout=30) as client,
    ):
        yield client, server
