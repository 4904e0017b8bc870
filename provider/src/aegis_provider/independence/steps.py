"""How far a solver is, and whether it is to come to an end."""

from collections.abc import Callable
from dataclasses import dataclass, field

from aegis_provider.progress import Progress


@dataclass(eq=False)
class Steps:
    """Steps done of steps expected.

    `stop`: asked between steps; True ends a search with the best that it has. `progress`: told after each step.
    """

    expected: int
    progress: Progress = lambda _done, _most: None
    stop: Callable[[], bool] = lambda: False
    _done: int = field(default=0, init=False)

    def done(self) -> None:
        """One more; beyond what was expected, all that was expected is done."""
        self._done = min(self._done + 1, self.expected)
        self.progress(self._done, self.expected)
