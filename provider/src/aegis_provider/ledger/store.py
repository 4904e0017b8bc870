"""Keeps ledgers in the state folder: a folder for each table, with its events and a file of rows for each release."""

import hmac
import json
import os
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
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
from aegis_provider.files import digest_of, written_whole
from aegis_provider.state import lasting_randomness, state_folder
from aegis_sdk._files import is_unfinished

ANYONE: Final = "anyone"
"""Who has what left without a named consumer: everyone may."""

_FOLDER: Final = "ledger"
_DOCUMENT: Final = "ledger.json"
_LOCK: Final = "lock"
_ROWS: Final = ".parquet"
_FORMAT: Final = 2
_READ: Final = (1, 2)
_HASHED: Final = 16
"""The letters of the hash of a name, and of columns, in the name of a folder. Format 1 had columns only."""
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
        place: The folder or the request that it belongs to.
        configuration: The configuration of a table.
        maskings: The masking of each attribute in it.
        promised: The privacy that it promised, by name; empty for one that left before this was kept.
        digest: The SHA-256 of the file, or the digest of the entry.
        entry: The name of an entry, and
        version: its version, if it was published.
        epsilon: The privacy budget that it spent.
        cuts: A digest of the cuts of each attribute of an entry.
        people: How many people, or records without a person column, its rows are of.
        person: The column that said whose a record is; `None` if records were counted.
        rows: The name of the file with the rows of a masked table, or empty: nothing is kept, or it was forgotten.
        sealed: The SHA-256 of that file.
        erased: How many of these rows were forgotten.
        given: Whether it was given away; otherwise its provider said that it was not, and it no longer counts.
    """

    number: int = 0
    what: str
    to: str = ANYONE
    at: str = ""
    place: str = ""
    configuration: str = ""
    maskings: Mapping[str, str] = field(default_factory=dict)
    promised: Mapping[str, float] = field(default_factory=dict)
    digest: str = ""
    entry: str = ""
    version: int | None = None
    epsilon: float = 0.0
    cuts: Mapping[str, str] = field(default_factory=dict)
    people: int = 0
    person: str | None = None
    rows: str = ""
    sealed: str = ""
    erased: int = 0
    given: bool = True

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
        columns: The columns of the table, which tell it from others, each with the type of its values, if known; empty
            as long as only entries left.
        keyed: The columns by which a record is known.
        folder: Where it lies.
        events: What has left, in order.
    """

    name: str
    key: str
    columns: Mapping[str, str]
    keyed: tuple[str, ...]
    folder: Path
    events: tuple[Event, ...] = ()

    @property
    def spent(self) -> str:
        """The privacy budgets that entries spent, which add up: `2 + 1`; empty if none did."""
        return " + ".join(f"{event.epsilon:g}" for event in self.events if event.epsilon and event.given)

    @property
    def cuts(self) -> dict[str, set[str]]:
        """The different cuts in which entries that left count each attribute."""
        by_attribute: dict[str, set[str]] = {}
        for name, cut in (pair for event in self.events if event.given for pair in event.cuts.items()):
            by_attribute.setdefault(name, set()).add(cut)
        return by_attribute

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
        """Keep an event.

        Raises:
            OutputError: It cannot be written.
        """
        named: list[Ledger] = [self, *(each for each in ledgers()[0] if each.name == self.name)]
        number = 1 + max((each.number for ledger in named for each in ledger.events), default=0)
        event = replace(event, number=number, at=f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}")
        _made(self.folder)
        if rows is not None:
            event = self._with_rows(event, rows)
        kept = replace(self, events=(*self.events, event))
        _write(kept)
        kept.sweep()
        return kept

    def noting(self, event: Event, card: str = "") -> Self:
        """Keep an event without rows unless it is known, and that of a card.

        Args:
            event: What left. A known file is given the version under which it is published now.
            card: The head of the card that was published with it, or empty.

        Raises:
            OutputError: It cannot be written.
        """
        known = [each for each in self.events if (each.digest, each.to, each.given) == (event.digest, event.to, True)]
        made = next((each for each in known if each.version is None), None)
        ledger = self
        if made is not None:
            now = replace(made, version=event.version, cuts=event.cuts)
            ledger = replace(self, events=tuple(now if each is made else each for each in self.events))
            _write(ledger)
        elif not any(each.version == event.version for each in known):
            ledger = self.with_event(event, None)
        if not card:
            return ledger
        digest = sha256(card.encode()).hexdigest()
        return ledger.noting(replace(event, what="card", digest=digest, epsilon=0.0, cuts={}))

    def _with_rows(self, event: Event, rows: pa.Table) -> Event:
        name = f"{uuid4().hex}{_ROWS}"
        with written_whole(self.folder / name, private=True) as part:
            # In this order a person's hash is kept about once for all of its records; a dictionary would add to it.
            few = [name for name in rows.column_names if name not in {"high", "low", "record"}]
            pq.write_table(rows.sort_by("high"), part, compression="zstd", use_dictionary=few)
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


