"""Likely true tables behind rounded counts, drawn from a model of the rounding and of the rows.

A count of 0 to `b - 1` was published as 0 or as the base `b`, so rows with few records look far more uneven than they
are. How much more depends on their numbers of records and on how these spread over the labels, which a single row
cannot show, but all rows of a table together can. Each row has Poisson counts, whose expected sum `v` comes from a
distribution estimated by expectation-maximisation: the nonparametric maximum likelihood of a mixture [@laird1978]. The
spread of `v` over the labels is that of the row as far as it has records, and otherwise that of all records. Given `v`
and what was published, the true counts are drawn.
"""

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final
from weakref import WeakKeyDictionary

import numpy as np
import scipy

from aegis_advisor.arrays import FloatArray, IntArray
from aegis_advisor.evidence.attribute import IDENTITY, AttributeEvidence, exact_counts
from aegis_advisor.evidence.rounded import sum_variances

DRAWS: Final = 5
"""The number of draws. Each is rounded twice, with opposite errors, which cancel to first order."""

MOST_CELLS: Final = 20_000
"""The most cells of all draws: large tables get fewer draws (at least two), since their many rows average out."""

LARGE: Final = 20
"""The rounding of counts above this many bases is negligible; rows with only such counts stay as they are."""

THIN: Final = 12
"""In rows without counts of more than this many bases, the number of records is taken from the mixture."""

_ROWS: Final = 2_000
"""The most rows used to fit the mixture, and the rows drawn at a time."""

_UNLIKELY: Final = -50.0
"""Log-likelihoods below this are cut off: they do not matter, and denormal numbers are slow."""

_ROUNDS: Final = 6
_PACE: Final = 1.8
"""Over-relaxation of the maximisation steps: about half as many are needed; below 2 they converge."""

REFINED: Final = "\0refined"
"""The name of tables whose partition no masking has; no masking can have this name."""

_FINE: Final = 1e9
"""The resolution to which weights are compared."""

_QUANTILES: Final = 64
_MEANS: Final = np.geomspace(0.004, 40.0, 81)
"""Means of counts, in bases, for which the model is tabulated. A place is an index into this grid."""
_STEP: Final = math.log(_MEANS[1] / _MEANS[0])
_FIRST: Final = math.log(_MEANS[0]) / _STEP
_SUMS: Final = np.arange(14, 87, 4)
"""The sums of rows that the mixture consists of, by their places beyond that of the least mean: 0.02 to 80 bases."""


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """True counts drawn for several published tables with the same records of each label, and how they are rounded.

    Attributes:
        shares: (labels,) the shares of the records.
        starts: (tables,) the first row of each table; every table has rows.
        weights: (rows,) the variance of a row's counts relative to one rounded count: 1 unless they sum parts of groups
            of finer maskings.
        tables: (labels, 3, draws, rows) the true counts, and these rounded in two ways. Labels come first here and
            below, since sums over a short last axis take many times as long.
        gains: (tables, 2) the bias and variance of sums of scores due to rounding, by scoring function, as far as
            computed.
    """

    shares: FloatArray
    starts: IntArray
    weights: FloatArray
    tables: FloatArray
    gains: dict[Callable[..., FloatArray], FloatArray] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class LikelyTables:
    """Likely true tables of a published one, and how each would have been rounded.

    Attributes:
        published: (rows, labels) the counts.
        open: (open,) the rows with counts small enough for rounding to matter; the others stay as they are.
        drawn: the true counts of these rows and of those of other tables; None without open rows.
        place: the index of this table in `drawn`.
        variances: (rows,) the variance of each count of a row due to rounding.
        utilities: by measure, its utility less the expected bias of rounding, and less the certain bias, as far as
            computed.
        gradients: by measure, its gradient (rows, labels), likewise.
    """

    published: FloatArray
    variances: FloatArray
    open: IntArray
    drawn: Drawn | None = None
    place: int = 0
    utilities: dict[Hashable, tuple[float, float]] = field(default_factory=dict)
    gradients: dict[Hashable, FloatArray] = field(default_factory=dict)

    @classmethod
    def of(cls, published: FloatArray, base: int, weights: FloatArray) -> "LikelyTables":
        """Draw tables, the same for equal arguments.

        Args:
            published: (rows, labels), multiples of the base; others are taken for the nearest.
            weights: (rows,).
        """
        return cls.together([published], base, [weights])[0]

    @classmethod
    def together(
        cls, published: Sequence[FloatArray], base: int, weights: Sequence[FloatArray]
    ) -> "list[LikelyTables]":
        """Draw jointly for several tables (rows, labels) with the same label margin, each with weights (rows,).

        It takes little longer than for one table. The sums of all rows come from one mixture.
        """
        sizes = np.array([len(table) for table in published])
        firsts = np.cumsum(sizes) - sizes
        steps = np.rint(np.ascontiguousarray(np.concatenate(published).T) / base).astype(np.int64)
        several = (
            np.add.reduceat(steps.any(axis=0), firsts, dtype=np.int64) > 1
        )  # a single row shows nothing of the spread
        rows = np.flatnonzero((steps.min(axis=0) < LARGE) & np.repeat(several, sizes))
        starts, ends = np.searchsorted(rows, firsts), np.searchsorted(rows, firsts + sizes)
        held = np.flatnonzero(ends > starts)
        drawn = None
        if held.size:
            shares = published[0].sum(axis=0) / max(float(published[0].sum()), 1.0)
            drawn = _drawn(steps[:, rows], starts[held], shares, base, np.concatenate(weights)[rows])
        places = np.cumsum(ends > starts) - 1
        every = zip(published, weights, firsts, starts, ends, places, strict=True)
        return [
            cls(table, weight * (base**2 / 6), rows[start:end] - first, drawn, int(place))
            for table, weight, first, start, end, place in every
        ]

    @property
    def counts(self) -> FloatArray:
        """(draws, open, labels) The true counts of the open rows."""
        if self.drawn is None:
            return np.zeros((1, 0, self.published.shape[1]))
        start = int(self.drawn.starts[self.place])
        return self.drawn.tables[:, 0, :, start : start + self.open.size].transpose(1, 2, 0)

    @property
    def one(self) -> FloatArray:
        """(rows, labels) The first of the true tables."""
        table = self.published.copy()
        table[self.open] = self.counts[0]
        return table


