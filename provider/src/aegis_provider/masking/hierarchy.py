"""`hierarchy`: levels, each a function of the level below, listed in a file or a tree, or built by a rule."""

import datetime as dt
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import ClassVar, Final, TypeAlias

from aegis_provider.masking.function import (
    Function,
    MaskingFunction,
    NumberFunction,
    check_above_zero,
    check_ascending,
    check_finite,
    check_level,
)
from aegis_provider.masking.lookup import HierarchyFile, look_up
from aegis_provider.masking.numbers import EqualBuckets
from aegis_provider.masking.texts import Blur
from aegis_provider.table.arithmetic import floor_ratio, times
from aegis_provider.table.values import MISSING, Domain, ValueType, key_of
from aegis_provider.yaml_file import Element
from aegis_sdk.reading import some

_DEEPEST = 50

Tree: TypeAlias = Mapping[str, "Tree | tuple[str, ...]"]
"""Groups by name; each contains groups, or values of a domain."""


def read_tree(element: Element, depth: int = _DEEPEST) -> Tree:
    """Read `{Europe: {North: [no, se], South: [it, es]}, Asia: [jp, cn]}`, nested no deeper than `depth`.

    Raises:
        PlanError: The element is something else; the message names the place.
    """
    if depth == 0:
        element.fail(f"nested deeper than {_DEEPEST} groups")
    groups: dict[str, Tree | tuple[str, ...]] = {}
    for name, within in element.items():
        is_list = isinstance(within.value, list)
        groups[name] = tuple(leaf.text() for leaf in within.elements()) if is_list else read_tree(within, depth - 1)
    if not groups:
        element.fail("expected groups, `name: [value, ...]` or `name: {group: ...}`")
    return groups


def depth_of(tree: Tree) -> int:
    """Return the number of levels."""
    return max((len(above) for _, above in paths_of(tree)), default=0)


def paths_of(tree: Tree, above: tuple[str, ...] = ()) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every value with the groups above it, the highest first."""
    for name, within in tree.items():
        if isinstance(within, Mapping):
            yield from paths_of(within, (*above, name))
        else:
            yield from ((value, (*above, name)) for value in within)


def names_of(tree: Tree) -> tuple[list[str], list[str]]:
    """Return the names of all groups, and all values.

    A group that contains only a group of the same name is named once.
    """
    groups, values = list(tree), []
    for name, within in tree.items():
        if isinstance(within, Mapping):
            inner = names_of(within)
            groups += inner[0][1:] if list(within) == [name] else inner[0]
            values += inner[1]
        else:
            values += within
    return groups, values


_SHOWN_GROUPS = 5


class Hierarchy(Function):
    """One level: `{file: ages.csv, level: 2}`, `{intervals: [5, 10], level: 1}` and so on for each kind."""

    name: ClassVar[str] = "hierarchy"
    file_keys: ClassVar[tuple[str, ...]] = ("file",)

    @classmethod
    def read(cls, parameters: Element) -> MaskingFunction:
        """Read the stated level."""
        fields = dict(parameters.items())
        if "level" not in fields:
            parameters.fail("`level` is missing")
        level = fields["level"].integer(at_least=1)
        with parameters.naming_faults():
            return _levels(parameters, also=("level",))[1](level)

    @classmethod
    def read_levels(cls, hierarchy: Element) -> Iterator[MaskingFunction]:
        """Read all levels, the finest first, of a hierarchy stated without `level`.

        Raises:
            PlanError: The hierarchy is invalid; the message names the place.
        """
        with hierarchy.naming_faults():
            count, at_level = _levels(hierarchy)
            if not count:
                hierarchy.fail("the hierarchy has no level")
            yield from map(at_level, range(1, count + 1))


@dataclass(frozen=True)
class FileHierarchy(Hierarchy, MaskingFunction):
    """One level of a hierarchy file; `table` has the masked text of each value the file lists."""

    published: ClassVar[tuple[str, ...]] = ("file", "level")
    file: str
    level: int
    table: Mapping[str, str]

    def __post_init__(self) -> None:
        if self.level < 1:
            raise ValueError(f"`level` must be at least 1, not {self.level}")

    @classmethod
    def of(cls, file: HierarchyFile, level: int) -> "FileHierarchy":
        """Return that level of a file.

        Raises:
            PlanError: The file contradicts itself or lacks the level.
        """
        return cls(file.path.name, level, file.level(level))

    def mask(self, domain: Domain) -> list[str]:
        """Return the masked text of each value; a missing value that the file lacks stays missing."""
        return look_up(domain, {MISSING: MISSING, **self.table}, None, f"is not in {self.file}")


@dataclass(frozen=True)
class IntervalHierarchy(Hierarchy, NumberFunction):
    """Level `i` consists of intervals of width `intervals[i - 1]`, each width a multiple of the one before."""

    published: ClassVar[tuple[str, ...]] = ("intervals", "origin", "level")
    intervals: tuple[Decimal, ...]
    level: int
    origin: Decimal = Decimal(0)

    def __post_init__(self) -> None:
        for width in self.intervals:
            check_above_zero("intervals", width)
        check_finite("origin", self.origin)
        check_ascending("intervals", self.intervals)
        for finer, coarser in pairwise(self.intervals):
            if times(floor_ratio(coarser, finer), finer) != coarser:
                raise ValueError(f"intervals must nest, but {coarser} is not a multiple of {finer}")
        check_level(self.level, len(self.intervals))

    def mask(self, domain: Domain) -> list[str]:
        """Return the name of each value's interval; a missing value stays missing."""
        return EqualBuckets(self.intervals[self.level - 1], self.origin).mask(domain)


