"""Records of equally large clusters in groups of one record of each, with few values to mask."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from math import comb
from typing import Literal, TypeAlias, get_args

import numpy as np

from aegis_provider.independence.solvers import (
    Matchings,
    Steps,
    groups_alike,
    identical_groups,
    matched_groups,
    rejoined_groups,
)
from aegis_provider.independence.vectors import IntArray, Vectors, stars_of
from aegis_provider.progress import Progress

Solver: TypeAlias = Literal["matching", "identical", "best"]
SOLVERS: tuple[Solver, ...] = get_args(Solver)

#: A lower bound looks at no size of sets of attributes of which there are more.
_MOST_SETS = 1 << 10


@dataclass(frozen=True, eq=False)
class Grouping:
    """A group for every record, one record of each cluster in each group, and what that masks.

    Where attributes are independent of u equally large clusters, every cluster has every masked vector equally often.
    So the records can be put in groups of one of each cluster with equal masked vectors, and in a group every
    attribute on which it disagrees is masked. And any groups masked so make the attributes independent: the fewest
    stars are those of the best groups, at u stars for each attribute on which a group disagrees (Tao et al. 2010,
    Problem 1).

    Attributes:
        group_of_record: (n,) from 0.
        stars: How many values are masked.
        lower_bound: No grouping masks fewer.
        solver: The one that was asked for.
    """

    group_of_record: IntArray
    stars: int
    lower_bound: int
    solver: Solver

    @property
    def groups(self) -> int:
        """How many there are: n / u."""
        return int(self.group_of_record.max()) + 1


def group(
    codes: IntArray,
    cluster_of_record: IntArray,
    solver: Solver,
    random: np.random.Generator,
    progress: Progress = lambda _done, _most: None,
    stop: Callable[[], bool] = lambda: False,
) -> Grouping:
    """Groups with few stars.

    Args:
        codes: (n, d) a number from 0 for every value of the attributes to hide.
        cluster_of_record: (n,) 0 .. u-1, all equally often.
        solver: `matching` has at most u - 1 times the fewest stars, and is optimal for u = 2; `identical` at most d
            times; `best` takes the better of both, and improves it as `rejoined_groups` does.
        random: What the draws come from.
        progress: Is told after each step.
        stop: Ends a search between two steps with what it has; the first centre of `matching` is always tried.

    Raises:
        ValueError: An unknown solver, other shapes, or clusters of different sizes.
    """
    if solver not in SOLVERS:
        raise ValueError(f"unknown solver {solver!r}; choose one of {', '.join(SOLVERS)}")
    vectors = Vectors.of(codes, cluster_of_record)
    matchings = Matchings(vectors)
    members = _members(solver, matchings, random, _steps(solver, vectors, progress, stop))
    stars = stars_of(vectors, members)
    return Grouping(vectors.group_of_record(members, random), stars, _lower_bound(matchings), solver)


def _members(solver: Solver, matchings: Matchings, random: np.random.Generator, steps: Steps) -> IntArray:
    """(groups, u) the vector of each group's record of each cluster."""
    vectors = matchings.vectors
    if solver == "identical":
        return identical_groups(vectors, steps)
    matched = matched_groups(matchings, steps)
    if solver == "matching":
        return matched
    better = min(matched, identical_groups(vectors, steps), key=partial(stars_of, vectors))
    return rejoined_groups(vectors, better, _lower_bound(matchings), random, steps)


def _steps(solver: Solver, vectors: Vectors, progress: Progress, stop: Callable[[], bool]) -> Steps:
    """Matchings take long and are counted; cuts that are joined are as many as help, so their number is a guess."""
    clusters = vectors.clusters
    matchings, cuts = clusters * (clusters - 1), 4 * clusters
    expected = {"matching": matchings, "identical": 1, "best": matchings + cuts}
    return Steps(expected[solver], progress, stop)


def _lower_bound(matchings: Matchings) -> int:
    """How many stars there must be, whatever the grouping."""
    vectors = matchings.vectors
    return max(matchings.lower_bound, _bound_of_sizes(vectors), _bound_of_attributes(vectors))


def _bound_of_sizes(vectors: Vectors) -> int:
    """The sum over k = 1 .. d of u times the groups that cannot agree on k attributes.

    A group that agrees on k attributes is alike on one of the sets of k, so there are no more such groups than the sum
    over these sets of the groups that can be alike on one. A group masks as many attributes as there are k that it
    does not reach. A k of which there are too many sets is left out.
    """
    sizes = [size for size in range(1, vectors.attributes + 1) if comb(vectors.attributes, size) <= _MOST_SETS]
    return vectors.clusters * sum(max(0, vectors.groups - _groups_agreeing(vectors, size)) for size in sizes)


def _bound_of_attributes(vectors: Vectors) -> int:
    """The sum over attributes of u times the groups that cannot agree on it."""
    return vectors.clusters * (vectors.groups * vectors.attributes - _groups_agreeing(vectors, 1))


def _groups_agreeing(vectors: Vectors, size: int) -> int:
    """At most so many groups agree on that many attributes, each counted once for every set that it agrees on."""
    sets = combinations(range(vectors.attributes), size)
    return sum(groups_alike(vectors.values[:, each], vectors.counts) for each in sets)
