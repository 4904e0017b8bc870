"""A limit of the utility of all nodes that meet a requirement, for lattices that are too large to decide every node."""

import heapq
from itertools import combinations, product
from typing import Final

import numpy as np

from aegis_provider.search.exploration import SAME, Exploration
from aegis_provider.search.lattice import Node

_MOST_EXPANDED: Final = 2_000
_MOST_STARTS: Final = 64


def lower_ceiling(exploration: Exploration) -> None:
    """Lower the ceiling of the utility by branch and bound, from the finest nodes to coarser ones.

    A node stands for all nodes that are no finer, whose utility its own ceiling limits. Of attributes whose choices
    break the requirement together, whatever the others are, at least one must be coarser; so the nodes that are coarser
    by a step in one of these stand for all that meet the requirement. The highest ceiling of the nodes left is a limit,
    however early the search ends. The requirement must be monotone.

    Raises:
        TimeIsUpError: The time is up.
    """
    choices = exploration.evaluation.lattice.choices
    finest = [[place for place, finer in enumerate(each.finer) if not finer] for each in choices]
    if np.prod([float(len(each)) for each in finest]) > _MOST_STARTS:
        return
    starts: list[Node] = list(product(*finest))
    heap, seen = _limited(exploration, starts), set(starts)
    for done in range(_MOST_EXPANDED):
        exploration.ceiling = max(exploration.best, -heap[0][0] if heap else -np.inf)
        if exploration.complete:
            return
        exploration.clock.tick(done, _MOST_EXPANDED)
        fresh = [each for each in _coarser(exploration, heapq.heappop(heap)[1]) if each not in seen]
        seen.update(fresh)
        for each in _limited(exploration, fresh):
            heapq.heappush(heap, each)


def _limited(exploration: Exploration, nodes: list[Node]) -> list[tuple[float, Node]]:
    """Return the nodes with a ceiling above the best utility, each after that with its sign reversed, as a heap."""
    if not nodes:
        return []
    _, limits = exploration.utility.score(np.array(nodes, dtype=np.intp))
    best = exploration.best + SAME
    return sorted((-limit, node) for limit, node in zip(limits.tolist(), nodes, strict=True) if limit > best)


def _coarser(exploration: Exploration, node: Node) -> list[Node]:
    choices = exploration.evaluation.lattice.choices
    return [
        (*node[:axis], step, *node[axis + 1 :])
        for axis in _conflict(exploration, node)
        for step in choices[axis].coarser[node[axis]]
    ]


def _conflict(exploration: Exploration, node: Node) -> tuple[int, ...]:
    """Return attributes whose choices break the requirement together; all of them if the node meets it."""
    top = exploration.evaluation.lattice.top
    masked = [axis for axis, place in enumerate(node) if place != top[axis]]
    for size in (1, 2):
        for chosen in combinations(masked, size):
            if not exploration.holds(_only(node, chosen, top)):
                return chosen
    if exploration.holds(node):
        exploration.add([node])
        return tuple(range(len(node)))
    for axis in masked:  # what is left breaks it, and would not without any one of them
        fewer = [each for each in masked if each != axis]
        if not exploration.holds(_only(node, fewer, top)):
            masked = fewer
    return tuple(masked)


def _only(node: Node, chosen: "list[int] | tuple[int, ...]", top: Node) -> Node:
    return tuple(place if axis in chosen else top[axis] for axis, place in enumerate(node))
