"""The choices for each attribute, the lattice of their combinations, and the nodes at which a monotone predicate holds.

Every node of a lattice that fits into memory is decided, at a byte per node, with as few evaluations as possible.
"""

import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import cycle, islice, product
from random import Random
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aegis_provider.counting.counts import Partition, Places
from aegis_provider.processes import Progress

Steps: TypeAlias = tuple[tuple[int, ...], ...]

Node: TypeAlias = tuple[int, ...]
"""The place of the choice of each attribute."""


@dataclass(frozen=True, eq=False)
class Choices:
    """The maskings of an attribute that group its values differently, the finest first.

    Two choices need not be comparable: neither buckets of 5 nor buckets of 7 are a function of the other.

    Attributes:
        ids: The masking id of each choice, including `identity` and `drop`, unless the plan's limits exclude it.
        partitions: The groups of each choice. If no choice is coarser than all others, a ceiling follows that is: no
            release has it, but what breaks a requirement there does so with each choice.
        listed: The groups that an entry lists for each choice: for `identity`, rare values are merged.
    """

    attribute: str
    ids: tuple[str, ...]
    partitions: tuple[Partition, ...]
    listed: tuple[Partition, ...]

    @classmethod
    def of(
        cls, attribute: str, partitions: Mapping[str, Partition], listed: Mapping[str, Partition] | None = None
    ) -> "Choices":
        """Return the choices; of several ids that group the values alike, only the first remains.

        A masking that only renames values thus gives way to `identity`, and `drop`, which comes last, to a masking with
        a single masked value. `listed`: the groups that an entry lists instead, by the ids of choices for which they
        differ.
        """
        kept: dict[str, Partition] = {}
        for name, partition in partitions.items():
            if not any(partition.size == other.size and partition.follows_from(other) for other in kept.values()):
                kept[name] = partition
        ordered = sorted(kept.items(), key=lambda item: -item[1].size)
        ids, groups = tuple(name for name, _ in ordered), tuple(partition for _, partition in ordered)
        lists = tuple((listed or {}).get(name, partition) for name, partition in ordered)
        return cls(attribute, ids, groups, lists).only(range(len(ids)))

    def only(self, places: Sequence[int]) -> "Choices":
        """Return some of the choices, at least one, in order."""
        ids, groups, listed = zip(
            *((self.ids[place], self.partitions[place], self.listed[place]) for place in places), strict=True
        )
        if not all(groups[-1].follows_from(each) for each in groups):
            groups = (*groups, Partition(np.zeros_like(groups[0].groups), 1))
        return Choices(self.attribute, ids, groups, listed)

    def place_of(self, masking: str, partition: Partition | None) -> int | None:
        """Return the place of a masking, or of a choice with the same groups; `None` if there is neither."""
        if masking in self.ids:
            return self.ids.index(masking)
        alike = (
            place
            for place, each in enumerate(self.partitions[: len(self)])
            if partition is not None and each.size == partition.size and each.follows_from(partition)
        )
        return next(alike, None)

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def has_ceiling(self) -> bool:
        """Whether no choice is coarser than all others."""
        return len(self.partitions) > len(self)

    @cached_property
    def follows(self) -> NDArray[np.bool_]:
        """(choices, choices) Whether the row's choice is a function of the column's; true on the diagonal."""
        choices = self.partitions[: len(self)]
        pairs = [one.follows_from(other) for one in choices for other in choices]
        return np.array(pairs, dtype=np.bool_).reshape(len(self), len(self))

    @cached_property
    def steps(self) -> tuple[tuple[int, int], ...]:
        """Every (finer, coarser) pair of choices with none between them."""
        strictly = self.follows & ~np.eye(len(self), dtype=np.bool_)
        between = strictly.astype(np.intp) @ strictly.astype(np.intp) > 0
        return tuple((finer, coarser) for coarser, finer in np.argwhere(strictly & ~between).tolist())

    @cached_property
    def finer(self) -> Steps:
        """For each choice, the choices finer by one step."""
        return tuple(tuple(finer for finer, above in self.steps if above == place) for place in range(len(self)))

    @cached_property
    def coarser(self) -> Steps:
        """For each choice, the choices coarser by one step."""
        return tuple(tuple(coarser for below, coarser in self.steps if below == place) for place in range(len(self)))

    @cached_property
    def coarsest(self) -> Steps:
        """For each choice, the coarsest choices that follow from it."""
        ends = [place for place, above in enumerate(self.coarser) if not above]
        return tuple(tuple(end for end in ends if self.follows[end, place]) for place in range(len(self)))

    @property
    def is_chain(self) -> bool:
        """Whether every two choices are comparable."""
        return bool(np.all(self.follows | self.follows.T))


