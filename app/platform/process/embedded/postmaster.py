"""The process of the server: it is started, started again if it died, and stopped."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from app.platform.process.embedded.cluster import server_environment
from app.platform.process.embedded.places import EmbeddedPostgresError
from app.platform.process.embedded.server_log import kept_small

#: Seconds for a fast shutdown.
FAST_STOP_SECONDS: Final = 15.0

_START_SECONDS: Final = 60.0  # including recovery after a crash
_POLL_SECONDS: Final = 0.01
_LOG_TAIL_LINES: Final = 12


class Postmaster:
    """The first process of a server, which starts all others.

    Args:
        command: its command line.
        home: the directory of the server's files, which has its log.
        lock: the file of the lock that the server holds by inheriting it.

    Attributes:
        name: what it is called in the log.
        log: its own log.
        process: the one that was started last.
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
            EmbeddedPostgresError: it never does; the error has the end of its log.
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

        Processes of a server that died may live a little longer. PostgreSQL knows them by the memory that they share,
        and ends until they are gone.
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
