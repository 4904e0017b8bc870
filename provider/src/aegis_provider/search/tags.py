"""What is known of every node of a lattice: that it holds, that it fails, or nothing yet."""

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from aegis_provider.search.lattice import Lattice, Node

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
        found: NDArray[np.bool_] = self.flags == HOLDS
        return found.reshape(self.lattice.shape)


def _box(chosen: Sequence[NDArray[np.bool_]]) -> tuple[Any, ...]:
    """Slices where what is chosen of every attribute is consecutive, as it is of chains: those are fastest."""
    places = [np.flatnonzero(each) for each in chosen]
    if all(each[-1] - each[0] == len(each) - 1 for each in places):
        return tuple(slice(int(each[0]), int(each[-1]) + 1) for each in places)
    return np.ix_(*places)
