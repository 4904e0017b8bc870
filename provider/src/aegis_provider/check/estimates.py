"""AUC and accuracy of cross-validated predictions, with what each record contributes to them.

The contributions are influence values: their mean is 0, and their mean square over the number of records is the
variance of the estimate. They are computed within each fold, whose model saw none of its records (LeDell, Petersen and
van der Laan, Computationally efficient confidence intervals for cross-validated area under the ROC curve estimates,
2015). Within a fold, this is the variance of DeLong et al. (1988). Estimates on the same records are paired: the
difference of two has the difference of their influence values.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aegis_provider.check.folds import Fold, Labels
from aegis_provider.check.result import Interval

_CONFIDENCE = 1.96

Numbers = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Estimate:
    """A mean over the records, and (records,) the influence of each on it."""

    value: float
    influence: Numbers

    def __sub__(self, other: "Estimate") -> "Estimate":
        """Return the difference of two estimates on the same records."""
        return Estimate(self.value - other.value, self.influence - other.influence)

    def share_of(self, whole: "Estimate", nothing: float) -> "Estimate":
        """Return the share of another estimate on the same records that this one is, both counted from `nothing`.

        The influence is that of a ratio, by the delta method.
        """
        above = whole.value - nothing
        share = (self.value - nothing) / above
        return Estimate(share, (self.influence - share * whole.influence) / above)

    def interval(self, least: float = -1.0, most: float = 1.0) -> Interval:
        """Return the 95 % interval by the normal distribution, cut to `least` and `most`."""
        width = _CONFIDENCE * float(np.sqrt(np.mean(self.influence**2) / len(self.influence)))
        return Interval(self.value, max(least, self.value - width), min(most, self.value + width))


def auc(probabilities: Numbers, labels: Labels, folds: Sequence[Fold]) -> Estimate:
    """Return the AUC: the mean over the folds, and over the classes by their numbers of records.

    With two classes this is the AUC of either of them. With more, each class is compared with the rest.

    Args:
        probabilities: (records, classes) From the model that did not see the record.
        labels: (records,) The class of each record; every fold has every class.
        folds: The folds.
    """
    values, influence = np.zeros(len(folds)), np.zeros(len(labels))
    for place, fold in enumerate(folds):
        one = weighted_auc(probabilities[fold.test], labels[fold.test])
        values[place] = one.value
        # Each fold counts alike, so the records of a smaller fold count for slightly more.
        influence[fold.test] = one.influence * len(labels) / (len(folds) * len(fold.test))
    return Estimate(float(values.mean()), influence)


def accuracy(probabilities: Numbers, labels: Labels) -> Estimate:
    """Return the share of the records whose most probable class is the true one."""
    right = (probabilities.argmax(axis=1) == labels).astype(np.float64)
    return Estimate(float(right.mean()), right - right.mean())


def weighted_auc(probabilities: Numbers, labels: Labels) -> Estimate:
    """Return the mean AUC of the classes against the rest, weighted by their records; every class has some.

    Args:
        probabilities: (records, classes).
        labels: (records,) The class of each record.
    """
    shares = np.bincount(labels) / len(labels)
    each = [one_against_rest(probabilities[:, place], labels == place) for place in range(len(shares))]
    influence = np.sum([share * one.influence for share, one in zip(shares, each, strict=True)], axis=0)
    return Estimate(float(shares @ [one.value for one in each]), influence)


def one_against_rest(scores: Numbers, positive: NDArray[np.bool_]) -> Estimate:
    """Return the AUC of scores: the chance that a positive record has the higher one, where equal ones count half.

    A positive record contributes the share of the others below it, a negative one the share of the positives above it.
    """
    ranks, above = _ranks(scores), np.zeros(len(scores))
    positives, negatives = int(positive.sum()), int((~positive).sum())
    above[positive] = (ranks[positive] - _ranks(scores[positive])) / negatives
    above[~positive] = 1 - (ranks[~positive] - _ranks(scores[~positive])) / positives
    value = float(above[positive].mean())
    shares = np.where(positive, positives, negatives) / len(scores)
    return Estimate(value, (above - value) / shares)


def _ranks(scores: Numbers) -> Numbers:
    """(scores,) The rank of each, from 1; equal ones share their mean rank.

    The same as `scipy.stats.rankdata`, whose module takes half a second to load in every run.
    """
    _, places, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks: Numbers = (np.cumsum(counts) - (counts - 1) / 2)[places]
    return ranks
