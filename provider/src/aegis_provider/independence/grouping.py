"""Grouping of the records of clusters of equal size, one record of each cluster per group, with few values to mask."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from math import comb
from typing import Literal, TypeAlias, get_args

import numpy as np

from aegis_provider.independence.vectors import (
    BoolArray,
    IntArray,
    Pairs,
    Vectors,
    agreements,
    common_codes,
    distinct_rows,
    paired,
    row_keys,
    stars_of,
)
from aegis_provider.processes import Progress

# The solvers, which make groups of one record of each cluster, as the vectors of their records.
#
# `matched_groups` matches every cluster to a centre, `identical_groups` makes as many groups alike as it can, and
# `rejoined_groups` improves existing groups.

#: The most sets of attributes to try, each by a sort; enough for all sets of up to ten attributes. The lower bound
#: leaves out sets of n attributes if there are more.
_MOST_SETS = 1 << 10

#: Up to this many clusters, every cut into two sets is tried; beyond, each cluster alone and as many random halves.
_ALL_CUTS = 5

#: Another round is worth its time if the last one saved more than one star out of this many.
_WORTH_A_ROUND = 200


@dataclass(eq=False)
class Steps:
    """The progress of a search in steps; if `stop` is true between them, it ends with its best result so far."""

    expected: int
    progress: Progress = lambda _done, _most: None
    stop: Callable[[], bool] = lambda: False
    _done: int = field(default=0, init=False)

    def done(self) -> None:
        """Report one more step done, but never more than expected."""
        self._done = min(self._done + 1, self.expected)
        self.progress(self._done, self.expected)


@dataclass(frozen=True, eq=False)
class Matchings:
    """The matchings of clusters with the least Hamming cost, each computed on first use.

    Two records of a group disagree on no more attributes than the group. All groups of an optimum therefore disagree on
    at least M_ij attributes, where M_ij is the cost of matching clusters i and j. The optimum has at least u max M_ij
    stars, and at least u / (u - 1) times the sum of M_cj over all clusters j other than c, for any c.
    """

    vectors: Vectors
    known: dict[tuple[int, int], Pairs] = field(default_factory=dict)

    def between(self, centre: int, other: int) -> Pairs:
        """Return the matching of two clusters, with the centre's vectors on the left."""
        one, two = sorted((centre, other))
        if (one, two) not in self.known:
            counts, values = self.vectors.counts, self.vectors.values
            left, right = np.flatnonzero(counts[:, one]), np.flatnonzero(counts[:, two])
            pairs = paired(values[left], counts[left, one], values[right], counts[right, two])
            self.known[one, two] = Pairs(left[pairs.left], right[pairs.right], pairs.amounts, pairs.least)
        pairs = self.known[one, two]
        return pairs if one == centre else Pairs(pairs.right, pairs.left, pairs.amounts, pairs.least)


def matched_groups(matchings: Matchings, steps: Steps) -> IntArray:
    """(groups, u) The vectors of the groups around the centre with the fewest stars.

    A group disagrees at most on the attributes on which some record disagrees with the centre's. With centre c there
    are thus at most u times the sum of M_cj stars, which is at most u - 1 times the optimum (`Matchings`). For u = 2
    this is the optimum.

    With many attributes, matchings only minimise a lower bound, so this is not guaranteed (`hub_network`).

    The search may stop before all centres are tried, but not before the first.
    """
    clusters = matchings.vectors.clusters
    best = _around(matchings, 0, steps)
    for centre in range(1, clusters):
        if steps.stop():
            break
        best = min(best, _around(matchings, centre, steps), key=partial(stars_of, matchings.vectors))
    return best


def _around(matchings: Matchings, centre: int, steps: Steps) -> IntArray:
    """(groups, u) The vectors of the groups around this centre.

    Equal records of the centre are sorted by the number of disagreements of their partners and then by the attributes
    of disagreement, in the same way for all clusters, so that disagreements meet in a group. There are then as many
    groups without a star as possible, since a vector is matched to its equals as often as both clusters have it. In any
    grouping, a group that has a star has one in each of its records, so the stars are also at most d times the optimum.
    """
    values = matchings.vectors.values
    clusters = matchings.vectors.clusters
    members = np.empty((matchings.vectors.groups, clusters), dtype=np.int64)
    members[:, centre] = np.repeat(np.arange(len(values)), matchings.vectors.counts[:, centre])
    for other in range(clusters):
        if other != centre:
            pairs = matchings.between(centre, other)
            agree = agreements(values[pairs.left], values[pairs.right])
            order = np.lexsort((*agree.T, -agree.sum(axis=1), pairs.left))
            members[:, other] = np.repeat(pairs.right[order], pairs.amounts[order])
            steps.done()
    return members


