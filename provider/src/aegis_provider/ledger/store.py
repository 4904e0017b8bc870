"""Keeps ledgers in the state folder: a folder for each table, with its events and a file of rows for each release."""

import hmac
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Self
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import TypeAdapter

from aegis_provider.control.lasting import LastingRandomness
from aegis_provider.errors import OutputError, ProviderError, nearest, shortened
from aegis_provider.files import digest_of, is_unfinished, written_whole
from aegis_provider.state import lasting_randomness, state_folder

ANYONE: Final = "anyone"
"""Who has what left without a named consumer: everyone may."""

_FOLDER: Final = "ledger"
_DOCUMENT: Final = "ledger.json"
_LOCK: Final = "lock"
_ROWS: Final = ".parquet"
_FORMAT: Final = 1
_PRIVATE: Final = 0o700
_KEY: Final = b"ledger of a table"


class LedgerError(ProviderError):
    """The ledger of a table cannot be used; the text says why and what to do. Nothing leaves meanwhile."""


@dataclass(frozen=True, kw_only=True)
class Event:
    """Something that left.

    Attributes:
        number: Its place in the order of events, from 1, whatever the clock says.
        what: `masked table`, `generated table`, `entry` or `card`.
        to: Who has it.
        at: When it left, by the clock of this machine, in UTC.
        place: The folder or the request that it belongs to: what is written there again replaces it.
        configuration: The configuration of a table.
        maskings: The masking of each attribute in it.
        digest: The SHA-256 of the file, or the digest of the entry.
        entry: The name of an entry, and
        version: its version, if it was published.
        epsilon: The privacy budget that it spent.
        people: How many people, or records without a person column, its rows are of.
        person: The column that said whose a record is; `None` if records were counted.
        rows: The name of the file with the rows of a masked table, or empty: nothing is kept, or it was forgotten.
        sealed: The SHA-256 of that file.
        erased: How many of these rows were forgotten.
    """

    number: int = 0
    what: str
    to: str = ANYONE
    at: str = ""
    place: str = ""
    configuration: str = ""
    maskings: Mapping[str, str] = field(default_factory=dict)
    digest: str = ""
    entry: str = ""
    version: int | None = None
    epsilon: float = 0.0
    people: int = 0
    person: str | None = None
    rows: str = ""
    sealed: str = ""
    erased: int = 0

    def in_words(self) -> str:
        """Return what left, to whom and when: `c0071, delivered on 3 May 2026 to hospital-b`."""
        day = datetime.fromisoformat(self.at)
        return f"{self.configuration or self.entry}, delivered on {day.day} {day:%B %Y} to {self.to}"


@dataclass(frozen=True)
class Ledger:
    """What has left of a table.

    Attributes:
        name: The name of the table, that of its entry.
        key: The fingerprint of the key by which people are known in it.
        columns: The columns of the table, which tell it from others, each with the type of its values, if known.
        keyed: The columns by which a record is known.
        events: What has left, in order.
    """

    name: str
    key: str
    columns: Mapping[str, str]
    keyed: tuple[str, ...]
    events: tuple[Event, ...] = ()

    @property
    def folder(self) -> Path:
        """Where it lies."""
        names = "\0".join(sorted(self.columns))
        return _root() / sha256(names.encode("utf-8", "surrogatepass")).hexdigest()[:32]

    @property
    def spent(self) -> str:
        """The privacy budgets that entries spent, which add up: `2 + 1`; empty if none did."""
        return " + ".join(f"{event.epsilon:g}" for event in self.events if event.epsilon)

    def rows(self, event: Event) -> Path:
        """Return the file with the rows of an event.

        Raises:
            LedgerError: It is damaged or missing.
        """
        path = self.folder / event.rows
        if not path.is_file() or digest_of(path) != event.sealed:
            raise LedgerError(_damaged(path))
        return path

    def with_event(self, event: Event, rows: pa.Table | None) -> Self:
        """Keep an event, instead of what left of the same kind from the same place to the same consumer.

        Raises:
            OutputError: It cannot be written.
        """
        own = (event.what, event.place, event.to)
        gone = [each for each in self.events if (each.what, each.place, each.to) == own and own[1]]
        number = 1 + max((each.number for each in self.events), default=0)
        event = replace(event, number=number, at=f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}")
        _made(self.folder)
        if rows is not None:
            event = self._with_rows(event, rows)
        kept = replace(self, events=(*(each for each in self.events if each not in gone), event))
        _write(kept)
        kept.sweep()
        return kept

    def _with_rows(self, event: Event, rows: pa.Table) -> Event:
        name = f"{uuid4().hex}{_ROWS}"
        with written_whole(self.folder / name, private=True) as part:
            pq.write_table(rows, part, compression="zstd")
        return replace(event, rows=name, sealed=digest_of(self.folder / name))

    def sweep(self) -> None:
        """Remove the rows of no event, of a command that was killed, too."""
        known = {event.rows for event in self.events}
        for path in self.folder.iterdir():
            if (path.suffix == _ROWS or is_unfinished(path)) and path.name not in known:
                path.unlink(missing_ok=True)


def key_of(chance: LastingRandomness) -> bytes:
    """Return the key by which people are known in ledgers, which tells nothing about that of rounding."""
    return hmac.digest(chance.key, _KEY, "sha256")


def ledgers() -> list[Ledger]:
    """Return the ledgers of this machine, by name.

    Raises:
        LedgerError: One is damaged, or of another machine.
    """
    return sorted(map(_read, _root().glob(f"*/{_DOCUMENT}")), key=lambda ledger: ledger.name)


