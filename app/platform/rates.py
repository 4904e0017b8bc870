"""Rates: how often something may happen, by name.

This is the generic cell rate algorithm (ITU-T I.371, annex A) as a virtual schedule: one moment per name, and no timer.
"""

import math
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic


@dataclass(frozen=True, slots=True)
class Standing:
    """The state of a name's rate.

    Attributes:
        wait: seconds until the next event is allowed; 0 if it is allowed now.
        remaining: the number of events allowed at once after that.
        full_in: seconds until the full amount is allowed.
    """

    wait: float
    remaining: int
    full_in: float


class Rate:
    """At most `amount` events in `seconds` per name, also all at once.

    Args:
        amount: the number of events.
        seconds: the period.
        clock: the time in seconds.
        most_names: the most names remembered; the least recently used ones are dropped.
    """

    def __init__(
        self, amount: int, seconds: float, clock: Callable[[], float] = monotonic, most_names: int = 100_000
    ) -> None:
        self.amount, self.seconds = amount, seconds
        self._clock, self._most_names = clock, most_names
        self._interval = seconds / amount
        self._full_at: OrderedDict[str, float] = OrderedDict()

    def look(self, name: str) -> Standing:
        """The state of a name, without an event."""
        now = self._clock()
        return self._standing(max(self._full_at.get(name, now), now) - now)

    def take(self, name: str) -> Standing:
        """Count an event, unless it exceeds the rate: then `wait` is not 0."""
        now = self._clock()
        before = max(self._full_at.pop(name, now), now) - now
        standing = self._standing(before)
        after = before if standing.wait else before + self._interval
        self._full_at[name] = now + after
        if len(self._full_at) > self._most_names:
            self._full_at.popitem(last=False)
        return standing if standing.wait else self._standing(after, wait=0.0)

    def _standing(self, full_in: float, wait: float | None = None) -> Standing:
        free = self.seconds - full_in
        remaining = max(0, math.floor(free / self._interval + 1e-9))
        missing = 0.0 if remaining else self._interval - free
        return Standing(missing if wait is None else wait, remaining, full_in)
