"""The best node of a lattice that is small enough to decide every node."""

import heapq

import numpy as np
from numpy.typing import NDArray

from aegis_provider.counting.counts import Places
from aegis_provider.search.evaluation import decided
from aegis_provider.search.exploration import SAME, Exploration
from aegis_provider.search.lattice import Node

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
    """Look above the minimal nodes for better ones: coarser masking can raise an adjusted utility.

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
        coarser = [each for each in lattice.coarser(node) if each not in seen]
        seen.update(coarser)
        if not coarser:
            continue
        scored, limits = exploration.utility.score(np.array(coarser, dtype=np.intp))
        for each, utility, limit in zip(coarser, scored.tolist(), limits.tolist(), strict=True):
            if utility > best + SAME and holds[each]:
                best = exploration.utilities[each] = utility
            heapq.heappush(heap, (-limit, each))
