"""Branch and bound over boxes of nodes: how much more than the best node can be kept at most."""

import heapq
from collections.abc import Sequence
from itertools import product
from typing import TypeAlias

import numpy as np

from aegis_provider.search.exploration import SAME, Exploration
from aegis_provider.search.lattice import Choices

Box: TypeAlias = tuple[tuple[int, ...], ...]
"""The allowed choices of each attribute: all nodes that combine them."""


def everything(exploration: Exploration) -> Box:
    """The box of all nodes."""
    return tuple(tuple(range(len(choice))) for choice in exploration.evaluation.lattice.choices)


def finest_of(exploration: Exploration, box: Box) -> Box:
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
    heap = _limited(exploration, [everything(exploration)])
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
    finest = finest_of(exploration, box)

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
            limit = exploration.utility.limit(finest_of(exploration, allowed))
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
