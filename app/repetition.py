"""A log without repetition: what happens again and again, such as a database that is away, is said once a minute."""

import logging
from typing import Any, Final

#: Seconds for which the same line is left out, and how many different lines are remembered.
SECONDS: Final = 60.0
REMEMBERED: Final = 1_000


class Unrepeated(logging.Filter):
    """Leaves out warnings and errors that say the same as one of the last minute, and counts them in the next one."""

    def __init__(self) -> None:
        super().__init__()
        self._said: dict[tuple[str, str], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the line is written."""
        if record.levelno < logging.WARNING:
            return True
        line = (record.name, _content(record))
        at, left_out = self._said.get(line, (-SECONDS, 0))
        if record.created - at < SECONDS:
            self._said[line] = at, left_out + 1
            return False
        if len(self._said) >= REMEMBERED:
            self._said.clear()
        self._said[line] = record.created, 0
        if left_out:
            _add(record, left_out)
        return True


def _content(record: logging.LogRecord) -> str:
    """What a line says, but for when."""
    told: Any = record.msg
    if isinstance(told, dict):  # structlog's
        return repr(sorted((name, str(value)) for name, value in told.items() if name != "timestamp"))
    return record.getMessage()


def _add(record: logging.LogRecord, left_out: int) -> None:
    told: Any = record.msg
    if isinstance(told, dict):
        told["left_out"] = left_out
    else:
        record.msg, record.args = f"{record.getMessage()} (left out {left_out} times)", ()
