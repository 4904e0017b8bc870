"""The nodes known to meet a requirement, and the search for good ones near them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import product
from random import Random
from typing import Final

import numpy as np

from aegis_provider.search.budget import Clock, WorkIsDoneError
from aegis_provider.search.evaluation import Evaluation
from aegis_provider.search.lattice import Node
from aegis_provider.search.utility import Step, Utility

SEED: Final = 0
"""Drives the search alone: what is drawn elsewhere, such as rounding, noise, pseudonyms and the order of rows, must
stay secret.
"""

_IDLE_ROUNDS: Final = 200
_MOST_COARSENED: Final = 4
# The shares of the work that are left when improvement ends, and when the best nodes with each choice are found.
_IMPROVED, _WITH_CHOICES = 0.6, 0.5
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
