"""The exploration of every requirement: one after another, or those of a small lattice side by side."""

import heapq
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from itertools import combinations, product
from typing import Final

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from aegis_provider.counting.counts import Places
from aegis_provider.processes import begun
from aegis_provider.search.evaluation import decided, is_decidable
from aegis_provider.search.exploration import SAME, Exploration, TimeIsUpError, explore_nearby, refined
from aegis_provider.search.lattice import Node

_MOST_EXPANDED: Final = 2_000
_MOST_STARTS: Final = 64


def lower_ceiling(exploration: Exploration) -> None:
    """Lower the ceiling of the utility by branch and bound, from the finest nodes to coarser ones.

    A node represents itself and all coarser nodes, whose utility its ceiling limits. If the choices of some attributes
    break the requirement whatever the others are, at least one of them must be coarser; so the nodes that are coarser
    by a step in one of these represent all that meet the requirement. The highest ceiling of the remaining nodes is a
    valid limit at any time. The requirement must be monotone.

    Raises:
        TimeIsUpError: The time is up.
    """
    choices = exploration.evaluation.lattice.choices
    finest = [[place for place, finer in enumerate(choice.finer) if not finer] for choice in choices]
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
        for item in _limited(exploration, fresh):
            heapq.heappush(heap, item)


def _limited(exploration: Exploration, nodes: list[Node]) -> list[tuple[float, Node]]:
    """Return the nodes with a ceiling above the best utility as a heap, by the negated ceiling."""
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
    for axis in masked:  # the remaining choices break it together, but not without any one of them
        fewer = [other for other in masked if other != axis]
        if not exploration.holds(_only(node, fewer, top)):
            masked = fewer
    return tuple(masked)


def _only(node: Node, chosen: "list[int] | tuple[int, ...]", top: Node) -> Node:
    return tuple(place if axis in chosen else top[axis] for axis, place in enumerate(node))


_AT_ONCE = 256


def explore_all(exploration: Exploration, source: str) -> None:
    """Find all minimal nodes, and a best node among all that meet the requirement.

    Raises:
        PlanError: As for `decided`.
        TimeIsUpError: The time is up.
    """
    decision = decided(exploration.evaluation, source, exploration.clock.tick)
    exploration.evaluated += decision.evaluated
    minimal = exploration.evaluation.lattice.minimal(decision.holds)
    ceilings = _added(exploration, minimal)
    exploration.ends = set(map(tuple, minimal.tolist()))
    _ascend(exploration, minimal, ceilings, decision.holds)
    exploration.minimal, exploration.ceiling = len(minimal), exploration.best


def _added(exploration: Exploration, minimal: Places) -> NDArray[np.float64]:
    """Add the minimal nodes, and return (minimal,) the ceiling of the utility of each and of all coarser ones."""
    ceilings = [np.zeros(0)]
    for start in range(0, len(minimal), _AT_ONCE):
        exploration.clock.tick()
        nodes = minimal[start : start + _AT_ONCE]
        scored, limits = exploration.utility.score(nodes)
        exploration.utilities.update(zip(map(tuple, nodes.tolist()), scored.tolist(), strict=True))
        ceilings.append(limits)
    return np.concatenate(ceilings)


def _ascend(exploration: Exploration, minimal: Places, ceilings: NDArray[np.float64], holds: NDArray[np.bool_]) -> None:
    """Search above the minimal nodes for better ones: coarser masking can raise an adjusted utility.

    Every node that meets the requirement is minimal or coarser than a minimal one. So this is branch and bound: from
    nodes whose ceiling is above the best utility, step by step to coarser ones, the highest ceiling first.
    """
    best, lattice = exploration.best, exploration.evaluation.lattice
    nodes: list[Node] = list(map(tuple, minimal.tolist()))
    heap, seen = [(-limit, node) for limit, node in zip(ceilings.tolist(), nodes, strict=True)], set(nodes)
    heapq.heapify(heap)
    while heap and -heap[0][0] > best + SAME:
        exploration.clock.tick()
        _, node = heapq.heappop(heap)
        coarser = [other for other in lattice.coarser(node) if other not in seen]
        seen.update(coarser)
        if not coarser:
            continue
        scored, limits = exploration.utility.score(np.array(coarser, dtype=np.intp))
        for each, utility, limit in zip(coarser, scored.tolist(), limits.tolist(), strict=True):
            if utility > best + SAME and holds[each]:
                best = exploration.utilities[each] = utility
            heapq.heappush(heap, (-limit, each))


