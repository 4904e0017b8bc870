"""Results and progress of the steps of a release."""

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
"""Shows the start and progress of a step."""


@contextmanager
def unseen(_step: str) -> Iterator[Progress]:
    """Show nothing."""
    yield lambda _done, _all: None


@dataclass(frozen=True)
class Summarised:
    """The entry.

    Attributes:
        advice: Its configurations, ranked by the exact counts.
        telling: Names of masked values that disclose raw values of few records.
        accepted: The columns with accepted identifying values, and the kinds of these.
        in_time: Whether its rounding passed, or all draws were tried.
    """

    advice: EntryAdvice
    telling: tuple[TellingNames, ...]
    accepted: Mapping[str, str] = field(default_factory=dict)
    in_time: bool = True


@dataclass(frozen=True)
class Masked:
    """The masked table.

    Attributes:
        applied: The result of writing it.
        labels: The number of records of each label value, in the original and in the masked table.
    """

    applied: Applied
    labels: Mapping[str, tuple[int, int]]


@dataclass(frozen=True)
class Assessed:
    """The privacy of the release.

    Attributes:
        columns: The columns and their maskings.
        passed: Whether it has the promised privacy; `None` without a verdict.
        verdict: The verdict in a line.
        highest: The highest risk of re-identification; `None` if not measurable.
        highest_before: The same for the unmasked table.
        certain: Number of records in classes with a single value of some sensitive attribute.
        alone: How many of its records are alone on all shared columns, and how many in the worst configuration offered.
    """

    columns: tuple[Column, ...]
    passed: bool | None
    verdict: str
    highest: float | None
    highest_before: float | None
    certain: int
    alone: Alone
