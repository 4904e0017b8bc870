"""The search for the best nodes that meet each requirement: one after another, or side by side in a small lattice."""

import heapq
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations, product
from random import Random
from time import monotonic
from typing import Final

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from aegis_provider.counting.counts import Places
from aegis_provider.processes import Progress, begun
from aegis_provider.search.evaluation import LARGEST_LATTICE, Evaluation, decided
from aegis_provider.search.lattice import Node
from aegis_provider.search.utility import Step, Utility

_PARTS: Final = 1000


class TimeIsUpError(Exception):
    """The time is up; the results so far are valid."""


@dataclass(eq=False)
class Clock:
    """Shares the seconds of a search among its requirements; the next ones get the time that one leaves.

    `seconds`: the seconds for all requirements; `progress`: called with (done, total), counting thousandths of a
    requirement.
    """

    seconds: float
    requirements: int
    progress: Progress
    done: int = 0
    _started: float = field(default_factory=monotonic)
    _from: float = field(default_factory=monotonic)

    def alone(self) -> "Clock":
        """Return a clock for the remaining time, which reports nothing."""
        return Clock(max(0.0, self._started + self.seconds - monotonic()), 1, _unseen)

    def next(self) -> None:
        """Begin with the next requirement."""
        self.done, self._from = self.done + 1, monotonic()

    def left(self) -> float:
        """Return the remaining share of the current requirement's time, from 1 to 0."""
        remaining = self._started + self.seconds - self._from
        mine = remaining / max(self.requirements - self.done, 1)
        return max(0.0, 1 - (monotonic() - self._from) / mine) if mine > 0 else 0.0

    def tick(self, done: int = 0, total: int = 1) -> None:
        """Report progress: the elapsed time, or the work done if that is more.

        Raises:
            TimeIsUpError: The time of this requirement is up.
        """
        left = self.left()
        share = max(1 - left, done / max(total, 1))
        self.progress(int((self.done + min(share, 1.0)) * _PARTS), self.requirements * _PARTS)
        if left <= 0:
            raise TimeIsUpError


def _unseen(_done: int, _all: int) -> None:
    """Show nothing. Unlike a lambda, it can be sent to another process."""


SEED: Final = 0

_IDLE_ROUNDS: Final = 200
_MOST_COARSENED: Final = 4
# The shares of the time reserved for the best node with each choice, and for the proof that not much more is possible.
_FOR_CHOICES, _TO_PROVE = 0.5, 0.2
# The deliberate relative error of a gain in utility, so that rounds differ.
_NOISE: Final = (0.5, 1.5)

#: Utilities that differ by less are equal, up to rounding.
SAME: Final = 1e-10


@dataclass(eq=False)
class Exploration:
    """The nodes known to meet a requirement, in the course of a search.

    Attributes:
        utilities: The utility of each node known to meet the requirement.
        ends: Those of these nodes that are minimal, or without a known better refinement.
        ceiling: No node that meets the requirement has a higher utility.
        minimal: The number of minimal nodes; `None` if not counted.
    """

    evaluation: Evaluation
    utility: Utility
    clock: Clock
    utilities: dict[Node, float] = field(default_factory=dict)
    ends: set[Node] = field(default_factory=set)
    ceiling: float = np.inf
    minimal: int | None = None
    evaluated: int = 0
    _known: dict[Node, bool] = field(default_factory=dict)

    @property
    def best(self) -> float:
        """The highest utility of a node known to meet the requirement."""
        return max(self.utilities.values(), default=-np.inf)

    @property
    def complete(self) -> bool:
        """Whether the best is proven to be optimal."""
        return self.ceiling <= self.best + SAME

    @property
    def nodes(self) -> list[Node]:
        """The candidates in order: the ends, and the best unless one of them equals it."""
        best = self.best
        if any(self.utilities[node] >= best - SAME for node in self.ends):
            return sorted(self.ends)
        return sorted({*self.ends, *(node for node, utility in self.utilities.items() if utility >= best)})

    def holds(self, node: Node) -> bool:
        """Return whether a node meets the requirement, and remember it."""
        if node not in self._known:
            self._known[node] = self.evaluation.holds(node)
            self.evaluated += 1
        return self._known[node]

    def add(self, nodes: Sequence[Node]) -> None:
        """Add nodes that meet the requirement."""
        fresh = [node for node in dict.fromkeys(nodes) if node not in self.utilities]
        if fresh:
            scored, _ = self.utility.score(np.array(fresh, dtype=np.intp))
            self.utilities.update(zip(fresh, scored.tolist(), strict=True))


def explore_nearby(exploration: Exploration, seeds: Iterable[Node]) -> None:
    """Search for good nodes of a lattice of any size; the requirement must be monotone, and met by the coarsest node.

    The coarsest node and the seeds are refined, and the best result is improved: some attributes are coarsened at
    random, and refined again. This is iterated greedy (Ruiz and Stuetzle 2007), a large neighbourhood search (Shaw
    1998). It ends after 200 rounds without improvement. Then the coarsest node is refined with each choice of each
    attribute given.

    Raises:
        TimeIsUpError: The time is up.
    """
    lattice, random = exploration.evaluation.lattice, Random(SEED)  # noqa: S311 - a reproducible choice, no secret
    reached = [refined(exploration, node, None) for node in (lattice.top, *seeds)]
    best = max(reached, key=exploration.utilities.__getitem__)
    idle = 0
    while idle < _IDLE_ROUNDS and exploration.clock.left() > _FOR_CHOICES:
        finer = [axis for axis, (place, top) in enumerate(zip(best, lattice.top, strict=True)) if place != top]
        chosen = random.sample(finer, min(len(finer), random.randint(1, _MOST_COARSENED)))
        coarsened = tuple(lattice.top[axis] if axis in chosen else place for axis, place in enumerate(best))
        node = refined(exploration, coarsened, random)
        gain = exploration.utilities[node] - exploration.utilities[best]
        idle = 0 if gain > SAME else idle + 1
        best = node if gain >= 0 else best
    for axis, choice in enumerate(lattice.choices):
        for place in range(len(choice) - 1):
            start = (*lattice.top[:axis], place, *lattice.top[axis + 1 :])
            if exploration.clock.left() > _TO_PROVE and exploration.holds(start):
                refined(exploration, start, None)