# Larger lattices are searched locally first, for a good result if the time ends.
_QUICKLY_DECIDED = 100_000


def explore_each(explorations: Sequence[Exploration], source: str) -> bool:
    """Explore every requirement; return whether Ctrl-C ended it.

    Raises:
        PlanError: A requirement takes too long to decide.
    """
    meanwhile, interrupted = _begun(explorations[1:], source), False
    here = [explorations[0], *explorations[1 + len(meanwhile) :]]
    try:
        for place, each in enumerate(here):
            seeds = [node for other in here[:place] for node in _best(other)]
            _explore(each, source, [node for node in seeds if each.holds(node)])
            each.clock.next()
        for exploration, explored in zip(explorations[1:], meanwhile, strict=False):
            exploration.learn(explored())
            exploration.clock.next()
    except KeyboardInterrupt:
        interrupted = True
    _share(explorations)
    return interrupted


def _begun(explorations: Sequence[Exploration], source: str) -> list[Callable[[], Exploration]]:
    """Have other processes explore the first of these, if the lattice is so small that none needs seeds."""
    are_quick = all(map(_is_quick, explorations))
    records = max((int(exploration.evaluation.records.counts.sum()) for exploration in explorations), default=0)
    return begun(
        [partial(_explored, exploration.alone(), source) for exploration in explorations if are_quick], records
    )


def _explored(exploration: Exploration, source: str) -> Exploration:
    _explore(exploration, source, [])
    return exploration


def _is_quick(exploration: Exploration) -> bool:
    return exploration.evaluation.lattice.nodes <= _QUICKLY_DECIDED


def _explore(exploration: Exploration, source: str, seeds: Sequence[Node]) -> None:
    """Explore one requirement until it is decided or its time is up.

    Raises:
        PlanError: The requirement takes too long to decide.
    """
    import scipy.linalg  # noqa: F401, PLC0415 - slow to load, but threads can be limited only in what is loaded

    # The matrices are small, so threads would mostly wait for each other.
    with threadpool_limits(1), suppress(TimeIsUpError):
        _explore_in_time(exploration, source, seeds)


def _explore_in_time(exploration: Exploration, source: str, seeds: Sequence[Node]) -> None:
    evaluation = exploration.evaluation
    decidable = is_decidable(evaluation.lattice)
    if evaluation.is_monotone and not exploration.holds(evaluation.lattice.top):
        exploration.ceiling = -np.inf
        return
    if evaluation.is_monotone:
        refined(exploration, evaluation.lattice.top, None)
    if evaluation.is_monotone and not _is_quick(exploration):
        explore_nearby(exploration, seeds)
    if decidable or not evaluation.is_monotone:
        explore_all(exploration, source)
    else:
        lower_ceiling(exploration)


def _best(exploration: Exploration) -> list[Node]:
    return sorted(exploration.nodes, key=lambda node: (-exploration.utilities[node], node))[:1]


def _share(explorations: Sequence[Exploration]) -> None:
    """Give every undecided requirement the best nodes of the others, and the coarsest."""
    best = [node for exploration in explorations for node in _best(exploration)]
    for exploration in explorations:
        if not exploration.complete:
            nodes = [node for node in (*best, exploration.evaluation.lattice.top) if exploration.holds(node)]
            exploration.add(nodes)
