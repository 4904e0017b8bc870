"""The launcher: runs `postgres` as a direct child, from taking the lock to creating the service's database."""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Final, Self
from urllib.parse import quote

import psycopg

from app.platform.process.bound import bound_command
from app.platform.process.embedded.cluster import (
    Account,
    Binaries,
    EmbeddedPostgresError,
    Launch,
    LauncherLock,
    binaries_for,
    current_launch,
    drop_stale_pid_file,
    home_of,
    make_cluster,
    make_home,
    server_account,
    server_environment,
    stop_orphan,
    write_access,
)
from app.settings import DatabaseUrls

_DATABASE = "aegis"
#: The role that owns everything, and that of the service, which `app.platform.database.migrations` creates.
_OWNER, _SERVICE = "postgres", "aegis"
_DEFAULTS = {"max_connections": "100", "shared_buffers": "128MB", "timezone": "UTC", "log_timezone": "UTC"}
_PORT = "5432"  # part of the name of the socket's file only
_LONGEST_SOCKET_PATH = 103  # bytes: 107 on Linux, 103 on macOS

#: Seconds for a fast shutdown.
FAST_STOP_SECONDS: Final = 15.0

_START_SECONDS: Final = 60.0  # including recovery after a crash
_POLL_SECONDS: Final = 0.01
_LOG_TAIL_LINES: Final = 12

#: The size in bytes from which the log is rotated, and seconds between two checks.
LARGEST_LOG: Final = 10_000_000
LOG_PAUSE: Final = 60.0


class EmbeddedPostgres:
    """A PostgreSQL server that lives as long as a `with` block, and never longer than this process.

    Enter the block from the main thread: the server ends with the thread that started it.

    Args:
        data_dir: the directory for its files. If root starts the server and `nobody` cannot reach the directory, the
            files are in a directory named after it below /var/lib/aegis.

    Raises:
        EmbeddedPostgresError: the server cannot be used.
    """

    def __init__(self, data_dir: Path, *, settings: Mapping[str, str] = MappingProxyType({})) -> None:
        self._account = server_account()
        self._settings = _DEFAULTS | dict(settings)
        self._running = ExitStack()
        self._socket: Path | None = None
        self._postmaster: Postmaster | None = None
        with _clear_errors(data_dir):
            self.home = home_of(data_dir, self._account)

    @property
    def url(self) -> str:
        """The libpq URL of the service's database for its owner, while the server runs."""
        return self.urls.owner

    @property
    def urls(self) -> DatabaseUrls:
        """The libpq URLs of the service's database, while the server runs."""
        if self._socket is None:
            raise EmbeddedPostgresError(f"the database in {self.home} is not running: enter its `with` block first")
        return _urls(self._socket)

    @property
    def postmaster(self) -> "Postmaster":
        """The server's process, while the server runs."""
        if self._postmaster is None:
            raise EmbeddedPostgresError(f"the database in {self.home} is not running: enter its `with` block first")
        return self._postmaster

    def __enter__(self) -> Self:
        """Create the cluster and the database if missing, start the server, and wait until it accepts connections."""
        if threading.current_thread() is not threading.main_thread():
            raise EmbeddedPostgresError("the embedded PostgreSQL must be started from the main thread")
        with _clear_errors(self.home), ExitStack() as starting:
            self._start(starting)
            self._running = starting.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the server, cutting its sessions without losing committed data, and free the directory."""
        self._socket = None
        self._running.close()

    def _start(self, starting: ExitStack) -> None:
        cluster = self.home / "cluster"
        binaries = binaries_for(self._account)
        make_home(self.home, self._account)
        lock = starting.enter_context(
            LauncherLock(self.home, patience=FAST_STOP_SECONDS, evict=lambda: stop_orphan(cluster))
        )
        if not cluster.exists():
            make_cluster(cluster, binaries, self._account, durable=self._settings.get("fsync") != "off")
        drop_stale_pid_file(cluster)
        socket = starting.enter_context(_socket_directory(self.home, lock.previous, self._account))
        lock.tell(Launch(os.getpid(), str(socket)))
        self._postmaster = Postmaster(self._command(binaries, socket), self.home, lock.fileno())
        starting.enter_context(self._postmaster.running(lambda: _refusal(socket)))
        with psycopg.connect(_url(socket, "postgres"), autocommit=True) as connection:
            known = connection.execute("SELECT FROM pg_database WHERE datname = %s", [_DATABASE])
            if known.rowcount == 0:
                connection.execute(f"CREATE DATABASE {_DATABASE}")
        self._socket = socket

    def _command(self, binaries: Binaries, socket: Path) -> list[str]:
        """The server's command line; the settings that decide who can connect cannot be overridden."""
        settings = self._settings | {
            "listen_addresses": "",
            "port": _PORT,
            "unix_socket_directories": '"{}"'.format(str(socket).replace('"', '""')),
            "unix_socket_permissions": "0700",
            **write_access(self.home),
        }
        options = [item for name, value in settings.items() for item in ("-c", f"{name}={value}")]
        return bound_command(
            [binaries.postgres, "-D", str(self.home / "cluster"), *options],
            on_parent_death=signal.SIGINT,
            account=(self._account.uid, self._account.gid),
        )


