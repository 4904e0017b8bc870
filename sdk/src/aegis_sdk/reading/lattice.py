"""The maskings of an attribute by which determines which, according to the mappings in the entry."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from aegis_sdk.wire import DROP, IDENTITY, Attribute


@dataclass(frozen=True)
class Node:
    """Maskings that group the values in the same way, such as `drop` and suppression.

    `maskings`: their ids; `groups`: the number of groups of values.
    """

    maskings: tuple[str, ...]
    groups: int


@dataclass(frozen=True)
class Lattice:
    """The maskings of an attribute, partially ordered: a coarser masking is a function of a finer one.

    `nodes`: from the finest (`identity`) to the coarsest (`drop`). `covers`: the edges of the Hasse diagram, as places
    of a finer node and a coarser one with no other node between them. `outside`: ids of the maskings without a mapping
    in the entry, whose position is not known.
    """

    nodes: tuple[Node, ...]
    covers: tuple[tuple[int, int], ...]
    outside: tuple[str, ...]

    def finer_than(self, masking: str) -> list[Node]:
        """The coarsest nodes that determine the masking; none for `identity` and for maskings outside the lattice."""
        return [self.nodes[finer] for finer, coarser in self.covers if masking in self.nodes[coarser].maskings]

    def same_as(self, masking: str) -> tuple[str, ...]:
        """The other maskings that group the values in the same way."""
        alike = (node.maskings for node in self.nodes if masking in node.maskings)
        return tuple(name for names in alike for name in names if name != masking)


def lattice_of(attribute: Attribute) -> Lattice:
    """The lattice of the maskings that have a mapping, plus `identity` and `drop`."""
    mapped = {each.id: each.mapping for each in attribute.maskings if each.mapping is not None}
    groupings = _groupings({**mapped, DROP: [0] * len(attribute.domain)})
    alike: dict[tuple[int, ...], list[str]] = {}
    for masking, grouping in groupings.items():
        alike.setdefault(grouping, []).append(masking)
    nodes = {grouping: Node(tuple(names), max(grouping) + 1) for grouping, names in alike.items()}
    finest_first = sorted(nodes, key=lambda grouping: -nodes[grouping].groups)
    above = [set(_coarser(finest_first, place)) for place in range(len(finest_first))]
    ordered = [nodes[grouping] for grouping in finest_first]
    if ordered[0].groups == len(attribute.domain):
        ordered[0] = Node((IDENTITY, *ordered[0].maskings), ordered[0].groups)
    else:
        ordered.insert(0, Node((IDENTITY,), len(attribute.domain)))
        above = [set(range(1, len(ordered))), *({place + 1 for place in places} for places in above)]
    outside = tuple(each.id for each in attribute.maskings if each.mapping is None)
    return Lattice(tuple(ordered), tuple(_covers(above)), outside)


def _groupings(mappings: dict[str, list[int]]) -> dict[str, tuple[int, ...]]:
    """The group of each atom, by masking. An atom is a set of values that no mapping distinguishes.

    There are usually far fewer atoms than values. Groups are numbered in order of appearance, so that equal groupings
    are equal tuples.
    """
    atoms = list(dict.fromkeys(zip(*mappings.values(), strict=True)))
    return {masking: _numbered(group) for masking, group in zip(mappings, zip(*atoms, strict=True), strict=True)}


def _numbered(groups: Sequence[int]) -> tuple[int, ...]:
    numbers: dict[int, int] = {}
    return tuple(numbers.setdefault(group, len(numbers)) for group in groups)


def _coarser(groupings: Sequence[tuple[int, ...]], place: int) -> Iterator[int]:
    """The places of the coarser groupings that are a function of the one at this place."""
    finer = groupings[place]
    for other in range(place + 1, len(groupings)):
        if len(set(zip(finer, groupings[other], strict=True))) == max(finer) + 1:
            yield other


def _covers(above: Sequence[set[int]]) -> Iterator[tuple[int, int]]:
    """The transitive reduction: pairs of a node and a node above it, with no other node between them."""
    for place, coarser in enumerate(above):
        further = set().union(*(above[each] for each in coarser))
        yield from ((place, each) for each in sorted(coarser - further))
