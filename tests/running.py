"""The service as in production: separate processes, on loopback."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import httpx

COMMAND = (sys.executable, "-m", "app.cli")


def environment(**settings: str) -> dict[str, str]:
    """The environment of the tests, with the given settings of the service instead of the shell's."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("AEGIS_")}
    return inherited | {f"AEGIS_{name.upper()}": value for name, value in settings.items()}


@contextmanager
def process(*arguments: str, **settings: str) -> Iterator[subprocess.Popen[str]]:
    """A running command of an operator, which is killed when the block ends."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([*COMMAND, *arguments], env=environment(**settings), text=True, **pipes) as found:
        try:
            yield found
        finally:
            found.kill()


def address(server: subprocess.Popen[str]) -> str:
    """The address of a starting server, read from its greeting."""
    assert server.stdout is not None
    for line in server.stdout:
        if found := re.search(r"listens on (http://\S+)", line):
            return found[1]
    raise AssertionError("the server ended: " + (server.stderr.read() if server.stderr else ""))


@contextmanager
def serving(**settings: str) -> Iterator[tuple[httpx.Client, subprocess.Popen[str]]]:
    """A client of an API that runs in a separate process, without workers."""
    with (
        process("api", port="0", **settings) as server,
        httpx.Client(base_url=address(server), timeout=30) as client,
    ):
        yield client, server