def identical_groups(vectors: Vectors, steps: Steps) -> IntArray:
    """(groups, u) The vectors of groups that are alike on as many attributes as the remaining counts allow.

    The first groups are alike on all attributes, which gives as many groups without a star as possible. The others
    have at most d masked attributes, and in an optimum at least one, so the stars are at most d times the optimum. Next
    come the sets of d - 1 attributes, starting with the one on which most groups can be alike, and so on. The last
    groups are formed without regard to agreement.
    """
    left, groups, tried = vectors.counts.copy(), [], 0
    for size in range(vectors.attributes, 0, -1):
        tried += comb(vectors.attributes, size)
        if tried > _MOST_SETS or not left.any():
            break
        sets = [np.array(chosen) for chosen in combinations(range(vectors.attributes), size)]
        for chosen in sorted(sets, key=lambda each: -groups_alike(vectors.values[:, each], left)):
            groups.append(_taken(vectors.values[:, chosen], left))
            steps.done()
    groups.append(_taken(vectors.values[:, :0], left))
    return np.concatenate(groups)


def groups_alike(values: IntArray, counts: IntArray) -> int:
    """Count the groups that can have equal rows in all clusters; `values`: (vectors, some), `counts`: (vectors, u)."""
    rows = np.flatnonzero(counts.any(axis=1))
    return int(_counts_of_keys(row_keys(values[rows]), counts[rows])[0].min(axis=1).sum())


def _taken(values: IntArray, left: IntArray) -> IntArray:
    """(groups, u) All groups with equal rows of `values`, which are taken out of the counts `left`, (vectors, u)."""
    rows = np.flatnonzero(left.any(axis=1))
    counts, places = _counts_of_keys(row_keys(values[rows]), left[rows])
    order = np.argsort(places, kind="stable")
    rows, most = rows[order], counts.min(axis=1)[places[order]]
    starts = np.flatnonzero(np.diff(places[order], prepend=-1))
    sums = np.cumsum(left[rows], axis=0) - left[rows]
    before = sums - np.repeat(sums[starts], np.diff(starts, append=len(rows)), axis=0)
    takes = np.clip(most[:, None] - before, 0, left[rows])
    left[rows] -= takes
    return np.column_stack([np.repeat(rows, take) for take in takes.T])


def _counts_of_keys(keys: IntArray, counts: IntArray) -> tuple[IntArray, IntArray]:
    """(distinct keys, u) The counts of all vectors that share a key; (vectors,) the place of each vector's key."""
    occurring, places = np.unique(keys, return_inverse=True)
    sums = np.zeros((len(occurring), counts.shape[1]), dtype=np.int64)
    np.add.at(sums, places, counts)
    return sums, places


def rejoined_groups(
    vectors: Vectors, members: IntArray, lower_bound: int, random: np.random.Generator, steps: Steps
) -> IntArray:
    """(groups, u) Groups with at most as many stars as `members`, improved until another round of cuts saves little.

    Each cut divides all groups into the same two sets of clusters. Rejoining the halves, at the cost of the attributes
    on which a pair of halves disagrees, is a transportation problem. Its exact solution never costs more than the
    previous groups. The search ends if the stars reach the `lower_bound`.
    """
    cuts, stars = _cuts(vectors.clusters, random), stars_of(vectors, members)
    while True:
        before = stars
        for cut in cuts:
            if stars == lower_bound or steps.stop():
                return members
            joined = _joined(vectors, members, cut)
            steps.done()
            # Accept other groups with equally many stars, since another cut may improve them.
            if stars_of(vectors, joined) <= stars:
                members, stars = joined, stars_of(vectors, joined)
        if (before - stars) * _WORTH_A_ROUND <= before:
            return members


