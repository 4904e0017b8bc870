"""Runs the processes of `aegis-server serve` as one group that starts and stops together."""

import contextlib
import logging
import os
import select
import signal
import socket
import subprocess
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType

from app.process.bound import bound_command

_log = logging.getLogger(__name__)

_STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_WINDOW_SECONDS = 60.0
_MOST_FAILURES = 5  # within the window
_FIRST_DELAY_SECONDS = 0.1  # doubles with every failure in the window


@dataclass(frozen=True, kw_only=True)
class GroupMember:
    """A process of the group.

    Attributes:
        name: its name in the log.
        argv: its command line, which begins with an absolute path; no shell is used.
        env: environment variables, added to those of this process.
        restart: if it ends unexpectedly, whether to start it again or to stop the whole group.
    """

    name: str
    argv: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict)
    restart: bool = False


class Supervisor:
    """Starts the children in order, keeps them running, and stops them in the reverse order.

    Each child leads its own session, so that a terminal's Ctrl-C reaches only the supervisor. On Linux, a child is
    killed if the supervisor is killed. To stop, a child gets SIGTERM, and SIGKILL after `grace` seconds; only then is
    the one started before it stopped. SIGKILL also goes to the processes that a child leaves in its session.
    """

    def __init__(self, children: Sequence[GroupMember], *, grace: float = 10.0) -> None:
        self._members = [_Member(child) for child in children]
        self._grace = grace

    def run(self) -> int:
        """Run until SIGTERM or SIGINT (returns 0), or until a child without restart ends or one keeps ending (1).

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
            for member in self._members:
                if not member.keep_running():
                    return 1
            due = [member.due for member in self._members if member.due is not None]
            wakeup.wait(min(due, default=None))
        return 0

    def _stop(self, wakeup: "_Wakeup") -> None:
        for member in reversed(self._members):
            member.ask_to_stop()
            deadline = time.monotonic() + self._grace
            while member.runs() and not wakeup.hurry and time.monotonic() < deadline:
                wakeup.wait(deadline)
            member.kill()


class _Member:
    """A child's current process, and when its previous ones failed."""

    def __init__(self, child: GroupMember) -> None:
        self.due: float | None = None
        self._child = child
        self._process: subprocess.Popen[bytes] | None = None
        self._failures: deque[float] = deque(maxlen=_MOST_FAILURES)

    def start(self) -> None:
        self.due = None
        self._process = subprocess.Popen(  # noqa: S603 - the group's own command lines
            bound_command(self._child.argv, on_parent_death=signal.SIGKILL),
            env={**os.environ, **self._child.env},
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        _log.info("%s runs as process %d", self._child.name, self._process.pid)

    def runs(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def keep_running(self) -> bool:
        """Restart the process if it ended and may be restarted; False if the group must stop."""
        if self.due is not None and self.due <= time.monotonic():
            self.start()
        if self.due is not None or self.runs():
            return True
        self._note_failure()
        if not self._child.restart or len(self._failures) == _MOST_FAILURES:
            _log.error("%s ended and is not restarted, so the others stop too", self._child.name)
            return False
        self.due = time.monotonic() + _FIRST_DELAY_SECONDS * 2 ** (len(self._failures) - 1)
        return True

    def ask_to_stop(self) -> None:
        if self._process is not None:
            self._process.terminate()

    def kill(self) -> int | None:
        """Kill the rest of the process and of its session; return the exit status, None without a process."""
        process, self._process = self._process, None
        if process is None:
            return None
        # The leader may have ended before its children: the group's id stays valid while one of them lives.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        return process.wait()

    def _note_failure(self) -> None:
        _log.warning("%s ended unexpectedly with status %s", self._child.name, self.kill())
        now = time.monotonic()
        while self._failures and now - self._failures[0] > _WINDOW_SECONDS:
            self._failures.popleft()
        self._failures.append(now)


class _Wakeup:
    """Waits for a signal or a point in time, whichever comes first, and counts the requests to stop."""

    def __init__(self, signals: socket.socket) -> None:
        self.stops = 0
        self._signals = signals

    @property
    def hurry(self) -> bool:
        return self.stops > 1

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
        handlers = {number: signal.signal(number, _only_wake) for number in (*_STOP_SIGNALS, signal.SIGCHLD)}
        previous = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
        try:
            yield _Wakeup(reader)
        finally:
            signal.set_wakeup_fd(previous)
            for number, handler in handlers.items():
                signal.signal(number, handler)


def _only_wake(number: int, frame: FrameType | None) -> None:
    """Do nothing: the signal is reported by the byte in the socket, and its default action must not happen."""