def ledgers() -> tuple[list[Ledger], dict[Path, LedgerError]]:
    """Return the ledgers of this machine by name, and what is wrong with the folder of each that cannot be used."""
    usable, faults = [], {}
    for path in sorted(_root().glob(f"*/{_DOCUMENT}")):
        try:
            usable.append(_read(path))
        except LedgerError as fault:
            faults[path.parent] = fault
    return sorted(usable, key=lambda ledger: ledger.name), faults


def ledger_of(
    name: str, columns: Mapping[str, str], keyed: Sequence[str], *, accept: bool, by_columns: bool = False
) -> Ledger:
    """Return the ledger of the table with this name and these columns, which is empty if nothing left yet.

    Args:
        name: The name of the table.
        columns: Its columns, with the types of the values that are known.
        keyed: The columns by which to know a record in a new ledger.
        accept: Whether the table may differ from the one that left under this name, or have the columns of another.
        by_columns: Whether one with these columns is this table, too, if the name is that of an entry, not chosen here.

    Raises:
        LedgerError: The ledger is damaged or of another machine, or the table differs.
    """
    usable = _usable(_hashed([name]), _hashed(sorted(columns)))
    alike = [known for known in usable if known.columns.keys() == columns.keys()]
    for known in sorted(alike, key=lambda known: known.name != name):
        if known.name == name or by_columns:
            return _with_types(known, columns, accept=accept)
    for known in usable if accept or not alike else ():
        fits = not known.columns and all(event.cuts.keys() <= columns.keys() for event in known.events)
        if known.name == name and fits:
            return replace(known, columns=columns, keyed=tuple(keyed))
    if not accept:
        _refuse_another(name, columns, usable)
    return _new(name, columns, keyed)


def ledger_named(name: str, columns: Collection[str], *, accept: bool) -> Ledger:
    """Return the ledger of the table that an entry of this name counts, which is empty if nothing left yet.

    Args:
        columns: Those that the entry has of the table.
        accept: Whether the entry may be of another table than the one that left under its name.

    Raises:
        LedgerError: The ledger is damaged or of another machine, or its table lacks one of the columns.
    """
    named = [known for known in _usable(_hashed([name])) if known.name == name]
    fitting = [known for known in named if not known.columns or set(columns) <= known.columns.keys()]
    if named and not fitting and not accept:
        lacking = min(set(columns) - named[0].columns.keys())
        raise LedgerError(
            f"{name}: the table that left under this name has no column {shortened(lacking)}: give the entry of "
            "another table another name, or --accept-composition"
        )
    return fitting[0] if fitting else _new(name, {}, ())


def _usable(*hashed: str) -> list[Ledger]:
    """Return the ledgers that can be used, unless the folder of another has one of these hashes in its name."""
    usable, faults = ledgers()
    for folder, fault in faults.items():
        if {folder.name[:_HASHED], folder.name[_HASHED:]} & set(hashed):
            raise fault
    return usable


def _new(name: str, columns: Mapping[str, str], keyed: Sequence[str]) -> Ledger:
    folder = _root() / f"{_hashed([name])}{_hashed(sorted(columns))}"
    return Ledger(name, lasting_randomness().fingerprint, columns, tuple(keyed), folder)


