"""As many groups without a star as there can be, then with one attribute masked, and so on: at most d times optimal."""

from itertools import combinations
from math import comb

import numpy as np

from aegis_provider.independence.steps import Steps
from aegis_provider.independence.vectors import IntArray, Vectors, row_keys

#: How many sets of attributes are tried, each by a sort; all of them up to ten attributes.
_MOST_SETS = 1 << 10


def alike(vectors: Vectors, steps: Steps) -> IntArray:
    """(groups, u) the vectors of groups that are made as often alike as the counts of what is left allow.

    First on all attributes, which makes every group without a star that there can be; the rest have d attributes
    masked at most, and in an optimum one at least: at most d times the optimum. Then, of the sets of d - 1 attributes,
    on the one that most groups can be alike on, and so on; the end are groups that agree on nothing chosen.
    """
    left, found, tried = vectors.counts.copy(), [], 0
    for size in range(vectors.attributes, 0, -1):
        tried += comb(vectors.attributes, size)
        if tried > _MOST_SETS or not left.any():
            break
        sets = [np.array(chosen) for chosen in combinations(range(vectors.attributes), size)]
        for chosen in sorted(sets, key=lambda each: -alike_on(vectors.values[:, each], left)):
            found.append(_taken(vectors.values[:, chosen], left))
            steps.done()
    found.append(_taken(vectors.values[:, :0], left))
    return np.concatenate(found)


def alike_on(values: IntArray, counts: IntArray) -> int:
    """How many groups can have equal rows in all clusters; `values`: (vectors, some), `counts`: (vectors, u)."""
    rows = np.flatnonzero(counts.any(axis=1))
    return int(_per_row(row_keys(values[rows]), counts[rows])[0].min(axis=1).sum())


def _taken(values: IntArray, left: IntArray) -> IntArray:
    """(groups, u) as many groups with equal rows of `values` as there are; `left`: (vectors, u) counts, is reduced."""
    rows = np.flatnonzero(left.any(axis=1))
    counts, places = _per_row(row_keys(values[rows]), left[rows])
    order = np.argsort(places, kind="stable")
    rows, most = rows[order], counts.min(axis=1)[places[order]]
    starts = np.flatnonzero(np.diff(places[order], prepend=-1))
    sums = np.cumsum(left[rows], axis=0) - left[rows]
    before = sums - np.repeat(sums[starts], np.diff(starts, append=len(rows)), axis=0)
    takes = np.clip(most[:, None] - before, 0, left[rows])
    left[rows] -= takes
    return np.column_stack([np.repeat(rows, take) for take in takes.T])


def _per_row(keys: IntArray, counts: IntArray) -> tuple[IntArray, IntArray]:
    """(distinct keys, u) the counts of all vectors that share a key; (vectors,) the place of each one's key."""
    occurring, places = np.unique(keys, return_inverse=True)
    found = np.zeros((len(occurring), counts.shape[1]), dtype=np.int64)
    np.add.at(found, places, counts)
    return found, places