@dataclass(frozen=True, slots=True, eq=False)
class _KnownTables:
    """The tables drawn for evidence, and what they need.

    Attributes:
        weights: the weights (`Drawn`) of the rows of its maskings, by masking id.
        coarser: by masking id, the maskings that are functions of it.
        fitted: the maskings with declarations.
        drawn: tables that were drawn, by table and weights.
    """

    weights: Mapping[str, FloatArray]
    coarser: Mapping[str, tuple[str, ...]]
    fitted: frozenset[str]
    drawn: dict[tuple[bytes, bytes], LikelyTables]

    @classmethod
    def of(cls, evidence: AttributeEvidence, base: int) -> "_KnownTables":
        """Draw all exact tables of evidence that was rounded once."""
        one_count = evidence.rounding.count_variance
        weights = {
            name: np.rint(sum_variance * (_FINE / one_count)) / _FINE
            for name, sum_variance in sum_variances(evidence).items()
        }
        fitted = frozenset(one.id for one in evidence.maskings if one.is_fitted)
        known = cls(weights, _coarser(evidence), fitted, {})
        views = ((one.id, exact_counts(evidence, one)) for one in evidence.maskings if one.id not in fitted)
        found = evidence.refined_views if evidence.joint is None else ()
        refined = ((REFINED, counts[counts.any(axis=1)]) for _, counts in found)
        every = [(IDENTITY, evidence.joint), *views, *refined]
        tables = [(name, table.astype(np.float64)) for name, table in every if table is not None and table.size]
        for group in _groups(tables):
            each = [known.weights_of(name, table) for name, table in group]
            likely = LikelyTables.together([table for _, table in group], base, each)
            known.drawn.update({known.key(*one): found for one, found in zip(group, likely, strict=True)})
        return known

    def weights_of(self, name: str, table: FloatArray) -> FloatArray:
        """The weights (rows,) of a table."""
        return self.weights[name] if name in self.weights else np.ones(len(table))

    def key(self, name: str, table: FloatArray) -> tuple[bytes, bytes]:
        """The key of a drawn table."""
        return table.tobytes(), self.weights_of(name, table).tobytes()


_KNOWN: Final[WeakKeyDictionary[AttributeEvidence, _KnownTables]] = WeakKeyDictionary()
"""Cache by evidence, as long as that exists: several measures use the same tables."""


def likely_tables(evidence: AttributeEvidence, name: str, table: FloatArray) -> LikelyTables | None:
    """Return likely tables of one (groups, labels) that sums counts rounded once; None if none were.

    Tables of maskings with declarations are drawn separately.

    Args:
        name: the id of the masking, or another name of the table.
    """
    base = evidence.rounded_once
    if base is None or name in (known := _known(evidence, base)).fitted:
        return None
    key = known.key(name, table)
    if key not in known.drawn:
        known.drawn[key] = LikelyTables.of(table, base, known.weights_of(name, table))
    return known.drawn[key]


