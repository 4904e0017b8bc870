"""Deadlines of connections, which hold however little at a time the other side sends."""

import socket
import threading
from contextlib import suppress
from types import TracebackType
from typing import Self


class Deadline:
    """Cuts connections from another thread when its time has passed.

    The time-out of a socket begins anew with each byte, so a server that drips headers, early hints or the framing of
    chunks could hold a client for ever.
    """

    def __init__(self, seconds: float) -> None:
        self.has_passed = False
        self._lines: list[socket.socket] = []
        self._lock = threading.Lock()
        self._timer = self._started(seconds)

    def __enter__(self) -> Self:
        """Return the deadline, which runs already."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Stop it."""
        self._timer.cancel()
        with self._lock:
            for line in self._lines:
                line.close()
            self._lines.clear()

    def holds_for(self, line: socket.socket) -> None:
        """Cut this connection, too. A copy of it is kept, since TLS takes the socket itself over."""
        with self._lock:
            self._lines.append(line.dup())
        if self.has_passed:
            self._cut()

    def move(self, seconds: float) -> None:
        """Let it pass so many seconds from now, unless it has passed."""
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
                with suppress(OSError):  # it has ended by itself
                    line.shutdown(socket.SHUT_RDWR)
