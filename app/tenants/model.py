"""What tenants ask of their entries, and how much of a service they may use."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from typing import Any, Final, Self


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


@dataclass(frozen=True, slots=True)
class TenantPolicy:
    """What a tenant asks of its entries, besides what the service asks; nothing by default.

    Attributes:
        required_privacy: what configurations must vouch for before they may compete.
        demands_sign_off: whether a reviewer must sign off each new version before others see it.
    """

    required_privacy: RequiredPrivacy = NOTHING_REQUIRED
    demands_sign_off: bool = False

    def __str__(self) -> str:
        """What it asks: `k=5,t=0.2, sign-off`."""
        asked = [str(self.required_privacy), *(["sign-off"] * self.demands_sign_off)]
        return ", ".join(filter(None, asked)) or "nothing"


NO_DEMANDS = TenantPolicy()


@dataclass(frozen=True, slots=True)
class CountedTenant:
    """A tenant with what it has.

    Attributes:
        entries: how many entries it owns.
        keys: how many of its keys are valid.
        asked: how many distinct questions it has asked in the last 24 hours.
    """

    name: str
    policy: TenantPolicy
    entries: int
    keys: int
    asked: int


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
