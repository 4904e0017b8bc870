"""How well an order of offers agrees with what their releases are worth."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from aegis_advisor.arrays import BoolArray, FloatArray

BEST_OF = 3


@dataclass(frozen=True)
class Agreement:
    """An order of a task's offers beside the AUC of their releases.

    Attributes:
        spearman: of all offers.
        clean: of those without noise in their labels.
        first: the AUC of the best offer less that of the first in this order.
        few: the same for the best of the first three.
    """

    spearman: float
    clean: float
    first: float
    few: float

    @classmethod
    def of(cls, key: FloatArray, truth: FloatArray, clean: BoolArray) -> "Agreement":
        """Compare keys (offers,), of which the highest comes first, with AUCs (offers,)."""
        spearmans = spearman(key, truth), spearman(key[clean], truth[clean])
        return cls(*spearmans, regret(key, truth, 1), regret(key, truth, BEST_OF))


def spearman(key: FloatArray, truth: FloatArray) -> float:
    """Spearman's correlation, with the mean rank for ties; 0 for keys that are all alike."""
    ranks = rankdata(key), rankdata(truth)
    return 0.0 if np.ptp(ranks[0]) == 0 else float(np.corrcoef(*ranks)[0, 1])


def regret(key: FloatArray, truth: FloatArray, count: int) -> float:
    """What is lost by the best of the first so many offers; equal keys are in the order of publication."""
    first = np.argsort(-key, kind="stable")[:count]
    return float(truth.max() - truth[first].max())


def whole(halves: Sequence[float]) -> float:
    """The correlation of a sample with another one, from those of its halves (Spearman and Brown 1910)."""
    mean = float(np.mean(halves))
    return 2 * mean / (1 + mean)
