"""Records of equally large clusters in groups of one record of each, with few values to mask."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeAlias, get_args

import numpy as np

from aegis_provider.independence import bounds
from aegis_provider.independence.groups import stars_of
from aegis_provider.independence.identical import alike
from aegis_provider.independence.joining import rejoined
from aegis_provider.independence.matching import Matchings, matched
from aegis_provider.independence.steps import Steps
from aegis_provider.independence.vectors import IntArray, Vectors
from aegis_provider.progress import Progress

Solver: TypeAlias = Literal["matching", "identical", "best"]
SOLVERS: tuple[Solver, ...] = get_args(Solver)


@dataclass(frozen=True, eq=False)
class Grouping:
    """A group for every record, one record of each cluster in each group, and what that masks.

    Where attributes are independent of u equally large clusters, every cluster has every masked vector equally often.
    So the records can be put in groups of one of each cluster with equal masked vectors, and in a group every
    attribute on which it disagrees is masked. And any groups masked so make the attributes independent: the fewest
    stars are those of the best groups, at u stars for each attribute on which a group disagrees (Tao et al. 2010,
    Problem 1).

    `group_of_record`: (n,) from 0; `stars`: the values that are masked; `lower_bound`: no grouping masks fewer;
    `method`: the solver that was asked for.
    """

    group_of_record: IntArray
    stars: int
    lower_bound: int
    method: Solver

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

    `codes`: (n, d) a number from 0 for every value of the attributes to hide; `cluster_of_record`: (n,) 0 .. u-1, all
    equally often. `matching` has at most u - 1 times the fewest stars, and is optimal for u = 2; `identical` at most d
    times; `best` takes the better of both, and improves it as `rejoined` does. `stop` ends a search between two steps
    with what it has; the first centre of `matching` is always tried.

    Raises `ValueError` for an unknown solver, other shapes, or clusters of different sizes.
    """
    if solver not in SOLVERS:
        raise ValueError(f"there is no solver {solver!r}; there is {', '.join(SOLVERS)}")
    vectors = Vectors.of(codes, cluster_of_record)
    matchings = Matchings(vectors)
    members = _members(solver, matchings, random, _steps(solver, vectors, progress, stop))
    stars = stars_of(vectors, members)
    return Grouping(vectors.records(members, random), stars, _fewest(matchings), solver)


def _members(solver: Solver, matchings: Matchings, random: np.random.Generator, steps: Steps) -> IntArray:
    vectors = matchings.vectors
    if solver == "identical":
        return alike(vectors, steps)
    found = matched(matchings, steps)
    if solver == "matching":
        return found
    better = min(found, alike(vectors, steps), key=partial(stars_of, vectors))
    return rejoined(vectors, better, _fewest(matchings), random, steps)


def _fewest(matchings: Matchings) -> int:
    vectors = matchings.vectors
    return max(matchings.fewest, bounds.of_sizes(vectors), bounds.of_attributes(vectors))


def _steps(solver: Solver, vectors: Vectors, progress: Progress, stop: Callable[[], bool]) -> Steps:
    """Matchings take long and are counted; cuts that are joined are as many as help, so their number is a guess."""
    clusters = vectors.clusters
    matchings, cuts = clusters * (clusters - 1), 4 * clusters
    expected = {"matching": matchings, "identical": 1, "best": matchings + cuts}
    return Steps(expected[solver], progress, stop)
