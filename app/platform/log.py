"""Logging: one JSON object per line on standard error. No key, body or count is ever logged.

Repeated warnings, such as of an unreachable database, are logged once a minute.
"""

import logging
import math
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import structlog
from structlog.types import EventDict, Processor

#: Seconds in which a repeated line is dropped, and the number of different lines remembered.
SECONDS: Final = 60.0
REMEMBERED: Final = 1_000


class Unrepeated(logging.Filter):
    """Drops warnings and errors that repeat one of the last minute, and counts them in the next one."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock  # not the wall clock, which may be set back
        self._said: dict[tuple[str, str], tuple[float, int]] = {}
        self._lock = threading.Lock()  # filters run outside the lock of their handler

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the line is written."""
        if record.levelno < logging.WARNING:
            return True
        left_out = self._left_out((record.name, _content(record)))
        if left_out:
            event: Any = record.msg
            if isinstance(event, dict):
                event["left_out"] = left_out
            else:
                record.msg, record.args = f"{record.getMessage()} (left out {left_out} times)", ()
        return left_out is not None

    def _left_out(self, line: tuple[str, str]) -> int | None:
        """How often a line was dropped before it is now written; None if it is dropped again."""
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
    """The content of a line without its time."""
    event: Any = record.msg
    if isinstance(event, dict):  # structlog's
        return repr(sorted((name, str(value)) for name, value in event.items() if name != "timestamp"))
    return f"{record.getMessage()} {_error(record)}"


def _error(record: logging.LogRecord) -> str:
    """The class of a line's exception and where it was raised; empty without an exception."""
    error = record.exc_info[1] if record.exc_info else None
    if error is None:
        return ""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = "" if trace is None else f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
    return f"{type(error).__name__} {place}"


def _name_exception(_logger: object, _method: str, event: EventDict) -> EventDict:
    """Log only the class of an exception and its stack: its text may quote counts or keys."""
    given = event.pop("exc_info", None)
    error = sys.exc_info()[1] if given is True else given[1] if isinstance(given, tuple) else given
    if isinstance(error, BaseException):
        places = traceback.extract_tb(error.__traceback__)
        event["exception"] = type(error).__name__
        event["places"] = [f"{place.filename}:{place.lineno} {place.name}" for place in places]
    return event


_SHARED: list[Processor] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    _name_exception,
]

#: Libraries that log every job or statement, of which only warnings are logged.
_TALKATIVE = ("procrastinate", "sqlalchemy", "alembic", "httpx", "uvicorn")


@contextmanager
def bound(**known: str | int | None) -> Iterator[None]:
    """Add these fields to every line that is logged during the block, also by libraries."""
    with structlog.contextvars.bound_contextvars(**{name: value for name, value in known.items() if value is not None}):
        yield


def bound_request_id() -> str | None:
    """The id of the current request; None if there is none."""
    request_id: str | None = structlog.contextvars.get_contextvars().get("request_id")
    return request_id


def configure(level: str) -> None:
    """Send all logging of this process, including that of libraries, through one formatter."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.JSONRenderer(),
            ],
            foreign_pre_chain=_SHARED,
        )
    )
    handler.addFilter(Unrepeated())
    logging.basicConfig(level=level, handlers=[handler], force=True)
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(max(logging.WARNING, logging.getLevelName(level)))
    structlog.configure(
        processors=[*_SHARED, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
