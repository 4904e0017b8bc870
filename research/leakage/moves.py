"""Random moves between tables, balanced so that walks visit all tables equally often.

All moves are made of two. One takes records from a row of cells, each record with the same chance. The other puts
records into a row of cells like balls into Polya's urn: a cell with `x` records gets the next one with weight `x + 1`.
Each is the reverse of the other, and if all rows with a total are equally likely, so are all rows with the new total
(Eggenberger & Polya 1923, "Ueber die Statistik verketteter Vorgaenge"). A move that changes the number of possible rows
is accepted with a probability that makes up for it (Hastings 1970, "Monte Carlo sampling methods using Markov chains").
"""

from collections.abc import Sequence

import numpy as np
from scipy.special import gammaln

from aegis_advisor.arrays import FloatArray, IntArray
from research.leakage.tables import Tables
from research.leakage.target import Target


class Mover:
    """Proposes moves for all walks at once.

    Walks that accept with the returned probability visit all joint counts equally often, and so all histograms that
    agree with the joint counts.
    """

    def __init__(self, target: Target, rng: np.random.Generator, walks: int) -> None:
        self._attributes, self._rng, self._walks = target.attributes, rng, walks
        self._labels = target.attributes[0].counts.shape[1]
        self._orders = np.log2(target.attributes[0].counts.sum() + 1)

    def propose(self, tables: Tables) -> tuple[Tables, Sequence[int], FloatArray]:
        """Another state, the attributes in which it differs, and (walks,) the logarithm of the chance to accept it."""
        counts, everywhere = [one.copy() for one in tables.counts], range(len(self._attributes))
        place, kind = int(self._rng.integers(len(counts))), self._rng.random()
        places: Sequence[int] = [place] if kind < 0.75 else everywhere
        chance = np.zeros(self._walks)
        if kind < 0.7:
            self._within_label(counts[place])
        elif kind < 0.75:
            counts[place] = np.take_along_axis(
                counts[place], self._exchanged(counts[place].shape[1])[..., np.newaxis], 1
            )
        elif kind < 0.95:
            chance = self._between_labels(counts)
        else:
            order = self._exchanged(self._labels)[:, np.newaxis]
            counts = [np.take_along_axis(one, order, 2) for one in counts]
        histograms = list(tables.histograms)
        for each in places:
            histograms[each] = self._histogram(each, counts[each], tables.histograms[each])
        return Tables(counts, histograms), places, chance

    def _within_label(self, counts: IntArray) -> None:
        """Take some of a label's records, and put as many back."""
        label = int(self._rng.integers(self._labels))
        column = counts[..., label]
        size = np.minimum(self._sizes(), column.sum(axis=1))
        counts[..., label] = self._put(self._take(column, size), size)

    def _between_labels(self, counts: Sequence[IntArray]) -> FloatArray:
        """Take some records of a label, and give them another one, in every attribute."""
        before, after = self._rng.integers(self._labels, size=2)
        size = self._sizes()
        size[size > counts[0][..., before].sum(axis=1)] = 0
        chance = -_possible(counts)
        for one in counts:
            one[..., before] = self._take(one[..., before], size)
            one[..., after] = self._put(one[..., after], size)
        return chance + _possible(counts)

    def _histogram(self, place: int, counts: IntArray, histogram: IntArray) -> IntArray:
        """The histogram, changed to agree with the counts of each group; some records move within their group, too."""
        histogram, of = histogram.copy(), self._attributes[place].group_of_value
        for group in range(of.max() + 1):
            values = np.flatnonzero(of == group)
            cells, records = histogram[:, values], counts[:, group].sum(axis=1)
            if values.size == 1:
                histogram[:, values[0]] = records
                continue
            had = cells.sum(axis=1)
            again = np.minimum(self._sizes(), np.minimum(had, records))
            cells = self._take(cells, np.maximum(had - records, 0) + again)
            histogram[:, values] = self._put(cells, np.maximum(records - had, 0) + again)
        return histogram

    def _exchanged(self, size: int) -> IntArray:
        """(walks, size) all places, two of them exchanged."""
        order = np.tile(np.arange(size), (self._walks, 1))
        pair = self._rng.integers(size, size=(self._walks, 2))
        np.put_along_axis(order, pair, pair[:, ::-1], axis=1)
        return order

    def _sizes(self) -> IntArray:
        """(walks,) how many records to move, whatever the state: a few, or a number of any order of magnitude."""
        orders = self._orders if self._rng.random() < 0.5 else min(2.0, self._orders)
        return np.asarray(np.exp2(self._rng.uniform(0.0, orders, size=self._walks)).astype(np.int64))

    def _take(self, cells: IntArray, records: IntArray) -> IntArray:
        """Take this many records (walks,) from the cells (walks, n), each record with the same chance."""
        left, rest = records.copy(), cells.sum(axis=1)
        taken = np.zeros_like(cells)
        for place in range(cells.shape[1]):
            rest = rest - cells[:, place]
            taken[:, place] = self._rng.hypergeometric(cells[:, place], rest, left)
            left = left - taken[:, place]
        return cells - taken

    def _put(self, cells: IntArray, records: IntArray) -> IntArray:
        """Put this many records (walks,) into the cells (walks, n), as into Polya's urn."""
        share = self._rng.standard_gamma(cells + 1.0)
        return cells + self._rng.multinomial(records, share / share.sum(axis=1, keepdims=True))


def _possible(counts: Sequence[IntArray]) -> FloatArray:
    """(walks,) the logarithm of the number of joint counts with the label histogram that these have."""
    labels = counts[0].sum(axis=1)
    sizes = [one.shape[1] for one in counts]
    logs = [gammaln(labels + size) - gammaln(labels + 1) - gammaln(size) for size in sizes]
    return np.asarray(np.sum(logs, axis=(0, 2)))
