"""Which tables are still possible: random walks over all that agree with what was observed.

The prior is uniform over all joint counts that agree with the entry's head and schema, and over all histograms that
agree with the joint counts. Walks start at the truth, so that they never have to search for it. A walk that is too
short therefore makes the counts look better known than they are.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aegis_advisor.arrays import BoolArray, FloatArray, IntArray
from app.services.shares import GRID, MEASURE
from bench.quality.leakage.moves import Mover
from bench.quality.leakage.observation import Observation
from bench.quality.leakage.tables import Tables, deviations
from bench.quality.leakage.target import Target
from bench.quality.leakage.utilities import HIGHER_IS_BETTER

_NOTHING = 1e-9
_WITH_SHARES = list(HIGHER_IS_BETTER).index(MEASURE)


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
        """Take so many steps, and keep the states of the second half after every so many."""
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

    The attacker's model of the service is not exact where counts are noisy. There intervals are widened so that they
    contain the truth, and orders that contradict it are left out: the attacker knows its errors by a favour.
    """

    def __init__(self, target: Target, observed: Observation, *, with_order: bool) -> None:
        tables = Tables.true(target, 1)
        truth = [deviations(*part) for part in zip(target.attributes, tables.counts, tables.histograms, strict=True)]
        shares = [_kept(scores)[:, 0] for scores in truth]
        pairs = list(zip(observed.low, observed.high, shares, strict=True))
        self._low = [np.minimum(low, one - _NOTHING)[:, np.newaxis] for low, _, one in pairs]
        self._high = [np.maximum(high, one + _NOTHING)[:, np.newaxis] for _, high, one in pairs]
        self._magnitude = observed.magnitude
        self._spread = max(1.0, float(self._spreads(truth)[0])) + _NOTHING
        self._order: Sequence[FloatArray] = []
        if with_order:
            ordered = list(zip(observed.order, _stacked(truth), strict=True))
            self._order = [order[_met(order, stack)[0]] for order, stack in ordered]
        outside = sum(int(((one < low) | (one > high)).sum()) for low, high, one in pairs)
        asked = sum(map(len, observed.order)) if with_order else 0
        self.favours = outside + asked - sum(map(len, self._order))

    def agrees(self, scores: Sequence[FloatArray], changed: Sequence[int]) -> BoolArray:
        """(walks,) whether answers about these tables would be those observed; only some attributes have changed."""
        agreed = self._spreads(scores) <= self._spread
        for place in changed:
            kept = _kept(scores[place])
            agreed &= ((self._low[place] <= kept) & (kept <= self._high[place])).all(axis=0)
        for order, stack in zip(self._order, _stacked(scores), strict=False):
            if not agreed.any():
                break
            agreed[agreed] = _met(order, stack[:, agreed]).all(axis=1)
        return agreed

    def _spreads(self, scores: Sequence[FloatArray]) -> FloatArray:
        """(walks,) how much magnitudes differ from those observed, apart from a common constant."""
        some = ~np.isnan(self._magnitude)
        worth = np.stack([one[_WITH_SHARES, 0] for one in scores])[some]
        if not some.any():
            return np.zeros(worth.shape[1])
        offset = np.log(np.maximum(worth, 1e-300)) / np.log(GRID) - self._magnitude[some, np.newaxis]
        return np.asarray(offset.max(axis=0) - offset.min(axis=0))


def _kept(scores: FloatArray) -> FloatArray:
    """(options, walks) the share that each option keeps by the measure that has shares; 1 where nothing can be lost."""
    deviation = scores[_WITH_SHARES]
    some = deviation[0] > _NOTHING  # the first option drops the attribute
    return np.asarray(np.where(some, 1 - deviation / np.where(some, deviation[0], 1.0), 1.0))


def _stacked(scores: Sequence[FloatArray]) -> FloatArray:
    """(measures, options of all attributes, walks)."""
    return np.concatenate(scores, axis=1)


def _met(order: FloatArray, stack: FloatArray) -> BoolArray:
    """(walks, inequalities) whether the deviations (options, walks) meet each inequality."""
    tolerance = _NOTHING * np.maximum(1.0, stack.max(axis=0))[:, np.newaxis]
    return np.asarray((order @ stack + tolerance.T >= 0).T)
