"""Ranking by declared utilities: a provider's own numbers, one for each configuration and attribute.

Nothing is computed from counts, so the order is an estimate for which the provider is responsible.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from aegis_advisor.arrays import FloatArray, IntArray

TIE = 1e-9
"""Deviations that differ by at most this part of the largest are equal: they are the same sum in another order."""

_NOTHING = 1e-9
"""Utilities this close are equal but for rounding."""


@dataclass(frozen=True, slots=True, eq=False)
class DeclaredUtilities:
    """The declared utilities of configurations.

    Attributes:
        numbers: (configurations, attributes, 3) each utility with the limits of its interval; a joint measure has one
            column.
        reference: (attributes,) the best declared utility of any configuration or of the unmasked records.
        better: which utilities are better.
    """

    numbers: FloatArray
    reference: FloatArray
    better: Literal["higher", "lower"]

    @property
    def deviations(self) -> FloatArray:
        """(configurations, attributes) the distance of each from the reference, the best of all."""
        return np.abs(self.numbers[:, :, 0] - self.reference)

    def shares(self, nothing: float) -> FloatArray:
        """The share (configurations, attributes) of the reference that each retains, to two digits, from 0 to 1.

        Args:
            nothing: the utility without the attribute.
        """
        return kept_shares(self.numbers[:, :, 0], self.reference, nothing, self.better)


def kept_shares(
    values: FloatArray, reference: FloatArray, nothing: float, better: Literal["higher", "lower"]
) -> FloatArray:
    """The retained share of the distance between `nothing` and the reference, to two digits, from 0 to 1.

    Where the reference is no better than `nothing`, there is nothing to lose: all values that are no worse retain all.

    Args:
        values: (..., attributes) utilities.
        reference: (attributes,) the best utilities.
        nothing: the utility without the attribute.
        better: which utilities are better.
    """
    sign = 1.0 if better == "higher" else -1.0
    worth, gain = sign * (reference - nothing), sign * (values - nothing)
    harmless = (gain >= -_NOTHING).astype(np.float64)
    kept = np.divide(gain, worth, out=harmless, where=np.broadcast_to(worth > _NOTHING, gain.shape))
    return np.round(np.clip(kept, 0.0, 1.0), 2)


@dataclass(frozen=True, slots=True, eq=False)
class DeclaredRanking:
    """The order of configurations. Arrays are (rows,).

    Attributes:
        order: the configurations, best first.
        rank: from 1; equal deviations share a rank.
        deviation: the weighted mean deviation of each.
        numbers: (rows, 3) the weighted mean utility of each, with limits. These are valid for any dependence between
            the errors of attributes, since the mean of the widths is at least the width of the mean.
        tied: the configurations that share the first rank, in the order given.
    """

    order: IntArray
    rank: IntArray
    deviation: FloatArray
    numbers: FloatArray
    tied: IntArray


def rank_declared(utilities: DeclaredUtilities, weights: FloatArray, limit: int | None = None) -> DeclaredRanking:
    """Order configurations by their weighted mean deviation; those that tie keep their order.

    Args:
        utilities: the declared utilities of at least one configuration.
        weights: (attributes,) with the sum 1.
        limit: how many rows to return; None for all.
    """
    order, rank = ordered(utilities.deviations @ weights)
    rows = order[:limit]
    return DeclaredRanking(
        order=rows,
        rank=rank[:limit],
        deviation=(utilities.deviations @ weights)[rows],
        numbers=np.einsum("can,a->cn", utilities.numbers[rows], weights),
        tied=order[rank == 1],
    )


def ordered(deviations: FloatArray) -> tuple[IntArray, IntArray]:
    """The order of deviations (n,), smallest first, and (n,) the rank of each place in it; equal ones share a rank."""
    level = np.round(deviations / (deviations.max(initial=0.0) or 1.0) / TIE)
    order = np.argsort(level, kind="stable")
    return order, np.searchsorted(level[order], level[order], side="left") + 1
