"""The choices for each attribute, and all combinations of one for each, ordered by which is finer."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from aegis_provider.counting.counts import Partition, Places

Steps: TypeAlias = tuple[tuple[int, ...], ...]

Node: TypeAlias = tuple[int, ...]
"""The place of the choice of each attribute."""


@dataclass(frozen=True, eq=False)
class Choices:
    """The ways to mask an attribute that differ in how they group its values, the finest first.

    Not every two can be compared: of buckets of 5 and of 7 neither is a function of the other.

    Attributes:
        attribute: Its name.
        ids: The masking id of each (`identity` and `drop` among them).
        partitions: The groups that each makes.
    """

    attribute: str
    ids: tuple[str, ...]
    partitions: tuple[Partition, ...]

    @classmethod
    def of(cls, attribute: str, partitions: Mapping[str, Partition]) -> "Choices":
        """Of several ids that group the values alike the first one stands.

        So a masking that only renames values gives way to `identity`, and `drop`, put last, to a masking with one
        masked value for all.
        """
        kept: dict[str, Partition] = {}
        for name, partition in partitions.items():
            if not any(_same(partition, other) for other in kept.values()):
                kept[name] = partition
        ordered = sorted(kept.items(), key=lambda item: -item[1].size)
        return cls(attribute, tuple(name for name, _ in ordered), tuple(partition for _, partition in ordered))

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def follows(self) -> NDArray[np.bool_]:
        """(choices, choices) whether the one of the row is a function of the one of the column; itself included."""
        pairs = [one.follows_from(other) for one in self.partitions for other in self.partitions]
        return np.array(pairs, dtype=np.bool_).reshape(len(self), len(self))

    @cached_property
    def steps(self) -> tuple[tuple[int, int], ...]:
        """Every (finer, coarser) pair of choices with none between them."""
        strictly = self.follows & ~np.eye(len(self), dtype=np.bool_)
        between = strictly.astype(np.intp) @ strictly.astype(np.intp) > 0
        return tuple((finer, coarser) for coarser, finer in np.argwhere(strictly & ~between).tolist())

    @cached_property
    def finer(self) -> Steps:
        """For each choice those that are finer by one step."""
        return tuple(tuple(finer for finer, above in self.steps if above == place) for place in range(len(self)))

    @cached_property
    def coarser(self) -> Steps:
        """For each choice those that are coarser by one step."""
        return tuple(tuple(coarser for below, coarser in self.steps if below == place) for place in range(len(self)))

    @property
    def is_chain(self) -> bool:
        """Whether every two choices can be compared."""
        return bool(np.all(self.follows | self.follows.T))


def _same(one: Partition, other: Partition) -> bool:
    return one.size == other.size and one.follows_from(other)


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
