"""A log without repetition: what happens again and again, such as a database that is away, is said once a minute."""

import logging
import math
import threading
import time
from collections.abc import Callable
from typing import Any, Final

#: Seconds for which the same line is left out, and how many different lines are remembered.
SECONDS: Final = 60.0
REMEMBERED: Final = 1_000


class Unrepeated(logging.Filter):
    """Leaves out warnings and errors that say the same as one of the last minute, and counts them in the next one."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock  # not the time of the day, which may be set back
        self._said: dict[tuple[str, str], tuple[float, int]] = {}
        self._lock = threading.Lock()  # filters run outside the lock of their handler

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the line is written."""
        if record.levelno < logging.WARNING:
            return True
        left_out = self._left_out((record.name, _content(record)))
        if left_out:
            _add(record, left_out)
        return left_out is not None

    def _left_out(self, line: tuple[str, str]) -> int | None:
        """How often a line was left out that is written now; None if it is left out again."""
        with self._lock:
            now = self._clock()
            at, left_out = self._said.get(line, (-math.inf, 0))
            if now - at < SECONDS:
                self._said[line] = at, left_out + 1
                return None
            if len(self._said) >= REMEMBERED:
                self._said.clear()
            self._said[line] = now, 0
            return left_out


def _content(record: logging.LogRecord) -> str:
    """What a line says, but for when."""
    told: Any = record.msg
    if isinstance(told, dict):  # structlog's
        return repr(sorted((name, str(value)) for name, value in told.items() if name != "timestamp"))
    return f"{record.getMessage()} {_error(record)}"


def _error(record: logging.LogRecord) -> str:
    """The class of the exception that a line is about, and where it was raised; nothing if there is none."""
    error = record.exc_info[1] if record.exc_info else None
    if error is None:
        return ""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = "" if trace is None else f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
    return f"{type(error).__name__} {place}"


def _add(record: logging.LogRecord, left_out: int) -> None:
    told: Any = record.msg
    if isinstance(told, dict):
        told["left_out"] = left_out
    else:
        record.msg, record.args = f"{record.getMessage()} (left out {left_out} times)", ()
