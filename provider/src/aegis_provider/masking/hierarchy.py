"""`hierarchy` built from rules: each level is a function of the one below."""

import datetime as dt
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import ClassVar, TypeAlias

from aegis_provider.masking.bucketize import EqualBuckets
from aegis_provider.masking.checks import check_above_zero, check_ascending, check_finite, check_level
from aegis_provider.masking.function import MaskingFunction
from aegis_provider.masking.lookup import first_of, look_up
from aegis_provider.masking.text import Blur
from aegis_provider.table.arithmetic import floor_ratio, json_number, times
from aegis_provider.table.values import MISSING, Domain, ValueType, key_of

Tree: TypeAlias = Mapping[str, "Tree | tuple[str, ...]"]
"""Groups by name: each holds groups, or else the values of a domain."""


@dataclass(frozen=True)
class IntervalHierarchy(MaskingFunction):
    """Level `i` is made of intervals of width `widths[i - 1]`, each width a multiple of the one before."""

    name: ClassVar[str] = "hierarchy"
    widths: tuple[Decimal, ...]
    level: int
    origin: Decimal = Decimal(0)

    def __post_init__(self) -> None:
        for width in self.widths:
            check_above_zero("intervals", width)
        check_finite("origin", self.origin)
        check_ascending("intervals", self.widths)
        for finer, coarser in pairwise(self.widths):
            if times(floor_ratio(coarser, finer), finer) != coarser:
                raise ValueError(f"intervals must nest, but {coarser} is no multiple of {finer}")
        check_level(self.level, len(self.widths))

    def parameters(self) -> dict[str, object]:
        """All widths, the origin and the level."""
        widths = [json_number(width) for width in self.widths]
        return {"intervals": widths, "origin": json_number(self.origin), "level": self.level}

    def describe(self) -> str:
        """`intervals of width 10, from 0 (level 2 of 3)`."""
        return f"{self._buckets().describe()} (level {self.level} of {len(self.widths)})"

    def mask(self, domain: Domain) -> list[str]:
        """The name of each value's interval; a missing value stays missing."""
        return self._buckets().mask(domain)

    def _buckets(self) -> EqualBuckets:
        return EqualBuckets(self.widths[self.level - 1], self.origin)


@dataclass(frozen=True)
class PrefixHierarchy(MaskingFunction):
    """Level `i` keeps the first `kept[i - 1]` characters, fewer from level to level, and writes `*` over the others."""

    name: ClassVar[str] = "hierarchy"
    kept: tuple[int, ...]
    level: int

    def __post_init__(self) -> None:
        for finer, coarser in pairwise(self.kept):
            if coarser >= finer:
                raise ValueError(f"prefixes must become shorter, but {coarser} follows {finer}")
        if any(keep < 0 for keep in self.kept):
            raise ValueError("prefixes have 0 characters or more")
        check_level(self.level, len(self.kept))

    def parameters(self) -> dict[str, object]:
        """All lengths, and the level."""
        return {"prefixes": list(self.kept), "level": self.level}

    def describe(self) -> str:
        """`texts of which all but the first 3 characters are written over with * (level 1 of 3)`."""
        return f"{self._blur().describe()} (level {self.level} of {len(self.kept)})"

    def mask(self, domain: Domain) -> list[str]:
        """Each text, as long as it was; a missing value stays missing."""
        return self._blur().mask(domain)

    def _blur(self) -> Blur:
        return Blur(self.kept[self.level - 1])


DATE_UNITS: Mapping[str, Callable[[dt.date], str]] = {
    "month": lambda date: f"{date.year:04}-{date.month:02}",
    "quarter": lambda date: f"{date.year:04}-Q{(date.month + 2) // 3}",
    "year": lambda date: f"{date.year:04}",
    "decade": lambda date: f"{date.year // 10:03}0s",
}
"""What a date becomes, by unit; each unit is made of whole ones of those before it."""


@dataclass(frozen=True)
class DateHierarchy(MaskingFunction):
    """Level `i` is the unit `units[i - 1]` that a date is in: `2024-03`, `2024-Q1`, `2024`, `2020s`."""

    name: ClassVar[str] = "hierarchy"
    units: tuple[str, ...]
    level: int

    def __post_init__(self) -> None:
        known = list(DATE_UNITS)
        for unit in self.units:
            if unit not in known:
                raise ValueError(f"unknown unit {unit!r}; there is {', '.join(known)}")
        for finer, coarser in pairwise(self.units):
            if known.index(coarser) <= known.index(finer):
                raise ValueError(f"units must become coarser, but {coarser} follows {finer}")
        check_level(self.level, len(self.units))

    def parameters(self) -> dict[str, object]:
        """All units, and the level."""
        return {"dates": list(self.units), "level": self.level}

    def describe(self) -> str:
        """`the quarter of each date (level 2 of 3)`."""
        return f"the {self.units[self.level - 1]} of each date (level {self.level} of {len(self.units)})"

    def mask(self, domain: Domain) -> list[str]:
        """The unit of each date; a missing value stays missing. Raises `UnmaskableValueError` for what is no date."""
        named = DATE_UNITS[self.units[self.level - 1]]
        return [text and named(key_of(text, ValueType.DATE)) for text in domain.texts]


@dataclass(frozen=True)
class TreeHierarchy(MaskingFunction):
    """Level 1 of a value is the group that holds it, level 2 the group that holds this one, and so on.

    A value that has fewer groups above it than others keeps the highest of them. No name of a group, and no value,
    stands twice: so each level is a function of the one below.
    """

    name: ClassVar[str] = "hierarchy"
    tree: Tree
    level: int

    def __post_init__(self) -> None:
        groups, values = _names(self.tree)
        for what, names in (("group", groups), ("value", values)):
            if repeated := [name for name, times_named in Counter(names).items() if times_named > 1]:
                raise ValueError(f"the {what} {repeated[0]!r} stands twice in the tree")
        if not values:
            raise ValueError("the tree holds no value")
        check_level(self.level, depth_of(self.tree))

    def parameters(self) -> dict[str, object]:
        """The tree, and the level."""
        return {"tree": _as_json(self.tree), "level": self.level}

    def describe(self) -> str:
        """`groups of a tree: North, South, Asia (level 1 of 2)`."""
        return f"groups of a tree: {first_of(self._table().values())} (level {self.level} of {depth_of(self.tree)})"

    def mask(self, domain: Domain) -> list[str]:
        """The group of each value; a missing value that the tree lacks stays missing."""
        return look_up(domain, {MISSING: MISSING, **self._table()}, None, "is not in the tree")

    def _table(self) -> dict[str, str]:
        return {value: above[-min(self.level, len(above))] for value, above in _paths(self.tree, ())}


def depth_of(tree: Tree) -> int:
    """The number of levels."""
    return max((len(above) for _, above in _paths(tree, ())), default=0)


def _paths(tree: Tree, above: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Every value with the groups above it, the highest first."""
    for name, within in tree.items():
        if isinstance(within, Mapping):
            yield from _paths(within, (*above, name))
        else:
            yield from ((value, (*above, name)) for value in within)


def _names(tree: Tree) -> tuple[list[str], list[str]]:
    """The names of all groups, and all values."""
    groups, values = list(tree), []
    for within in tree.values():
        if isinstance(within, Mapping):
            inner = _names(within)
            groups += inner[0]
            values += inner[1]
        else:
            values += within
    return groups, values


def _as_json(tree: Tree) -> dict[str, object]:
    return {name: _as_json(within) if isinstance(within, Mapping) else list(within) for name, within in tree.items()}
