"""The errors in the logs of a service, by kind."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

#: The expected errors while the database is unreachable or its disk is full.
_EXPECTED = re.compile(r"ConnectorException|OperationalError|InterfaceError|DiskFull|Shutdown|CannotConnectNow")

#: The log line of a process that ended by itself; the others were killed on purpose.
_ENDED = re.compile(r" ended \((?!SIGKILL)")

#: The lines of a traceback that name an error.
_ERROR = re.compile(r"^(?:Fatal Python error|[A-Za-z_]\w*(?:\.\w+)+|\w+(?:Error|Exception))\b(?::|$).*")

#: The variable parts: numbers, addresses, names of temporary files.
_VARYING = re.compile(r"0x[0-9a-f]+|[0-9a-f]{8}-[0-9a-f-]{27}|aegis-chaos-\w+|\d+(?:\.\d+)?")

_LONGEST = 160

#: A line with its JSON record, if it is one.
_Line = tuple[dict[str, Any] | None, str]


def errors_in(log: Path) -> Counter[str]:
    """The number of errors in a log by kind; consecutive lines that are not JSON count as one, like a traceback."""
    happened: Counter[str] = Counter()
    with log.open(encoding="utf-8", errors="replace") as lines:
        for is_record, group in groupby(map(_record, lines), key=lambda pair: pair[0] is not None):
            pairs = list(group)
            happened.update(_events(pairs) if is_record else _errors(pairs))
    return happened


def is_expected(error: str) -> bool:
    """Whether an error only says that the database was unreachable or full."""
    return bool(_EXPECTED.search(error))


def is_defect(error: str) -> bool:
    """Whether the service responded with a failure of its own (500), which no fault excuses."""
    return "unexpected error" in error


def _record(line: str) -> _Line:
    try:
        record = json.loads(line)
    except ValueError:
        record = None
    return (record if isinstance(record, dict) else None), line.rstrip()


def _events(pairs: list[_Line]) -> Iterator[str]:
    for record, _ in pairs:
        event = str((record or {}).get("event"))
        if record and (record.get("level") in {"error", "critical"} or _ENDED.search(event)):
            cause = record.get("exception") or record.get("error") or ""
            yield _named(f"{record.get('logger')}: {event.splitlines()[0]} {cause}")


def _errors(block: list[_Line]) -> Iterator[str]:
    """The errors of the tracebacks in a block, or the first line of a block without one."""
    text = "\n".join(line for _, line in block if line)
    for part in re.split(r"\n(?=Traceback \(|Fatal Python error)", text):
        names = [line for line in part.splitlines() if _ERROR.match(line)]
        if part:
            yield _named(" < ".join(reversed(names)) if names else part.splitlines()[0])


def _named(words: str) -> str:
    return _VARYING.sub("*", words).strip()[:_LONGEST]
