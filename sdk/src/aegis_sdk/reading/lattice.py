"""Which masking of an attribute follows from which, as far as the mappings in its entry tell."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from aegis_sdk.wire import DROP, IDENTITY, Attribute


@dataclass(frozen=True)
class Node:
    """Maskings that group the values alike, as `drop` and a suppressed attribute do.

    `maskings`: their ids; `groups`: into how many groups the values fall.
    """

    maskings: tuple[str, ...]
    groups: int


@dataclass(frozen=True)
class Lattice:
    """The maskings of an attribute, ordered by what is a function of what.

    `nodes`: the finest (`identity`) first, the coarsest (`drop`) last. `covers`: places of a finer and a coarser node
    where the coarser masking is a function of the finer one and no other node lies between them: the edges of the Hasse
    diagram. `outside`: ids of the maskings that have no mapping in the entry, of which nothing of this is known.
    """

    nodes: tuple[Node, ...]
    covers: tuple[tuple[int, int], ...]
    outside: tuple[str, ...]

    def finer_than(self, masking: str) -> list[Node]:
        """The coarsest nodes that the masking is a function of; none for `identity`, and for what lies outside."""
        return [self.nodes[finer] for finer, coarser in self.covers if masking in self.nodes[coarser].maskings]

    def same_as(self, masking: str) -> tuple[str, ...]:
        """The other maskings that group the values alike."""
        alike = (node.maskings for node in self.nodes if masking in node.maskings)
        return tuple(name for names in alike for name in names if name != masking)


def lattice_of(attribute: Attribute) -> Lattice:
    """The lattice of the maskings that have a mapping, with `identity` and `drop`, which every attribute has."""
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
    """By masking, the group of each atom: of each set of values that no mapping tells apart.

    There are far fewer atoms than values as a rule. Groups are numbered as they come: equal groupings are equal tuples.
    """
    atoms = list(dict.fromkeys(zip(*mappings.values(), strict=True)))
    return {masking: _numbered(group) for masking, group in zip(mappings, zip(*atoms, strict=True), strict=True)}


def _numbered(groups: Sequence[int]) -> tuple[int, ...]:
    numbers: dict[int, int] = {}
    return tuple(numbers.setdefault(group, len(numbers)) for group in groups)


def _coarser(groupings: Sequence[tuple[int, ...]], place: int) -> Iterator[int]:
    """The places of the groupings, of fewer groups each, that are a function of the one at this place."""
    finer = groupings[place]
    for other in range(place + 1, len(groupings)):
        if len(set(zip(finer, groupings[other], strict=True))) == max(finer) + 1:
            yield other


def _covers(above: Sequence[set[int]]) -> Iterator[tuple[int, int]]:
    """The transitive reduction: what is above a node and not above anything that is above it."""
    for place, coarser in enumerate(above):
        further = set().union(*(above[each] for each in coarser))
        yield from ((place, each) for each in sorted(coarser - further))
