"""Runs the processes of `aegis-server serve` as one group: starts and stops them together, and restarts dead ones."""

import contextlib
import logging
import os
import select
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from app.platform.process.bound import bound_command
from app.platform.process.embedded.server import Postmaster

_log = logging.getLogger(__name__)

_STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)

#: Seconds after which a process counts as working. One that ends earlier would fail again, because of a wrong setting,
#: for example.
WORKS_AFTER_SECONDS = 10.0

#: Seconds before a restart; they double with every failure until the process works.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 10.0


@dataclass(frozen=True, kw_only=True)
class GroupMember:
    """A process of the group.

    Attributes:
        argv: its command line, which begins with an absolute path; no shell is used.
        env: environment variables, added to those of this process.
    """

    name: str
    argv: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict)

    def start(self) -> subprocess.Popen[bytes]:
        """Start it."""
        return subprocess.Popen(  # noqa: S603 - the group's own command lines
            bound_command(self.argv, on_parent_death=signal.SIGKILL),
            env={**os.environ, **self.env},
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )


class Supervisor:
    """Starts the children in order, restarts dead ones, and stops all at the same time.

    Every child leads its own session, so that a terminal's Ctrl-C reaches only the supervisor. On Linux, a child is
    killed if the supervisor is killed. To stop, the children get SIGTERM and, after `grace` seconds, SIGKILL, also for
    other processes in a child's session.

    Args:
        server: what the group depends on: also restarted if it dies, but stopped by the process that started it.
    """

    def __init__(
        self, children: Sequence[GroupMember], *, server: Postmaster | None = None, grace: float = 10.0
    ) -> None:
        self._members = [_Member(child.name, child.start) for child in children]
        self._kept = list(self._members)
        if server is not None:
            self._kept.insert(0, _Member(server.name, server.start, server.process, server.log))
        self._grace = grace

    def run(self) -> int:
        """Run until SIGTERM or SIGINT (returns 0), or until a child ends that never worked (1).

        A second signal kills all processes that still run. Call this from the main thread.
        """
        with _woken_by_signals() as wakeup:
            try:
                for member in self._members:
                    member.start()
                return self._watch(wakeup)
            finally:
                self._stop(wakeup)

    def _watch(self, wakeup: "_Wakeup") -> int:
        while not wakeup.stops:
            for member in self._kept:
                if not member.keep_running():
                    return 1
            due = [member.due for member in self._kept if member.due is not None]
            wakeup.wait(min(due, default=None))
        return 0

    def _stop(self, wakeup: "_Wakeup") -> None:
        for member in self._members:
            member.ask_to_stop()
        deadline = time.monotonic() + self._grace
        while any(member.runs() for member in self._members) and wakeup.stops <= 1 and time.monotonic() < deadline:
            wakeup.wait(deadline)
        for member in self._members:
            member.kill()


class _Member:
    """The current process of a member, and its previous failures."""

    def __init__(
        self,
        name: str,
        begin: Callable[[], subprocess.Popen[bytes]],
        process: subprocess.Popen[bytes] | None = None,
        log: Path | None = None,
    ) -> None:
        self.due: float | None = None
        self._name = name
        self._begin = begin
        self._process = process
        self._log = log
        self._has_worked = process is not None
        self._began_at = time.monotonic()
        self._failures = 0

    def start(self) -> None:
        self.due = None
        self._began_at = time.monotonic()
        self._process = self._begin()
        _log.info("%s runs as process %d", self._name, self._process.pid)

    def runs(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def keep_running(self) -> bool:
        """Restart the process after a pause if it ended; False if it never worked."""
        if self.due is not None and self.due <= time.monotonic():
            try:
                self.start()
            except OSError as error:  # out of processes, memory or files, which may pass
                self._fail(f"could not be started ({error.strerror})")
        if self.due is not None or self.runs():
            return True
        ran = time.monotonic() - self._began_at
        status = self.kill() or 0
        worked = ran >= WORKS_AFTER_SECONDS
        self._has_worked |= worked
        if status >= 0 and not self._has_worked:
            _log.error("%s ended with status %d before it worked, so the others stop, too", self._name, status)
            return False
        self._failures = 0 if worked else self._failures
        self._fail(f"ended ({_cause(status)})")
        return True

    def _fail(self, how: str) -> None:
        self._failures += 1
        pause = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** (self._failures - 1))
        self.due = time.monotonic() + pause
        times = "" if self._failures == 1 else f"; that is {self._failures} times in a row"
        log = "" if self._log is None else f"; see {self._log}"
        _log.warning("%s %s and starts again in %.1f s%s%s", self._name, how, pause, times, log)

    def ask_to_stop(self) -> None:
        if self._process is not None:
            self._process.terminate()

    def kill(self) -> int | None:
        """Kill the process and the rest of its session; return the exit status, None without a process."""
        process, self._process = self._process, None
        if process is None:
            return None
        # The leader may have ended before its children: the group's id stays valid while one of them lives.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        return process.wait()


def _cause(status: int) -> str:
    if status >= 0:
        return f"status {status}"
    with contextlib.suppress(ValueError):
        return signal.Signals(-status).name
    return f"signal {-status}"


class _Wakeup:
    """Waits for a signal or a point in time, whichever comes first, and counts the requests to stop."""

    def __init__(self, signals: socket.socket) -> None:
        self.stops = 0
        self._signals = signals

    def wait(self, until: float | None) -> None:
        """Wait for the next signal, or until the monotonic time `until`."""
        timeout = None if until is None else max(0.0, until - time.monotonic())
        if select.select([self._signals], [], [], timeout)[0]:
            self.stops += sum(number in _STOP_SIGNALS for number in self._signals.recv(4096))


@contextmanager
def _woken_by_signals() -> Iterator[_Wakeup]:
    """Turn the stop signals and SIGCHLD into bytes of a socket during the block."""
    reader, writer = socket.socketpair()
    with reader, writer:
        writer.setblocking(False)
        # The byte in the socket reports the signal. Its default action must not happen.
        handlers = {number: signal.signal(number, lambda *_: None) for number in (*_STOP_SIGNALS, signal.SIGCHLD)}
        previous = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
        try:
            yield _Wakeup(reader)
        finally:
            signal.set_wakeup_fd(previous)
            for number, handler in handlers.items():
                signal.signal(number, handler)
