"""Which nodes of a lattice hold, by as few evaluations as monotony allows.

Of a lattice that fits into the memory, a byte for each node, `search` decides every one; `descend` finds some minimal
nodes of any.
"""

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from random import Random
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from aegis_provider.progress import Progress
from aegis_provider.search.lattice import Lattice, Node

_SEED = 0
_DESCENTS_PER_NODE = 4

UNKNOWN: Final = 0
HOLDS: Final = 1
FAILS: Final = 2

# NumPy is quick with rows of this many bytes, and slow with boxes whose last side is a few bytes long.
_ROW = 1024
_SCANNED_AT_ONCE = 1 << 16


@dataclass(frozen=True, eq=False)
class Tags:
    """A byte for each node. A node that holds tells it of all coarser ones, one that fails of all finer ones.

    `flags`: the nodes in the lattice's order; the last attributes, as many as there is room for, share its last axis,
    so that the box of nodes above or below another is tagged by few operations on long rows.
    """

    lattice: Lattice
    flags: NDArray[np.uint8]

    @classmethod
    def of(cls, lattice: Lattice) -> "Tags":
        """Nothing is known yet."""
        shape = lattice.shape
        row = max((_ROW, *shape[-1:]))
        outer = next(axis for axis in range(len(shape) + 1) if math.prod(shape[axis:]) <= row)
        return cls(lattice, np.zeros((*shape[:outer], math.prod(shape[outer:])), dtype=np.uint8))

    @cached_property
    def bytes(self) -> memoryview:
        """The flags one after the other: a single one is read faster than from an array."""
        return self.flags.reshape(-1).data

    @cached_property
    def strides(self) -> tuple[int, ...]:
        """How far apart the places of nodes are that differ by one in an attribute."""
        shape = self.lattice.shape
        return tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))

    def place(self, node: Node) -> int:
        """Where the node's byte is."""
        return sum(map(operator.mul, node, self.strides))

    def tag(self, node: Node, *, holds: bool) -> None:
        """Notes that a node holds, and so do all coarser ones; or that it fails, and so do all finer ones."""
        pairs = zip(self.lattice.choices, node, strict=True)
        if holds:
            self._mark([each.follows[:, place] for each, place in pairs], HOLDS)
        else:
            self._mark([each.follows[place] for each, place in pairs], FAILS)

    def _mark(self, chosen: Sequence[NDArray[np.bool_]], flag: int) -> None:
        """`chosen`: for each attribute (choices,) which of them the box has."""
        outer = self.flags.ndim - 1
        row: NDArray[Any] = reduce(np.multiply.outer, chosen[outer:], np.array(1, dtype=np.uint8))
        self.flags[_box(chosen[:outer])] |= row.reshape(-1).astype(np.uint8) * np.uint8(flag)

    def next_unknown(self, start: int) -> int | None:
        """The place, from `start` on, of the first node of which nothing is known."""
        flat = self.flags.reshape(-1)
        while start < len(flat):
            ahead = flat[start : start + _SCANNED_AT_ONCE]
            first = int(ahead.argmin())
            if ahead[first] == UNKNOWN:
                return start + first
            start += len(ahead)
        return None

    def node(self, place: int) -> Node:
        """The node at a place in the order of the lattice."""
        return tuple(int(each) for each in np.unravel_index(place, self.lattice.shape))

    def holding(self) -> NDArray[np.bool_]:
        """An array of the lattice's shape: which nodes are known to hold."""
        holding: NDArray[np.bool_] = self.flags == HOLDS
        return holding.reshape(self.lattice.shape)


def _box(chosen: Sequence[NDArray[np.bool_]]) -> tuple[Any, ...]:
    """Slices where what is chosen of every attribute is consecutive, as it is of chains: those are fastest."""
    places = [np.flatnonzero(each) for each in chosen]
    if all(each[-1] - each[0] == len(each) - 1 for each in places):
        return tuple(slice(int(each[0]), int(each[-1]) + 1) for each in places)
    return np.ix_(*places)


@dataclass(frozen=True, eq=False)
class Verdict:
    """What is known of all nodes.

    Attributes:
        holds: An array of the lattice's shape.
        evaluated: How many nodes were looked at to know.
    """

    holds: NDArray[np.bool_]
    evaluated: int


