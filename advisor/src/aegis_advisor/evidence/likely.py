"""Tables that rounded counts may stand for, drawn from a model of the rounding and of the rows.

A count of 0 to `b - 1` was published as 0 or as the base `b`, so thin rows seem far more uneven than they are. How much
more depends on how many records such rows have and how these spread over the labels, which no row tells by itself, but
all rows of a table together do. Each row has counts with Poisson distributions, whose sum `v` comes from a distribution
that is found by expectation-maximisation: the nonparametric maximum likelihood of a mixture [@laird1978]. How `v`
spreads over the labels is taken from the row as far as it has records, and otherwise from all. Given `v` and what was
published, the true counts are drawn.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final
from weakref import WeakKeyDictionary

import numpy as np
import scipy

from aegis_advisor.arrays import FloatArray, IntArray
from aegis_advisor.atoms import coarsening, common_refinement, per_atom
from aegis_advisor.evidence.attribute import AttributeEvidence
from aegis_advisor.evidence.rounded_sums import sum_variances

DRAWS: Final = 10
"""The tables that are drawn. Each is rounded twice, with opposite errors, which cancel to first order."""

MOST_CELLS: Final = 40_000
"""Of tables with more cells than this over `DRAWS`, fewer are drawn, since more rows average out more; two at least."""

LARGE: Final = 20
"""Rounding counts of more than this many bases adds next to nothing; rows that only have such counts are left as they
are."""

THIN: Final = 12
"""In rows without counts of more than this many bases, the number of records is taken from the mixture."""

_ROWS: Final = 2_000
"""The mixture is fitted to so many rows at most, and drawn from for so many at a time."""

_ROUNDS: Final = 10
_PACE: Final = 1.8
"""Steps of the maximisation are taken this much further, which takes about half as many; below 2 they converge."""

_QUANTILES: Final = 64
_MEANS: Final = np.geomspace(0.004, 40.0, 81)
"""Means of counts, in bases, for which the model is tabulated."""
_SUMS: Final = np.geomspace(0.02, 80.0, 28)
"""The sums of rows, in bases, that the mixture consists of."""


@dataclass(frozen=True, slots=True, eq=False)
class LikelyTables:
    """Likely true tables of a published one, and how each would have been rounded.

    Attributes:
        published: (rows, labels) the counts.
        open: (open,) the rows with counts small enough for rounding to matter; the others are known well enough.
        weights: (open,) how much more the counts of a row vary than one count that was rounded: 1 unless they add up
            parts of groups of finer maskings.
        counts: (draws, open, labels) the true counts.
        rounded: (2, draws, open, labels) these rounded.
        gains: what rounding adds to sums of scores, by the function that scores rows, as far as it was computed.
    """

    published: FloatArray
    open: IntArray
    weights: FloatArray
    counts: FloatArray
    rounded: FloatArray
    gains: dict[Callable[..., FloatArray], tuple[float, float]] = field(default_factory=dict)

    @classmethod
    def of(cls, published: FloatArray, base: int, weights: FloatArray) -> "LikelyTables":
        """Draw tables, the same for equal arguments.

        Args:
            published: (rows, labels), multiples of the base; others are taken for the nearest.
            base: the base.
            weights: (rows,).
        """
        steps = np.rint(published / base).astype(np.int64)
        several = np.count_nonzero(steps.any(axis=1)) > 1  # a single row tells nothing, however it is rounded
        open_rows = np.flatnonzero((steps.min(axis=1, initial=LARGE) < LARGE) & several)
        if not open_rows.size:
            none = np.zeros((1, 0, steps.shape[1]))
            return cls(published, open_rows, weights[open_rows], none, np.stack([none, none]))
        rng = np.random.default_rng(0)
        draws = int(np.clip(MOST_CELLS // (open_rows.size * steps.shape[1]), 2, DRAWS))
        counts = _drawn(steps[open_rows], steps.sum(axis=0), base, draws, rng)
        return cls(published, open_rows, weights[open_rows], counts, _rounded(counts, base, rng))

    @property
    def one(self) -> FloatArray:
        """(rows, labels) The first of the true tables."""
        table = self.published.copy()
        table[self.open] = self.counts[0]
        return table


@dataclass(frozen=True, slots=True, eq=False)
class _Known:
    """What is known of evidence already.

    Attributes:
        variances: those of its counts, by masking id.
        coarser: by masking id, the maskings that are functions of it.
        drawn: tables that were drawn, by table and weights.
    """

    variances: Mapping[str, FloatArray]
    coarser: Mapping[str, tuple[str, ...]]
    drawn: dict[tuple[bytes, bytes], LikelyTables]


_KNOWN: Final[WeakKeyDictionary[AttributeEvidence, _Known]] = WeakKeyDictionary()
"""By evidence, as long as that is used: several measures ask for the same tables."""


def likely_tables(evidence: AttributeEvidence, name: str, table: FloatArray) -> LikelyTables | None:
    """Return likely tables of one (groups, labels) that adds up counts which were rounded once; None if none were.

    A masking that declares how its counts differ has others.

    Args:
        evidence: the evidence.
        name: the masking, or what else the table is of.
        table: the table.
    """
    if evidence.rounded_once is None or any(one.id == name and one.is_fitted for one in evidence.maskings):
        return None
    known, one_count = _known(evidence), evidence.rounding.count_variance
    weights = known.variances.get(name, np.full(len(table), one_count)) / one_count
    key = table.tobytes(), weights.tobytes()
    if key not in known.drawn:
        known.drawn[key] = LikelyTables.of(table, evidence.rounded_once, weights)
    return known.drawn[key]


def coarser_views(evidence: AttributeEvidence) -> Mapping[str, tuple[str, ...]]:
    """By masking id, the other maskings with a known mapping that are functions of it, and declare nothing."""
    return _known(evidence).coarser


def _known(evidence: AttributeEvidence) -> _Known:
    if evidence not in _KNOWN:
        _KNOWN[evidence] = _Known(sum_variances(evidence), _coarser(evidence), {})
    return _KNOWN[evidence]


def _coarser(evidence: AttributeEvidence) -> Mapping[str, tuple[str, ...]]:
    mapped = [(one.id, one.mapping) for one in evidence.maskings if one.perturbation.is_none]
    mappings = {name: mapping for name, mapping in mapped if mapping is not None}
    atom_of_value = common_refinement(mappings.values(), evidence.values)
    atoms = int(atom_of_value.max(initial=-1)) + 1
    groups = {name: per_atom(mapping, atom_of_value, atoms) for name, mapping in mappings.items()}

    def merges(one: IntArray, other: IntArray) -> bool:
        fewer = one is not other and one.max(initial=0) >= other.max(initial=0)
        return fewer and coarsening(one, other, int(one.max(initial=0)) + 1) is not None

    return {name: tuple(other for other in groups if merges(groups[name], groups[other])) for name in groups}


def _drawn(steps: IntArray, label: IntArray, base: int, draws: int, rng: np.random.Generator) -> FloatArray:
    """Draw true counts (draws, rows, labels) of published ones, in bases (rows, labels), given all of the label's."""
    deviations, likelihoods = _model(base)
    shares = label / max(float(label.sum()), 1.0)
    spread = _spread(steps, shares, base)
    sums = np.broadcast_to(steps.sum(axis=1, dtype=np.float64), (draws, len(steps))).copy()
    thin = steps.max(axis=1, initial=0) <= THIN
    if thin.any():
        sums[:, thin] = _sums(steps[thin], spread[thin], likelihoods, draws, rng)
    means = np.where(steps > THIN, float(THIN), sums[:, :, np.newaxis] * spread)
    places = np.minimum(steps, THIN), _nearest(np.log(np.maximum(means, _MEANS[0])))
    moved = deviations[*places, rng.integers(0, _QUANTILES, means.shape)]
    return np.maximum(base * steps + moved, 0.0)


