"""Every cluster matched to a centre cluster: at most u - 1 times the fewest stars, and at most d times."""

from dataclasses import dataclass, field
from functools import partial

import numpy as np

from aegis_provider.independence.groups import stars_of
from aegis_provider.independence.steps import Steps
from aegis_provider.independence.transport import Pairs, paired
from aegis_provider.independence.vectors import IntArray, Vectors, agreements


@dataclass(frozen=True, eq=False)
class Matchings:
    """The matchings of clusters of least Hamming cost, each found when it is first asked for.

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
            self.known[one, two] = self._found(one, two)
        found = self.known[one, two]
        return found if one == centre else Pairs(found.right, found.left, found.amounts, found.least)

    @property
    def fewest(self) -> int:
        """As many stars as the matchings known so far say that there must be."""
        return self.vectors.clusters * max((each.least for each in self.known.values()), default=0)

    def _found(self, one: int, two: int) -> Pairs:
        counts, values = self.vectors.counts, self.vectors.values
        left, right = np.flatnonzero(counts[:, one]), np.flatnonzero(counts[:, two])
        pairs = paired(values[left], counts[left, one], values[right], counts[right, two])
        return Pairs(left[pairs.left], right[pairs.right], pairs.amounts, pairs.least)


def matched(matchings: Matchings, steps: Steps) -> IntArray:
    """(groups, u) the vectors of the groups that a centre makes, of the centre for which stars are fewest.

    A group disagrees at most on what its records disagree on with the centre's, one by one: with centre c stars are at
    most u times the sum of M_cj, and so u - 1 times the optimum (`Matchings`). For u = 2 they are the optimum.

    With many attributes, where matchings are only the least of a lower bound, this is not guaranteed (`network`).

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
    as there can be, since a vector is matched to its equals as often as both clusters have it: so stars are at most d
    times the optimum too (`bounds.of_identical`).
    """
    agree = agreements(values[pairs.left], values[pairs.right])
    order = np.lexsort((*agree.T, -agree.sum(axis=1), pairs.left))
    return np.repeat(pairs.right[order], pairs.amounts[order])