def running_urls(data_dir: Path) -> DatabaseUrls | None:
    """The libpq URLs of the server that another `aegis-server` runs on `data_dir`; None if there is none."""
    with _clear_errors(data_dir):
        launch = current_launch(home_of(data_dir, server_account()))
        if launch is None or launch.socket is None:
            return None
        with (
            contextlib.suppress(psycopg.OperationalError),
            psycopg.connect(_url(Path(launch.socket), _DATABASE)),
        ):
            return _urls(Path(launch.socket))
    return None


def _urls(socket: Path) -> DatabaseUrls:
    return DatabaseUrls(owner=_url(socket, _DATABASE), service=_url(socket, _DATABASE, _SERVICE))


def _url(socket: Path, database: str, role: str = _OWNER) -> str:
    """A URL that overrides PGHOST and PGPORT."""
    return f"postgresql://{role}@/{database}?host={quote(str(socket), safe='')}&port={_PORT}"


@contextmanager
def _clear_errors(place: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, psycopg.Error) as error:
        raise EmbeddedPostgresError(
            f"the database in {place} cannot be used ({error}): correct this, or choose another data directory"
        ) from error


@contextmanager
def _socket_directory(home: Path, previous: Launch | None, account: Account) -> Iterator[Path]:
    """A private directory for the socket: in `home`, or a temporary one if libpq cannot use that."""
    socket = home / "socket"
    if previous is not None and previous.socket is not None and Path(previous.socket) != socket:
        with contextlib.suppress(OSError):  # left by a killed launcher; if not empty, another launcher uses it now
            Path(previous.socket).rmdir()
    # For libpq, a comma separates hosts.
    if len(os.fsencode(socket / f".s.PGSQL.{_PORT}")) <= _LONGEST_SOCKET_PATH and "," not in str(socket):
        socket.mkdir(mode=0o700, exist_ok=True)
        account.own(socket)
        yield socket
    else:
        with tempfile.TemporaryDirectory(prefix="aegis-", dir="/tmp") as short:
            account.own(Path(short))
            yield Path(short)


def _refusal(socket: Path) -> str | None:
    """Why the server does not accept connections yet; None if it does."""
    try:
        psycopg.connect(_url(socket, "postgres")).close()
    except psycopg.OperationalError as error:
        return str(error).strip()
    return None


class Postmaster:
    """The first process of a server, which starts all others.

    Args:
        lock: the lock file, which the server inherits.
    """

    name = "postgresql"
    process: subprocess.Popen[bytes]

    def __init__(self, command: list[str], home: Path, lock: int) -> None:
        self._command = command
        self.log = home / "postgres.log"
        self._lock = lock

    @contextmanager
    def running(self, refusal: Callable[[], str | None]) -> Iterator[None]:
        """Run the server during the block, which begins when the server accepts connections.

        Args:
            refusal: why the server does not accept connections yet; None if it does.

        Raises:
            EmbeddedPostgresError: it does not start; the error has the end of its log.
        """
        start = self.log.stat().st_size if self.log.exists() else 0
        self.start()
        try:
            self._await(refusal, start)
            with kept_small(self.log):
                yield
        finally:
            _stop(self.process)

    def start(self) -> subprocess.Popen[bytes]:
        """Start the process, for the first time or again.

        Processes of a dead server may live a little longer. PostgreSQL recognises them by their shared memory, and
        refuses to start until they are gone.
        """
        log = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
        try:
            self.process = subprocess.Popen(  # noqa: S603 - our own command line
                self._command,
                cwd="/",
                env=server_environment(),
                pass_fds=(self._lock,),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # a terminal's Ctrl-C must not reach it: it is stopped last
            )
        finally:
            os.close(log)
        return self.process

    def _await(self, refusal: Callable[[], str | None], start: int) -> None:
        """Wait until the server accepts connections; if it does not, raise with its log from `start` on."""
        deadline = time.monotonic() + _START_SECONDS
        while (refused := refusal()) is not None:
            if self.process.poll() is not None or time.monotonic() > deadline:
                with self.log.open("rb") as lines:
                    lines.seek(start)
                    tail = lines.read().decode(errors="replace").splitlines()[-_LOG_TAIL_LINES:]
                problem = f"the database in {self.log.parent} did not start: see the end of {self.log}"
                raise EmbeddedPostgresError("\n".join([problem, *tail, refused]))
            time.sleep(_POLL_SECONDS)


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Shut down fast, or immediately if that takes too long; the next start recovers from an immediate shutdown."""
    process.send_signal(signal.SIGINT)
    try:
        process.wait(FAST_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGQUIT)
        process.wait()


def rotate(log: Path) -> None:
    """Move the content of the log to `postgres.log.1` if it is large.

    The server has the file open for appending, so it is copied and truncated. A line written meanwhile can be lost.
    """
    with suppress(OSError):  # the disk may be full; the next check tries again
        if log.stat().st_size > LARGEST_LOG:
            shutil.copyfile(log, log.with_name(f"{log.name}.1"))
            log.with_name(f"{log.name}.1").chmod(0o600)
            os.truncate(log, 0)


@contextmanager
def kept_small(log: Path) -> Iterator[None]:
    """Check and rotate the log regularly during the block."""
    over = threading.Event()

    def look() -> None:
        while not over.wait(LOG_PAUSE):
            rotate(log)

    rotate(log)
    looking = threading.Thread(target=look, name="postgres.log", daemon=True)
    looking.start()
    try:
        yield
    finally:
        over.set()
        looking.join()
