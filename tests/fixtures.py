import atexit
import gc
import inspect
import os
import secrets
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Generator, Iterator
from contextlib import closing, suppress
from functools import cache
from importlib.metadata import EntryPoints, entry_points
from pathlib import Path
from uuid import uuid4

import httpx
import pytest
import structlog
from anyio import fail_after, to_process
from hypothesis import HealthCheck, settings

from aegis_sdk.cli import main
from app.platform.database import migrations
from app.platform.database.session import Database
from app.platform.process import child
from app.platform.process.embedded.server import EmbeddedPostgres
from app.settings import DatabaseUrls
from tests.browser.summary import summary
from tests.kept import KEPT, database_at
from tests.layers import Budgets
from tests.postgres import OWNER, SERVICE, LentDatabase, as_role, create_database, throwaway_postgres
from tests.service import AUDIT_KEY, Worker, running_app
from tests.stores import s3_environment, s3_server

TEMPLATE = "migrated"

settings.register_profile(
    "short",
    max_examples=20,
    deadline=None,  # a loaded machine must not fail a test
    derandomize=True,
    # One fixture for all examples of a test is intended.
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.register_profile(
    "long",
    settings.get_profile("short"),
    max_examples=200,
    derandomize="CI" in os.environ,  # new examples are looked for where a failure stops nobody else
    print_blob=True,
)
settings.load_profile("short")  # `--hypothesis-profile` loads another one later


def pytest_configure(config: pytest.Config) -> None:
    """Show what the layers take, and let the processes that tests start be interrupted (also under `nohup`).

    A process inherits the signals that its parent ignores, but not its parent's handlers.
    """
    is_whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS and not config.option.collectonly
    if is_whole and not hasattr(config, "workerinput"):  # here the results of all workers arrive
        config.pluginmanager.register(Budgets(config))
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage while modules and tests are collected, nor among them later: they stay (a second of ten)."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        atexit.register(gc.unfreeze)  # libraries in C++ complain of what is left at the end
        gc.enable()


def pytest_xdist_auto_num_workers() -> int | None:
    """One more than there are cores: a fifth of the time, tests wait for the database and for other processes."""
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return cores + 1


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what there is to say of browser tests."""
    for line in summary(terminalreporter.stats):
        terminalreporter.write_line(line)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run every asynchronous test in one loop, which closes its child processes at the end.

    Tests beside the folders, of whole documents and programs, take longest and begin first: at the end, all would wait.
    """
    items.sort(key=lambda item: item.path.parent != Path(__file__).parent)
    for item in items:
        if isinstance(item, pytest.Function) and inspect.iscoroutinefunction(item.function):
            item.fixturenames.insert(0, "_one_loop")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def postgres() -> Iterator[EmbeddedPostgres]:
    """One server for the run, or for each of its workers."""
    with throwaway_postgres() as server:
        yield server


@pytest.fixture(scope="session")
def migrated(postgres: EmbeddedPostgres) -> str:
    """The name of a database at the newest revision, the template of others."""
    url = create_database(postgres.url, TEMPLATE)
    migrations.upgrade(DatabaseUrls(url, as_role(url, SERVICE)))
    return TEMPLATE


@pytest.fixture(scope="session", autouse=True)
def _plain_log() -> None:
    """Send the log to pytest; structlog's default would print every local variable of a traceback."""
    structlog.configure(
        processors=[structlog.stdlib.render_to_log_kwargs], logger_factory=structlog.stdlib.LoggerFactory()
    )


@pytest.fixture(scope="session", autouse=True)
def _own_state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Keep the state of commands out of the developer's own folder; a key of rounding is there."""
    with pytest.MonkeyPatch.context() as patch:
        state = tmp_path_factory.mktemp("state")
        patch.setenv("XDG_STATE_HOME", str(state))
        key = state / "aegis" / "rounding.key"
        key.parent.mkdir(mode=0o700)
        key.touch(0o600)
        key.write_bytes(secrets.token_bytes(32))
        yield state / "aegis"


@pytest.fixture(autouse=True)
def _own_ledger(_own_state: Path) -> Iterator[None]:
    """Forget after each test what left of its tables, which others release, too."""
    yield
    shutil.rmtree(_own_state / "ledger", ignore_errors=True)


@pytest.fixture(scope="session", autouse=True)
def _installed_once() -> Iterator[None]:
    """Read once for each search path what is installed: it takes 4 ms, as much as many a command that tests run."""

    @cache
    def read(_path: tuple[str, ...], group: str) -> EntryPoints:
        return entry_points(group=group)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("aegis_sdk.cli.group.entry_points", lambda *, group: read(tuple(sys.path), group))
        yield


@pytest.fixture(scope="session", autouse=True)
def _no_process_in_advance() -> Iterator[None]:
    """Start no child process that no test needs: it takes time, and is not waited for when its service ends."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(child, "SOON", float("inf"))
        yield


@pytest.fixture(scope="session")
async def _pool(anyio_backend: str) -> None:  # noqa: ARG001 - asked for, not used
    """Start the first child process. It ends with the task that started it, which is this one; later ones stay.

    With the backend, asynchronous fixtures work for whichever test comes first, a synchronous one, too.
    """
    with fail_after(60):
        await to_process.run_sync(os.getpid)


@pytest.fixture(scope="session")
async def _one_loop(_pool: None) -> AsyncIterator[None]:
    """One event loop for the run, so that warm child processes stay warm from test to test."""
    for process in to_process._process_pool_workers.get():
        await process.wait()  # otherwise the first test might be given the one that just ends
    KEPT.begin()
    yield
    await KEPT.end()
    for process in to_process._process_pool_workers.get().copy():
        with suppress(ProcessLookupError):
            process.kill()
        await process.aclose()


@pytest.fixture(scope="session")
def lent(postgres: EmbeddedPostgres, migrated: str) -> Iterator[LentDatabase]:
    with closing(LentDatabase(postgres.url, "lent", migrated)) as database:
        yield database


@pytest.fixture(scope="session")
def _shared(postgres: EmbeddedPostgres, migrated: str) -> Iterator[LentDatabase]:
    with closing(LentDatabase(postgres.url, "shared", migrated)) as database:
        yield database


@pytest.fixture
def database_url(lent: LentDatabase) -> Iterator[str]:
    """A migrated, empty database for this test alone, as the service uses it."""
    yield lent.url
    lent.renew()


@pytest.fixture
def owner_url(database_url: str) -> str:
    """The same database, for the role that owns it."""
    return as_role(database_url, OWNER)


@pytest.fixture(scope="module")
def shared_database_url(_shared: LentDatabase) -> Iterator[str]:
    """A migrated database that the tests of a file share, empty at first."""
    yield _shared.url
    _shared.renew()


@pytest.fixture(scope="module")
async def shared_api(_one_loop: None, shared_database_url: str) -> AsyncIterator[httpx.AsyncClient]:
    """The API in development mode on the shared database, for tests that do not disturb each other."""
    async with running_app(shared_database_url, audit_key=AUDIT_KEY) as client:
        yield client


@pytest.fixture
async def database(_one_loop: None, database_url: str) -> AsyncIterator[Database]:
    async with database_at(database_url) as found:
        yield found


@pytest.fixture
async def api(_one_loop: None, database_url: str) -> AsyncIterator[httpx.AsyncClient]:
    """The API in development mode, in this process, on real PostgreSQL; no worker runs."""
    async with running_app(database_url) as client:
        yield client


@pytest.fixture
async def worker(_one_loop: None, database_url: str) -> AsyncIterator[Worker]:
    """A worker that runs the queued jobs on `await worker.run()`."""
    async with Worker.on(database_url) as found:
        yield found


@pytest.fixture
def aegis(capsys):
    """A function that runs the command `aegis` and returns its exit code, stdout and stderr."""

    def run(*arguments):
        with pytest.raises(SystemExit) as exited:
            main([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        return exited.value.code, printed.out, printed.err

    return run


@pytest.fixture(scope="session")
def s3_address() -> Iterator[str]:
    """An emulator of S3."""
    with s3_server() as address:
        yield address


@pytest.fixture
def s3(s3_address: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A place in a bucket, for which the environment has the credentials."""
    for name, value in s3_environment(s3_address).items():
        monkeypatch.setenv(name, value)
    return f"s3://shared/{uuid4().hex}"
