"""The service on loopback as it is really served, its API in a thread of the tests' own process.

Nothing has to be imported again for that, which takes a process three seconds of a core. Its worker is a process, as it
has to be: workers handle signals.
"""

import asyncio
import signal
import socket
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any
from uuid import uuid4

from anyio import to_process

from app.main import create_app, listening_server
from app.platform.http.server import Server
from app.platform.process.bound import bound_command
from app.platform.process.embedded.server import EmbeddedPostgres
from app.settings import Settings
from tests.postgres import SERVICE, as_role, create_database, drop_database
from tests.running import COMMAND, Running, environment
from tests.waiting import PATIENCE, wait_until

#: As `serve` has it.
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


@contextmanager
def own_database(postgres: EmbeddedPostgres, template: str) -> Iterator[str]:
    """A migrated database as the service uses it, for the block."""
    name = f"own_{uuid4().hex}"
    try:
        yield as_role(create_database(postgres.url, name, template=template), SERVICE)
    finally:
        drop_database(postgres.url, name)


@contextmanager
def serving(database_url: str, *, worker: bool = True, **settings: str) -> Iterator[str]:
    """Run the API and a worker as `serve` has them, and yield the API's address.

    The worker becomes ready while the first requests are answered. It ends with this process, even if that is killed.
    """
    settings |= {"database_url": database_url}
    with _working(settings) if worker else nullcontext(), _answering({"port": "0"} | settings) as address:
        yield address


@contextmanager
def _answering(told: Mapping[str, Any]) -> Iterator[str]:
    settings = Settings(**told)
    server, listening = listening_server(settings, create_app(settings))
    ended: Future[None] = Future()
    Thread(target=_run, args=[server, listening, ended], daemon=True).start()
    try:
        wait_until(lambda: server.started or ended.done(), "the API does not start")
        assert server.started, "the API has not started"
        host, port = listening.getsockname()[:2]
        yield f"http://{host}:{port}"
    finally:
        server.should_exit = True
        ended.result(PATIENCE)


def _run(server: Server, listening: socket.socket, ended: Future[None]) -> None:
    """Serve in a loop of this thread; how that ends is the future's result."""
    try:
        ended.set_result(asyncio.run(_until_asked_to_end(server, listening)))
    except BaseException as error:  # noqa: BLE001 - the test raises it
        ended.set_exception(error)


async def _until_asked_to_end(server: Server, listening: socket.socket) -> None:
    await server.serve([listening])
    for process in to_process._process_pool_workers.get().copy():  # its own end does not wait for them
        with suppress(ProcessLookupError):
            process.kill()
        await process.aclose()


@contextmanager
def _working(settings: dict[str, str]) -> Iterator[Running]:
    """Run a worker; what it logs goes where pytest keeps what a test prints."""
    bound = bound_command([*COMMAND, "worker"], on_parent_death=signal.SIGKILL)
    environ = environment(**{"log_level": "WARNING"} | settings) | ONE_THREAD
    with TemporaryDirectory() as folder, Running(bound, Path(folder), env=environ) as started:
        try:
            yield started
        finally:
            started.kill()
            sys.stderr.write(started.whole_log())