@dataclass(frozen=True)
class PrefixHierarchy(Hierarchy, MaskingFunction):
    """Level `i` replaces all but the first `prefixes[i - 1]` characters by `*`, more from level to level."""

    keeps_parts: ClassVar[bool] = True
    published: ClassVar[tuple[str, ...]] = ("prefixes", "level")
    prefixes: tuple[int, ...]
    level: int

    def __post_init__(self) -> None:
        for finer, coarser in pairwise(self.prefixes):
            if coarser >= finer:
                raise ValueError(f"prefixes must become shorter, but {coarser} follows {finer}")
        if any(keep < 0 for keep in self.prefixes):
            raise ValueError("prefix lengths must not be negative")
        check_level(self.level, len(self.prefixes))

    def mask(self, domain: Domain) -> list[str]:
        """Return each text masked, with its length unchanged; a missing value stays missing."""
        return Blur(self.prefixes[self.level - 1]).mask(domain)


DATE_UNITS: Mapping[str, Callable[[dt.date], str]] = {
    "month": lambda date: f"{date.year:04}-{date.month:02}",
    "quarter": lambda date: f"{date.year:04}-Q{(date.month + 2) // 3}",
    "year": lambda date: f"{date.year:04}",
    "decade": lambda date: f"{date.year // 10:03}0s",
}
"""The function of a date for each unit; each unit is made up of whole units of the one before it."""


@dataclass(frozen=True)
class DateHierarchy(Hierarchy, MaskingFunction):
    """Level `i` is the unit `dates[i - 1]` of a date: `2024-03`, `2024-Q1`, `2024`, `2020s`."""

    keeps_parts: ClassVar[bool] = True
    published: ClassVar[tuple[str, ...]] = ("dates", "level")
    dates: tuple[str, ...]
    level: int

    def __post_init__(self) -> None:
        known = list(DATE_UNITS)
        for unit in self.dates:
            if unit not in known:
                raise ValueError(f"unknown unit {unit!r}; available: {', '.join(known)}")
        for finer, coarser in pairwise(self.dates):
            if known.index(coarser) <= known.index(finer):
                raise ValueError(f"units must become coarser, but {coarser} follows {finer}")
        check_level(self.level, len(self.dates))

    def mask(self, domain: Domain) -> list[str]:
        """Return the unit of each date; a missing value stays missing.

        Raises:
            UnmaskableValueError: A value is not a date.
        """
        named = DATE_UNITS[self.dates[self.level - 1]]
        return [text and named(key_of(text, ValueType.DATE)) for text in domain.texts]


@dataclass(frozen=True)
class TreeHierarchy(Hierarchy, MaskingFunction):
    """Level 1 of a value is the group that contains it, level 2 the group that contains that group, and so on.

    A value with fewer groups above it than others stays in the highest of them. No value appears twice, nor does a
    group name, except for an unchanged group: `{other: {other: [...]}}`. So each level is a function of the
    level below.
    """

    published: ClassVar[tuple[str, ...]] = ("tree", "level")
    tree: Tree
    level: int

    def __post_init__(self) -> None:
        groups, values = names_of(self.tree)
        for what, names in (("group", groups), ("value", values)):
            if repeated := [name for name, times_named in Counter(names).items() if times_named > 1]:
                raise ValueError(f"the {what} {repeated[0]!r} appears twice in the tree")
        if not values:
            raise ValueError("the tree contains no value")
        check_level(self.level, depth_of(self.tree))

    def describe(self) -> str:
        """Return words such as `3 groups: North, South, Asia`."""
        groups = list(dict.fromkeys(self._table().values()))
        return f"{len(groups)} group{'s' * (len(groups) > 1)}: {some(groups, _SHOWN_GROUPS)}"

    def mask(self, domain: Domain) -> list[str]:
        """Return the group of each value; a missing value that the tree lacks stays missing."""
        return look_up(domain, {MISSING: MISSING, **self._table()}, None, "is not in the tree")

    def _table(self) -> dict[str, str]:
        return {value: above[-min(self.level, len(above))] for value, above in paths_of(self.tree)}


_KINDS: Final = {"file": ("delimiter",), "intervals": ("origin",), "prefixes": (), "dates": (), "tree": ()}
"""The kinds of hierarchy, with the optional fields of each."""


def _levels(element: Element, *, also: tuple[str, ...] = ()) -> tuple[int, Callable[[int], MaskingFunction]]:
    """Read the number of levels of a hierarchy, and each level as a masking function."""
    kinds = [name for name, _ in element.items() if name in _KINDS]
    if len(kinds) != 1:
        element.fail(f"expected one of {', '.join(f'`{name}`' for name in _KINDS)}")
    fields = element.fields(*kinds, optional=(*_KINDS[kinds[0]], *also))
    stated = fields[kinds[0]]
    match kinds[0]:
        case "file":
            delimiter = fields["delimiter"].character() if "delimiter" in fields else None
            file = HierarchyFile.read(stated.file(), delimiter)
            return file.levels, lambda level: FileHierarchy.of(file, level)
        case "intervals":
            widths = tuple(width.positive() for width in stated.elements())
            origin = fields["origin"].decimal() if "origin" in fields else Decimal(0)
            return len(widths), lambda level: IntervalHierarchy(widths, level, origin)
        case "prefixes":
            prefixes = tuple(length.integer(at_least=0) for length in stated.elements())
            return len(prefixes), lambda level: PrefixHierarchy(prefixes, level)
        case "dates":
            units = tuple(unit.text() for unit in stated.elements())
            return len(units), lambda level: DateHierarchy(units, level)
        case _:
            tree = read_tree(stated)
            return depth_of(tree), lambda level: TreeHierarchy(tree, level)
