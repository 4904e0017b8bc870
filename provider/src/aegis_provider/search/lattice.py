"""All combinations of one choice for each attribute, ordered by which is finer."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from aegis_provider.counting.partition import Places
from aegis_provider.search.choices import Choices, Steps

Node: TypeAlias = tuple[int, ...]
"""The place of the choice of each attribute."""


@dataclass(frozen=True, eq=False)
class Lattice:
    """The product of the attributes' choices: a node is finer than another if it is so in every attribute.

    The bottom leaves every attribute as it is, the top is the coarsest choice of each.
    """

    choices: tuple[Choices, ...]

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The number of choices of each attribute."""
        return tuple(map(len, self.choices))

    @cached_property
    def nodes(self) -> int:
        """How many combinations there are."""
        return math.prod(self.shape)

    @property
    def bottom(self) -> Node:
        """The node that is finer than all others."""
        return (0,) * len(self.choices)

    @property
    def top(self) -> Node:
        """The node that is coarser than all others."""
        return tuple(size - 1 for size in self.shape)

    def finer(self, node: Node) -> Iterator[Node]:
        """The nodes that are finer by one step of one attribute."""
        return _stepped(node, [each.finer for each in self.choices])

    def coarser(self, node: Node) -> Iterator[Node]:
        """The nodes that are coarser by one step of one attribute."""
        return _stepped(node, [each.coarser for each in self.choices])

    def minimal(self, holds: NDArray[np.bool_]) -> Places:
        """(minimal nodes, attributes) the nodes that hold while none that is finer by a step does, in order.

        `holds`: an array of the lattice's shape.
        """
        minimal = holds.copy()
        for axis, each in enumerate(self.choices):
            ours, theirs = np.moveaxis(minimal, axis, 0), np.moveaxis(holds, axis, 0)
            for finer, coarser in each.steps:
                ours[coarser] &= ~theirs[finer]
        return np.argwhere(minimal)


def _stepped(node: Node, steps: list[Steps]) -> Iterator[Node]:
    for axis, place in enumerate(node):
        for step in steps[axis][place]:
            yield (*node[:axis], step, *node[axis + 1 :])
