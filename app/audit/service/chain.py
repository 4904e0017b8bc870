"""Checks an exported audit log: whether each record is there, unchanged, and in its place."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

import orjson

from app.audit.model import Place

#: What the first record names as the hash of the record before.
START: Final = Place(0, "0" * 64)

#: Integers beyond this are not the same in every JSON (RFC 8785, section 3.2.2.3).
_LARGEST: Final = 2**53


class BrokenLogError(Exception):
    """The log is not as it was written. The text names the first bad record, and what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Promise:
    """A record that the log must have, by a signed head or a receipt; `source` says by which."""

    place: Place
    source: str


def check_chain(lines: Iterable[bytes], promises: Sequence[Promise], start: Place = START) -> Place:
    """Check the records of a log, oldest first, one a line; one at a time is in memory.

    Args:
        lines: the records, each as RFC 8785 JSON.
        promises: records that it must have.
        start: the place of the record before the first one, which was checked before.

    Returns:
        The place of the last record; `start` if there is none.

    Raises:
        BrokenLogError: the first record that is not as it was, or not where it was.
    """
    promised: dict[int, list[Promise]] = {}
    for one in promises:
        promised.setdefault(one.place.sequence, []).append(one)
    last, rest = start, iter(lines)
    for line in rest:
        last = _checked(line, last, rest)
        for one in promised.pop(last.sequence, ()):
            _refuse_other(one, last)
    for number in sorted(promised):
        raise BrokenLogError(
            f"the log is truncated: it ends with record {last.sequence}, but {promised[number][0].source} has record "
            f"{number}"
        )
    return last


def _checked(line: bytes, last: Place, rest: Iterator[bytes]) -> Place:
    """The place of a record, if it is unchanged and follows the last one."""
    record, what = _record_in(line), f"the record after record {last.sequence}"
    if record is None:
        raise BrokenLogError(f"{what} was changed: it is no record in the form in which it was hashed")
    own = Place(record["sequence"], record.pop("hash"))
    what = f"record {own.sequence}"
    if sha256(_written(record)).hexdigest() != own.hash:
        raise BrokenLogError(f"{what} was changed: its hash is not that of what it says")
    if own.sequence > last.sequence + 1:
        raise BrokenLogError(_gap(last.sequence + 1, own.sequence, rest))
    if own.sequence <= last.sequence:
        raise BrokenLogError(f"{what} is in the wrong place: it follows record {last.sequence}; inserted, or repeated")
    if record["previous"] != last.hash:
        raise BrokenLogError(
            f"{what} does not follow the record before it, whose hash it would have: one of them was replaced"
        )
    return own


def _record_in(line: bytes) -> dict[str, Any] | None:
    """The record in a line; None if it is not written as it was hashed."""
    try:
        record = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    is_one = isinstance(record, dict) and isinstance(record.get("hash"), str) and "previous" in record
    if not is_one or not all(map(_is_plain, record.values())) or not _is_number(record.get("sequence")):
        return None
    return record if _written(record) == line.rstrip(b"\n") else None


def _is_number(value: object) -> bool:
    return type(value) is int and 0 < value < _LARGEST


def _is_plain(value: object) -> bool:
    return isinstance(value, str) or _is_number(value)


def _written(record: Mapping[str, Any]) -> bytes:
    """A record as RFC 8785 JSON: of texts, small integers and names in ASCII, orjson writes the same."""
    return orjson.dumps(record, option=orjson.OPT_SORT_KEYS)


def _gap(missing: int, seen: int, rest: Iterator[bytes]) -> str:
    """What has become of the record that should be here: it may come later."""
    for line in rest:
        later = _record_in(line)
        if later is not None and later["sequence"] == missing:
            return f"record {missing} is in the wrong place: it comes after record {seen}"
    return f"record {missing} was removed: record {seen} is in its place"


def _refuse_other(promise: Promise, own: Place) -> None:
    if promise.place != own:
        raise BrokenLogError(
            f"record {own.sequence} is not the one that {promise.source} has: it, or one before it, was replaced, and "
            "all that follow were hashed anew"
        )
