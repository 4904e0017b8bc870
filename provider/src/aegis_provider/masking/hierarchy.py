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
from aegis_provider.table.arithmetic import floor_ratio, json_number, times
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
    """Return the names of all groups, and all values. A group that contains only a group of the same name is named
    once.
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


def as_json(tree: Tree) -> dict[str, object]:
    """Return the tree as JSON values, as in the entry."""
    return {name: as_json(within) if isinstance(within, Mapping) else list(within) for name, within in tree.items()}


_SHOWN_GROUPS = 5


@dataclass(frozen=True)
class _Levels:
    """The number of levels of a hierarchy, and each level as a masking function."""

    count: int
    at: Callable[[int], MaskingFunction]


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
            return _levels(parameters, also=("level",)).at(level)

    @classmethod
    def read_levels(cls, hierarchy: Element) -> Iterator[MaskingFunction]:
        """Read all levels, the finest first, of a hierarchy stated without `level`.

        Raises:
            PlanError: The hierarchy is invalid; the message names the place.
        """
        with hierarchy.naming_faults():
            levels = _levels(hierarchy)
            if not levels.count:
                hierarchy.fail("the hierarchy has no level")
            yield from map(levels.at, range(1, levels.count + 1))


def _levels(element: Element, *, also: tuple[str, ...] = ()) -> _Levels:
    kinds = [name for name, _ in element.items() if name in _KINDS]
    if len(kinds) != 1:
        element.fail(f"expected one of {', '.join(f'`{name}`' for name in _KINDS)}")
    read, optional = _KINDS[kinds[0]]
    return read(element.fields(*kinds, optional=(*optional, *also)))


@dataclass(frozen=True)
class FileHierarchy(Hierarchy, MaskingFunction):
    """One level of a hierarchy file; `table` has the masked text of each value the file lists."""

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
            PlanError: The file is ragged, contradicts itself or lacks the level.
        """
        return cls(file.path.name, level, file.level(level))

    def parameters(self) -> dict[str, object]:
        """Return the file's name and the level."""
        return {"file": self.file, "level": self.level}

    def mask(self, domain: Domain) -> list[str]:
        """Return the masked text of each value; a missing value that the file lacks stays missing."""
        return look_up(domain, {MISSING: MISSING, **self.table}, None, f"is not in {self.file}")


@dataclass(frozen=True)
class IntervalHierarchy(Hierarchy, NumberFunction):
    """Level `i` consists of intervals of width `widths[i - 1]`, each width a multiple of the one before."""

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
                raise ValueError(f"intervals must nest, but {coarser} is not a multiple of {finer}")
        check_level(self.level, len(self.widths))

    def parameters(self) -> dict[str, object]:
        """Return all widths, the origin and the level."""
        widths = [json_number(width) for width in self.widths]
        return {"intervals": widths, "origin": json_number(self.origin), "level": self.level}

    def mask(self, domain: Domain) -> list[str]:
        """Return the name of each value's interval; a missing value stays missing."""
        return self._buckets().mask(domain)

    def _buckets(self) -> EqualBuckets:
        return EqualBuckets(self.widths[self.level - 1], self.origin)


@dataclass(frozen=True)
class PrefixHierarchy(Hierarchy, MaskingFunction):
    """Level `i` replaces all but the first `kept[i - 1]` characters by `*`, more from level to level."""

    keeps_parts: ClassVar[bool] = True
    kept: tuple[int, ...]
    level: int

    def __post_init__(self) -> None:
        for finer, coarser in pairwise(self.kept):
            if coarser >= finer:
                raise ValueError(f"prefixes must become shorter, but {coarser} follows {finer}")
        if any(keep < 0 for keep in self.kept):
            raise ValueError("prefix lengths must not be negative")
        check_level(self.level, len(self.kept))

    def parameters(self) -> dict[str, object]:
        """Return all lengths and the level."""
        return {"prefixes": list(self.kept), "level": self.level}

    def mask(self, domain: Domain) -> list[str]:
        """Return each text masked, with its length unchanged; a missing value stays missing."""
        return self._blur().mask(domain)

    def _blur(self) -> Blur:
        return Blur(self.kept[self.level - 1])


