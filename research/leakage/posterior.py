"""Which tables are still possible: random walks over all that agree with what was observed.

The prior is uniform over all joint counts that agree with the entry's head and schema, and over all histograms that
agree with the joint counts. Walks start at the truth, so that they never have to search for it. A walk that is too
short therefore makes the counts look better known than they are.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aegis_advisor.arrays import BoolArray, FloatArray, IntArray
from app.advice.service.coarse import GRID, TINY, Grid
from research.leakage.moves import Mover
from research.leakage.observation import WITH_SHARES, Observation
from research.leakage.tables import Tables, deviations, expected_of
from research.leakage.target import Target

HALF_DIGIT = 0.005
_NOTHING = 1e-9
_LEAST = 1e-300


@dataclass(frozen=True, eq=False)
class Samples:
    """States of the walks.

    Attributes:
        cells: (samples, cells) every count of the entry.
        exact: (samples, attributes) whether an attribute's joint counts are the true ones, if not in their order: which
            value and which label are which, no answer tells.
        labels: (samples,) whether the label histogram is the true one, likewise.
    """

    cells: IntArray
    exact: BoolArray
    labels: BoolArray

    def widths(self) -> FloatArray:
        """The width of the central 95 % of each cell, (cells,)."""
        low, high = np.quantile(self.cells, [0.025, 0.975], axis=0)
        return np.asarray(high - low)


class Walks:
    """Walks over the tables of all attributes."""

    def __init__(self, target: Target, known: "Known | None", rng: np.random.Generator, *, walks: int) -> None:
        self._target, self._known, self._rng = target, known, rng
        self.tables, self._mover = Tables.true(target, walks), Mover(target, rng, walks)
        self._scores = [self._score(self.tables, place) for place in range(len(target.attributes))]

    def run(self, steps: int, every: int = 10) -> Samples:
        """Take this many steps, and keep every n-th state of the second half."""
        kept = []
        for step in range(steps):
            self.step()
            if step >= steps // 2 and step % every == 0:
                kept.append(self._sample())
        cells, exact, labels = zip(*kept, strict=True)
        return Samples(np.concatenate(cells), np.concatenate(exact), np.concatenate(labels))

    def _sample(self) -> tuple[IntArray, BoolArray, BoolArray]:
        truth = [one.counts for one in self._target.attributes]
        exact = [alike(counts, true) for counts, true in zip(self.tables.counts, truth, strict=True)]
        labels = np.sort(self.tables.labels(), axis=1) == np.sort(truth[0].sum(axis=0))
        return self.tables.published(self._target), np.stack(exact, axis=1), labels.all(axis=1)

    def step(self) -> None:
        """Propose a move for every walk, and take those that agree with what is known."""
        proposed, places, chance = self._mover.propose(self.tables)
        accepted = np.log(self._rng.random(chance.size)) < chance
        if self._known is not None:
            scores = list(self._scores)
            for place in places:
                scores[place] = self._score(proposed, place)
            accepted &= self._known.agrees(scores, places)
            for place in places if accepted.any() else ():
                accepted[accepted] = self._known.expects(proposed.counts[place][accepted], place)
            self._scores = [np.where(accepted, new, old) for new, old in zip(scores, self._scores, strict=True)]
        self.tables = self.tables.chosen(proposed, accepted)

    def _score(self, tables: Tables, place: int) -> FloatArray:
        return deviations(self._target.attributes[place], tables.counts[place], tables.histograms[place])


def alike(counts: IntArray, true: IntArray) -> BoolArray:
    """(walks,) whether tables have the cells and the margins of the true one, in any order."""
    mine, theirs = ((one.reshape(*one.shape[:-2], -1), one.sum(axis=-1), one.sum(axis=-2)) for one in (counts, true))
    equal = [(np.sort(a, axis=1) == np.sort(b)).all(axis=1) for a, b in zip(mine, theirs, strict=True)]
    return np.asarray(np.logical_and.reduce(equal))


class Known:
    """An observation as far as the truth agrees with it.

    The attacker's model of the service is not exact where counts are noisy. There limits are widened so that they
    contain the truth: the attacker knows its errors by a favour.
    """

    def __init__(self, target: Target, observed: Observation, *, with_order: bool, with_expected: bool = False) -> None:
        tables = Tables.true(target, 1)
        truth = [deviations(*part) for part in zip(target.attributes, tables.counts, tables.histograms, strict=True)]
        shares = [_kept(scores)[:, 0] for scores in truth]
        pairs = list(zip(observed.low, observed.high, shares, strict=True))
        self._low = [np.minimum(low, one - _NOTHING)[:, np.newaxis] for low, _, one in pairs]
        self._high = [np.maximum(high, one + _NOTHING)[:, np.newaxis] for _, high, one in pairs]
        self._magnitude, self._levels = observed.magnitude[np.newaxis], observed.levels
        self._with_order, self._grid = with_order, target.grid
        self._attributes = target.attributes if with_expected else ()
        reached = [expected_of(one, counts) for one, counts in zip(target.attributes, tables.counts, strict=True)]
        self._expected = [
            (np.fmin(two[..., np.newaxis] - HALF_DIGIT, true), np.fmax(two[..., np.newaxis] + HALF_DIGIT, true))
            for two, true in zip(observed.expected, reached, strict=True)
        ]
        self._magnitudes_within = np.maximum(self._magnitudes(truth), 1.0) + _NOTHING
        self._levels_within = np.maximum(self._orders(truth), 1.0) + _NOTHING
        outside = sum(int(((one < low) | (one > high)).sum()) for low, high, one in pairs)
        self.favours = outside + int((self._levels_within > 1 + 2 * _NOTHING).sum()) if with_order else outside

    def agrees(self, scores: Sequence[FloatArray], changed: Sequence[int]) -> BoolArray:
        """(walks,) whether answers about these tables would be those observed; only some attributes have changed."""
        agreed: BoolArray = np.all(self._magnitudes(scores) <= self._magnitudes_within, axis=0)
        for place in changed:
            kept = _kept(scores[place])
            agreed &= ((self._low[place] <= kept) & (kept <= self._high[place])).all(axis=0)
        if self._with_order and agreed.any():
            agreed &= (self._orders(scores) <= self._levels_within).all(axis=0)
        return agreed

    def expects(self, counts: IntArray, place: int) -> BoolArray:
        """(walks,) whether models of these counts of an attribute should reach what was observed, if that is known."""
        if not self._attributes:
            return np.ones(len(counts), dtype=bool)
        low, high = self._expected[place]
        reached = expected_of(self._attributes[place], counts)
        return np.asarray(((low - _NOTHING <= reached) & (reached <= high + _NOTHING)).all(axis=(0, 1)))

    def _magnitudes(self, scores: Sequence[FloatArray]) -> FloatArray:
        """(1, walks) how far apart what attributes tell is from what was observed, in steps."""
        worth = np.stack([one[WITH_SHARES, 0] for one in scores])[np.newaxis]
        return _apart(worth, self._magnitude, GRID)

    def _orders(self, scores: Sequence[FloatArray]) -> FloatArray:
        """(measures, walks) how far apart deviations are from those observed, in steps."""
        apart = _apart(np.concatenate(scores, axis=1), self._levels, self._grid.base)
        least = np.concatenate([_above(one, self._grid) for one in scores], axis=1)
        known = ~np.isnan(self._levels)[..., np.newaxis]
        return np.maximum(apart, 1 + np.where(known, -least, least).max(axis=1))


def _apart(values: FloatArray, powers: FloatArray, base: float) -> FloatArray:
    """How much values (n, options, walks) differ from powers (n, options) of a base, apart from a common factor.

    It is at most 1 if some factor makes all values round to these powers. Where the power is NaN, the value was 0.
    """
    known = ~np.isnan(powers)[..., np.newaxis]
    offset = np.log(np.maximum(values, _LEAST)) / np.log(base) - powers[..., np.newaxis]
    apart = np.where(known, offset, -np.inf).max(axis=1) - np.where(known, offset, np.inf).min(axis=1)
    return np.asarray(np.where(known.any(axis=1), apart, 0.0))


def _above(values: FloatArray, grid: Grid) -> FloatArray:
    """(n, options, walks) by how many powers deviations of an attribute are more than what is rounded to 0."""
    least = np.maximum(grid.least * values[:, :1], TINY)  # the first option drops the attribute
    return np.asarray(np.log(np.maximum(values, _LEAST) / least) / np.log(grid.base))


def _kept(scores: FloatArray) -> FloatArray:
    """(options, walks) the share that each option keeps by the measure that has shares; 1 where nothing can be lost."""
    deviation = scores[WITH_SHARES]
    some = deviation[0] > _NOTHING  # the first option drops the attribute
    return np.asarray(np.where(some, 1 - deviation / np.where(some, deviation[0], 1.0), 1.0))
