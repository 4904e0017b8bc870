"""What is known about one requirement while the lattice is searched, and the search of a lattice of any size."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from time import monotonic
from typing import Final

import numpy as np

from aegis_provider.progress import Progress
from aegis_provider.search.evaluation import Evaluation
from aegis_provider.search.lattice import Node
from aegis_provider.search.utility import Numbers, Step, Utility

_PARTS: Final = 1000


class TimeIsUpError(Exception):
    """The time is up; what was found until then counts."""


@dataclass(eq=False)
class Clock:
    """Shares the seconds of a search among its requirements, one after another; what one leaves, the next ones get.

    Attributes:
        seconds: The seconds for all requirements.
        requirements: How many requirements there are.
        progress: Called with thousandths of a requirement, those done and all.
        done: How many requirements are done.
    """

    seconds: float
    requirements: int
    progress: Progress
    done: int = 0
    _started: float = field(default_factory=monotonic)
    _from: float = field(default_factory=monotonic)

    def alone(self) -> "Clock":
        """Return a clock for the time that is left, which reports nothing."""
        return Clock(max(0.0, self._started + self.seconds - monotonic()), 1, _unseen)

    def next(self) -> None:
        """Begin with the next requirement."""
        self.done, self._from = self.done + 1, monotonic()

    def left(self) -> float:
        """Return how much of the present requirement's time is left, from 1 to 0."""
        remaining = self._started + self.seconds - self._from
        mine = remaining / max(self.requirements - self.done, 1)
        return max(0.0, 1 - (monotonic() - self._from) / mine) if mine > 0 else 0.0

    def tick(self, done: int = 0, total: int = 1) -> None:
        """Report progress: the time, or a part of the work if more of that is done.

        Raises:
            TimeIsUpError: The time of this requirement is up.
        """
        left = self.left()
        share = max(1 - left, done / max(total, 1))
        self.progress(int((self.done + min(share, 1.0)) * _PARTS), self.requirements * _PARTS)
        if left <= 0:
            raise TimeIsUpError


def _unseen(_done: int, _all: int) -> None:
    """Show nothing. Other than a lambda, it can be sent to another process."""


SEED: Final = 0

_IDLE_ROUNDS: Final = 200
_MOST_COARSENED: Final = 4
# The shares of the time that are left for the best node with each choice, and to prove that not much more is possible.
_FOR_CHOICES, _TO_PROVE = 0.5, 0.2
# How far a gain in utility is mistaken on purpose, so that rounds differ.
_NOISE: Final = (0.5, 1.5)

#: Utilities that differ by less are equal: this is rounding.
SAME: Final = 1e-10


@dataclass(eq=False)
class Exploration:
    """The nodes that are known to meet a requirement, as a search finds them.

    Attributes:
        evaluation: The requirement and its evaluation.
        utility: The utility of nodes.
        clock: The time that is left.
        utilities: The utility of each node that is known to meet the requirement.
        ends: Those of these nodes that nothing finer is known to improve on, or that are minimal.
        ceiling: No node that meets the requirement has a higher utility.
        minimal: How many minimal nodes there are; `None` if they were not counted.
        evaluated: How many evaluations there were.
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
        """The highest utility of a node that is known to meet the requirement."""
        return max(self.utilities.values(), default=-np.inf)

    @property
    def complete(self) -> bool:
        """Whether it is proven that none has a higher utility."""
        return self.ceiling <= self.best + SAME

    @property
    def nodes(self) -> list[Node]:
        """The nodes to choose from, in order: the ends, and the best unless one of them equals it."""
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

    def alone(self) -> "Exploration":
        """Return the same exploration with a clock of its own, for another process."""
        return replace(self, clock=self.clock.alone())

    def learn(self, other: "Exploration") -> None:
        """Take over what an exploration of the same requirement found."""
        self.utilities, self.ends, self.ceiling = other.utilities, other.ends, other.ceiling
        self.minimal, self.evaluated = other.minimal, other.evaluated

    def add(self, nodes: Sequence[Node]) -> None:
        """Add nodes that meet the requirement."""
        fresh = [node for node in dict.fromkeys(nodes) if node not in self.utilities]
        if fresh:
            scored, _ = self.utility.score(np.array(fresh, dtype=np.intp))
            self.utilities.update(zip(fresh, scored.tolist(), strict=True))


def explore_nearby(exploration: Exploration, seeds: Iterable[Node]) -> None:
    """Look for good nodes of a lattice of any size; the requirement must be monotone, and met by the coarsest node.

    The best of what refining the coarsest node and the seeds leads to is improved: some attributes are coarsened at
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
        node = refined(exploration, _coarsened(exploration, best, random), random)
        gain = exploration.utilities[node] - exploration.utilities[best]
        idle = 0 if gain > SAME else idle + 1
        best = node if gain >= 0 else best
    for axis, each in enumerate(lattice.choices):
        for place in range(len(each) - 1):
            start = (*lattice.top[:axis], place, *lattice.top[axis + 1 :])
            if exploration.clock.left() > _TO_PROVE and exploration.holds(start):
                refined(exploration, start, None)


def refined(exploration: Exploration, node: Node, random: Random | None) -> Node:
    """Refine a node that meets the requirement by the step that gains most, again and again until none gains.

    A step that failed is not tried again: it fails from then on, since all later nodes are finer.

    Raises:
        TimeIsUpError: The time is up; the node reached is among the known ones.
    """
    exploration.add([node])
    failed: set[Step] = set()
    while (finer := _step(exploration, node, failed, random)) is not None:
        node = finer
        exploration.clock.tick()
    exploration.ends.add(node)
    return node


def _step(exploration: Exploration, node: Node, failed: set[Step], random: Random | None) -> Node | None:
    """Return the node after the step that gains most of those that keep the requirement; `None` if there is none."""
    steps = [each for each in _steps(exploration, node) if each not in failed]
    utilities = exploration.utility.refined(node, steps)
    for place in _by_gain(utilities - exploration.utilities[node], random):
        axis, finer = steps[place]
        reached = (*node[:axis], finer, *node[axis + 1 :])
        if exploration.holds(reached):
            exploration.utilities.setdefault(reached, float(utilities[place]))
            return reached
        failed.add(steps[place])
    return None


def _steps(exploration: Exploration, node: Node) -> list[Step]:
    pairs = enumerate(zip(exploration.evaluation.lattice.choices, node, strict=True))
    return [(axis, step) for axis, (each, place) in pairs for step in each.finer[place]]


def _by_gain(gains: Numbers, random: Random | None) -> list[int]:
    """Return the places of the gains, the largest first; without those that gain nothing."""
    useful = np.flatnonzero(gains > SAME).tolist()
    weights = [gains[place] * (1.0 if random is None else random.uniform(*_NOISE)) for place in useful]
    return [place for _, place in sorted(zip(weights, useful, strict=True), key=lambda pair: (-pair[0], pair[1]))]


def _coarsened(exploration: Exploration, node: Node, random: Random) -> Node:
    """Return the node with the coarsest choice for one to four attributes that have a finer one."""
    top = exploration.evaluation.lattice.top
    finer = [axis for axis, (place, coarsest) in enumerate(zip(node, top, strict=True)) if place != coarsest]
    chosen = random.sample(finer, min(len(finer), random.randint(1, _MOST_COARSENED)))
    return tuple(top[axis] if axis in chosen else place for axis, place in enumerate(node))