def coarser_views(evidence: AttributeEvidence) -> Mapping[str, tuple[str, ...]]:
    """By masking id, the other maskings that are functions of it, declare nothing, and have no more masked values."""
    base = evidence.rounded_once
    return _coarser(evidence) if base is None else _known(evidence, base).coarser


def _known(evidence: AttributeEvidence, base: int) -> _KnownTables:
    if (known := _KNOWN.get(evidence)) is None:
        known = _KNOWN[evidence] = _KnownTables.of(evidence, base)
    return known


def _groups(tables: Sequence[tuple[str, FloatArray]]) -> Iterator[list[tuple[str, FloatArray]]]:
    """Group tables to draw jointly: with the same label margin, and few enough cells that none gets fewer draws."""
    group: list[tuple[str, FloatArray]] = []
    cells, label = 0, b""
    for name, table in tables:
        cells, before, label = cells + table.size, label, table.sum(axis=0).tobytes()
        if group and (label != before or cells > MOST_CELLS // DRAWS):
            yield group
            group, cells = [], table.size
        group.append((name, table))
    if group:
        yield group


def _coarser(evidence: AttributeEvidence) -> Mapping[str, tuple[str, ...]]:
    mapped = [(one.id, one.mapping, one.groups) for one in evidence.maskings if one.perturbation.is_none]
    views = [(name, mapping, groups) for name, mapping, groups in mapped if mapping is not None]
    found = {}
    for name, mapping, groups in views:
        some = np.zeros(groups, dtype=np.int64)
        some[mapping] = np.arange(mapping.size)
        same = some[mapping]  # a value with the same masked value as the value itself
        others = (other for other in views if other[0] != name and other[2] <= groups)
        found[name] = tuple(other for other, merged, _ in others if (merged[same] == merged).all())
    return found


def _drawn(steps: IntArray, starts: IntArray, shares: FloatArray, base: int, weights: FloatArray) -> Drawn:
    """Draw true counts for published ones, in bases (labels, rows), given the shares of the labels among all records.

    The draws of a count are stratified with a random offset, so that few suffice.
    """
    draws, records = min(max(MOST_CELLS // steps.size, 2), DRAWS), steps.sum(axis=0)
    turn, chance = np.arange(draws) / draws, _chance(records.size + 2 * steps.size)
    within, rounding = (_evenly(each, turn) for each in chance[records.size :].reshape(2, *steps.shape))
    deviations, likelihoods = _model(base)
    spread = np.log(np.maximum(_spread(steps, starts, shares, base), 1e-9)) / _STEP
    sums = np.empty((draws, records.size))
    sums[:] = _place(np.maximum(records, 1))
    thin = np.flatnonzero(steps.max(axis=0) <= THIN)
    if thin.size:
        sums[:, thin] = _sums(steps[:, thin], spread[:, thin], likelihoods, _evenly(chance[: thin.size], turn))
    means = np.minimum(np.maximum(sums + spread[:, np.newaxis] + 0.5, 0), _MEANS.size - 1).astype(np.int64)
    known, quantiles = np.minimum(steps, THIN + 1)[:, np.newaxis], (within * _QUANTILES).astype(np.int64)
    counts = np.maximum((base * steps)[:, np.newaxis] + deviations[known, means, quantiles], 0.0)
    return Drawn(shares, starts, weights, _with_rounded(counts, base, rounding))


def _place(means: FloatArray | IntArray | float) -> FloatArray:
    """The places of means, in bases, in `_MEANS`."""
    return np.asarray(np.log(means) / _STEP - _FIRST)


def _chance(count: int) -> FloatArray:
    """The first `count` numbers (count,) of one random sequence from 0 to 1."""
    return _numbers(max(_ROWS, 1 << (count - 1).bit_length()))[:count]


@lru_cache(maxsize=8)
def _numbers(count: int) -> FloatArray:
    return np.random.default_rng(0).random(count)


def _evenly(starts: FloatArray, turn: FloatArray) -> FloatArray:
    """Numbers (..., draws, rows) from 0 to 1, stratified over the draws, with offsets (..., rows)."""
    places = starts[..., np.newaxis, :] + turn[:, np.newaxis]
    places -= places >= 1
    return places


def _with_rounded(counts: FloatArray, base: int, chance: FloatArray) -> FloatArray:
    """Return counts (labels, draws, rows) and two unbiased random roundings of them.

    The second has the opposite errors, so that first-order errors cancel. Counts below two bases, which opposite
    errors might move below 0, are rounded with the opposite chance instead.

    Returns:
        (labels, 3, draws, rows)
    """
    low = base * np.floor(counts / base)
    over, chance = counts - low, base * chance
    one = low + base * (chance < over)
    other = np.where(low < 2 * base, low + base * (base - chance < over), 2 * counts - one)
    return np.stack([counts, one, other], axis=1)


def _spread(steps: IntArray, starts: IntArray, shares: FloatArray, base: int) -> FloatArray:
    """The spread (labels, rows) of each row's records over the labels, shrunk towards that of all records.

    By a Dirichlet prior around the shares of all records, whose concentration follows from how much the rows of each
    table differ. Rounding lowers the weight of records: to 1 / base in rows with few of them.
    """
    size, every = base * steps.sum(axis=0, dtype=np.float64), shares[:, np.newaxis]
    own = np.where(size > 0, base * steps / np.maximum(size, 1.0), every)
    worth = size / (1 + np.minimum(base - 1, (base**2 - 1) / 6 / np.maximum(size / shares.size, 1.0)))
    impurity = max(1 - float(shares @ shares), 1e-9)
    differing = np.square(own - every).sum(axis=0) / impurity
    by_chance = 1 / np.maximum(worth, 1.0)
    between = np.add.reduceat(size * (differing - by_chance), starts)
    most = np.add.reduceat(size * (1 - by_chance), starts)
    prior = 1 / np.minimum(np.maximum(between / np.maximum(most, 1.0), 1e-3), 1.0) - 1
    each = prior[np.searchsorted(starts, np.arange(size.size), side="right") - 1]
    spread: FloatArray = (worth * own + each * every) / np.maximum(worth + each, 1e-9)
    return spread


def _sums(steps: IntArray, spread: FloatArray, likelihoods: FloatArray, chance: FloatArray) -> IntArray:
    """Draw the expected records (draws, rows) of rows, by their places, from the mixture given the published counts.

    Args:
        steps: (labels, rows) the published counts, in bases.
        spread: (labels, rows) the offset of each count's expected place from that of its row's sum.
        likelihoods: those of `_model`.
        chance: (draws, rows) the quantile in the distribution of each row.
    """
    chunks = [slice(start, start + _ROWS) for start in range(0, chance.shape[1], _ROWS)]
    likely = np.hstack([_likelihoods(steps[:, rows], spread[:, rows], likelihoods) for rows in chunks])
    some = likely[:, :: len(chunks)]
    shares = np.full(_SUMS.size, 1 / _SUMS.size)
    for _ in range(_ROUNDS):
        shares *= (some @ (1 / (shares @ some)) / some.shape[1]) ** _PACE
        shares /= shares.sum()
    levels = np.cumsum(likely * shares[:, np.newaxis], axis=0)
    drawn: IntArray = _SUMS[np.sum(chance * levels[-1] > levels[:-1, np.newaxis], axis=0, dtype=np.int8)]
    return drawn


def _likelihoods(steps: IntArray, spread: FloatArray, likelihoods: FloatArray) -> FloatArray:
    """(sums, rows) The likelihood of each sum of a row, relative to the maximum."""
    less = np.minimum(0.5 - spread, _SUMS[-1]).astype(np.int64)
    logs = np.ascontiguousarray(likelihoods[steps, less].sum(axis=0).T)
    return np.asarray(np.exp(np.maximum(logs - logs.max(axis=0), _UNLIKELY)))


@lru_cache(maxsize=16)
def _model(base: int) -> tuple[FloatArray, FloatArray]:
    """The distribution of a true Poisson count given the published one, by published bases and by the mean.

    A count n is published as p with probability `1 - |n - p| / b`.

    Returns:
        (THIN + 2, means, quantiles) the true count less the published one, which of more than `THIN` bases does not
        depend on the mean; and (THIN + 1, shares, sums) the logarithm of the probability of what is published, by how
        many places a count is expected to be below the sum of its row.
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
    means_of = np.clip(_SUMS - np.arange(_SUMS[-1] + 1)[:, np.newaxis], 0, _MEANS.size - 1)
    thick = np.broadcast_to(moved[places[THIN, int(_place(THIN) + 0.5)]], (1, _MEANS.size, _QUANTILES))
    return np.concatenate([moved[places], thick]), np.log(total)[:, means_of]