def search(lattice: Lattice, holds: Callable[[Node], bool], progress: Progress = lambda _done, _nodes: None) -> Verdict:
    """Evaluates `holds`, which must be monotone: true of every node that is coarser than one of which it is true.

    From the first node of which nothing is known a path leads up, step by step, through others of which nothing is
    known; a binary search finds where on it `holds` turns true; all that follows by monotony is tagged (Flash:
    Kohlmayer et al. 2012). A path that stays below what holds and above what fails is short, so most evaluations meet
    a minimal node or one that fails and is coarsest among those. `progress` is told how many nodes are behind.
    """
    tags, random = Tags.of(lattice), Random(_SEED)  # noqa: S311 - any path will do
    evaluated, place = 0, tags.next_unknown(0)
    while place is not None:
        path = _path(tags, tags.node(place), random)
        evaluated += _bisect(tags, path, holds)
        progress(place, lattice.nodes)
        place = tags.next_unknown(place)
    return Verdict(tags.holding(), evaluated)


def _path(tags: Tags, node: Node, random: Random) -> list[Node]:
    """A way up from a node, in single steps, through nodes of which nothing is known, as far as there are any."""
    path = [node]
    while step := _step_up(tags, path[-1], random):
        path.append(step)
    return path


def _step_up(tags: Tags, node: Node, random: Random) -> Node | None:
    """A node of which nothing is known, coarser by a step of an attribute; `None` if there is none."""
    place = tags.place(node)
    axes = random.sample(range(len(node)), len(node))
    for axis in axes:
        for step in tags.lattice.choices[axis].coarser[node[axis]]:
            if tags.bytes[place + (step - node[axis]) * tags.strides[axis]] == UNKNOWN:
                return (*node[:axis], step, *node[axis + 1 :])
    return None


def _bisect(tags: Tags, path: list[Node], holds: Callable[[Node], bool]) -> int:
    """Tags all of a path from fine to coarse, and returns how many of its nodes were evaluated."""
    low, high, evaluated = 0, len(path), 0
    while low < high:
        middle = (low + high) // 2
        does = holds(path[middle])
        tags.tag(path[middle], holds=does)
        evaluated += 1
        low, high = (low, middle) if does else (middle + 1, high)
    return evaluated


def descend(
    lattice: Lattice, holds: Callable[[Node], bool], most: int, progress: Progress = lambda _done, _most: None
) -> tuple[set[Node], int]:
    """At most `most` minimal nodes, each at the end of a random descent from the top, and the number of evaluations.

    `holds` must be monotone, and hold at the top. Not all minimal nodes are found, and no node comes with a probability
    that is known. It ends early, after four times as many descents, where they keep arriving at the same nodes.
    """
    random = Random(_SEED)  # noqa: S311 - a reproducible choice, no secret
    minimal: set[Node] = set()
    known: dict[Node, bool] = {lattice.top: True}
    for _ in range(_DESCENTS_PER_NODE * most):
        minimal.add(_descent(lattice, lambda node: _remembered(known, node, holds), random))
        progress(len(minimal), most)
        if len(minimal) == most:
            break
    return minimal, len(known) - 1


def _descent(lattice: Lattice, holds: Callable[[Node], bool], random: Random) -> Node:
    """A minimal node. A step that failed once on the way down fails from there on, and is not tried again.

    A step is an attribute and the choice that it leads to: all that is reached later is finer.
    """
    node = lattice.top
    failed: set[tuple[int, int]] = set()
    while steps := [each for each in _steps(lattice, node) if each not in failed]:
        axis, place = random.choice(steps)
        finer = (*node[:axis], place, *node[axis + 1 :])
        if holds(finer):
            node = finer
        else:
            failed.add((axis, place))
    return node


def _steps(lattice: Lattice, node: Node) -> list[tuple[int, int]]:
    pairs = enumerate(zip(lattice.choices, node, strict=True))
    return [(axis, step) for axis, (each, place) in pairs for step in each.finer[place]]


def _remembered(known: dict[Node, bool], node: Node, holds: Callable[[Node], bool]) -> bool:
    if node not in known:
        known[node] = holds(node)
    return known[node]
