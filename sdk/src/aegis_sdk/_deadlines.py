"""Deadlines of connections, which apply even if the other side keeps sending a little at a time."""

import socket
import threading
from contextlib import suppress
from types import TracebackType
from typing import Self


class Deadline:
    """Closes connections from another thread when the time is up.

    The time-out of a socket restarts with each byte, so a server that drips headers, early hints or chunk framing could
    block a client without end.
    """

    def __init__(self, seconds: float) -> None:
        self.has_passed = False
        self._lines: list[socket.socket] = []
        self._lock = threading.Lock()
        self._timer = self._started(seconds)

    def __enter__(self) -> Self:
        """Return the running deadline."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Stop it."""
        self._timer.cancel()
        with self._lock:
            for line in self._lines:
                line.close()
            self._lines.clear()

    def holds_for(self, line: socket.socket) -> None:
        """Close this connection, too. TLS takes over the socket itself, so the deadline has a duplicate of it."""
        with self._lock:
            self._lines.append(line.dup())
        if self.has_passed:
            self._cut()

    def move(self, seconds: float) -> None:
        """Move the deadline to this number of seconds from now, unless it has passed."""
        self._timer.cancel()
        self._timer = self._started(seconds)

    def _started(self, seconds: float) -> threading.Timer:
        timer = threading.Timer(seconds, self._cut)
        timer.daemon = True
        timer.start()
        return timer

    def _cut(self) -> None:
        with self._lock:
            self.has_passed = True
            for line in self._lines:
                with suppress(OSError):  # already closed
                    line.shutdown(socket.SHUT_RDWR)
