"""The solvers: groups of one record of each cluster, as the vectors of their records.

`matched_groups` matches every cluster to a centre, `identical_groups` makes as many groups alike as it can, and
`rejoined_groups` improves what there is.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from math import comb

import numpy as np

from aegis_provider.independence.transportation import Pairs, paired
from aegis_provider.independence.vectors import (
    BoolArray,
    IntArray,
    Vectors,
    agreements,
    common_codes,
    distinct_rows,
    row_keys,
    stars_of,
)
from aegis_provider.progress import Progress

#: How many sets of attributes are tried, each by a sort; all of them up to ten attributes.
_MOST_SETS = 1 << 10

#: Up to so many clusters every way to cut them in two is tried; of more, as many cuts in halves as there are clusters.
_ALL_CUTS = 5

#: Another round is worth its time if the last one saved more than one star of so many.
_WORTH_A_ROUND = 200


@dataclass(eq=False)
class Steps:
    """Steps done of steps expected.

    Attributes:
        expected: How many there will be, about.
        progress: Is told after each step.
        stop: Asked between steps; True ends a search with the best that it has.
    """

    expected: int
    progress: Progress = lambda _done, _most: None
    stop: Callable[[], bool] = lambda: False
    _done: int = field(default=0, init=False)

    def done(self) -> None:
        """One more; beyond what was expected, all that was expected is done."""
        self._done = min(self._done + 1, self.expected)
        self.progress(self._done, self.expected)


@dataclass(frozen=True, eq=False)
class Matchings:
    """The matchings of clusters of least Hamming cost, each made when it is first asked for.

    Two records of a group disagree on no more attributes than the group. So all groups of an optimum disagree on
    M_ij attributes at least, where M_ij is what the matching of clusters i and j costs: the optimum has at least
    u max M_ij stars, and no fewer than u / (u - 1) times the sum of M_cj over the clusters j other than any c.
    """

    vectors: Vectors
    known: dict[tuple[int, int], Pairs] = field(default_factory=dict)

    def between(self, centre: int, other: int) -> Pairs:
        """The matching of two clusters; `left` is the centre's vector."""
        one, two = sorted((centre, other))
        if (one, two) not in self.known:
            self.known[one, two] = self._matching(one, two)
        pairs = self.known[one, two]
        return pairs if one == centre else Pairs(pairs.right, pairs.left, pairs.amounts, pairs.least)

    @property
    def lower_bound(self) -> int:
        """As many stars as the matchings known so far say that there must be."""
        return self.vectors.clusters * max((each.least for each in self.known.values()), default=0)

    def _matching(self, one: int, two: int) -> Pairs:
        counts, values = self.vectors.counts, self.vectors.values
        left, right = np.flatnonzero(counts[:, one]), np.flatnonzero(counts[:, two])
        pairs = paired(values[left], counts[left, one], values[right], counts[right, two])
        return Pairs(left[pairs.left], right[pairs.right], pairs.amounts, pairs.least)


def matched_groups(matchings: Matchings, steps: Steps) -> IntArray:
    """(groups, u) the vectors of the groups that a centre makes, of the centre for which stars are fewest.

    A group disagrees at most on what its records disagree on with the centre's, one by one: with centre c stars are at
    most u times the sum of M_cj, and so u - 1 times the optimum (`Matchings`). For u = 2 they are the optimum.

    With many attributes, where matchings are only the least of a lower bound, this is not guaranteed (`hub_network`).

    Stops before all centres are tried if it must, never before the first is.
    """
    clusters = matchings.vectors.clusters
    best = _around(matchings, 0, steps)
    for centre in range(1, clusters):
        if steps.stop():
            break
        best = min(best, _around(matchings, centre, steps), key=partial(stars_of, matchings.vectors))
    return best


def _around(matchings: Matchings, centre: int, steps: Steps) -> IntArray:
    """(groups, u) the vectors of the groups that this centre makes."""
    clusters = matchings.vectors.clusters
    members = np.empty((matchings.vectors.groups, clusters), dtype=np.int64)
    members[:, centre] = np.repeat(np.arange(len(matchings.vectors.values)), matchings.vectors.counts[:, centre])
    for other in range(clusters):
        if other != centre:
            members[:, other] = _lined_up(matchings.vectors.values, matchings.between(centre, other))
            steps.done()
    return members


