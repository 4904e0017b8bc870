"""Grouping of the records of clusters of equal size, one record of each cluster per group, with few values to mask."""

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

#: The lower bound leaves out sets of n attributes if there are more such sets than this.
_MOST_SETS = 1 << 10


@dataclass(frozen=True, eq=False)
class Grouping:
    """A grouping of the records, with one record of each cluster per group, and its masked values.

    If attributes are independent of u clusters of equal size, every cluster has every masked vector equally often. The
    records can then be grouped, one of each cluster, so that the masked vectors in a group are equal. Every attribute
    on which a group disagrees is then masked. Conversely, masking any groups this way makes the attributes independent.
    The fewest stars are therefore those of the best groups, at u stars for each attribute on which a group disagrees
    (Tao et al. 2010, Problem 1).

    Attributes:
        group_of_record: (n,) The group of each record, from 0.
        stars: The number of masked values.
        lower_bound: A number of stars that no grouping can go below.
        solver: The requested solver.
    """

    group_of_record: IntArray
    stars: int
    lower_bound: int
    solver: Solver

    @property
    def groups(self) -> int:
        """The number of groups: n / u."""
        return int(self.group_of_record.max()) + 1


def group(
    codes: IntArray,
    cluster_of_record: IntArray,
    solver: Solver,
    random: np.random.Generator,
    progress: Progress = lambda _done, _most: None,
    stop: Callable[[], bool] = lambda: False,
) -> Grouping:
    """Return groups with few stars.

    Args:
        codes: (n, d) A number from 0 for every value of the attributes to hide.
        cluster_of_record: (n,) 0 .. u-1, all equally often.
        solver: `matching` has at most u - 1 times the fewest stars, and is optimal for u = 2. `identical` has at most d
            times the fewest. `best` takes the better result of the two, and improves it with `rejoined_groups`.
        random: The generator for all draws.
        progress: Called after each step.
        stop: Called between steps; true ends the search with its current result. The first centre of `matching` is
            always tried.

    Raises:
        ValueError: The solver is unknown, a shape is wrong, or the clusters differ in size.
    """
    if solver not in SOLVERS:
        raise ValueError(f"unknown solver {solver!r}; choose one of {', '.join(SOLVERS)}")
    vectors = Vectors.of(codes, cluster_of_record)
    matchings = Matchings(vectors)
    members = _members(solver, matchings, random, _steps(solver, vectors, progress, stop))
    stars = stars_of(vectors, members)
    return Grouping(vectors.group_of_record(members, random), stars, _lower_bound(matchings), solver)


def _members(solver: Solver, matchings: Matchings, random: np.random.Generator, steps: Steps) -> IntArray:
    """(groups, u) The vector of each group's record of each cluster."""
    vectors = matchings.vectors
    if solver == "identical":
        return identical_groups(vectors, steps)
    matched = matched_groups(matchings, steps)
    if solver == "matching":
        return matched
    better = min(matched, identical_groups(vectors, steps), key=partial(stars_of, vectors))
    return rejoined_groups(vectors, better, _lower_bound(matchings), random, steps)


def _steps(solver: Solver, vectors: Vectors, progress: Progress, stop: Callable[[], bool]) -> Steps:
    """Return the expected steps: the known number of matchings, which take long, and a guess at the cuts to join."""
    clusters = vectors.clusters
    matchings, cuts = clusters * (clusters - 1), 4 * clusters
    expected = {"matching": matchings, "identical": 1, "best": matchings + cuts}
    return Steps(expected[solver], progress, stop)


def _lower_bound(matchings: Matchings) -> int:
    """Return a lower bound on the stars of any grouping."""
    vectors = matchings.vectors
    return max(matchings.lower_bound, _bound_of_sizes(vectors), _bound_of_attributes(vectors))


def _bound_of_sizes(vectors: Vectors) -> int:
    """Return the sum over k = 1 .. d of u times the number of groups that cannot agree on k attributes.

    A group that agrees on k attributes is alike on one of the sets of k attributes. The number of such groups is
    therefore at most the sum over these sets of the groups that can be alike on each. A group that agrees on j
    attributes masks the other d - j, one for every k above j. Any k with too many sets is left out.
    """
    sizes = [size for size in range(1, vectors.attributes + 1) if comb(vectors.attributes, size) <= _MOST_SETS]
    return vectors.clusters * sum(max(0, vectors.groups - _groups_agreeing(vectors, size)) for size in sizes)


def _bound_of_attributes(vectors: Vectors) -> int:
    """Return the sum over attributes of u times the number of groups that cannot agree on the attribute."""
    return vectors.clusters * (vectors.groups * vectors.attributes - _groups_agreeing(vectors, 1))


def _groups_agreeing(vectors: Vectors, size: int) -> int:
    """Return an upper bound on groups that agree on `size` attributes, each counted for every set it agrees on."""
    sets = combinations(range(vectors.attributes), size)
    return sum(groups_alike(vectors.values[:, each], vectors.counts) for each in sets)
