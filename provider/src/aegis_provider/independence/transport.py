"""Two sides of equally many vectors, paired at the least number of attributes on which pairs disagree."""

from dataclasses import dataclass

import numpy as np

from aegis_provider.independence.network import network
from aegis_provider.independence.vectors import STAR, IntArray, distinct_rows


@dataclass(frozen=True, eq=False)
class Pairs:
    """Which vector of the left side goes with which of the right one, and how often.

    `left`, `right`, `amounts`: (pairs,) places among the vectors of each side, and how many such pairs there are.
    `least`: what the pairs of any pairing disagree on, at least, in all. It is what these disagree on, unless there are
    so many attributes that far pairs had to be counted as less far than they are (`network`).
    """

    left: IntArray
    right: IntArray
    amounts: IntArray
    least: int


def paired(left: IntArray, left_counts: IntArray, right: IntArray, right_counts: IntArray) -> Pairs:
    """The pairing of least disagreement, of vectors of which each is to be used as often as its count says.

    `left`, `right`: (vectors, d) codes from 0, or `STAR`, which agrees with nothing; the vectors of a side are
    distinct; `left_counts`, `right_counts`: of equal sums. A pair disagrees on all attributes but those on which both
    have the same code: of vectors without stars this is the Hamming distance.

    Equal vectors without stars are paired first. That loses nothing: of pairs (v, w') and (v', v) the pairs (v, v) and
    (v', w') cost no more, since v' and w' agree wherever v' agrees with v and v with w' (the triangle inequality).
    The rest is a transportation problem.
    """
    same_left, same_right = _same(left, right)
    same = np.minimum(left_counts[same_left], right_counts[same_right])
    left_counts, right_counts = left_counts.copy(), right_counts.copy()
    left_counts[same_left] -= same
    right_counts[same_right] -= same
    some_left, some_right = np.flatnonzero(left_counts), np.flatnonzero(right_counts)
    rest = network(left[some_left], right[some_right]).solved(left_counts[some_left], right_counts[some_right])
    return Pairs(
        np.concatenate([same_left[same > 0], some_left[rest.left]]),
        np.concatenate([same_right[same > 0], some_right[rest.right]]),
        np.concatenate([same[same > 0], rest.amounts]),
        rest.cost,
    )


def _same(left: IntArray, right: IntArray) -> tuple[IntArray, IntArray]:
    """The places of vectors without stars that both sides have."""
    whole_left, whole_right = (np.flatnonzero((side != STAR).all(axis=1)) for side in (left, right))
    _, keys = distinct_rows(np.concatenate([left[whole_left], right[whole_right]]))
    _, at_left, at_right = np.intersect1d(
        keys[: len(whole_left)], keys[len(whole_left) :], assume_unique=True, return_indices=True
    )
    return whole_left[at_left], whole_right[at_right]
