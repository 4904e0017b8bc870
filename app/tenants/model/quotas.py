"""Quotas: how much of a service a tenant may use."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any, Final, Self

#: Questions count against a quota for so long.
DAY: Final = timedelta(hours=24)

#: What each limit may be: the least and the most.
LIMITS: Final[Mapping[str, tuple[int, int]]] = {
    "entries": (0, 10**9),
    "versions": (0, 10**9),
    "bytes": (0, 10**15),
    "advice": (0, 10**9),
    "jobs": (1, 10_000),
}


@dataclass(frozen=True, slots=True)
class Quota:
    """The most that a tenant may use; None is no limit.

    Attributes:
        entries: entries in the catalogue.
        versions: versions of all its entries together.
        bytes: bytes that these versions take in the database.
        advice: distinct questions in 24 hours.
        jobs: jobs that run at the same time, light and heavy ones counted apart.
    """

    entries: int | None = None
    versions: int | None = None
    bytes: int | None = None
    advice: int | None = None
    jobs: int | None = None

    @classmethod
    def from_numbers(cls, numbers: Mapping[str, Any]) -> Self:
        """The quota with these numbers by name.

        Raises:
            ValueError: there is no quota of a name, or a number is beyond its `LIMITS` or not a whole one.
        """
        for name, number in numbers.items():
            if name not in LIMITS:
                message = f"there is no quota {name!r}; use {', '.join(LIMITS)}"
                raise ValueError(message)
            least, most = LIMITS[name]
            if not least <= number <= most or number != int(number):
                message = f"the quota {name}={number:g} must be a whole number from {least} to {most}"
                raise ValueError(message)
        return cls(**{name: int(number) for name, number in numbers.items()})

    @property
    def numbers(self) -> dict[str, int]:
        """The limits that there are, by name."""
        return {name: limit for name, limit in asdict(self).items() if limit is not None}

    @property
    def limits_storage(self) -> bool:
        """Whether there is a limit to what the tenant may store."""
        return not self.numbers.keys().isdisjoint(("entries", "versions", "bytes"))

    def otherwise(self, usual: Self) -> Self:
        """This quota, with the limits of the usual one where it has none."""
        return type(self)(**(usual.numbers | self.numbers))

    def __str__(self) -> str:
        """The limits as settings and commands have them: `entries=1000,advice=500`."""
        return ",".join(f"{name}={limit}" for name, limit in self.numbers.items())


NO_QUOTA = Quota()


@dataclass(frozen=True, slots=True)
class Usage:
    """What a tenant uses of its quota, in the same units."""

    entries: int
    versions: int
    bytes: int
    advice: int
    jobs: int


NO_USAGE = Usage(0, 0, 0, 0, 0)
