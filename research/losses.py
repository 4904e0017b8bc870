"""The performance of a ranker: what its pick loses against the best, and how well its order fits the results."""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from aegis_advisor.arrays import FloatArray

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Estimate:
    """A mean over random splits of one table and the half-width of its 95 % interval (NaN for a single split).

    Halves of one table share records, so their results are not independent. The interval is therefore that of the
    corrected resampled t of Nadeau & Bengio 2003, Inference for the generalization error, Machine Learning 52,
    section 3.
    """

    mean: float
    half_width: float

    @classmethod
    def of(cls, values: FloatArray, tested_per_trained: float) -> "Estimate":
        """Estimate the mean of J values, with the variance (1/J + n_test/n_train) s^2 and J - 1 degrees of freedom.

        Args:
            values: (splits,) one per split.
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
    """Return (splits,) what the pick loses against the configuration that is best on average over the splits.

    Args:
        results: (splits, configurations) of one model.
        pick: (configurations,) the probability that each is picked.
    """
    return results[:, results.mean(axis=0).argmax()] - results @ pick


def lost_in_split(results: FloatArray, pick: FloatArray) -> FloatArray:
    """Return (splits,) what the pick loses against the best of the same split; never negative."""
    return np.maximum(results.max(axis=1) - results @ pick, 0.0)


def correlations(results: FloatArray, utilities: FloatArray) -> FloatArray:
    """Return (splits,) Spearman's correlation of utilities and results; 0 if one of the two is constant.

    A constant order gets 0 because a random order has a correlation of 0 on average.
    """
    if np.ptp(utilities) == 0:
        return np.zeros(results.shape[0])
    varying = np.ptp(results, axis=1) > 0
    spearman = np.zeros(results.shape[0])
    ranks, ours = stats.rankdata(results[varying], axis=1), stats.rankdata(utilities)
    ranks, ours = ranks - ranks.mean(axis=1, keepdims=True), ours - ours.mean()
    spearman[varying] = ranks @ ours / np.sqrt((ranks**2).sum(axis=1) * (ours @ ours))
    return spearman
