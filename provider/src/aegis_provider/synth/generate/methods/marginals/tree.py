"""Trees of pairs of columns: their choice, and drawing records from them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np

from aegis_provider.synth.generate.levels import Codes
from aegis_provider.synth.generate.methods.conditional import Conditional, spread

Pair: TypeAlias = tuple[int, int]
"""Two columns, in ascending order."""


def spanning_tree(columns: int, chosen: Callable[[Sequence[Pair]], Pair]) -> list[Pair]:
    """Return a tree that connects all columns (Kruskal 1956).

    Args:
        columns: The number of columns.
        chosen: Chooses among the pairs of columns that are not connected yet; called once per pair.
    """
    part = list(range(columns))
    tree: list[Pair] = []
    while len(tree) < columns - 1:
        pair = chosen([(one, other) for one, other in combinations(range(columns), 2) if part[one] != part[other]])
        part = [part[pair[0]] if each == part[pair[1]] else each for each in part]
        tree.append(pair)
    return tree


def mutual_information(one: Codes, other: Codes) -> float:
    """Return the bias-corrected mutual information of two columns in nats.
    For independent columns of n records, the bias is (rows - 1)(columns - 1) / 2n (Miller 1955). Without the
    correction, columns with many levels seem dependent. The result may be negative.
    """
    size = int(other.max()) + 1
    joint = np.unique(one * size + other, return_counts=True)[1]
    rows, columns = (np.unique(each, return_counts=True)[1] for each in (one, other))
    bias = (len(rows) - 1) * (len(columns) - 1) / (2 * len(one))
    return _entropy(rows) + _entropy(columns) - _entropy(joint) - bias


def _entropy(counts: Codes) -> float:
    shares = counts / counts.sum()
    return float(-(shares * np.log(shares)).sum())


def outward(tree: Sequence[Pair], root: int) -> Iterator[tuple[int, int]]:
    """Yield each pair of the tree as (a column nearer to the root, the other), pairs near the root first."""
    reached, rest = {root}, list(tree)
    while rest:
        for pair in [each for each in rest if len(reached.intersection(each)) == 1]:
            near, far = pair if pair[0] in reached else pair[::-1]
            yield near, far
            reached.add(far)
            rest.remove(pair)


@dataclass(frozen=True, eq=False)
class TreeModel:
    """The distribution of a root column, and of each other column given its neighbour towards the root.

    Attributes:
        root: The column that is drawn first.
        first: Its distribution; it has one group.
        steps: The neighbour of each other column, the column, and its distribution for each level of the neighbour.
        levels: If the columns contain groups of levels: the distribution of levels in each group of each column.
    """

    root: int
    first: Conditional
    steps: Sequence[tuple[int, int, Conditional]]
    levels: Sequence[Conditional] = ()

    @property
    def losses(self) -> Mapping[str, float]:
        """Empty: the model is not trained in steps."""
        return {}

    def sample(self, records: int, rng: np.random.Generator) -> Codes:
        """(records, columns) Draw records in which the counts of each pair of the tree are close to their
        expectation.
        """
        codes = np.zeros((records, len(self.steps) + 1), dtype=np.intp)
        if not records:
            return codes
        nothing = np.zeros(records, dtype=np.intp)
        codes[:, self.root] = self.first.drawn(nothing, spread(nothing, rng))
        for near, far, shares in self.steps:
            codes[:, far] = shares.drawn(codes[:, near], spread(codes[:, near], rng))
        for column, levels in enumerate(self.levels):
            codes[:, column] = levels.drawn(codes[:, column], spread(codes[:, column], rng))
        return codes

    def state(self) -> Mapping[str, Any]:
        """Empty: the training ends with this model."""
        return {}