_MOST_TOPS: Final = 64


@dataclass(frozen=True, eq=False)
class Lattice:
    """The product of the attributes' choices: a node is finer than another if it is finer in every attribute."""

    choices: tuple[Choices, ...]

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The number of choices of each attribute."""
        return tuple(map(len, self.choices))

    @cached_property
    def nodes(self) -> int:
        """The number of combinations."""
        return math.prod(self.shape)

    def maskings(self, node: Node) -> dict[str, str]:
        """Return the masking id of each attribute at a node."""
        return {each.attribute: each.ids[place] for each, place in zip(self.choices, node, strict=True)}

    @property
    def top(self) -> Node:
        """The coarsest node, which is a ceiling where an attribute's choices have one."""
        return tuple(len(each.partitions) - 1 for each in self.choices)

    @cached_property
    def tops(self) -> tuple[Node, ...]:
        """The nodes that none is coarser than, without ceilings; up to 64 of them."""
        ends = [sorted({end for above in each.coarsest for end in above}, reverse=True) for each in self.choices]
        return tuple(islice(product(*ends), _MOST_TOPS))

    def coarser(self, node: Node) -> Iterator[Node]:
        """Yield the nodes that are coarser by one step of one attribute."""
        for axis, place in enumerate(node):
            for step in self.choices[axis].coarser[place]:
                yield (*node[:axis], step, *node[axis + 1 :])

    def minimal(self, holds: NDArray[np.bool_]) -> Places:
        """(minimal nodes, attributes) The nodes that hold while no node finer by a step does, in order."""
        minimal = holds.copy()
        for axis, choice in enumerate(self.choices):
            ours, theirs = np.moveaxis(minimal, axis, 0), np.moveaxis(holds, axis, 0)
            for finer, coarser in choice.steps:
                ours[coarser] &= ~theirs[finer]
        return np.argwhere(minimal)


_SEED = 0
_ORDERS = 1021

UNKNOWN: Final = 0
HOLDS: Final = 1
FAILS: Final = 2

# NumPy is fast with rows of this many bytes, and slow with boxes whose last side has only a few.
_ROW = 1024
_SCANNED_AT_ONCE = 1 << 16


@dataclass(frozen=True, eq=False)
class Tags:
    """A byte for each node.

    If a node holds, so do all coarser ones; if it fails, so do all finer ones. `flags`: the nodes in the lattice's
    order. The last axis combines as many of the last attributes as fit, so that few operations on long rows tag the box
    of nodes above or below a node.
    """

    lattice: Lattice
    flags: NDArray[np.uint8]

    @classmethod
    def of(cls, lattice: Lattice) -> "Tags":
        """Return tags with every node unknown."""
        shape = lattice.shape
        row = max((_ROW, *shape[-1:]))
        outer = next(axis for axis in range(len(shape) + 1) if math.prod(shape[axis:]) <= row)
        return cls(lattice, np.zeros((*shape[:outer], math.prod(shape[outer:])), dtype=np.uint8))

    @cached_property
    def strides(self) -> tuple[int, ...]:
        """For each attribute, the distance between the places of nodes that differ by one in it."""
        shape = self.lattice.shape
        return tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))

    def tag(self, node: Node, *, holds: bool) -> None:
        """Tag a node and all coarser ones as holding, or it and all finer ones as failing."""
        pairs = zip(self.lattice.choices, node, strict=True)
        chosen = [each.follows[:, place] if holds else each.follows[place] for each, place in pairs]
        outer = self.flags.ndim - 1
        row: NDArray[Any] = reduce(np.multiply.outer, chosen[outer:], np.array(1, dtype=np.uint8))
        self.flags[_box(chosen[:outer])] |= row.reshape(-1).astype(np.uint8) * np.uint8(HOLDS if holds else FAILS)

    def next_unknown(self, start: int) -> int | None:
        """Return the place of the first unknown node from `start` on, or `None` if there is none."""
        flat = self.flags.reshape(-1)
        while start < len(flat):
            ahead = flat[start : start + _SCANNED_AT_ONCE]
            first = int(ahead.argmin())
            if ahead[first] == UNKNOWN:
                return start + first
            start += len(ahead)
        return None


