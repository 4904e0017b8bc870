"""Minimal nodes of a lattice that is too large to keep a byte for each node."""

from collections.abc import Callable
from random import Random

from aegis_provider.progress import Progress
from aegis_provider.search.lattice import Lattice, Node

_SEED = 0
_DESCENTS_PER_NODE = 4


def descend(
    lattice: Lattice, holds: Callable[[Node], bool], most: int, progress: Progress = lambda _done, _most: None
) -> tuple[set[Node], int]:
    """At most `most` minimal nodes, each at the end of a random descent from the top, and the number of evaluations.

    `holds` must be monotone, and hold at the top. Not all minimal nodes are found, and no node comes with a probability
    that is known. It ends early, after four times as many descents, where they keep arriving at the same nodes.
    """
    random = Random(_SEED)  # noqa: S311 - a reproducible choice, no secret
    found: set[Node] = set()
    known: dict[Node, bool] = {lattice.top: True}
    for _ in range(_DESCENTS_PER_NODE * most):
        found.add(_descent(lattice, lambda node: _remembered(known, node, holds), random))
        progress(len(found), most)
        if len(found) == most:
            break
    return found, len(known) - 1


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
