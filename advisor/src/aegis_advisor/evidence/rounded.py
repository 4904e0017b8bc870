"""Counts that were rounded once, as inexact counts of the provider's table.

The variance of masked counts that are sums of value counts rounded once at random.

The provider rounds cells in pairs, first within the groups of the finest masking, then of coarser ones. One cell of a
pair gains what the other loses [@deville1998]. So the sum of a whole group is only off by the remainder of its last
cell. But a group that crosses those of finer maskings gains or loses with every pair that has one cell in it. How often
that happens depends on all maskings, so the variance is estimated by rounding random tables in the same way.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final

import numpy as np

from aegis_advisor.arrays import FloatArray, IntArray
from aegis_advisor.atoms import coarsening
from aegis_advisor.evidence.attribute import IDENTITY, AttributeEvidence, Masking
from aegis_advisor.evidence.perturbation import Perturbation


def with_declared_rounding(evidence: AttributeEvidence) -> AttributeEvidence:
    """Return evidence in which every table declares its rounding error.

    Every count of a value and a label value is off by less than the base, or two of an entry with several labels. So is
    every sum over a group of values if all groups nest; sums over groups that cross others may be off by that much for
    each of their values. The histogram is left out: it is a sum of other counts.
    """
    if evidence.rounded_once is None:
        return evidence
    base = evidence.rounded_once * evidence.once_within
    mappings = [one.mapping for one in evidence.maskings if one.mapping is not None and one.perturbation.is_none]
    nested = all(_nest(one, other) for place, one in enumerate(mappings) for other in mappings[:place])
    maskings = [_declared(one, base, nested=nested) for one in evidence.maskings]
    if evidence.joint is not None:
        values = np.arange(evidence.values)
        maskings.append(Masking(IDENTITY, evidence.values, values, evidence.joint, True, Perturbation(rounded_to=base)))
    return replace(
        evidence,
        histogram=None,
        joint=None,
        maskings=tuple(maskings),
        label_perturbation=evidence.rounding,
        rounded_once=None,
    )


def _declared(masking: Masking, base: int, *, nested: bool) -> Masking:
    if masking.joint is None or not masking.perturbation.is_none:
        return masking
    values = 1 if nested or masking.mapping is None else int(np.bincount(masking.mapping).max())
    return replace(masking, perturbation=Perturbation(rounded_to=values * (base - 1) + 1))


def _nest(one: IntArray, other: IntArray) -> bool:
    """Whether one of two mappings (values,) is a function of the other."""
    first, second = int(one.max()) + 1, int(other.max()) + 1
    return coarsening(one, other, first) is not None or coarsening(other, one, second) is not None


_TABLES: Final = 64
"""The number of random tables; they estimate a variance to within about a sixth."""

_OF_ONE: Final = 1 / 6
"""The variance of rounding one count up or down at random, over the square of the base: the mean of `r (1 - r)`."""


def sum_variances(evidence: AttributeEvidence) -> Mapping[str, FloatArray]:
    """Return the variance (groups,) of each count of a masked value with a label value, by masking id.

    Only for counts that were rounded once: `identity` if its counts are known, and maskings without a declaration.
    """
    if evidence.rounded_once is None:
        return {}
    mapped = [(one.id, one.mapping, one.groups) for one in evidence.maskings if one.perturbation.is_none]
    views = {name: (mapping, groups) for name, mapping, groups in mapped if mapping is not None}
    variances = _relative_variances(
        tuple((mapping.astype(np.int64).tobytes(), groups) for mapping, groups in views.values())
    )
    one_count = {IDENTITY: np.full(evidence.values, _OF_ONE)}
    every = {**dict(zip(views, variances, strict=True)), **one_count}
    return {name: variance * evidence.rounded_once**2 for name, variance in every.items()}


@lru_cache(maxsize=1024)
def _relative_variances(views: tuple[tuple[bytes, int], ...]) -> tuple[FloatArray, ...]:
    """The variances (groups,) for a base of 1, of each view: the bytes of its mapping, and its number of groups."""
    mappings = [np.frombuffer(mapping, dtype=np.int64) for mapping, _ in views]
    sizes = [groups for _, groups in views]
    order = sorted(range(len(views)), key=lambda view: -sizes[view])
    crossing = [_crosses(view, order, mappings, sizes) for view in range(len(views))]
    errors = _errors([mappings[view] for view in order]) if any(crossing) else np.zeros((0, _TABLES))
    return tuple(
        np.maximum(_of_sums(errors, mapping, groups), _OF_ONE) if crosses else np.full(groups, _OF_ONE)
        for mapping, groups, crosses in zip(mappings, sizes, crossing, strict=True)
    )


def _crosses(view: int, order: Sequence[int], mappings: Sequence[IntArray], sizes: Sequence[int]) -> bool:
    """Whether a view crosses groups of one rounded before it."""
    before = order[: order.index(view)]
    return any(coarsening(mappings[other], mappings[view], sizes[other]) is None for other in before)


def _of_sums(errors: FloatArray, mapping: IntArray, groups: int) -> FloatArray:
    """The mean square (groups,) of the sums of errors (values, tables)."""
    sums = np.zeros((groups, errors.shape[1]))
    np.add.at(sums, mapping, errors)
    return np.asarray(np.mean(np.square(sums), axis=1))


def _errors(mappings: Sequence[IntArray]) -> FloatArray:
    """The rounding errors (values, tables) of random remainders, a column for each table."""
    rng = np.random.default_rng(0)  # the same result for equal maskings
    exact = rng.random((mappings[0].size, _TABLES))
    remainders, tables = exact.ravel().copy(), np.arange(_TABLES)
    for mapping in (*mappings, np.zeros_like(mappings[0])):
        groups = mapping[:, np.newaxis] * _TABLES + tables
        _round_in_pairs(remainders, groups.ravel(), rng)
    last = (remainders > 0) & (remainders < 1)
    rounded = np.where(last, rng.random(remainders.size) < remainders, remainders)
    return rounded.reshape(exact.shape) - exact


def _round_in_pairs(remainders: FloatArray, groups: IntArray, rng: np.random.Generator) -> None:
    """Round remainders (cells,) in pairs until all but at most one of each group are 0 or 1."""
    while True:
        places = np.flatnonzero((remainders > 0) & (remainders < 1))
        places = places[np.argsort(groups[places], kind="stable")]
        mine = groups[places]
        first = np.r_[True, mine[1:] != mine[:-1]]
        within = np.arange(mine.size) - np.maximum.accumulate(np.where(first, np.arange(mine.size), 0))
        pairs = np.flatnonzero((within[:-1] % 2 == 0) & (mine[1:] == mine[:-1]))
        if not pairs.size:
            return
        one, other = places[pairs], places[pairs + 1]
        both = remainders[one] + remainders[other]
        high, low = np.minimum(both, 1.0), np.maximum(both - 1.0, 0.0)
        wins = rng.random(pairs.size) * (high - low) < remainders[one] - low
        remainders[one], remainders[other] = np.where(wins, high, low), np.where(wins, low, high)
