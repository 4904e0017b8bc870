"""What a ranker is worth: what its pick loses against the best, and whether its order is that of the results."""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from aegis_advisor.arrays import FloatArray

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Estimate:
    """A mean over random splits of one table and the half-width of its 95 % interval; not a number where there is none.

    Halves of one table share records, so that their results are not independent: the interval is that of the corrected
    resampled t of Nadeau & Bengio 2003, Inference for the generalization error, Machine Learning 52, section 3.
    """

    mean: float
    half_width: float

    @classmethod
    def of(cls, values: FloatArray, tested_per_trained: float) -> "Estimate":
        """The mean of J values, of variance (1/J + n_test/n_train) s^2, by Student's t of J - 1 degrees of freedom.

        Args:
            values: (splits,) one of each.
            tested_per_trained: n_test/n_train; 0 gives the interval of independent values.
        """
        if values.size < 2 or np.ptp(values) == 0:
            return cls(float(values.mean()), 0.0 if values.size > 1 else np.nan)
        variance = (1 / values.size + tested_per_trained) * values.var(ddof=1)
        quantile = stats.t.ppf((1 + CONFIDENCE) / 2, values.size - 1)
        return cls(float(values.mean()), float(quantile * np.sqrt(variance)))

    @property
    def lower(self) -> float:
        """The lower end of the interval."""
        return self.mean - self.half_width

    @property
    def upper(self) -> float:
        """The upper end of the interval."""
        return self.mean + self.half_width


def lost(results: FloatArray, pick: FloatArray) -> FloatArray:
    """(splits,) what the pick loses against the configuration that is best on average over the splits.

    Args:
        results: (splits, configurations) of one model.
        pick: (configurations,) the probability that each is picked.
    """
    return results[:, results.mean(axis=0).argmax()] - results @ pick


def lost_in_split(results: FloatArray, pick: FloatArray) -> FloatArray:
    """(splits,) what the pick loses against what happens to be best in the same split: never negative."""
    return np.maximum(results.max(axis=1) - results @ pick, 0.0)


def correlations(results: FloatArray, utilities: FloatArray) -> FloatArray:
    """(splits,) Spearman's correlation of utilities and results; 0 where one of the two is constant.

    An order that says nothing is worth what a random one is worth on average.
    """
    if np.ptp(utilities) == 0:
        return np.zeros(results.shape[0])
    varying = np.ptp(results, axis=1) > 0
    spearman = np.zeros(results.shape[0])
    ranks, ours = stats.rankdata(results[varying], axis=1), stats.rankdata(utilities)
    ranks, ours = ranks - ranks.mean(axis=1, keepdims=True), ours - ours.mean()
    spearman[varying] = ranks @ ours / np.sqrt((ranks**2).sum(axis=1) * (ours @ ours))
    return spearman