def _box(chosen: Sequence[NDArray[np.bool_]]) -> tuple[Any, ...]:
    """Return an index of the box; slices, which are fastest, if all its choices are consecutive, as in chains."""
    places = [np.flatnonzero(choices) for choices in chosen]
    if all(place[-1] - place[0] == len(place) - 1 for place in places):
        return tuple(slice(int(place[0]), int(place[-1]) + 1) for place in places)
    return np.ix_(*places)


@dataclass(frozen=True, eq=False)
class Decision:
    """The decision for every node. `holds`: an array of the lattice's shape."""

    holds: NDArray[np.bool_]
    evaluated: int


def search(
    lattice: Lattice, holds: Callable[[Node], bool], progress: Progress = lambda _done, _nodes: None
) -> Decision:
    """Decide `holds` for every node; it must be monotone, so if it is true for a node, it is true for all coarser ones.

    From the first unknown node, a path leads up step by step through other unknown nodes. A binary search finds where
    on the path `holds` becomes true, and everything implied by monotonicity is tagged (Flash: Kohlmayer et al. 2012). A
    path between nodes that hold and nodes that fail is short, so most evaluations meet a minimal node that holds or a
    coarsest one that fails. `progress`: called with the number of nodes passed and the number of all nodes.
    """
    random, axes = Random(_SEED), len(lattice.choices)  # noqa: S311 - no secret
    tags, orders = (
        Tags.of(lattice),
        cycle([random.sample(range(axes), axes) for _ in range(_ORDERS)]),
    )  # any path will do
    evaluated, place = 0, tags.next_unknown(0)
    while place is not None:
        path = list(_path(tags, tuple(map(int, np.unravel_index(place, lattice.shape))), orders))
        evaluated += _bisect(tags, path, holds)
        progress(place, lattice.nodes)
        place = tags.next_unknown(place)
    return Decision((tags.flags == HOLDS).reshape(lattice.shape), evaluated)


def _path(tags: Tags, node: Node | None, orders: Iterator[Sequence[int]]) -> Iterator[Node]:
    """Yield the nodes of a path up from a node, in single steps through unknown nodes, as far as possible."""
    flags = tags.flags.reshape(-1).data  # flat memory is faster to read one by one than an array
    while node is not None:
        yield node
        place, steps = sum(map(operator.mul, node, tags.strides)), tags.lattice.choices
        above = ((axis, step) for axis in next(orders) for step in steps[axis].coarser[node[axis]])
        unknown = (
            (*node[:axis], step, *node[axis + 1 :])
            for axis, step in above
            if flags[place + (step - node[axis]) * tags.strides[axis]] == UNKNOWN
        )
        node = next(unknown, None)


def _bisect(tags: Tags, path: list[Node], holds: Callable[[Node], bool]) -> int:
    """Tag all nodes of a path from fine to coarse, and return the number of evaluations."""
    low, high, evaluated = 0, len(path), 0
    while low < high:
        middle = (low + high) // 2
        does = holds(path[middle])
        tags.tag(path[middle], holds=does)
        evaluated += 1
        low, high = (low, middle) if does else (middle + 1, high)
    return evaluated
