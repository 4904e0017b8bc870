"""From deviations per masking to an order of configurations, in chunks of configurations."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from app.advisor.arrays import FloatArray, IntArray
from app.advisor.errors import NoConfigurationError

CHUNK = 8_192
"""Configurations at a time: the temporaries of a chunk stay in cache."""

MI_DECIMALS = 12
"""Bits beyond this are rounding noise, which must not decide what the given order should."""


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """Configurations by index, best first.

    Attributes:
        order: (rows,) the best configurations in order, as many as were asked for.
        tied: (ties,) the configurations whose deviation is the smallest, in order, all of them.
        deviations: (configurations,) the weighted mean deviation of each.
        utilities: (rows,) the weighted mean utility of each configuration in `order`.
    """

    order: IntArray
    tied: IntArray
    deviations: FloatArray
    utilities: FloatArray

    @property
    def best(self) -> int:
        """The index of the best configuration."""
        return int(self.tied[0])


def rank(
    codes: npt.NDArray[np.integer],
    *,
    deviations: Sequence[FloatArray],
    utilities: Sequence[FloatArray],
    tie_utilities: Sequence[FloatArray],
    weights: FloatArray,
    tolerance: float,
    limit: int | None = None,
) -> Ranking:
    """Order configurations by deviation, ties by mutual information, then as they were given.

    Configurations tie when their deviations are within `tolerance` of the smallest among them.

    Args:
        codes: (configurations, attributes) the masking of each attribute, as an index into its arrays below;
            any integer type, a memory map as well.
        deviations: per attribute (options,), the deviation of each masking.
        utilities: per attribute (options,), the measure of each masking.
        tie_utilities: per attribute (options,), the mutual information of each masking.
        weights: (attributes,) normalised.
        tolerance: absolute.
        limit: how many rows to put in order; None for all.

    Raises:
        NoConfigurationError: there is none.
    """
    if codes.shape[0] == 0:
        raise NoConfigurationError
    total = weighted_sums(codes, np.arange(codes.shape[0]), deviations, weights)

    def by_information(rows: IntArray) -> FloatArray:
        return -np.round(weighted_sums(codes, rows, tie_utilities, weights), MI_DECIMALS)

    tied = np.flatnonzero(total <= total.min() + tolerance)
    ascending = _ascending(total, tolerance, limit)
    group = _tie_groups(total[ascending], tolerance)
    order = ascending[np.lexsort((ascending, by_information(ascending), group))][:limit]
    return Ranking(
        order=order,
        tied=tied[np.argsort(by_information(tied), kind="stable")],
        deviations=total,
        utilities=weighted_sums(codes, order, utilities, weights),
    )


def weighted_sums(
    codes: npt.NDArray[np.integer], rows: IntArray, lookups: Sequence[FloatArray], weights: FloatArray
) -> FloatArray:
    """Look up the codes (configurations, attributes) of some rows and add up with the weights: (rows,)."""
    sums = np.zeros(rows.size)
    weighted = [lookup * weight for lookup, weight in zip(lookups, weights, strict=True)]
    for start in range(0, rows.size, CHUNK):
        columns = codes[rows[start : start + CHUNK]].T.astype(np.intp, order="C")
        for lookup, column in zip(weighted, columns, strict=True):
            sums[start : start + CHUNK] += lookup[column]
    return sums


def _ascending(total: FloatArray, tolerance: float, limit: int | None) -> IntArray:
    """Indices by deviation: of all, or of those that can be among the first `limit` and of their ties."""
    if limit is None or limit >= total.size:
        return np.argsort(total, kind="stable")
    if limit == 0:
        return np.arange(0)
    last = np.partition(total, limit - 1)[limit - 1]
    candidates = np.flatnonzero(total <= last + tolerance)
    return candidates[np.argsort(total[candidates], kind="stable")]


def _tie_groups(ascending: FloatArray, tolerance: float) -> IntArray:
    """Number the groups (n,) of values within `tolerance` of the smallest value of their group."""
    starts = np.zeros(ascending.size, dtype=bool)
    starts[1:] = ascending[1:] > ascending[:-1] + tolerance
    first = np.flatnonzero(np.concatenate(([True], starts[1:])))
    end = np.append(first[1:], ascending.size)
    # A chain of close values may be longer than the tolerance; it is cut where its first value is too far.
    long = ascending[end - 1] > ascending[first] + tolerance if ascending.size else np.zeros(1, dtype=bool)
    for cut, stop in zip(first[long], end[long], strict=True):
        place = int(cut)
        while (place := int(np.searchsorted(ascending, ascending[place] + tolerance, "right"))) < stop:
            starts[place] = True
    return np.cumsum(starts)