def _with_types(known: Ledger, columns: Mapping[str, str], *, accept: bool) -> Ledger:
    other = [each for each, kind in columns.items() if kind and known.columns[each] not in {"", kind}]
    if other and not accept:
        was, now = known.columns[other[0]], columns[other[0]]
        raise LedgerError(
            f"{known.name}: {shortened(other[0])} had values of the type {was} when it left, now {now}: write them "
            "as before, or --accept-composition"
        )
    return replace(known, columns={each: kind or known.columns[each] for each, kind in columns.items()})


def _refuse_another(name: str, columns: Mapping[str, str], usable: Sequence[Ledger]) -> None:
    other = [each for each in usable if each.columns and (each.name == name or each.columns.keys() == columns.keys())]
    for known in other:
        if known.name == name:
            raise LedgerError(
                f"{name}: what left under this name has other columns ({_difference(known.columns, columns)}): give "
                "another table another --name; the same table begins a new ledger by --accept-composition"
            )
    for known in other:
        raise LedgerError(
            f"{name}: a table with these columns left as {known.name}: if it is this one, --name {known.name}; another "
            "one begins a ledger of its own by --accept-composition"
        )


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


def forget(name: str, people: Sequence[str], events: Sequence[int] = ()) -> tuple[int, int]:
    """Erase the rows of these people, or of all without any, from the ledger of a table. Its events stay.

    Args:
        name: The name of the table.
        people: The identifiers of people, as the table has them.
        events: The numbers of events that were never given away, which then no longer count.

    Returns:
        The numbers of releases and of rows from which they were erased.

    Raises:
        LedgerError: There is no such ledger or event, it knows no people by identifier, or it is damaged.
    """
    with locked():
        usable, faults = ledgers()
        named = [each for each in usable if each.name == name]
        if not named:
            none = LedgerError(f"{name}: has no ledger; {nearest(name, [each.name for each in usable])}")
            raise next(iter(faults.values()), none)
        if unknown := set(events) - {each.number for ledger in named for each in ledger.events}:
            raise LedgerError(f"{name}: has no event {min(unknown)}; `aegis ledger show {name}` lists them")
        changed = [_forgotten(ledger, people, events) for ledger in named]
        for ledger, _, _ in changed:
            _write(ledger)
            ledger.sweep()
        return sum(releases for _, releases, _ in changed), sum(rows for _, _, rows in changed)


def _forgotten(ledger: Ledger, people: Sequence[str], events: Sequence[int]) -> tuple[Ledger, int, int]:
    """Return a ledger without these people, and the numbers of releases and of rows from which they were erased."""
    from aegis_provider.ledger.rows import without  # noqa: PLC0415 - it imports this module

    if people and any(event.rows and event.person is None for event in ledger.events):
        raise LedgerError(
            f"{ledger.name}: its rows are known by their values, not by a person: forget all, without --people"
        )
    changed, releases, erased = [], 0, 0
    for event in ledger.events:
        kept = replace(event, given=event.given and event.number not in events)
        if event.rows and (not events or not kept.given):
            rows, releases = pq.read_table(ledger.rows(event)), releases + 1
            left = without(rows, people, key_of(lasting_randomness())) if people else rows.slice(0, 0)
            gone = len(rows) - len(left)
            erased, kept = erased + gone, replace(kept, erased=kept.erased + gone * kept.given)
            kept = ledger._with_rows(kept, left) if len(left) else replace(kept, rows="", sealed="")  # noqa: SLF001 - its own module
        changed.append(kept)
    return replace(ledger, events=tuple(changed)), releases, erased


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
    content = TypeAdapter(Ledger).dump_python(ledger, mode="json", exclude={"folder"})
    document = {"format": _FORMAT, "sealed": _seal(content), "ledger": content}
    with written_whole(ledger.folder / _DOCUMENT, private=True) as part:
        part.write_text(json.dumps(document), encoding="utf-8")


def _read(path: Path) -> Ledger:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        ledger = TypeAdapter(Ledger).validate_python({**document["ledger"], "folder": path.parent})
        is_whole = document["format"] in _READ and document["sealed"] == _seal(document["ledger"])
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


def _hashed(names: Sequence[str]) -> str:
    return sha256("\0".join(names).encode("utf-8", "surrogatepass")).hexdigest()[:_HASHED]


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
