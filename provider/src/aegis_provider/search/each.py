"""The exploration of every requirement: one after another, or those of a small lattice side by side."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

import numpy as np
from threadpoolctl import threadpool_limits

from aegis_provider.processes import begun
from aegis_provider.search.ceiling import lower_ceiling
from aegis_provider.search.clock import TimeIsUpError
from aegis_provider.search.evaluation import is_decidable
from aegis_provider.search.exhaustive import explore_all
from aegis_provider.search.exploration import Exploration, explore_nearby, refined
from aegis_provider.search.lattice import Node

# Larger lattices are searched nearby first, so that there is something good if the time ends.
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
        for each, found in zip(explorations[1:], meanwhile, strict=False):
            each.learn(found())
            each.clock.next()
    except KeyboardInterrupt:
        interrupted = True
    _share(explorations)
    return interrupted


def _begun(explorations: Sequence[Exploration], source: str) -> list[Callable[[], Exploration]]:
    """Have other processes explore the first of these, if the lattice is so small that none needs seeds."""
    are_quick = all(map(_is_quick, explorations))
    records = max((int(each.evaluation.records.counts.sum()) for each in explorations), default=0)
    return begun([partial(_explored, each.alone(), source) for each in explorations if are_quick], records)


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
    """Let every requirement that is not decided have the best nodes of the others, and the coarsest."""
    best = [node for each in explorations for node in _best(each)]
    for each in explorations:
        if not each.complete:
            nodes = [node for node in (*best, each.evaluation.lattice.top) if each.holds(node)]
            each.add(nodes)
