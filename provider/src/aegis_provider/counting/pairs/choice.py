"""Which pairs of masked attributes are counted, so that all that configurations use together follow from them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from aegis_provider.counting.partition import Partition, Places
from aegis_provider.plan.model import Plan

Views: TypeAlias = Mapping[str, Partition]
"""Of an attribute, by masking id: its values as each masking groups them. The identity is one of them."""


@dataclass(frozen=True)
class Pair:
    """Two attributes by their places in the plan, ascending, and the masking id of each."""

    attributes: tuple[int, int]
    maskings: tuple[str, str]


def pairs_to_count(plan: Plan, views: Sequence[Views]) -> Iterator[Pair]:
    """The pairs of views that some configuration uses together, without those that follow from another of them.

    A table of two attributes follows from another one where on both sides its masking is a function of the other's:
    it is the other one, folded. Of tables that follow from each other the first stands, in the order of `views`.

    `views`: of each attribute those that are of interest; what they lack is as if no configuration used it.
    """
    chosen = _choices(plan, views)
    follows = [_follows(list(each.values())) for each in views]
    ids = [list(each) for each in views]
    for first, second in combinations(range(len(views)), 2):
        used = _used_together(chosen[:, first], chosen[:, second])
        for row, column in used[_needed(follows[first], follows[second], used)]:
            yield Pair((first, second), (ids[first][row], ids[second][column]))


def _choices(plan: Plan, views: Sequence[Views]) -> Places:
    """(configurations, attributes) the place among its views of each attribute's masking, -1 if it is not there."""
    places = [{name: place for place, name in enumerate(each)} for each in views]
    rows = [
        [known.get(each.maskings[attribute.name], -1) for attribute, known in zip(plan.attributes, places, strict=True)]
        for each in plan.configurations
    ]
    return np.array(rows, dtype=np.intp)


def _follows(views: Sequence[Partition]) -> NDArray[np.bool_]:
    """(views, views) whether the one of the row follows from the one of the column."""
    found = [view.follows_from(other) for view in views for other in views]
    return np.array(found, dtype=np.bool_).reshape(len(views), len(views))


def _used_together(first: Places, second: Places) -> Places:
    """(pairs, 2) every two views that a configuration uses together, each once, in order."""
    present = (first >= 0) & (second >= 0)
    width = int(second.max()) + 1
    pairs = np.unique(first[present] * width + second[present])
    return np.stack(np.divmod(pairs, max(width, 1)), axis=1)


def _needed(first: NDArray[np.bool_], second: NDArray[np.bool_], used: Places) -> NDArray[np.bool_]:
    """(pairs,) whether no other pair makes this one superfluous."""
    rows, columns = used.T
    follows = first[np.ix_(rows, rows)] & second[np.ix_(columns, columns)]
    earlier = np.tri(len(used), k=-1, dtype=np.bool_)
    superfluous: NDArray[np.bool_] = np.any(follows & (~follows.T | earlier), axis=1)
    return ~superfluous
