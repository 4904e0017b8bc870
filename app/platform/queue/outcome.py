from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a job, and what it was for, failed: a stable slug and a sentence."""

    code: str
    detail: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a job has ended.

    Attributes:
        problem: why it has failed for good; None if it has not.
        is_heavy: whether it has to begin again in the heavy lane.
    """

    problem: Problem | None = None
    is_heavy: bool = False

    @property
    def word(self) -> str:
        """The outcome in a word: `done`, `failed`, or `moved` to the heavy lane."""
        return "moved" if self.is_heavy else "done" if self.problem is None else "failed"
