"""Reads hierarchies of the plan file: one level of them as a masking, or all levels as maskings of an attribute."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Final

from aegis_provider.masking import (
    DateHierarchy,
    HierarchyFile,
    IntervalHierarchy,
    MaskingFunction,
    PrefixHierarchy,
    TreeHierarchy,
)
from aegis_provider.masking.hierarchy import Tree, depth_of
from aegis_provider.plan.element import Element

_DEEPEST = 50


@dataclass(frozen=True)
class _Levels:
    """How many levels a hierarchy has, and each as a masking function."""

    count: int
    at: Callable[[int], MaskingFunction]


def read_level(element: Element, folder: Path) -> MaskingFunction:
    """One level: `{file: ages.csv, level: 2}`, `{intervals: [5, 10], level: 1}`; files are looked up in `folder`.

    Raises `PlanError`, naming the place.
    """
    fields = dict(element.items())
    if "level" not in fields:
        element.fail("`level` is missing")
    level = fields["level"].integer(at_least=1)
    with element.naming_faults():
        return _levels(element, folder, also=("level",)).at(level)


def read_levels(element: Element, folder: Path) -> Iterator[MaskingFunction]:
    """All levels, the finest first, of a hierarchy that is stated without `level`.

    Raises `PlanError`, naming the place.
    """
    with element.naming_faults():
        levels = _levels(element, folder)
        if not levels.count:
            element.fail("the hierarchy has no level")
        yield from map(levels.at, range(1, levels.count + 1))


def _levels(element: Element, folder: Path, *, also: tuple[str, ...] = ()) -> _Levels:
    kinds = [name for name, _ in element.items() if name in _KINDS]
    if len(kinds) != 1:
        element.fail(f"expected one of {', '.join(f'`{name}`' for name in _KINDS)}")
    read, optional = _KINDS[kinds[0]]
    return read(element.fields(*kinds, optional=(*optional, *also)), folder)


def _file(fields: Mapping[str, Element], folder: Path) -> _Levels:
    delimiter = fields["delimiter"].character() if "delimiter" in fields else ";"
    file = HierarchyFile.read(folder / fields["file"].name(), delimiter)
    return _Levels(file.levels, file.level)


def _intervals(fields: Mapping[str, Element], _folder: Path) -> _Levels:
    widths = tuple(width.positive() for width in fields["intervals"].elements())
    origin = fields["origin"].decimal() if "origin" in fields else Decimal(0)
    return _Levels(len(widths), lambda level: IntervalHierarchy(widths, level, origin))


def _prefixes(fields: Mapping[str, Element], _folder: Path) -> _Levels:
    kept = tuple(keep.integer(at_least=0) for keep in fields["prefixes"].elements())
    return _Levels(len(kept), lambda level: PrefixHierarchy(kept, level))


def _dates(fields: Mapping[str, Element], _folder: Path) -> _Levels:
    units = tuple(unit.text() for unit in fields["dates"].elements())
    return _Levels(len(units), lambda level: DateHierarchy(units, level))


def _tree(fields: Mapping[str, Element], _folder: Path) -> _Levels:
    tree = _read_tree(fields["tree"], _DEEPEST)
    return _Levels(depth_of(tree), lambda level: TreeHierarchy(tree, level))


def _read_tree(element: Element, depth: int) -> Tree:
    if depth == 0:
        element.fail(f"nested deeper than {_DEEPEST} groups")
    groups: dict[str, Tree | tuple[str, ...]] = {}
    for name, within in element.items():
        is_list = isinstance(within.value, list)
        groups[name] = tuple(leaf.text() for leaf in within.elements()) if is_list else _read_tree(within, depth - 1)
    if not groups:
        element.fail("expected groups, `name: [value, ...]` or `name: {group: ...}`")
    return groups


_KINDS: Final[Mapping[str, tuple[Callable[[Mapping[str, Element], Path], _Levels], tuple[str, ...]]]] = {
    "file": (_file, ("delimiter",)),
    "intervals": (_intervals, ("origin",)),
    "prefixes": (_prefixes, ()),
    "dates": (_dates, ()),
    "tree": (_tree, ()),
}