def ledger_of(name: str, columns: Mapping[str, str], keyed: Sequence[str], *, accept: bool) -> Ledger:
    """Return the ledger of the table with these columns, which is empty if nothing left yet.

    Args:
        name: The name of the table.
        columns: Its columns, with the types of the values that are known.
        keyed: The columns by which to know a record in a new ledger.
        accept: Whether the table may differ from the one that left under this name.

    Raises:
        LedgerError: The ledger is damaged or of another machine, or the table differs.
    """
    new = Ledger(name, lasting_randomness().fingerprint, columns, tuple(keyed))
    if (new.folder / _DOCUMENT).exists():
        known = _read(new.folder / _DOCUMENT)
        other = [each for each, kind in columns.items() if kind and known.columns.get(each) not in {"", kind, None}]
        if other and not accept:
            was, now = known.columns[other[0]], columns[other[0]]
            raise LedgerError(
                f"{known.name}: {shortened(other[0])} had values of the type {was} when it left, now {now}: write them "
                "as before, or --accept-composition"
            )
        kinds = {each: kind or known.columns.get(each, "") for each, kind in columns.items()}
        return replace(known, name=name, columns=kinds)
    for known in ledgers():
        # One with the same columns was begun by another command since it was looked for.
        if known.name == name and known.folder != new.folder and not accept:
            raise LedgerError(
                f"{name}: what left under this name has other columns ({_difference(known.columns, columns)}): give "
                "another table another --name; the same table begins a new ledger by --accept-composition"
            )
    return new


@contextmanager
def locked() -> Iterator[None]:
    """Let only one command at a time change ledgers.

    Raises:
        OutputError: The state folder cannot be used.
    """
    _made(_root())
    try:
        descriptor = os.open(_root() / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        if sys.platform != "win32":
            import fcntl  # noqa: PLC0415 - Windows has none

            fcntl.flock(descriptor, fcntl.LOCK_EX)
    except OSError as error:
        raise OutputError(f"{_root()}: the ledger cannot be used: {error.strerror or error}") from error
    try:
        yield
    finally:
        os.close(descriptor)


def forget(name: str, people: Sequence[str]) -> tuple[int, int]:
    """Erase the rows of these people, or of all without any, from the ledger of a table. Its events stay.

    Args:
        name: The name of the table.
        people: The identifiers of people, as the table has them.

    Returns:
        The numbers of releases and of rows from which they were erased.

    Raises:
        LedgerError: There is no such ledger, it knows no people by identifier, or it is damaged.
    """
    from aegis_provider.ledger.rows import without  # noqa: PLC0415 - it imports this module

    with locked():
        named = [each for each in ledgers() if each.name == name]
        if not named:
            raise LedgerError(f"{name}: has no ledger; {nearest(name, [each.name for each in ledgers()])}")
        events, erased = 0, 0
        for ledger in named:
            if people and any(event.rows and event.person is None for event in ledger.events):
                raise LedgerError(
                    f"{name}: its rows are known by their values, not by a person: forget all, without --person"
                )
            changed = []
            for event in ledger.events:
                if not event.rows:
                    changed.append(event)
                    continue
                path, events = ledger.rows(event), events + 1
                rows = pq.read_table(path)
                left = without(rows, people, key_of(lasting_randomness())) if people else rows.slice(0, 0)
                gone = len(rows) - len(left)
                erased, event = erased + gone, replace(event, erased=event.erased + gone)  # noqa: PLW2901
                changed.append(ledger._with_rows(event, left) if len(left) else replace(event, rows="", sealed=""))  # noqa: SLF001 - its own module
            changed_ledger = replace(ledger, events=tuple(changed))
            _write(changed_ledger)
            changed_ledger.sweep()
        return events, erased


def _root() -> Path:
    return state_folder() / _FOLDER


def _made(folder: Path) -> None:
    """Make a folder that only its owner can use."""
    try:
        for each in reversed([folder, *folder.parents]):
            each.mkdir(mode=_PRIVATE, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be made: {error.strerror or error}") from error


def _write(ledger: Ledger) -> None:
    content = TypeAdapter(Ledger).dump_python(ledger, mode="json")
    document = {"format": _FORMAT, "sealed": _seal(content), "ledger": content}
    with written_whole(ledger.folder / _DOCUMENT, private=True) as part:
        part.write_text(json.dumps(document), encoding="utf-8")


def _read(path: Path) -> Ledger:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        ledger = TypeAdapter(Ledger).validate_python(document["ledger"])
        is_whole = document["format"] == _FORMAT and document["sealed"] == _seal(document["ledger"])
    except (OSError, ValueError, KeyError, TypeError) as error:  # a ValidationError is a ValueError
        raise LedgerError(_damaged(path)) from error
    if not is_whole:
        raise LedgerError(_damaged(path))
    if ledger.key != (own := lasting_randomness().fingerprint):
        raise LedgerError(
            f"{path}: this ledger is of another machine: its people are known by the key {ledger.key}, and this one "
            f"has {own}: put that key back as {state_folder() / 'rounding.key'}"
        )
    return ledger


def _seal(content: Any) -> str:  # noqa: ANN401 - any JSON value
    return sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _damaged(path: Path) -> str:
    return (
        f"{path}: the ledger is damaged, so what left is not known: put a copy of {path.parent} back; removing it "
        "forgets what left"
    )


def _difference(known: Mapping[str, str], columns: Mapping[str, str]) -> str:
    gone, come = sorted(set(known) - set(columns)), sorted(set(columns) - set(known))
    parts = (("without", gone), ("with", come))
    return ", ".join(f"now {word} {shortened(names[0])}" for word, names in parts if names)
