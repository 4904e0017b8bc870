"""Which nodes of a lattice hold, found out with as few evaluations as monotony allows."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

import numpy as np
from numpy.typing import NDArray

from aegis_provider.progress import Progress
from aegis_provider.search.lattice import Lattice, Node
from aegis_provider.search.tags import UNKNOWN, Tags

_SEED = 0


@dataclass(frozen=True, eq=False)
class Verdict:
    """`holds`: an array of the lattice's shape; `evaluated`: how many nodes were looked at to know."""

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
        found = holds(path[middle])
        tags.tag(path[middle], holds=found)
        evaluated += 1
        low, high = (low, middle) if found else (middle + 1, high)
    return evaluated
