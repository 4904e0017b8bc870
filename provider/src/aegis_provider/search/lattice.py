"""The choices for each attribute, and the lattice of their combinations, ordered from fine to coarse."""

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
    """The maskings of an attribute that group its values differently, the finest first.

    Two choices need not be comparable: neither buckets of 5 nor buckets of 7 are a function of the other.

    Attributes:
        attribute: The name of the attribute.
        ids: The masking id of each choice, including `identity` and `drop`.
        partitions: The groups of each choice.
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
        a single masked value.

        Args:
            attribute: The name of the attribute.
            partitions: The groups of each choice, by its id.
            listed: The groups that an entry lists instead, by the ids of choices for which they differ.
        """
        kept: dict[str, Partition] = {}
        for name, partition in partitions.items():
            if not any(partition.size == other.size and partition.follows_from(other) for other in kept.values()):
                kept[name] = partition
        ordered = sorted(kept.items(), key=lambda item: -item[1].size)
        ids, groups = tuple(name for name, _ in ordered), tuple(partition for _, partition in ordered)
        return cls(attribute, ids, groups, tuple((listed or {}).get(name, partition) for name, partition in ordered))

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def follows(self) -> NDArray[np.bool_]:
        """(choices, choices) Whether the row's choice is a function of the column's; true on the diagonal."""
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
        """For each choice, the choices finer by one step."""
        return tuple(tuple(finer for finer, above in self.steps if above == place) for place in range(len(self)))

    @cached_property
    def coarser(self) -> Steps:
        """For each choice, the choices coarser by one step."""
        return tuple(tuple(coarser for below, coarser in self.steps if below == place) for place in range(len(self)))

    @property
    def is_chain(self) -> bool:
        """Whether every two choices are comparable."""
        return bool(np.all(self.follows | self.follows.T))


@dataclass(frozen=True, eq=False)
class Lattice:
    """The product of the attributes' choices: a node is finer than another if it is finer in every attribute.

    The bottom has the finest choice of every attribute, the top the coarsest.
    """

    choices: tuple[Choices, ...]

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The number of choices of each attribute."""
        return tuple(map(len, self.choices))

    @cached_property
    def nodes(self) -> int:
        """The number of combinations."""
        return math.prod(self.shape)

    @property
    def bottom(self) -> Node:
        """The finest node."""
        return (0,) * len(self.choices)

    @property
    def top(self) -> Node:
        """The coarsest node."""
        return tuple(size - 1 for size in self.shape)

    def finer(self, node: Node) -> Iterator[Node]:
        """Yield the nodes that are finer by one step of one attribute."""
        return _stepped(node, [choice.finer for choice in self.choices])

    def coarser(self, node: Node) -> Iterator[Node]:
        """Yield the nodes that are coarser by one step of one attribute."""
        return _stepped(node, [choice.coarser for choice in self.choices])

    def minimal(self, holds: NDArray[np.bool_]) -> Places:
        """(minimal nodes, attributes) The nodes that hold while no node finer by a step does, in order.

        Args:
            holds: An array of the lattice's shape.
        """
        minimal = holds.copy()
        for axis, choice in enumerate(self.choices):
            ours, theirs = np.moveaxis(minimal, axis, 0), np.moveaxis(holds, axis, 0)
            for finer, coarser in choice.steps:
                ours[coarser] &= ~theirs[finer]
        return np.argwhere(minimal)


def _stepped(node: Node, steps: list[Steps]) -> Iterator[Node]:
    for axis, place in enumerate(node):
        for step in steps[axis][place]:
            yield (*node[:axis], step, *node[axis + 1 :])