def _rounded(counts: FloatArray, base: int, rng: np.random.Generator) -> FloatArray:
    """Round counts (draws, rows, labels) up or down at random, without bias: (2, draws, rows, labels) in two ways.

    The second has the opposite errors, so that errors of first order cancel. Counts below two bases, which opposite
    errors might move below 0, are rounded with the opposite chance instead.
    """
    over = counts % base
    ups = rng.random(counts.shape) * base
    one = counts - over + base * (ups < over)
    other = np.where(counts < 2 * base, counts - over + base * (base - ups < over), 2 * counts - one)
    return np.stack([one, other])


def _spread(steps: IntArray, shares: FloatArray, base: int) -> FloatArray:
    """How the records of each row spread over the labels (rows, labels): as far as they show it, else like all records.

    By a Dirichlet prior around the shares of all records, whose concentration follows from how much the rows differ.
    Rounding makes records worth less: those of thin rows a base-th.
    """
    size = base * steps.sum(axis=1, keepdims=True, dtype=np.float64)
    own = np.divide(base * steps, size, out=np.broadcast_to(shares, steps.shape).copy(), where=size > 0)
    cell = np.maximum(size / steps.shape[1], 1.0)
    worth = size / (1 + np.minimum(base - 1, (base**2 - 1) / 6 / cell))
    impurity = max(1 - float(np.sum(shares**2)), 1e-9)
    differing = np.sum((own - shares) ** 2, axis=1, keepdims=True) / impurity
    by_chance = 1 / np.maximum(worth, 1.0)
    between = np.sum(size * (differing - by_chance)) / max(np.sum(size * (1 - by_chance)), 1.0)
    prior = 1 / np.clip(between, 1e-3, 1.0) - 1
    spread: FloatArray = (worth * own + prior * shares) / np.maximum(worth + prior, 1e-9)
    return spread