def _cuts(clusters: int, random: np.random.Generator) -> list[BoolArray]:
    """Return (clusters,) for each cut whether a cluster is on the left; only one of a cut and its mirror image."""
    if clusters > _ALL_CUTS:
        halves = [random.permutation(clusters) < clusters // 2 for _ in range(clusters)]
        return [*np.eye(clusters, dtype=np.bool_), *halves]
    # Try the most even cuts first: they take the least time and save the most.
    sizes = range(clusters // 2, 0, -1)
    sides = [side for size in sizes for side in combinations(range(clusters), size)]
    some = [side for side in sides if len(side) * 2 < clusters or 0 in side]
    return [np.isin(np.arange(clusters), side) for side in some]


def _joined(vectors: Vectors, members: IntArray, cut: BoolArray) -> IntArray:
    left, left_of = distinct_rows(common_codes(vectors.values, members[:, cut]))
    right, right_of = distinct_rows(common_codes(vectors.values, members[:, ~cut]))
    pairs = paired(left, np.bincount(left_of), right, np.bincount(right_of))
    order = np.argsort(pairs.left, kind="stable")
    # Repeat each pair of halves as often as its amount says, sorted by the left halves, then by the right ones.
    rights = np.repeat(pairs.right[order], pairs.amounts[order])
    left_halves = np.argsort(left_of, kind="stable")[np.argsort(rights, kind="stable")]
    joined = np.empty_like(members)
    joined[:, cut] = members[left_halves][:, cut]
    joined[:, ~cut] = members[np.argsort(right_of, kind="stable")][:, ~cut]
    return joined


Solver: TypeAlias = Literal["matching", "identical", "best"]
SOLVERS: tuple[Solver, ...] = get_args(Solver)


@dataclass(frozen=True, eq=False)
class Grouping:
    """A grouping of the records, with one record of each cluster per group, and its masked values.

    If attributes are independent of u clusters of equal size, every cluster has every masked vector equally often. The
    records can then be grouped, one of each cluster, so that the masked vectors in a group are equal. Every attribute
    on which a group disagrees is then masked. Conversely, masking any groups this way makes the attributes independent.
    The fewest stars are therefore those of the best groups, at u stars for each attribute on which a group disagrees
    (Tao et al. 2010, Problem 1). `group_of_record`: (n,) The group of each record, from 0.
    """

    group_of_record: IntArray
    stars: int
    lower_bound: int
    solver: Solver


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
        stop: Called between steps; true ends the search with its current result. The first centre of `matching` is
            always tried.

    Raises:
        ValueError: The solver is unknown, a shape is wrong, or the clusters differ in size.
    """
    if solver not in SOLVERS:
        raise ValueError(f"unknown solver {solver!r}; choose one of {', '.join(SOLVERS)}")
    vectors = Vectors.of(codes, cluster_of_record)
    matchings, clusters = Matchings(vectors), vectors.clusters
    # The matchings, which take long, are known; the cuts to join are a guess.
    expected = {"matching": clusters * (clusters - 1), "identical": 1, "best": clusters * (clusters + 3)}
    steps = Steps(expected[solver], progress, stop)
    members = identical_groups(vectors, steps) if solver == "identical" else matched_groups(matchings, steps)
    if solver == "best":
        members = min(members, identical_groups(vectors, steps), key=partial(stars_of, vectors))
        members = rejoined_groups(vectors, members, _lower_bound(matchings), random, steps)
    stars = stars_of(vectors, members)
    return Grouping(vectors.group_of_record(members, random), stars, _lower_bound(matchings), solver)


def _lower_bound(matchings: Matchings) -> int:
    """Return a lower bound on the stars of any grouping: the largest of those by matchings, by sizes and by attributes.

    By sizes, it is the sum over k = 1 .. d of u times the number of groups that cannot agree on k attributes. A group
    that agrees on k attributes is alike on one of the sets of k attributes. The number of such groups is therefore at
    most the sum over these sets of the groups that can be alike on each. A group that agrees on j attributes masks the
    other d - j, one for every k above j. Any k with too many sets is left out. By attributes, it is the sum over
    attributes of u times the number of groups that cannot agree on the attribute.
    """
    vectors = matchings.vectors
    sizes = [size for size in range(1, vectors.attributes + 1) if comb(vectors.attributes, size) <= _MOST_SETS]
    by_sizes = sum(max(0, vectors.groups - _groups_agreeing(vectors, size)) for size in sizes)
    by_attributes = vectors.groups * vectors.attributes - _groups_agreeing(vectors, 1)
    by_matchings = max((each.least for each in matchings.known.values()), default=0)
    return max(vectors.clusters * by_matchings, vectors.clusters * by_sizes, vectors.clusters * by_attributes)


def _groups_agreeing(vectors: Vectors, size: int) -> int:
    """Return an upper bound on groups that agree on `size` attributes, each counted for every set it agrees on."""
    sets = combinations(range(vectors.attributes), size)
    return sum(groups_alike(vectors.values[:, each], vectors.counts) for each in sets)