def _lined_up(values: IntArray, pairs: Pairs) -> IntArray:
    """(groups,) the vector that goes with each record of the centre, whose records are in the order of their vectors.

    Among equal records of the centre those come first whose partners disagree on least, then those that disagree on
    the same, in all clusters alike, so that disagreements meet in a group. The groups without a star are then as many
    as there can be, since a vector is matched to its equals as often as both clusters have it. Every other group has a
    star in each record, of any grouping: so stars are at most d times the optimum too.
    """
    agree = agreements(values[pairs.left], values[pairs.right])
    order = np.lexsort((*agree.T, -agree.sum(axis=1), pairs.left))
    return np.repeat(pairs.right[order], pairs.amounts[order])


def identical_groups(vectors: Vectors, steps: Steps) -> IntArray:
    """(groups, u) the vectors of groups that are made as often alike as the counts of what is left allow.

    First on all attributes, which makes every group without a star that there can be; the rest have d attributes
    masked at most, and in an optimum one at least: at most d times the optimum. Then, of the sets of d - 1 attributes,
    on the one that most groups can be alike on, and so on; the end are groups that agree on nothing chosen.
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
    """How many groups can have equal rows in all clusters; `values`: (vectors, some), `counts`: (vectors, u)."""
    rows = np.flatnonzero(counts.any(axis=1))
    return int(_counts_of_keys(row_keys(values[rows]), counts[rows])[0].min(axis=1).sum())


def _taken(values: IntArray, left: IntArray) -> IntArray:
    """(groups, u) as many groups with equal rows of `values` as there are; `left`: (vectors, u) counts, is reduced."""
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
    """(distinct keys, u) the counts of all vectors that share a key; (vectors,) the place of each one's key."""
    occurring, places = np.unique(keys, return_inverse=True)
    sums = np.zeros((len(occurring), counts.shape[1]), dtype=np.int64)
    np.add.at(sums, places, counts)
    return sums, places


def rejoined_groups(
    vectors: Vectors, members: IntArray, lower_bound: int, random: np.random.Generator, steps: Steps
) -> IntArray:
    """(groups, u) groups with as many stars as `members` or fewer, of which no cut that is tried saves many.

    All groups are cut in the same two sets of clusters. To join the halves anew, at the cost of the attributes on
    which a pair of halves is not alike, is a transportation problem; solved exactly, it never costs more than what
    there was. With as many stars as the `lower_bound` it ends.
    """
    cuts, stars = _cuts(vectors.clusters, random), stars_of(vectors, members)
    while True:
        before = stars
        for cut in cuts:
            if stars == lower_bound or steps.stop():
                return members
            joined = _joined(vectors, members, cut)
            steps.done()
            # As many stars in another way may be what another cut can improve.
            if stars_of(vectors, joined) <= stars:
                members, stars = joined, stars_of(vectors, joined)
        if (before - stars) * _WORTH_A_ROUND <= before:
            return members


def _cuts(clusters: int, random: np.random.Generator) -> list[BoolArray]:
    """(clusters,) for each way to cut whether a cluster is on the left side; of a cut and its mirror image one."""
    if clusters > _ALL_CUTS:
        halves = [random.permutation(clusters) < clusters // 2 for _ in range(clusters)]
        return [*np.eye(clusters, dtype=np.bool_), *halves]
    # The most even first: they take the least time and save most.
    sizes = range(clusters // 2, 0, -1)
    sides = [side for size in sizes for side in combinations(range(clusters), size)]
    some = [side for side in sides if len(side) * 2 < clusters or 0 in side]
    return [np.isin(np.arange(clusters), side) for side in some]


def _joined(vectors: Vectors, members: IntArray, cut: BoolArray) -> IntArray:
    left, left_of = distinct_rows(common_codes(vectors.values, members[:, cut]))
    right, right_of = distinct_rows(common_codes(vectors.values, members[:, ~cut]))
    pairs = paired(left, np.bincount(left_of), right, np.bincount(right_of))
    order = np.argsort(pairs.left, kind="stable")
    # Of every pair of kinds of halves as many as it says: first in the order of the left ones, then of the right ones.
    rights = np.repeat(pairs.right[order], pairs.amounts[order])
    left_halves = np.argsort(left_of, kind="stable")[np.argsort(rights, kind="stable")]
    joined = np.empty_like(members)
    joined[:, cut] = members[left_halves][:, cut]
    joined[:, ~cut] = members[np.argsort(right_of, kind="stable")][:, ~cut]
    return joined
