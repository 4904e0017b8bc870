"""What a ranker is worth: what its pick loses against the best, and whether its order is that of the results."""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from app.advisor.arrays import FloatArray

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Estimate:
    """A mean over splits and the half-width of its 95 % interval (Student's t); not a number where there is none."""

    mean: float
    half_width: float

    @classmethod
    def of(cls, values: FloatArray) -> "Estimate":
        """From one value of each split (splits,)."""
        if values.size < 2 or np.ptp(values) == 0:
            return cls(float(values.mean()), 0.0 if values.size > 1 else np.nan)
        quantile = stats.t.ppf((1 + CONFIDENCE) / 2, values.size - 1)
        return cls(float(values.mean()), float(quantile * stats.sem(values)))

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
    found = np.zeros(results.shape[0])
    ranks, ours = stats.rankdata(results[varying], axis=1), stats.rankdata(utilities)
    ranks, ours = ranks - ranks.mean(axis=1, keepdims=True), ours - ours.mean()
    found[varying] = ranks @ ours / np.sqrt((ranks**2).sum(axis=1) * (ours @ ours))
    return found
