"""The order of configurations by their deviations.

Configurations as codes of several attributes at a time, for fast look-ups for a million of them.

Ranking by declared utilities: a provider's own numbers, one for each configuration and attribute.

Nothing is computed from counts, so the order is an estimate for which the provider is responsible.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, Self

import numpy as np
import numpy.typing as npt

from aegis_advisor.arrays import BoolArray, Codes, FloatArray, IntArray
from aegis_advisor.errors import NoConfigurationError

CHUNK = 4_096
"""Configurations per chunk; the temporary arrays of a chunk stay in the cache."""

COMBINATIONS = 2_048
"""The most combinations of options in a block of attributes; a table of this size stays in the cache."""


@dataclass(frozen=True, slots=True, eq=False)
class CodeBlocks:
    """The codes of configurations, with neighbouring attributes combined into blocks: one look-up per block.

    Attributes:
        sizes: per attribute, the number of options.
        edges: the first attribute of each block, and finally the number of attributes.
        codes: (blocks, configurations) the combination of options; the last attribute varies fastest.
    """

    sizes: tuple[int, ...]
    edges: tuple[int, ...]
    codes: npt.NDArray[np.unsignedinteger]

    @classmethod
    def of(cls, codes: Codes, sizes: Sequence[int]) -> Self:
        """Combine codes (configurations, attributes) below `sizes`, of any integer type or in a memory map."""
        edges = _edges(sizes, min(COMBINATIONS, max(codes.shape[0], 1)))
        largest = max((int(np.prod(sizes[start:stop])) for start, stop in pairwise(edges)), default=1)
        united = np.empty((len(edges) - 1, codes.shape[0]), dtype=np.min_scalar_type(largest))
        for begin in range(0, codes.shape[0], CHUNK):
            columns = codes[begin : begin + CHUNK].T.astype(united.dtype, order="C")
            for block, (start, stop) in zip(united, pairwise(edges), strict=True):
                combined = columns[start]
                for attribute in range(start + 1, stop):
                    combined = combined * united.dtype.type(sizes[attribute]) + columns[attribute]
                block[begin : begin + CHUNK] = combined
        return cls(tuple(sizes), edges, united)

    def __len__(self) -> int:
        """The number of configurations."""
        return int(self.codes.shape[1])

    def used(self) -> list[BoolArray]:
        """Per attribute (options,), whether any configuration uses the option."""
        used: list[BoolArray] = []
        for block, (start, stop) in zip(self.codes, pairwise(self.edges), strict=True):
            sizes = self.sizes[start:stop]
            combinations = np.bincount(block, minlength=int(np.prod(sizes))).reshape(sizes) > 0
            for axis in range(len(sizes)):
                others = tuple(other for other in range(len(sizes)) if other != axis)
                used.append(np.asarray(combinations.any(axis=others)))
        return used

    def options_of(self, configuration: int) -> list[int]:
        """The code of each attribute in one configuration."""
        options: list[int] = []
        for block, (start, stop) in zip(self.codes, pairwise(self.edges), strict=True):
            options.extend(map(int, np.unravel_index(int(block[configuration]), self.sizes[start:stop])))
        return options

    def sums(self, lookups: Sequence[FloatArray], rows: IntArray | None = None) -> FloatArray:
        """Look up the options of each attribute, and add up over the attributes.

        Args:
            lookups: per attribute, (options,) numbers or (options, n) vectors; NaN for options that no configuration
                uses.
            rows: (rows,) the configurations; None for all.

        Returns:
            (rows,) or (rows, n).
        """
        tables = [_united(lookups[start:stop]) for start, stop in pairwise(self.edges)]
        count = len(self) if rows is None else rows.size
        sums = np.zeros((count, *lookups[0].shape[1:]))
        for begin in range(0, count, CHUNK):
            part = slice(begin, begin + CHUNK)
            chunk = sums[part]
            for table, block in zip(tables, self.codes, strict=True):
                chunk += table[block[part] if rows is None else block[rows[part]]]
        return sums


def _edges(sizes: Sequence[int], most: int) -> tuple[int, ...]:
    """The first attribute of each block, which has one attribute or several with at most `most` combinations."""
    edges, combinations = [0], 1
    for attribute, size in enumerate(sizes):
        combinations *= size
        if combinations > most and attribute > edges[-1]:
            edges.append(attribute)
            combinations = size
    return (*edges, len(sizes))


def _united(lookups: Sequence[FloatArray]) -> FloatArray:
    """The sum for every combination of options: (combinations,) or (combinations, n)."""
    table = lookups[0]
    for lookup in lookups[1:]:
        table = (table[:, np.newaxis] + lookup).reshape(-1, *lookup.shape[1:])
    return table


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
