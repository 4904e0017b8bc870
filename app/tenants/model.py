"""The policies and quotas of tenants."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Any, Final, Self

#: The unit of privacy that counts people.
PERSON: Final = "person"


@dataclass(frozen=True, slots=True)
class RequiredPrivacy:
    """Limits by criterion that a configuration must guarantee to compete; none by default.

    Attributes:
        at_least: lower limits, for criteria where higher is better.
        at_most: upper limits, for criteria where lower is better.
        unit: `PERSON` if the promises must count people; None if they may count records. k people have at least k
            records, so promises of people meet both, and promises of records only the latter.
    """

    at_least: Mapping[str, float] = field(default_factory=dict)
    at_most: Mapping[str, float] = field(default_factory=dict)
    unit: str | None = None

    @classmethod
    def from_json(cls, stored: Mapping[str, Any] | None) -> Self:
        """Limits from their stored JSON; an empty object or None means no limits."""
        # PostgreSQL returns a large float as a long integer.
        sides = [(stored or {}).get(side, {}) for side in ("at_least", "at_most")]
        least, most = ({name: float(limit) for name, limit in limits.items()} for limits in sides)
        return cls(least, most, (stored or {}).get("unit"))

    def __bool__(self) -> bool:
        """Whether anything is required."""
        return bool(self.at_least or self.at_most)

    def __str__(self) -> str:
        """The limits in the form of settings and commands: `k=5,t=0.2`, or `k=5,unit=person`."""
        unit = [] if self.unit is None else [f"unit={self.unit}"]
        return ",".join([*(f"{name}={limit:g}" for name, limit in self.numbers.items()), *unit])

    @property
    def numbers(self) -> dict[str, float]:
        """The limits by criterion, in the contract's form."""
        return {**self.at_least, **self.at_most}

    def stricter_of(self, other: Self) -> Self:
        """The limits of both, the stricter one where both have one, and of people if either is."""
        least, most = dict(other.at_least), dict(other.at_most)
        for name, limit in self.at_least.items():
            least[name] = max(limit, least.get(name, limit))
        for name, limit in self.at_most.items():
            most[name] = min(limit, most.get(name, limit))
        return type(self)(dict(sorted(least.items())), dict(sorted(most.items())), self.unit or other.unit)

    def in_words(self) -> Iterator[tuple[str, str]]:
        """The criteria with their limits in words: `k >= 5`, or `k >= 5 people`."""
        for sign, limits in ((">=", self.at_least), ("<=", self.at_most)):
            for name, limit in limits.items():
                of_people = {None: "", PERSON: " people" if name == "k" else " of people"}[self.unit]
                yield name, f"{name} {sign} {limit:g}{of_people}"


NOTHING_REQUIRED = RequiredPrivacy()


class Composed(StrEnum):
    """Which configurations of one table a consumer may have together.

    `NESTED`: those of which one can be made from the other; `ONE`: only the one that it has; `ANY`: all.
    """

    NESTED = "nested"
    ONE = "one"
    ANY = "any"


@dataclass(frozen=True, slots=True)
class TenantPolicy:
    """A tenant's requirements of its entries, added to the service's; none by default.

    Attributes:
        required_privacy: what a configuration must guarantee to compete.
        demands_sign_off: whether a reviewer must sign off a new version before others see it.
        composition: which configurations of one table a consumer may have; None for the default, which is `NESTED`, and
            `ANY` in development mode.
    """

    required_privacy: RequiredPrivacy = NOTHING_REQUIRED
    demands_sign_off: bool = False
    composition: Composed | None = None

    def __str__(self) -> str:
        """The policy in words: `k=5,t=0.2, sign-off, composition=one`."""
        asked = [str(self.required_privacy), *(["sign-off"] * self.demands_sign_off)]
        asked += [] if self.composition is None else [f"composition={self.composition}"]
        return ", ".join(filter(None, asked)) or "nothing"


NO_DEMANDS = TenantPolicy()


@dataclass(frozen=True, slots=True)
class CountedTenant:
    """A tenant with its numbers.

    Attributes:
        keys: the number of its valid keys.
        asked: the number of its distinct questions in the last 24 hours.
    """

    name: str
    policy: TenantPolicy
    entries: int
    keys: int
    asked: int


#: How long questions count against a quota.
DAY: Final = timedelta(hours=24)

#: The least and the most of every limit.
LIMITS: Final[Mapping[str, tuple[int, int]]] = {
    "entries": (0, 10**9),
    "versions": (0, 10**9),
    "bytes": (0, 10**15),
    "advice": (0, 10**9),
    "jobs": (1, 10_000),
}


@dataclass(frozen=True, slots=True)
class Quota:
    """The limits of a tenant's usage; None for no limit.

    Attributes:
        versions: versions of all its entries together.
        bytes: the size of these versions in the database.
        advice: distinct questions in 24 hours.
        jobs: concurrent jobs, light and heavy ones counted separately.
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
            ValueError: there is no such quota, or a number is not whole or outside its `LIMITS`.
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
        """The limits that are set, by name."""
        return {name: limit for name, limit in asdict(self).items() if limit is not None}

    def otherwise(self, usual: Self) -> Self:
        """This quota, with the default's limits where it has none."""
        return type(self)(**(usual.numbers | self.numbers))

    def __str__(self) -> str:
        """The limits in the form of settings and commands: `entries=1000,advice=500`."""
        return ",".join(f"{name}={limit}" for name, limit in self.numbers.items())


NO_QUOTA = Quota()


@dataclass(frozen=True, slots=True)
class Usage:
    """A tenant's usage, in the units of its quota."""

    entries: int
    versions: int
    bytes: int
    advice: int
    jobs: int


NO_USAGE = Usage(0, 0, 0, 0, 0)
