"""What steps of a release return, and how they show their progress."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

from aegis_provider.advice import EntryAdvice
from aegis_provider.counting.telling_names import TellingNames
from aegis_provider.privacy import Column
from aegis_provider.progress import Progress
from aegis_provider.release.apply import Applied
from aegis_sdk.reading import Alone

Stage: TypeAlias = Callable[[str], AbstractContextManager[Progress]]
"""Shows that a step has begun, and how far it is."""


@contextmanager
def unseen(_step: str) -> Iterator[Progress]:
    """Show nothing."""
    yield lambda _done, _all: None


@dataclass(frozen=True)
class Summarised:
    """The entry.

    Attributes:
        advice: Its configurations, ranked by the exact counts.
        telling: The names of masked values that tell raw values of few records.
        accepted: The columns whose values in it identify persons, because that was accepted, and what they have.
        in_time: Whether its rounding was drawn as often as it may be, if none passed.
    """

    advice: EntryAdvice
    telling: tuple[TellingNames, ...]
    accepted: Mapping[str, str] = field(default_factory=dict)
    in_time: bool = True


@dataclass(frozen=True)
class Masked:
    """The masked table.

    Attributes:
        applied: What was written.
        labels: The records of each label value, in the table and in the masked one.
    """

    applied: Applied
    labels: Mapping[str, tuple[int, int]]


@dataclass(frozen=True)
class Assessed:
    """The privacy of the release.

    Attributes:
        columns: The columns, and what becomes of them.
        passed: Whether it has the privacy that its configuration promises; `None` if there is no verdict.
        verdict: The same in a line.
        highest: The highest risk of re-identification; `None` if it could not be measured.
        highest_before: That of the table as it is.
        certain: How many records are in classes that all have the same value of some sensitive attribute.
        alone: How many of its records are alone on all columns that it shares, and in the worst configuration offered.
    """

    columns: tuple[Column, ...]
    passed: bool | None
    verdict: str
    highest: float | None
    highest_before: float | None
    certain: int
    alone: Alone
