from dataclasses import dataclass


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
