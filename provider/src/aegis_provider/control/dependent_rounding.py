"""Rounding of a table by one draw, so that the published sums are rounded, too, and consistent.

Cells are rounded in pairs: one passes its remainder to the other, or fills up from it, at random and without bias, so
that one of them becomes a multiple of the base (the pivotal method [@deville1998]; dependent rounding
[@srinivasan2001]). The sum of the two does not change, so a sum of cells is only off by the remainder of its last cell.

Which cells meet depends only on their names, in a tree, and each side of a pair has a number of its own, which says who
wins. With the same numbers, one record more changes only cells that meet its own.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from aegis_provider.control.lasting import LastingRandomness, merging_ranks
from aegis_provider.counting.counts import Counts, Partition, Places


def rounded_up(
    counts: Counts, base: int, chance: LastingRandomness, names: Sequence[str] | None = None
) -> NDArray[np.bool_]:
    """(n,) Whether each count is rounded up: with probability remainder / base, which makes rounding unbiased.

    Args:
        names: The names of the counts in `chance`; by default their places.
    """
    up: NDArray[np.bool_] = chance.numbers(_names(names, len(counts)))[:, 0] * base < counts % base
    return up


def _names(names: Sequence[str] | None, size: int) -> Sequence[str]:
    return [str(place) for place in range(size)] if names is None else names


def rounded_once(
    joint: Counts,
    views: Sequence[Partition],
    base: int,
    up: NDArray[np.bool_],
    chance: LastingRandomness,
    values: Sequence[str] | None = None,
    labels: Sequence[str] | None = None,
) -> Counts:
    """Round joint counts (values, labels) to multiples of a base, so that the sums by every view are rounded as well.

    Every count becomes the next multiple below or above, and so does every sum over a group of a view and a label value
    if the views nest. Sums over all values become what `up` says. All are unbiased. Groups that cross those of a finer
    view are off by more: by less than the base for each finer group that they cross.

    Args:
        views: Partitions of the values.
        up: (labels,) whether the sum over all values is rounded up (`rounded_up`).
        values, labels: The names of the cells in `chance`; by default their places.
    """
    values, labels = _names(values, joint.shape[0]), _names(labels, joint.shape[1])
    remainders, ranks = joint % base, merging_ranks(values)
    finest_first = sorted(views, key=lambda view: -view.size)
    for level, view in enumerate(finest_first):
        _round_groups(remainders, view.groups, ranks, base, chance.of(str(level)), values, labels)
    whole = np.zeros(len(values), dtype=np.intp)
    _round_groups(remainders, whole, ranks, base, chance.of("all"), values, labels)
    open_cells = (remainders > 0) & (remainders < base)  # at most one for each label value
    rounded: Counts = joint - joint % base + np.where(open_cells, np.where(up, base, 0), remainders)
    return rounded


def _round_groups(
    remainders: Counts,
    groups: Places,
    ranks: Counts,
    base: int,
    chance: LastingRandomness,
    values: Sequence[str],
    labels: Sequence[str],
) -> None:
    """Round remainders (values, labels) in pairs until all but at most one of each group and label are 0 or the base.

    The values of a group are merged along a tree: neighbours whose later one has a lower rank than those around it.
    """
    order = np.argsort(groups, kind="stable")
    first, group = order, groups[order]  # of each unit: its first value
    cells = np.where((remainders[order] > 0) & (remainders[order] < base), order[:, np.newaxis], -1)  # its open cells
    names = np.array([f"value {values[place]}" for place in order], dtype=object)
    never = len(values)
    while len(first) > 1:
        rank = np.where(group[1:] == group[:-1], ranks[first[1:]], never)
        around = np.minimum(np.r_[never, rank[:-1]], np.r_[rank[1:], never])
        lower = np.flatnonzero((rank < never) & (rank < around))
        if not len(lower):
            return
        cells[lower] = _round_pairs(
            remainders, (cells[lower], cells[lower + 1]), base, (names[lower], names[lower + 1]), chance, labels
        )
        names[lower] = [f"from {values[place]}" for place in first[lower + 1]]
        first, group, cells, names = (np.delete(each, lower + 1, axis=0) for each in (first, group, cells, names))


def _round_pairs(
    remainders: Counts,
    cells: tuple[Places, Places],
    base: int,
    names: tuple[NDArray[np.object_], NDArray[np.object_]],
    chance: LastingRandomness,
    labels: Sequence[str],
) -> Places:
    """Make one remainder of each pair 0 or the base; the other takes the rest, and neither changes on average.

    Args:
        cells: The value (pairs, labels) with the open cell of each side; -1 without one.
        names: (pairs,) what the numbers of each side are for.

    Returns:
        (pairs, labels) the value with the cell that is still open; -1 without one.
    """
    met = (cells[0] >= 0) & (cells[1] >= 0)
    left: Places = np.where(met, -1, np.maximum(*cells))
    needed = np.flatnonzero(met.any(axis=1))
    pair, label = np.nonzero(met[needed])
    if not len(pair):
        return left
    u, v = (chance.numbers(names[side][needed], labels)[pair, label] for side in (0, 1))
    first, second = (cells[side][needed[pair], label] for side in (0, 1))
    one, two = remainders[first, label], remainders[second, label]
    little = one + two <= base
    high, low = np.where(little, one + two, base), np.where(little, 0, one + two - base)
    # A race: of exponential times with rates a and b, the first is the shorter with probability a / (a + b).
    wins = np.where(
        little, np.log(u) / one > np.log(v) / two, np.log1p(-u) / (base - one) < np.log1p(-v) / (base - two)
    )
    remainders[first, label] = np.where(wins, high, low)
    remainders[second, label] = np.where(wins, low, high)
    winner, loser = np.where(wins, first, second), np.where(wins, second, first)
    left[needed[pair], label] = np.where(high < base, winner, np.where(low > 0, loser, -1))
    return left
