"""The lane and the outcome of a job."""

from dataclasses import dataclass
from enum import StrEnum


class Lane(StrEnum):
    """A lane of workers, which have a child process for each. Small jobs have their own, to wait for no large one."""

    LIGHT = "light"
    HEAVY = "heavy"


class WrongLaneError(Exception):
    """A job of the light lane is too large for it."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a job failed: a stable slug and a sentence."""

    code: str
    detail: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a job.

    Attributes:
        problem: why it failed for good; None if it did not.
        is_heavy: whether it must be repeated in the heavy lane.
    """

    problem: Problem | None = None
    is_heavy: bool = False

    @property
    def word(self) -> str:
        """The outcome in a word: `done`, `failed`, or `moved` to the heavy lane."""
        return "moved" if self.is_heavy else "done" if self.problem is None else "failed"
