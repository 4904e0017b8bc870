"""Rounding of a table by one draw, so that the published sums are rounded, too, and consistent.

Cells are rounded in pairs: one passes its remainder to the other, or fills up from it, at random and without bias, so
that one of them becomes a multiple of the base (the pivotal method [@deville1998]; dependent rounding
[@srinivasan2001]). The sum of the two does not change, so a sum of cells is only off by the remainder of its last cell.
"""

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aegis_provider.counting.counts import Counts, Partition, Places

RandomBytes: TypeAlias = Callable[[int], bytes]
"""Returns the given number of unpredictable bytes."""

_WORDS: Final = 2**64


def uniform(below: Counts, random_bytes: RandomBytes) -> Counts:
    """(n,) Uniform numbers from 0 to `below` - 1, (n,); words beyond the last multiple of a limit are drawn again."""
    limits = below.astype(np.uint64)
    # The last word of the last whole multiple, computed without exceeding 64 bits.
    last = np.uint64(_WORDS - 1) - (np.uint64(_WORDS - 1) % limits + np.uint64(1)) % limits
    drawn = np.frombuffer(random_bytes(8 * len(limits)), dtype=np.uint64).copy()
    while len(again := np.flatnonzero(drawn > last)):
        drawn[again] = np.frombuffer(random_bytes(8 * len(again)), dtype=np.uint64)
    numbers: Counts = (drawn % limits).astype(np.int64)
    return numbers


def rounded_up(counts: Counts, base: int, random_bytes: RandomBytes) -> NDArray[np.bool_]:
    """(n,) Whether each count is rounded up: with probability remainder / base, which makes rounding unbiased."""
    remainders = counts % base
    up: NDArray[np.bool_] = uniform(np.full(counts.shape, base, dtype=np.int64), random_bytes) < remainders
    return up


def rounded_once(
    joint: Counts, views: Sequence[Partition], base: int, up: NDArray[np.bool_], random_bytes: RandomBytes
) -> Counts:
    """Round joint counts (values, labels) to multiples of a base, so that the sums by every view are rounded as well.

    Every count becomes the next multiple below or above, and so does every sum over a group of a view and a label value
    if the views nest. Sums over all values become what `up` says. All are unbiased. Groups that cross those of a finer
    view are off by more: by less than the base for each finer group that they cross.

    Args:
        views: Partitions of the values.
        up: (labels,) whether the sum over all values is rounded up (`rounded_up`).
    """
    values, labels = joint.shape
    remainders = (joint % base).ravel()
    finest_first = sorted(views, key=lambda view: -view.size)
    for view in (*finest_first, Partition(np.zeros(values, dtype=np.intp), 1)):
        groups = view.groups[:, np.newaxis] * labels + np.arange(labels)
        _round_in_pairs(remainders, groups.ravel(), base, random_bytes)
    remainder = remainders.reshape(joint.shape)
    open_cells = (remainder > 0) & (remainder < base)  # at most one for each label value
    rounded: Counts = joint - joint % base + np.where(open_cells, np.where(up, base, 0), remainder)
    return rounded


def _round_in_pairs(remainders: Counts, groups: Places, base: int, random_bytes: RandomBytes) -> None:
    """Round remainders (cells,) in pairs until all but at most one of each group are 0 or the base."""
    while True:
        places = np.flatnonzero((remainders > 0) & (remainders < base))
        places = places[np.argsort(groups[places], kind="stable")]
        mine = groups[places]
        begins = np.flatnonzero(np.r_[True, mine[1:] != mine[:-1]]) if len(mine) else np.zeros(0, dtype=np.intp)
        within = np.arange(len(mine)) - np.repeat(begins, np.diff(np.r_[begins, len(mine)]))
        paired = np.flatnonzero((within[:-1] % 2 == 0) & (mine[1:] == mine[:-1]))
        if not len(paired):
            return
        _round_pairs(remainders, places[paired], places[paired + 1], base, random_bytes)


def _round_pairs(remainders: Counts, first: Places, second: Places, base: int, random_bytes: RandomBytes) -> None:
    """Make one remainder of each pair 0 or the base; the other takes the rest, and neither changes on average."""
    one, two = remainders[first], remainders[second]
    together = one + two
    little = together <= base
    high, low = np.where(little, together, base), np.where(little, 0, together - base)
    # The first gets `high` with a probability that leaves its expectation as it is.
    wins = uniform(high - low, random_bytes) < one - low
    remainders[first] = np.where(wins, high, low)
    remainders[second] = np.where(wins, low, high)
