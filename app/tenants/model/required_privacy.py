"""The privacy that a service or a tenant requires of configurations, whatever a question asks."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class RequiredPrivacy:
    """Limits by criterion that a configuration must vouch for before it may compete; none by default.

    Attributes:
        at_least: lower limits, for criteria where higher is better.
        at_most: upper limits, for criteria where lower is better.
    """

    at_least: Mapping[str, float] = field(default_factory=dict)
    at_most: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any] | None) -> Self:
        """Restore limits from their stored JSON; of an empty object, or of none, they are no limits."""
        # PostgreSQL returns a large float as an integer with as many digits.
        sides = [(stored or {}).get(side, {}) for side in ("at_least", "at_most")]
        return cls(*({name: float(limit) for name, limit in limits.items()} for limits in sides))

    def __bool__(self) -> bool:
        """Whether anything is required."""
        return bool(self.at_least or self.at_most)

    def __str__(self) -> str:
        """The limits as settings and commands have them: `k=5,t=0.2`."""
        return ",".join(f"{name}={limit:g}" for name, limit in self.numbers.items())

    @property
    def numbers(self) -> dict[str, float]:
        """The limits by criterion, as the contract has them."""
        return {**self.at_least, **self.at_most}

    def stricter_of(self, other: Self) -> Self:
        """The limits of both; where both have one, the stricter."""
        return type(self)(
            _merged(self.at_least, other.at_least, higher=True), _merged(self.at_most, other.at_most, higher=False)
        )

    def in_words(self) -> Iterator[tuple[str, str]]:
        """Each criterion with its limit in words: `k >= 5`."""
        yield from ((name, f"{name} >= {limit:g}") for name, limit in self.at_least.items())
        yield from ((name, f"{name} <= {limit:g}") for name, limit in self.at_most.items())


def _merged(one: Mapping[str, float], other: Mapping[str, float], *, higher: bool) -> dict[str, float]:
    stricter = max if higher else min
    both = {name: stricter(one[name], other[name]) for name in one.keys() & other.keys()}
    return dict(sorted({**one, **other, **both}.items()))


NOTHING_REQUIRED = RequiredPrivacy()