def _sums(
    steps: IntArray, spread: FloatArray, likelihoods: FloatArray, draws: int, rng: np.random.Generator
) -> FloatArray:
    """Draw the expected records (draws, rows) of each row, in bases, from the mixture given its published counts."""
    some = np.unique(np.linspace(0, len(steps) - 1, min(len(steps), _ROWS)).astype(np.int64))
    likely = _likelihoods(steps[some], spread[some], likelihoods)
    shares = np.full(_SUMS.size, 1 / _SUMS.size)
    for _ in range(_ROUNDS):
        shares *= ((1 / (likely @ shares)) @ likely / len(likely)) ** _PACE
        shares /= shares.sum()
    sums = np.empty((draws, len(steps)))
    for start in range(0, len(steps), _ROWS):
        rows = slice(start, start + _ROWS)
        if len(steps) > _ROWS:
            likely = _likelihoods(steps[rows], spread[rows], likelihoods)
        levels = np.cumsum(likely * shares, axis=1)
        picked = rng.random((draws, len(levels), 1)) * levels[:, -1:] > levels[:, :-1]
        sums[:, rows] = _SUMS[np.sum(picked, axis=2)]
    return sums


def _likelihoods(steps: IntArray, spread: FloatArray, likelihoods: FloatArray) -> FloatArray:
    """(rows, sums) The likelihood of each sum of a row, over that of the most likely one."""
    places = _nearest(np.log(_SUMS)[:, np.newaxis] + np.log(np.maximum(spread, 1e-9))[:, np.newaxis, :])
    logs = np.sum(likelihoods[steps[:, np.newaxis, :], places], axis=2)
    return np.asarray(np.exp(logs - logs.max(axis=1, keepdims=True)))


def _nearest(logs: FloatArray) -> IntArray:
    """The places in `_MEANS` of means in bases, given their logarithms."""
    first, step = np.log(_MEANS[0]), np.log(_MEANS[1] / _MEANS[0])
    places: IntArray = np.clip(np.rint((logs - first) / step), 0, _MEANS.size - 1).astype(np.int64)
    return places


@lru_cache(maxsize=16)
def _model(base: int) -> tuple[FloatArray, FloatArray]:
    """What a published count tells of a true one with a Poisson distribution, by published bases and by the mean.

    A count n is published as p with probability `1 - |n - p| / b`.

    Returns:
        (THIN + 1, means, quantiles) the true count less the published one, and (THIN + 1, means) the logarithm of the
        probability of what is published.
    """
    moved = np.unique(np.rint(np.linspace(1 - base, base - 1, min(2 * base - 1, 2 * _QUANTILES + 1))))
    true = (base * np.arange(THIN + 1)[:, np.newaxis] + moved)[:, np.newaxis, :]
    means = base * _MEANS[:, np.newaxis]
    logs = scipy.special.xlogy(true, means) - means - scipy.special.gammaln(np.maximum(true, 0.0) + 1)
    weights = np.where(true >= 0, (1 - abs(moved) / base) * np.exp(np.where(true >= 0, logs, 0.0)), 0.0)
    weights = np.maximum(weights, np.where(moved == 0, 1e-300, 0.0))
    total = weights.sum(axis=2)
    levels = np.cumsum(weights / total[:, :, np.newaxis], axis=2)
    middles = (np.arange(_QUANTILES) + 0.5) / _QUANTILES
    places = np.sum(levels[:, :, np.newaxis, :-1] < middles[:, np.newaxis], axis=3)
    return moved[places], np.log(total)
