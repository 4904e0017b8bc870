"""Groups cut in two by their clusters and joined anew, as long as that saves stars."""

from itertools import combinations

import numpy as np

from aegis_provider.independence.groups import common, stars_of
from aegis_provider.independence.steps import Steps
from aegis_provider.independence.transport import paired
from aegis_provider.independence.vectors import BoolArray, IntArray, Vectors, distinct_rows

#: Up to so many clusters every way to cut them in two is tried; of more, as many cuts in halves as there are clusters.
_ALL_CUTS = 5

#: Another round is worth its time if the last one saved more than one star of so many.
_WORTH_A_ROUND = 200


def rejoined(vectors: Vectors, members: IntArray, fewest: int, random: np.random.Generator, steps: Steps) -> IntArray:
    """(groups, u) groups with as many stars or fewer, of which no cut that is tried saves many; `fewest`: a lower
    bound.

    All groups are cut in the same two sets of clusters. To join the halves anew, at the cost of the attributes on
    which a pair of halves is not alike, is a transportation problem; solved exactly, it never costs more than what
    there was.
    """
    cuts, stars = _cuts(vectors.clusters, random), stars_of(vectors, members)
    while True:
        before = stars
        for cut in cuts:
            if stars == fewest or steps.stop():
                return members
            found = _joined(vectors, members, cut)
            steps.done()
            # As many stars in another way may be what another cut can improve.
            if stars_of(vectors, found) <= stars:
                members, stars = found, stars_of(vectors, found)
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
    left, left_of = distinct_rows(common(vectors.values, members[:, cut]))
    right, right_of = distinct_rows(common(vectors.values, members[:, ~cut]))
    pairs = paired(left, np.bincount(left_of), right, np.bincount(right_of))
    order = np.argsort(pairs.left, kind="stable")
    # Of every pair of kinds of halves as many as it says: first in the order of the left ones, then of the right ones.
    rights = np.repeat(pairs.right[order], pairs.amounts[order])
    left_halves = np.argsort(left_of, kind="stable")[np.argsort(rights, kind="stable")]
    found = np.empty_like(members)
    found[:, cut] = members[left_halves][:, cut]
    found[:, ~cut] = members[np.argsort(right_of, kind="stable")][:, ~cut]
    return found
