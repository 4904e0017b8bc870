"""A release repeated on its table as it is today, and what changed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from pydantic import TypeAdapter, ValidationError

from aegis_provider.errors import OutputError
from aegis_provider.files import held_alone
from aegis_provider.ledger.leaving import Leaving
from aegis_provider.ledger.store import ANYONE
from aegis_provider.plan.model import IDENTITY
from aegis_provider.processes import Stage, unseen
from aegis_provider.table import Source
from aegis_provider.workflow.aim import Aim
from aegis_provider.workflow.card import Card
from aegis_provider.workflow.deadline import Deadline
from aegis_provider.workflow.folder import Folder
from aegis_provider.workflow.released import Released
from aegis_provider.workflow.releasing import PROVIDER_ONLY, carried_out
from aegis_provider.workflow.steps import ENTRY, FOUND, Steps
from aegis_sdk.wire import EntryDocument, publishable, read_json

if TYPE_CHECKING:  # slow to load
    from aegis_sdk import Client


@dataclass(frozen=True)
class Before:
    """The release that is repeated.

    Attributes:
        card: The provider's own card, with exact numbers.
        entry: The entry.
    """

    card: Card
    entry: EntryDocument

    @classmethod
    def of(cls, folder: Folder) -> Self:
        """Read the release in a folder.

        Raises:
            OutputError: It is not there, not whole, or of an older version of this package.
        """
        try:
            card = TypeAdapter(Card).validate_json(folder.file(PROVIDER_ONLY).read_bytes())
            return cls(card, publishable(read_json(folder.file(ENTRY).read_bytes())))
        except (OSError, ValueError, ValidationError) as error:
            why = "has no whole release of this version; make one by aegis release"
            raise OutputError(f"{folder.path}: {why}") from error


@dataclass(frozen=True)
class Refreshed:
    """A repeated release.

    Attributes:
        before: The release before.
        released: The release of today.
        counts: The number of counts in both entries.
        changed: How many of these differ.
    """

    before: Before
    released: Released
    counts: int
    changed: int

    @property
    def lost(self) -> tuple[str, ...]:
        """The configurations that are no longer offered."""
        return self.released.findings.search.lost or ()

    @property
    def advice_holds(self) -> bool:
        """Whether the configuration that was shared before is the best of today."""
        return self.before.card.configuration == self.released.advice.ranking[0].id


def refresh(
    folder: Path | str,
    table: Source,
    *,
    publish: Client | None = None,
    to: str | None = None,
    accept_unique: bool = False,
    accept_identifiers: bool = False,
    accept_composition: bool = False,
    configuration: str | None = None,
    leaves: bool = True,
    memory_limit: str = "1GB",
    seconds: float = 1800.0,
    stage: Stage = unseen,
) -> Refreshed:
    """Repeat the release in a folder on the table as it is today, and say what changed.

    The configurations of the release are measured again, without a search, and counted with the same key; those that no
    longer have the required privacy are left out. The folder then has the release of today. If that is refused or
    interrupted, it has the one before.

    Args:
        folder: The folder of the release.
        table: The table, with the columns of that release.
        publish: The service that gets a new version of the entry; by default, nothing is sent anywhere.
        to: Who gets the masked table; by default, who got the release.
        accept_unique: As in `release`; not remembered from it.
        accept_identifiers: As in `release`; not remembered from it.
        accept_composition: As in `release`: what left from the folder before counts as left.
        configuration: As in `release`; by default the one that the release shared, while it has the required privacy,
            since its consumers have its groups, and others beside these would hold back more records.
        leaves: Whether the masked table leaves. What an agent delivers is another one, which it masks for a request.
        seconds: The time limit; see `Deadline`.
        stage: Called with the name of each step; returns a context that shows its progress.

    Raises:
        OutputError: The folder has no whole release.
        NothingHoldsError: No configuration of it has the required privacy any more.
        AegisError: As in `release`.
    """
    path = Path(folder)
    if not path.is_dir():
        raise OutputError(f"{path}: there is no release; make one by aegis release")
    if not _before(path).is_dir():
        Folder.open(path, keep=())  # in a folder of another origin, nothing is replaced or removed
    with kept(path):
        opened = Folder.open(path, keep=())
        before, asked = Before.of(opened), opened.asked
        if asked is None:
            raise OutputError(f"{path}: does not say what was asked of its release; make it once more by aegis release")
        chosen = (configuration or asked["aim"].get("configuration")) if leaves else None
        again = {"configuration": chosen, "before": before.card.configuration if leaves else None}
        aim = Aim(**{**asked["aim"], "seconds": seconds, **again})
        how = {**asked["how"], "memory_limit": memory_limit}
        deadline, may = Deadline(seconds), (accept_identifiers, asked["escape_formulas"])
        steps = Steps(table, aim, opened, opened.file(FOUND), asked["name"], how, stage, deadline, *may, again=True)
        about: dict[str, Any] = {"name": asked["name"], "accept": accept_composition, "entry_only": not leaves}
        leaving = Leaving(to=to or asked.get("to", ANYONE), place=str(path.resolve()), **about)
        released = carried_out(replace(steps, leaving=leaving), publish, accept_unique=accept_unique)
    return Refreshed(before, released, *_compared(before.entry, released.entry))


def is_older(folder: Path, age: timedelta) -> bool:
    """Return whether the release in a folder is at least this old, or has to be brought back by a refresh."""
    try:
        made = Before.of(Folder.open(folder, keep=())).card.made
    except OutputError:
        return True
    return date.fromisoformat(made) + age <= datetime.now(UTC).date()


@contextmanager
def kept(folder: Path) -> Iterator[None]:
    """Bring the folder back as it was unless the block ends well, or at once if an earlier block was killed.

    Raises:
        InUseError: Another program repeats the release.
    """
    before = _before(folder)
    part = before.with_name(f"{before.name}.part")
    with held_alone(folder):
        brought_back(folder)
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir()
        for file in _files(folder):
            _linked(str(file), str(part / file.name))
        part.rename(before)
        try:
            yield
        except BaseException as stopped:
            brought_back(folder)
            stopped.add_note(f"{folder} has the release before")
            raise
        before.rename(part)
        shutil.rmtree(part, ignore_errors=True)


def brought_back(folder: Path) -> None:
    """Bring a folder back whose refresh did not end; if this is killed, too, it can be done again."""
    before = _before(folder)
    if not before.is_dir():
        return
    files = {file.name for file in before.iterdir()}
    for name in files:
        (folder / name).unlink(missing_ok=True)
        _linked(str(before / name), str(folder / name))
    for file in _files(folder):
        if file.name not in files:
            file.unlink()
    shutil.rmtree(before)


def _files(folder: Path) -> list[Path]:
    """Return the files in a folder: what else is in it is not of a release."""
    return [each for each in folder.iterdir() if not each.is_dir()]


def _before(folder: Path) -> Path:
    whole = folder.resolve()
    return whole.with_name(f".{whole.name}.before")


def _linked(source: str, target: str) -> None:
    """Link a file, or copy it where that is impossible: files of a release are replaced whole, never written into."""
    with suppress(OSError):
        os.link(source, target)
        return
    shutil.copy2(source, target)


def _compared(before: EntryDocument, after: EntryDocument) -> tuple[int, int]:
    """Return how many counts are in either entry, and how many of these differ or are in one only."""
    old, new = dict(_counts(before)), dict(_counts(after))
    every = old.keys() | new.keys()
    return len(every), sum(old.get(each) != new.get(each) for each in every)


def _counts(entry: EntryDocument) -> Iterator[tuple[tuple[str, ...], int]]:
    """Yield each joint count of a value, or of a pair of values, with what it counts."""
    values: dict[tuple[str, str], Sequence[str]] = {}
    for attribute in entry.attributes:
        tables = [(IDENTITY, attribute.domain, attribute.joint)]
        tables += [(each.id, each.domain, each.joint) for each in attribute.maskings]
        for masking, domain, joint in tables:
            values[attribute.name, masking] = domain
            for value, row in zip(domain, joint or (), strict=False):
                for label, count in zip(entry.label.domain, row, strict=True):
                    yield (attribute.name, masking, value, label), count
    for pair in entry.pairs or ():
        first, second = (values[each] for each in zip(pair.attributes, pair.maskings, strict=True))
        for one, row in zip(first, pair.joint or (), strict=False):
            for other, count in zip(second, row, strict=False):
                yield (*pair.attributes, *pair.maskings, one, other), count
