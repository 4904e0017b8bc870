"""The search for the best nodes that meet each requirement: one after another, or side by side in a small lattice."""

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from random import Random
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from aegis_provider.counting.counts import Places
from aegis_provider.processes import begun
from aegis_provider.search.budget import Clock, TimeIsUpError, WorkIsDoneError
from aegis_provider.search.evaluation import LARGEST_LATTICE, Evaluation, decided
from aegis_provider.search.lattice import Choices, Node
from aegis_provider.search.utility import Step, Utility
from aegis_sdk.wire import stricter

SEED: Final = 0
"""Drives the search alone: what is drawn elsewhere, such as rounding, noise, pseudonyms and the order of rows, must
stay secret.
"""

_IDLE_ROUNDS: Final = 200
_MOST_COARSENED: Final = 4
# The shares of the work that are left when improvement ends, the best nodes with each choice are found, and it is given
# up to decide every node; the rest proves how much more is possible.
_IMPROVED, _WITH_CHOICES, _DECIDED = 0.6, 0.5, 0.15
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
        work: The evaluations that may be made. One is that of the privacy or of the utility of a node; that of all
            steps from a node counts once, since it takes no longer.
        proves: Whether to spend work on a lower ceiling.
        spent: The evaluations made.
        cut: Whether the time ended before the work.
    """

    evaluation: Evaluation
    utility: Utility
    clock: Clock
    work: int
    proves: bool = True
    spent: int = 0
    cut: bool = False
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

    @property
    def left(self) -> float:
        """The share of the work that is left."""
        return max(0.0, 1 - self.spent / self.work)

    def spend(self) -> None:
        """Count an evaluation that follows.

        Raises:
            SearchEndedError: The work is done, or the time is up.
        """
        self.tick()
        self.spent += 1

    def tick(self) -> None:
        """Report progress.

        Raises:
            SearchEndedError: The work is done, or the time is up.
        """
        if self.spent >= self.work:
            raise WorkIsDoneError
        self.clock.tick(self.spent, self.work)

    def holds(self, node: Node) -> bool:
        """Return whether a node meets the requirement, and remember it."""
        if node not in self._known:
            self._known[node] = self.evaluation.holds(node)
            self.evaluated += 1
            self.spent += 1
        return self._known[node]

    def may_hold(self, node: Node) -> bool:
        """Return whether a node, or a finer one, may meet the requirement."""
        if self.evaluation.is_monotone:
            return self.holds(node)
        self.spent += 1
        return self.evaluation.holds_counts(node)

    def add(self, nodes: Sequence[Node]) -> None:
        """Add nodes that meet the requirement."""
        fresh = [node for node in dict.fromkeys(nodes) if node not in self.utilities]
        if fresh:
            scored, _ = self.utility.score(np.array(fresh, dtype=np.intp))
            self.utilities.update(zip(fresh, scored.tolist(), strict=True))


def explore_nearby(exploration: Exploration, seeds: Iterable[Node]) -> None:
    """Search for good nodes of a lattice of any size.

    The coarsest nodes and the seeds are refined, and the best result is improved: some attributes are coarsened at
    random, and refined again. This is iterated greedy (Ruiz and Stuetzle 2007), a large neighbourhood search (Shaw
    1998). It ends after 200 rounds without improvement. Then the coarsest nodes are refined with each choice of each
    attribute given.

    Raises:
        SearchEndedError: The work is done, or the time is up.
    """
    lattice, random = exploration.evaluation.lattice, Random(SEED)  # noqa: S311 - a reproducible choice, no secret
    tops = [node for node in lattice.tops if exploration.holds(node)]
    reached = [refined(exploration, node, None) for node in (*tops, *seeds)]
    best, idle = max(reached, key=exploration.utilities.__getitem__, default=()), 0
    while best and idle < _IDLE_ROUNDS and exploration.left > _IMPROVED:
        above = [each.coarsest[place] for each, place in zip(lattice.choices, best, strict=True)]
        finer = [axis for axis, place in enumerate(best) if place not in above[axis]]
        chosen = random.sample(finer, min(len(finer), random.randint(1, _MOST_COARSENED)))
        ends = {axis: above[axis][0] if len(above[axis]) == 1 else random.choice(above[axis]) for axis in chosen}
        coarsened = tuple(ends.get(axis, place) for axis, place in enumerate(best))
        node = refined(exploration, coarsened, random)
        gain = exploration.utilities[node] - exploration.utilities[best]
        idle = 0 if gain > SAME else idle + 1
        best = node if gain >= 0 else best
    for top, (axis, choice) in product(tops, enumerate(lattice.choices)):
        for place in (place for place in range(len(choice)) if place != top[axis]):
            start = (*top[:axis], place, *top[axis + 1 :])
            if exploration.left > _WITH_CHOICES and exploration.holds(start):
                refined(exploration, start, None)


def refined(exploration: Exploration, node: Node, random: Random | None, *, bounded: bool = True) -> Node:
    """Refine a node that meets the requirement repeatedly by the step with the largest gain, until none gains.

    A failed step is not tried again: it would always fail, since all later nodes are finer.

    Args:
        bounded: Whether it ends with the work or the time.

    Raises:
        SearchEndedError: The work is done, or the time is up; the last node is among the known ones.
    """
    exploration.add([node])
    failed: set[Step] = set()
    while (finer := _step(exploration, node, failed, random)) is not None:
        node = finer
        if bounded:
            exploration.tick()
    exploration.ends.add(node)
    return node


def _step(exploration: Exploration, node: Node, failed: set[Step], random: Random | None) -> Node | None:
    """Return the node after the step with the largest gain that still meets the requirement; `None` without one."""
    pairs = enumerate(zip(exploration.evaluation.lattice.choices, node, strict=True))
    every = ((axis, finer) for axis, (choice, place) in pairs for finer in choice.finer[place])
    steps = [step for step in every if step not in failed]
    utilities = exploration.utility.refined(node, steps)
    exploration.spent += 1
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


Box: TypeAlias = tuple[tuple[int, ...], ...]
"""The allowed choices of each attribute: all nodes that combine them."""


def _everything(exploration: Exploration) -> Box:
    return tuple(tuple(range(len(choice))) for choice in exploration.evaluation.lattice.choices)


def _finest(exploration: Exploration, box: Box) -> Box:
    """Return the choices of each attribute that no other one in the box is finer than."""
    pairs = zip(exploration.evaluation.lattice.choices, box, strict=True)
    return tuple(tuple(one for one in each if of.follows[one, list(each)].sum() == 1) for of, each in pairs)


def lower_ceiling(exploration: Exploration) -> None:
    """Lower the ceiling of the utility by branch and bound, from the box of all nodes to boxes of single ones.

    The utility of all finest choices of a box together limits its nodes. The box with the highest limit is split,
    and the highest limit of the remaining boxes is a valid ceiling at any time. The requirement must be monotone.

    Raises:
        SearchEndedError: The work is done, or the time is up.
    """
    heap = _limited(exploration, [_everything(exploration)])
    while True:
        exploration.ceiling = min(exploration.ceiling, max(exploration.best, -heap[0][0] if heap else -np.inf))
        if exploration.complete:
            return
        exploration.tick()
        _, box = heapq.heappop(heap)
        if all(len(allowed) == 1 for allowed in box):
            exploration.add([node for node in product(*box) if exploration.holds(node)])
        else:
            for item in _limited(exploration, _split(exploration, box)):
                heapq.heappush(heap, item)


def _split(exploration: Exploration, box: Box) -> list[Box]:
    """Return both halves of a box: an attribute has its coarsest choice, or one of the others.

    Of the attribute with the most influence: its coarsest choice lowers the limit, and others exclude choices of
    further attributes. Splitting off the finest one instead takes several times the work for the same ceiling.
    """
    finest = _finest(exploration, box)

    def coarsened(axis: int) -> float:
        return exploration.utility.limit([*finest[:axis], box[axis][-1:], *finest[axis + 1 :]])

    axis = min((axis for axis, allowed in enumerate(box) if len(allowed) > 1), key=coarsened)
    return [(*box[:axis], half, *box[axis + 1 :]) for half in (box[axis][:-1], box[axis][-1:])]


def _limited(exploration: Exploration, boxes: list[Box]) -> list[tuple[float, Box]]:
    """Return the negated limit and the allowed choices of each box whose limit is above the best utility."""
    limited = []
    for box in boxes:
        allowed = _allowed(exploration, box)
        if all(allowed):
            limit = exploration.utility.limit(_finest(exploration, allowed))
            if limit > exploration.best + SAME:
                limited.append((-limit, allowed))
    return limited


def _allowed(exploration: Exploration, box: Box) -> Box:
    """Return a box without choices that break the requirement with the coarsest other ones of the box.

    No node of the box with such a choice meets the requirement, since it is finer.
    """
    choices = exploration.evaluation.lattice.choices
    coarsest = [_common(*each) for each in zip(choices, box, strict=True)]
    narrowed = []
    for axis, (choice, allowed) in enumerate(zip(choices, box, strict=True)):
        kept: list[int] = []
        for place in allowed:
            exploration.tick()
            node = (*coarsest[:axis], place, *coarsest[axis + 1 :])
            if choice.follows[place, kept].any() or exploration.may_hold(node):
                kept.append(place)
        narrowed.append(tuple(kept))
    return tuple(narrowed)


def _common(choice: Choices, allowed: Sequence[int]) -> int:
    """Return the finest choice that is coarser than all allowed ones, or one of them; otherwise the ceiling."""
    common = np.flatnonzero(choice.follows[:, list(allowed)].all(axis=1))
    return int(common[0]) if len(common) else len(choice.partitions) - 1


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
    exploration.ceiling = exploration.utility.limit(_finest(exploration, _everything(exploration)))
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
