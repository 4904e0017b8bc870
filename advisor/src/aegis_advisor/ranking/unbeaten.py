"""Pareto frontiers: the points that no other beats, and the knee, where the trade between the axes turns."""

import numpy as np

from aegis_advisor.arrays import BoolArray, FloatArray

_BLOCK = 256
"""So many points are compared at a time."""


def unbeaten(costs: FloatArray, most: int | None = None) -> BoolArray:
    """Whether each point is on the frontier: no other costs as little on every axis and less on one.

    Takes as many comparisons as points times points on the frontier, however many of them are on it.

    Args:
        costs: (points, axes) finite; less is better on every axis.
        most: stop after so many different points of the frontier, in lexicographic order; None: find all.

    Returns:
        (points,) Equal points are on the frontier together.
    """
    rows, place = np.unique(costs, axis=0, return_inverse=True)
    is_on, front = np.zeros(len(rows), dtype=bool), rows[:0]
    for start in range(0, len(rows), _BLOCK):  # in lexicographic order, only an earlier row can beat a later one
        if most is not None and len(front) >= most:
            break
        block = rows[start : start + _BLOCK]
        left = np.flatnonzero(~_costs_no_more(front, block).any(axis=1))
        within = np.tril(_costs_no_more(block[left], block[left]), -1)  # by earlier ones
        left = left[~within.any(axis=1)]
        is_on[start + left] = True
        front = np.concatenate([front, block[left]])
    return np.asarray(is_on[place.reshape(-1)])


def _costs_no_more(earlier: FloatArray, rows: FloatArray) -> BoolArray:
    """(rows, earlier) whether an earlier row in lexicographic order, whose first cost is no larger, costs no more."""
    no_more = np.ones((len(rows), len(earlier)), dtype=bool)
    for other, own in zip(earlier.T[1:], rows.T[1:], strict=True):
        no_more &= other <= own[:, np.newaxis]
    return no_more


def knee(costs: FloatArray) -> tuple[int, float]:
    """The point of a frontier that is farthest from the line between its ends, on the side where less is paid.

    Args:
        costs: (points, axes) of at least one point, in order from one end to the other; less is better.

    Returns:
        Its place, and its distance with each axis scaled to 0..1; the first end and 0 if no point is on that side.
    """
    least, span = costs.min(axis=0), np.ptp(costs, axis=0)
    scaled = (costs - least) / np.where(span > 0, span, 1.0)
    line = scaled[-1] - scaled[0]
    along = (scaled - scaled[0]) @ line / ((line @ line) or 1.0)
    away = scaled[0] + along[:, np.newaxis] * line - scaled
    # Equal distances differ in the last digits, and the first of equal ones is the knee.
    distances = np.round(np.linalg.norm(away, axis=1), 9) * (away.sum(axis=1) > 0)
    place = int(distances.argmax())
    return place, float(distances[place])
