"""Groups of values, nested: the tree of a hierarchy."""

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from aegis_provider.yaml_file import Element

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
