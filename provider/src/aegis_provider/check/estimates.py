"""AUC and accuracy of cross-validated predictions, with what each record contributes to them.

The contributions are influence values: their mean is 0, and their mean square over the number of records is the
variance of the estimate. They are computed within each fold, whose model saw none of its records (LeDell, Petersen and
van der Laan, Computationally efficient confidence intervals for cross-validated area under the ROC curve estimates,
2015). Within a fold, this is the variance of DeLong et al. (1988). Estimates on the same records are paired: the
difference of two has the difference of their influence values.

That is how the estimate varies with the records tested, for given models. But models vary, too, and those of different
folds go together: whatever two records of different folds say about each other counts in both folds, once when the one
is tested and once when the other is. So an interval for the AUC to be expected of a model trained on so many records
needs more, by `excess`. No unbiased estimate of it exists (Bengio and Grandvalet, No unbiased estimator of the variance
of k-fold cross-validation, 2004), and the folds' AUCs differ no more than the records tested explain.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from aegis_provider.check.folds import Fold, Labels
from aegis_provider.check.result import CHANCE, Interval

_CONFIDENCE = 1.96

# So many standard errors above chance, pairs of records add as much as the records tested; beyond, less.
_PAIRS_MATTER = 2.5

Numbers = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Estimate:
    """A mean over the records.

    Attributes:
        value: The mean.
        influence: (records,) The influence of each record on it, for given models.
        excess: By what factor its variance is higher because models vary, too.
    """

    value: float
    influence: Numbers
    excess: float = 1.0

    def __sub__(self, other: "Estimate") -> "Estimate":
        """Return the difference of two estimates on the same records."""
        excess = (self.excess + other.excess) / 2
        return Estimate(self.value - other.value, self.influence - other.influence, excess)

    def share_of(self, whole: "Estimate", nothing: float) -> "Estimate":
        """Return the share of another estimate on the same records that this one is, both counted from `nothing`.

        The influence is that of a ratio, by the delta method.
        """
        above = whole.value - nothing
        share = (self.value - nothing) / above
        excess = (self.excess + whole.excess) / 2
        return Estimate(share, (self.influence - share * whole.influence) / above, excess)

    @property
    def error(self) -> float:
        """The standard error."""
        return float(np.sqrt(self.excess * np.mean(self.influence**2) / len(self.influence)))

    def interval(self, least: float = -1.0, most: float = 1.0) -> Interval:
        """Return the 95 % interval by the normal distribution, cut to `least` and `most`."""
        width = _CONFIDENCE * self.error
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
    estimate = Estimate(float(values.mean()), influence)
    return replace(estimate, excess=excess_of(estimate))


def excess_of(estimate: Estimate) -> float:
    """Return by what factor the variance of a cross-validated AUC is higher than that for given models.

    If the label is random, all that an AUC consists of is what two records say about each other, each counted twice:
    its variance is doubled. The more the AUC is above chance, the less models vary. That they add 2.5 standard errors
    over its distance from chance was found on made-up tables (`docs/model.md`).

    Args:
        estimate: The AUC for given models.
    """
    return 1 + min(1.0, _PAIRS_MATTER * estimate.error / max(abs(estimate.value - CHANCE), 1e-9))


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