DATE_UNITS: Mapping[str, Callable[[dt.date], str]] = {
    "month": lambda date: f"{date.year:04}-{date.month:02}",
    "quarter": lambda date: f"{date.year:04}-Q{(date.month + 2) // 3}",
    "year": lambda date: f"{date.year:04}",
    "decade": lambda date: f"{date.year // 10:03}0s",
}
"""The function of a date for each unit; each unit is made up of whole units of the one before it."""


@dataclass(frozen=True)
class DateHierarchy(Hierarchy, MaskingFunction):
    """Level `i` is the unit `units[i - 1]` of a date: `2024-03`, `2024-Q1`, `2024`, `2020s`."""

    keeps_parts: ClassVar[bool] = True
    units: tuple[str, ...]
    level: int

    def __post_init__(self) -> None:
        known = list(DATE_UNITS)
        for unit in self.units:
            if unit not in known:
                raise ValueError(f"unknown unit {unit!r}; available: {', '.join(known)}")
        for finer, coarser in pairwise(self.units):
            if known.index(coarser) <= known.index(finer):
                raise ValueError(f"units must become coarser, but {coarser} follows {finer}")
        check_level(self.level, len(self.units))

    def parameters(self) -> dict[str, object]:
        """Return all units and the level."""
        return {"dates": list(self.units), "level": self.level}

    def mask(self, domain: Domain) -> list[str]:
        """Return the unit of each date; a missing value stays missing.

        Raises:
            UnmaskableValueError: A value is not a date.
        """
        named = DATE_UNITS[self.units[self.level - 1]]
        return [text and named(key_of(text, ValueType.DATE)) for text in domain.texts]


@dataclass(frozen=True)
class TreeHierarchy(Hierarchy, MaskingFunction):
    """Level 1 of a value is the group that contains it, level 2 the group that contains that group, and so on.

    A value with fewer groups above it than others stays in the highest of them. No value appears twice, nor does a
    group name, except for an unchanged group: `{other: {other: [...]}}`. So each level is a function of the
    level below.
    """

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

    def parameters(self) -> dict[str, object]:
        """Return the tree and the level."""
        return {"tree": as_json(self.tree), "level": self.level}

    def describe(self) -> str:
        """Return words such as `level 1 of a tree: North, South, Asia`."""
        return f"{super().describe()}: {some(list(dict.fromkeys(self._table().values())), _SHOWN_GROUPS)}"

    def mask(self, domain: Domain) -> list[str]:
        """Return the group of each value; a missing value that the tree lacks stays missing."""
        return look_up(domain, {MISSING: MISSING, **self._table()}, None, "is not in the tree")

    def _table(self) -> dict[str, str]:
        return {value: above[-min(self.level, len(above))] for value, above in paths_of(self.tree)}


def _file(fields: Mapping[str, Element]) -> _Levels:
    delimiter = fields["delimiter"].character() if "delimiter" in fields else None
    file = HierarchyFile.read(fields["file"].file(), delimiter)
    return _Levels(file.levels, lambda level: FileHierarchy.of(file, level))


def _intervals(fields: Mapping[str, Element]) -> _Levels:
    widths = tuple(width.positive() for width in fields["intervals"].elements())
    origin = fields["origin"].decimal() if "origin" in fields else Decimal(0)
    return _Levels(len(widths), lambda level: IntervalHierarchy(widths, level, origin))


def _prefixes(fields: Mapping[str, Element]) -> _Levels:
    kept = tuple(keep.integer(at_least=0) for keep in fields["prefixes"].elements())
    return _Levels(len(kept), lambda level: PrefixHierarchy(kept, level))


def _dates(fields: Mapping[str, Element]) -> _Levels:
    units = tuple(unit.text() for unit in fields["dates"].elements())
    return _Levels(len(units), lambda level: DateHierarchy(units, level))


def _tree(fields: Mapping[str, Element]) -> _Levels:
    tree = read_tree(fields["tree"])
    return _Levels(depth_of(tree), lambda level: TreeHierarchy(tree, level))


_KINDS: Final[Mapping[str, tuple[Callable[[Mapping[str, Element]], _Levels], tuple[str, ...]]]] = {
    "file": (_file, ("delimiter",)),
    "intervals": (_intervals, ("origin",)),
    "prefixes": (_prefixes, ()),
    "dates": (_dates, ()),
    "tree": (_tree, ()),
}
