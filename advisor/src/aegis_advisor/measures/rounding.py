"""The bias of a measure due to random rounding of counts, by a parametric bootstrap.

Rounding makes rows more uneven, and a measure takes that for information. Likely true tables are drawn and rounded
again (`LikelyTables`): the mean gain of their scores estimates that of the published table (Efron & Tibshirani 1993,
"An introduction to the bootstrap", chapter 10).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from aegis_advisor.arrays import BoolArray, FloatArray
from aegis_advisor.atoms import AtomStatistics
from aegis_advisor.evidence.likely import Drawn, LikelyTables
from aegis_advisor.measures.bias import RowScores
from aegis_advisor.measures.partial_table import numbers_of

Rate = Callable[[FloatArray, AtomStatistics | None], float]

OWN = 0.7
"""The share of the spread of gains over likely tables that is due to the rounding of one table, as measured; the rest
is due to differences between the tables."""

MODEL = 0.06
"""The relative error of the mean gain, since the model of the rows is approximate: as measured, mostly less than twice
this share."""


SURE = 2.5
"""The bias of rounding is subtracted from a utility as far as it exceeds this many of its errors. With fewer, the order
of real tables gets worse than that of the uncorrected counts; with more, that of skewed ones."""


@dataclass(frozen=True, slots=True)
class RoundingRule:
    """How a measure depends on the row scores that rounding changes.

    Attributes:
        rate: the derivative of the measure, or of its square, with respect to the sum of the scores.
        squared: whether `rate` is that of the square, as for the root of a sum.
        is_numbered: whether the row scores take the scores of the label's classes with records, as `numbers`.
        numbers: (labels,) these scores; None for 0, 1, 2, ...
    """

    scores: RowScores
    rate: Rate
    squared: bool = False
    is_numbered: bool = False
    numbers: FloatArray | None = None

    def removed(self, utility: float, table: FloatArray, atoms: AtomStatistics | None, gain: float) -> float:
        """The utility of a table (rows, labels) without a gain of its score."""
        less = self.rate(table, atoms) * gain
        return float(np.sqrt(max(0.0, utility**2 - less))) if self.squared else utility - less

    def error(self, utility: float, table: FloatArray, atoms: AtomStatistics | None, deviation: float) -> float:
        """The error of a utility due to an error of its score; for a root at most the root of the error."""
        error = abs(self.rate(table, atoms)) * deviation
        return float(np.sqrt(utility**2 + error) - utility) if self.squared else error

    def noise_gain(self, table: FloatArray, variance: float) -> float:
        """The second-order contribution of errors of all counts (rows, labels) with this variance to the sum of scores.

        Half the second difference for each count, with the standard deviation as the step; counts are at least that
        large, since fitted ones are not negative.
        """
        reach = float(np.sqrt(variance))
        held = table.sum(axis=0) > 0
        shares = table.sum(axis=0)[held] / max(float(table.sum()), 1.0)
        if reach == 0 or np.count_nonzero(held) <= 1:
            return 0.0
        counts = np.maximum(table[:, held], reach).T
        steps = reach * np.eye(shares.size)[..., np.newaxis]
        around = self._scores(counts[:, np.newaxis] + np.concatenate([steps, -steps], axis=1), shares, held)
        return float(around.sum() / 2 - shares.size * self._scores(counts, shares, held).sum())

    @staticmethod
    def left(added: float, error: float) -> float:
        """The bias of rounding left in a utility: all of it within `SURE` errors, and less the more certain it is.

        That is the garrote (Breiman 1995, "Better subset regression using the nonnegative garrote").
        """
        sure = SURE * error
        return added if abs(added) <= sure else sure**2 / added

    def gain(self, likely: LikelyTables) -> tuple[float, float]:
        """The contribution of rounding to the sum of scores: mean and standard deviation over likely tables.

        First-order errors cancel in both, since each table is rounded twice, with opposite errors.
        """
        drawn = likely.drawn
        if drawn is None or not likely.open.size or np.count_nonzero(drawn.shares) <= 1:
            return 0.0, 0.0
        if self.scores not in drawn.gains:
            drawn.gains[self.scores] = self._gains(drawn)
        mean, deviation = drawn.gains[self.scores][likely.place]
        return float(mean), float(deviation)

    def _gains(self, drawn: Drawn) -> FloatArray:
        """(tables, 2) The gains of all tables that were drawn together."""
        held = drawn.shares > 0
        true, one, other = self._scores(drawn.tables if held.all() else drawn.tables[held], drawn.shares[held], held)
        gains = np.add.reduceat(((one + other) / 2 - true) * drawn.weights, drawn.starts, axis=1)
        mean = gains.sum(axis=0) / len(gains)
        spread = np.sqrt(np.square(gains - mean).sum(axis=0) / (len(gains) - 1))
        surely = np.maximum(mean, 0.0)  # scores are convex, so on average rounding never lowers them
        return np.array([surely, np.hypot(OWN * spread, MODEL * surely)]).T

    def _scores(self, tables: FloatArray, shares: FloatArray, classes: BoolArray) -> FloatArray:
        """The scores (..., rows) of tables (classes with records, ..., rows); 0 of rows without records."""
        rows = tables.reshape(shares.size, -1).T
        held: BoolArray = np.asarray(rows.any(axis=1))
        known = {"numbers": numbers_of(classes.size, self.numbers)[classes]} if self.is_numbered else {}
        scores = self.scores(rows if held.all() else np.where(held[:, np.newaxis], rows, shares), shares, **known)
        return np.where(held, scores, 0.0).reshape(tables.shape[1:])


def largest_counts(rows: FloatArray, shares: FloatArray) -> FloatArray:
    """The largest count of each row."""
    largest: FloatArray = rows.max(axis=1)
    return largest
