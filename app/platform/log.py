"""Logging: one JSON object per line on standard error. No key, body or count is ever logged."""

import logging
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

import structlog
from structlog.types import EventDict, Processor

from app.platform.repetition import Unrepeated


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

#: Libraries that log a line for every job or statement; only their warnings are logged.
_TALKATIVE = ("procrastinate", "sqlalchemy", "alembic", "httpx", "uvicorn")


@contextmanager
def bound(**known: str | int | None) -> Iterator[None]:
    """Have every line that is logged during the block say what is known, libraries' lines included."""
    with structlog.contextvars.bound_contextvars(**{name: value for name, value in known.items() if value is not None}):
        yield


def bound_request_id() -> str | None:
    """The id of the request that is being worked on; None if there is none."""
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