def refined(exploration: Exploration, node: Node, random: Random | None) -> Node:
    """Refine a node that meets the requirement repeatedly by the step with the largest gain, until none gains.

    A failed step is not tried again: it would always fail, since all later nodes are finer.

    Raises:
        TimeIsUpError: The time is up; the last node is among the known ones.
    """
    exploration.add([node])
    failed: set[Step] = set()
    while (finer := _step(exploration, node, failed, random)) is not None:
        node = finer
        exploration.clock.tick()
    exploration.ends.add(node)
    return node


def _step(exploration: Exploration, node: Node, failed: set[Step], random: Random | None) -> Node | None:
    """Return the node after the step with the largest gain that still meets the requirement; `None` without one."""
    pairs = enumerate(zip(exploration.evaluation.lattice.choices, node, strict=True))
    every = ((axis, finer) for axis, (choice, place) in pairs for finer in choice.finer[place])
    steps = [step for step in every if step not in failed]
    utilities = exploration.utility.refined(node, steps)
    gains = utilities - exploration.utilities[node]
    useful = np.flatnonzero(gains > SAME).tolist()
    weights = {place: gains[place] * (1.0 if random is None else random.uniform(*_NOISE)) for place in useful}
    for place in sorted(useful, key=lambda place: (-weights[place], place)):
        axis, finer = steps[place]
        reached = (*node[:axis], finer, *node[axis + 1 :])
        if exploration.holds(reached):
            exploration.utilities.setdefault(reached, float(utilities[place]))
            return reached
        failed.add(steps[place])
    return None


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
        _, node = heapq.heappop(heap)
        axes = ((axis, step) for axis in _conflict(exploration, node) for step in choices[axis].coarser[node[axis]])
        coarser = [(*node[:axis], step, *node[axis + 1 :]) for axis, step in axes]
        fresh = [each for each in coarser if each not in seen]
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
    ceilings = [np.zeros(0)]
    for start in range(0, len(minimal), _AT_ONCE):
        exploration.clock.tick()
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
    # Other processes explore the others if the lattice is so small that none needs seeds.
    are_quick = all(each.evaluation.lattice.nodes <= _QUICKLY_DECIDED for each in explorations[1:])
    alone = [replace(each, clock=each.clock.alone()) for each in explorations[1:] if are_quick]
    records = max((int(each.evaluation.records.counts.sum()) for each in explorations[1:]), default=0)
    meanwhile, interrupted = begun([partial(_explore, each, source, []) for each in alone], records), False
    here = [explorations[0], *explorations[1 + len(meanwhile) :]]
    try:
        for place, each in enumerate(here):
            seeds = [node for other in here[:place] for node in _best(other)]
            _explore(each, source, [node for node in seeds if each.holds(node)])
            each.clock.next()
        for exploration, explored in zip(explorations[1:], meanwhile, strict=False):
            other = explored()
            exploration.utilities, exploration.ends, exploration.ceiling = other.utilities, other.ends, other.ceiling
            exploration.minimal, exploration.evaluated = other.minimal, other.evaluated
            exploration.clock.next()
    except KeyboardInterrupt:
        interrupted = True
    best = [node for exploration in explorations for node in _best(exploration)]
    for exploration in explorations:
        if not exploration.complete:
            nodes = [node for node in (*best, exploration.evaluation.lattice.top) if exploration.holds(node)]
            exploration.add(nodes)
    return interrupted


def _explore(exploration: Exploration, source: str, seeds: Sequence[Node]) -> Exploration:
    """Explore one requirement until it is decided or its time is up, and return the exploration."""
    import scipy.linalg  # noqa: F401, PLC0415 - slow to load, but threads can be limited only in what is loaded

    # The matrices are small, so threads would mostly wait for each other.
    with threadpool_limits(1), suppress(TimeIsUpError):
        evaluation, top = exploration.evaluation, exploration.evaluation.lattice.top
        if evaluation.is_monotone and not exploration.holds(top):
            exploration.ceiling = -np.inf
            return exploration
        if evaluation.is_monotone:
            refined(exploration, top, None)
        if evaluation.is_monotone and evaluation.lattice.nodes > _QUICKLY_DECIDED:
            explore_nearby(exploration, seeds)
        if evaluation.lattice.nodes <= LARGEST_LATTICE or not evaluation.is_monotone:
            explore_all(exploration, source)
        else:
            lower_ceiling(exploration)
    return exploration


def _best(exploration: Exploration) -> list[Node]:
    return sorted(exploration.nodes, key=lambda node: (-exploration.utilities[node], node))[:1]
