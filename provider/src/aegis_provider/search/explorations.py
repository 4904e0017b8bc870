"""The search for the best nodes that meet each requirement: one after another, or side by side in a small lattice."""

import heapq
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from aegis_provider.counting.counts import Places
from aegis_provider.processes import begun
from aegis_provider.search.boxes import everything, finest_of, lower_ceiling
from aegis_provider.search.budget import TimeIsUpError, WorkIsDoneError
from aegis_provider.search.evaluation import LARGEST_LATTICE, Evaluation, decided
from aegis_provider.search.exploration import SAME, Exploration, explore_nearby, refined
from aegis_provider.search.lattice import Node
from aegis_sdk.wire import stricter

# The share of the work that is left when deciding every node is given up; the rest proves how much more is possible.
_DECIDED = 0.15
_AT_ONCE = 256


def explore_all(exploration: Exploration, source: str) -> None:
    """Find all minimal nodes, and a best node among all that meet the requirement.

    Raises:
        PlanError: As for `decided`.
        SearchEndedError: The work is done, or the time is up.
    """
    decision = decided(exploration.evaluation, source, exploration.spend)
    exploration.evaluated += decision.evaluated
    minimal = exploration.evaluation.lattice.minimal(decision.holds)
    ceilings = [np.zeros(0)]
    for start in range(0, len(minimal), _AT_ONCE):
        exploration.clock.tick()  # what every node needs is no more work
        nodes = minimal[start : start + _AT_ONCE]
        scored, limits = exploration.utility.score(nodes)
        exploration.utilities.update(zip(map(tuple, nodes.tolist()), scored.tolist(), strict=True))
        ceilings.append(limits)
    exploration.ends = set(map(tuple, minimal.tolist()))
    _ascend(exploration, minimal, np.concatenate(ceilings), decision.holds)
    exploration.minimal, exploration.ceiling = len(minimal), exploration.best


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
        exploration.spend()
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
    """Explore every requirement, the strongest first; return whether Ctrl-C ended it.

    The search for a weaker one begins with the best nodes of the stronger ones, so that it never keeps less.

    Raises:
        PlanError: A requirement takes too long to decide.
    """
    import scipy.linalg  # noqa: F401, PLC0415 - slow to load, but threads can be limited only in what is loaded

    # Other processes explore the others if the lattice is so small that none needs seeds.
    are_quick = all(each.evaluation.lattice.nodes <= _QUICKLY_DECIDED for each in explorations[1:])
    records = max((int(each.evaluation.records.counts.sum()) for each in explorations[1:]), default=0)
    interrupted = False
    try:
        with threadpool_limits(1):  # the matrices are small, so threads would mostly wait for each other
            for each in explorations:
                _descend(each)
        alone = [replace(each, clock=each.clock.alone()) for each in explorations[1:] if are_quick]
        meanwhile = begun([partial(_explore, each, source, []) for each in alone], records)
        here = _strongest_first([explorations[0], *explorations[1 + len(meanwhile) :]])
        for place, each in enumerate(here):
            seeds = [node for other in here[:place] for node in _best(other)]
            _explore(each, source, [node for node in seeds if each.holds(node)])
            each.clock.next()
        for exploration, explored in zip(explorations[1:], meanwhile, strict=False):
            other = explored()
            exploration.utilities, exploration.ends, exploration.ceiling = other.utilities, other.ends, other.ceiling
            exploration.minimal, exploration.evaluated = other.minimal, other.evaluated
            exploration.spent, exploration.cut = other.spent, other.cut
            exploration.clock.next()
    except KeyboardInterrupt:
        interrupted = True
    safe = [*explorations[0].evaluation.lattice.tops, *(node for each in explorations for node in _best(each))]
    for exploration in explorations:
        if not exploration.complete:
            exploration.add([node for node in safe if exploration.holds(node)])
    return interrupted


def _strongest_first(explorations: Sequence[Exploration]) -> list[Exploration]:
    """Order explorations so that each comes after all whose requirement implies its own."""

    def implies(one: Evaluation, other: Evaluation) -> bool:
        meets = all(
            name in one.require and stricter(name, one.require[name], limit) == one.require[name]
            for name, limit in other.require.items()
        )
        return meets and one.suppressed <= other.suppressed

    every = [each.evaluation for each in explorations]
    return sorted(explorations, key=lambda each: sum(implies(other, each.evaluation) for other in every))


def _descend(exploration: Exploration) -> None:
    """Refine the coarsest nodes as far as greedy steps lead, whatever that takes, and limit what others may keep.

    So there is always a result that is worth something, and it is known how far the best one may be.
    """
    lattice = exploration.evaluation.lattice
    exploration.ceiling = exploration.utility.limit(finest_of(exploration, everything(exploration)))
    for top in lattice.tops:
        if exploration.holds(top):
            refined(exploration, top, None, bounded=False)
    if exploration.evaluation.is_monotone and not exploration.holds(lattice.top):
        exploration.ceiling = -np.inf


def _explore(exploration: Exploration, source: str, seeds: Sequence[Node]) -> Exploration:
    """Explore one requirement until it is decided, its work is done or its time is up, and return the exploration."""
    import scipy.linalg  # noqa: F401, PLC0415 - as in `explore_each`

    with threadpool_limits(1):
        try:
            _search(exploration, source, seeds)
        except TimeIsUpError:
            exploration.cut = True
        except WorkIsDoneError:
            pass
    return exploration


def _search(exploration: Exploration, source: str, seeds: Sequence[Node]) -> None:
    evaluation = exploration.evaluation
    if exploration.ceiling == -np.inf:  # nothing meets it
        return
    exploration.tick()
    is_large = evaluation.is_bounded and evaluation.lattice.nodes > _QUICKLY_DECIDED
    if is_large:
        explore_nearby(exploration, seeds)
    if evaluation.lattice.nodes <= LARGEST_LATTICE if evaluation.is_monotone else not is_large:
        reserved = int(_DECIDED * exploration.work) if is_large else 0
        exploration.work -= reserved
        try:
            explore_all(exploration, source)
        except WorkIsDoneError:
            if not reserved:
                raise
        finally:
            exploration.work += reserved
    if exploration.proves and evaluation.is_bounded and not exploration.complete:
        lower_ceiling(exploration)


def _best(exploration: Exploration) -> list[Node]:
    return sorted(exploration.nodes, key=lambda node: (-exploration.utilities[node], node))[:1]
