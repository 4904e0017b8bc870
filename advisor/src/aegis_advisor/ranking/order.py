"""The order of configurations by their deviations."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from aegis_advisor.arrays import BoolArray, FloatArray, IntArray
from aegis_advisor.errors import NoConfigurationError
from aegis_advisor.ranking.blocks import CodeBlocks

MI_DECIMALS = 9
"""Decimals of mutual information, in bits. Later ones are rounding noise; the given order decides instead."""


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """Configurations by index, best first.

    Attributes:
        order: (rows,) the best configurations in order, as many as requested.
        tied: (ties,) all configurations that tie for the smallest deviation, in order.
        deviations: (configurations,) the weighted mean deviation of each.
        tolerance: deviations this close are a tie.
        information: returns the tie-breaker of configurations (rows,); smaller is better.
    """

    order: IntArray
    tied: IntArray
    deviations: FloatArray
    tolerance: float
    information: Callable[[IntArray], FloatArray]

    @property
    def best(self) -> int:
        """The index of the best configuration."""
        return int(self.tied[0])

    def in_order(self, chosen: BoolArray, most: int) -> IntArray:
        """The first `most` configurations chosen by a mask (configurations,), in the order of the ranking."""
        if not chosen.any():
            return np.arange(0)
        theirs = self.deviations[chosen]
        last = theirs.max() if theirs.size <= most else np.partition(theirs, most - 1)[most - 1]
        # Where a tie starts depends on all configurations before it, chosen or not.
        order = _order(self.deviations, self.tolerance, self.information, int(np.sum(self.deviations <= last)))
        return order[chosen[order]][:most]


def rank(
    blocks: CodeBlocks,
    *,
    deviations: FloatArray,
    tie_utilities: Callable[[], Sequence[FloatArray]],
    tolerance: float,
    limit: int | None = None,
) -> Ranking:
    """Order configurations by deviation, ties by mutual information, then in the order given.

    Configurations tie if their deviations are within `tolerance` of the smallest among them.

    Args:
        blocks: the configurations.
        deviations: (configurations,) the deviation of each.
        tie_utilities: returns, per attribute (options,), what each option adds to the mutual information. It is called
            only if there are ties.
        tolerance: an absolute difference.
        limit: how many rows to order; None for all.

    Raises:
        NoConfigurationError: there are no configurations.
    """
    if len(blocks) == 0:
        raise NoConfigurationError

    def by_information(rows: IntArray) -> FloatArray:
        return -np.round(blocks.sums(tie_utilities(), rows), MI_DECIMALS)

    tied = np.flatnonzero(deviations <= deviations.min() + tolerance)
    if tied.size > 1:
        tied = tied[np.argsort(by_information(tied), kind="stable")]
    return Ranking(
        order=_order(deviations, tolerance, by_information, limit)[:limit],
        tied=tied,
        deviations=deviations,
        tolerance=tolerance,
        information=by_information,
    )


def _order(
    total: FloatArray, tolerance: float, information: Callable[[IntArray], FloatArray], limit: int | None
) -> IntArray:
    """The first configurations in order, at least as many as `limit`; None for all."""
    ascending = _ascending(total, tolerance, limit)
    group = _tie_groups(total[ascending], tolerance)
    tied = np.flatnonzero(np.bincount(group)[group] > 1)  # the others are in order already
    if tied.size:
        among = ascending[tied]
        ascending[tied] = among[np.lexsort((among, information(among), group[tied]))]
    return ascending


def _ascending(total: FloatArray, tolerance: float, limit: int | None) -> IntArray:
    """Indices by ascending deviation: all of them, or those that can be among the first `limit`, with their ties."""
    if limit is None or limit >= total.size:
        return np.argsort(total, kind="stable")
    if limit == 0:
        return np.arange(0)
    last = np.partition(total, limit - 1)[limit - 1]
    candidates = np.flatnonzero(total <= last + tolerance)
    return candidates[np.argsort(total[candidates], kind="stable")]


def _tie_groups(ascending: FloatArray, tolerance: float) -> IntArray:
    """Number the groups (n,) of ascending values within `tolerance` of the smallest value of their group."""
    starts = np.zeros(ascending.size, dtype=bool)
    starts[1:] = ascending[1:] > ascending[:-1] + tolerance
    first = np.flatnonzero(np.concatenate(([True], starts[1:])))
    end = np.append(first[1:], ascending.size)
    # A chain of close values may span more than the tolerance; cut it where its first value is too far away.
    long = ascending[end - 1] > ascending[first] + tolerance if ascending.size else np.zeros(1, dtype=bool)
    for cut, stop in zip(first[long], end[long], strict=True):
        place = int(cut)
        while (place := int(np.searchsorted(ascending, ascending[place] + tolerance, "right"))) < stop:
            starts[place] = True
    return np.cumsum(starts)
