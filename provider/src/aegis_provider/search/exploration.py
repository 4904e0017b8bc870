"""The state of the search for one requirement, and the search of a lattice of any size."""

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
    """The time is up; the results so far are valid."""


@dataclass(eq=False)
class Clock:
    """Shares the seconds of a search among its requirements; the next ones get the time that one leaves.

    Attributes:
        seconds: The seconds for all requirements.
        requirements: The number of requirements.
        progress: Called with (done, total), counting thousandths of a requirement.
        done: The number of requirements done.
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
        evaluation: The requirement and its evaluation.
        utility: The utility of nodes.
        clock: The remaining time.
        utilities: The utility of each node known to meet the requirement.
        ends: Those of these nodes that are minimal, or without a known better refinement.
        ceiling: No node that meets the requirement has a higher utility.
        minimal: The number of minimal nodes; `None` if not counted.
        evaluated: The number of evaluations.
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

    def alone(self) -> "Exploration":
        """Return the same exploration with a clock of its own, for another process."""
        return replace(self, clock=self.clock.alone())

    def learn(self, other: "Exploration") -> None:
        """Take over the results of an exploration of the same requirement."""
        self.utilities, self.ends, self.ceiling = other.utilities, other.ends, other.ceiling
        self.minimal, self.evaluated = other.minimal, other.evaluated

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
        node = refined(exploration, _coarsened(exploration, best, random), random)
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
    steps = [step for step in _steps(exploration, node) if step not in failed]
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
    """Return the places of the positive gains, the largest first."""
    useful = np.flatnonzero(gains > SAME).tolist()
    weights = [gains[place] * (1.0 if random is None else random.uniform(*_NOISE)) for place in useful]
    return [place for _, place in sorted(zip(weights, useful, strict=True), key=lambda pair: (-pair[0], pair[1]))]


def _coarsened(exploration: Exploration, node: Node, random: Random) -> Node:
    """Return the node with the coarsest choice for one to four attributes that have a finer one."""
    top = exploration.evaluation.lattice.top
    finer = [axis for axis, (place, coarsest) in enumerate(zip(node, top, strict=True)) if place != coarsest]
    chosen = random.sample(finer, min(len(finer), random.randint(1, _MOST_COARSENED)))
    return tuple(top[axis] if axis in chosen else place for axis, place in enumerate(node))
