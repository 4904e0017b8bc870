"""AUC and accuracy of cross-validated predictions, with what each record contributes to them.

The contributions are influence values: their mean is 0, and their mean square over the number of records is the
variance of the estimate, but for the divisors. A record is compared with those of its fold, whose model saw none of
them (LeDell, Petersen and van der Laan, Computationally efficient confidence intervals for cross-validated area under
the ROC curve estimates, 2015), and its class with that of all folds, since a fold may have few records of a class. For
one fold, this is the variance of DeLong et al. (1988). Estimates on the same records are paired: the difference of two
has the difference of their influence values.

That is how the estimate varies with the records tested, for given models. But models vary, too, and those of different
folds go together: whatever two records of different folds say about each other counts in both folds, once when the one
is tested and once when the other is. So an interval for the AUC to be expected of a model trained on so many records
needs more, by `excess_of`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
import scipy  # loads its parts only when they are used
from numpy.typing import NDArray

from aegis_provider.check.models import Fold, Labels
from aegis_provider.check_result import CHANCE, Interval

_UPPER = 0.975
_UNTESTED = -1

Numbers = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Estimate:
    """A mean over the records.

    Attributes:
        value: The mean.
        influence: (records,) The influence of each record on it, for given models.
        classes: (records,) The class of each record; -1 if it is not tested.
        excess: By what factor its variance is higher because models vary, too.
    """

    value: float
    influence: Numbers
    classes: Labels
    excess: float = 1.0

    def __sub__(self, other: "Estimate") -> "Estimate":
        """Return the difference of two estimates on the same records."""
        excess = (self.excess + other.excess) / 2
        return Estimate(self.value - other.value, self.influence - other.influence, self.classes, excess)

    def share_of(self, whole: "Estimate", nothing: float) -> "Estimate":
        """Return the share of another estimate on the same records that this one is, both counted from `nothing`.

        The influence is that of a ratio, by the delta method.
        """
        above = whole.value - nothing
        share = (self.value - nothing) / above
        excess = (self.excess + whole.excess) / 2
        return Estimate(share, (self.influence - share * whole.influence) / above, self.classes, excess)

    def interval(self, least: float = -1.0, most: float = 1.0) -> Interval:
        """Return the 95 % interval by Student's distribution, cut to `least` and `most`.

        The spread within a class of few records is uncertain, too: the variance is a sum over the classes, each with
        the divisor of DeLong et al., and has the degrees of freedom of such a sum (Satterthwaite, An approximate
        distribution of estimates of variance components, 1946).
        """
        tested = self.classes != _UNTESTED
        classes, squares = self.classes[tested], self.influence[tested] ** 2
        others = np.maximum(np.bincount(classes) - 1, 1)
        variances = np.bincount(classes, squares) * (others + 1) / others / len(self.influence) ** 2
        whole, uncertain = float(variances.sum()), float(np.sum(variances**2 / others))
        t = float(scipy.special.stdtrit(whole**2 / uncertain, _UPPER)) if uncertain > 0 else 0.0
        width = t * sqrt(self.excess * whole)
        return Interval(self.value, max(least, self.value - width), min(most, self.value + width))


def auc(
    probabilities: Numbers, labels: Labels, folds: Sequence[Fold], on_trained: Sequence[float] | None = None
) -> Estimate:
    """Return the AUC: the mean over the folds, and over the classes by their numbers of records.

    With two classes this is the AUC of either of them. With more, each class is compared with the rest.

    Args:
        probabilities: (records, classes) From the model that did not see the record.
        labels: (records,) The class of each record; every fold has every class.
        folds: The folds.
        on_trained: The AUC of the model of each fold on the records that it was trained on; without it, the estimate is
            for given models.
    """
    values, classes = np.zeros(len(folds)), np.full(len(labels), _UNTESTED)
    influence, of_fold = np.zeros((2, len(labels)))
    for place, fold in enumerate(folds):
        tested = labels[fold.test]
        one = weighted_auc(probabilities[fold.test], tested)
        # Each fold counts alike, so the records of a smaller fold count for slightly more.
        weight = len(labels) / (len(folds) * len(fold.test))
        values[place], classes[fold.test] = one.value, tested
        influence[fold.test] = one.influence * weight
        of_fold[fold.test] = _on_all(tested) * weight
    mean = float(values.mean())
    for value, fold in zip(values, folds, strict=True):
        influence[fold.test] += (value - mean) * of_fold[fold.test]
    estimate = Estimate(mean, influence, classes)
    if on_trained is None:
        return estimate
    return replace(estimate, excess=excess_of(noise_of(estimate.value, float(np.mean(on_trained))), len(folds)))


def noise_of(tested: float, trained: float) -> float:
    """Return which share of what a model says about new records is chance in the records that it was trained on.

    `1 - Phi^-1(tested) / Phi^-1(trained)` for a linear model and two normal classes of one covariance, if its AUC is
    `tested` on new records and `trained` on those that it was trained on (`docs/model.md`).
    """
    if tested <= CHANCE:
        return 1.0
    if tested >= trained:
        return 0.0
    return float(1 - scipy.special.ndtri(tested) / scipy.special.ndtri(trained))


def excess_of(noise: float, folds: int) -> float:
    """Return by what factor the variance of a cross-validated AUC is higher than that for given models.

    For a linear model and two normal classes of one covariance, to the second order (`docs/model.md` derives it): what
    single records add, tested and trained on; what pairs of different folds add, and pairs of the same one. It is 2 if
    a model says nothing but chance, and 1 if it says none.

    Args:
        noise: The share of what the model says that is chance (`noise_of`).
        folds: The number of folds. One fold of a large table, tested alone, varies like two.
    """
    known, others = 1 - noise, max(1, folds - 1)
    apart, together = 1 - known * (others - 1) / (2 * others), known**2 / (4 * others)
    return known * (1 + noise) ** 2 + 2 * noise * (apart**2 + together)


def accuracy(probabilities: Numbers, labels: Labels) -> Estimate:
    """Return the share of the records whose most probable class is the true one."""
    right = (probabilities.argmax(axis=1) == labels).astype(np.float64)
    return Estimate(float(right.mean()), right - right.mean(), labels)


def weighted_auc(probabilities: Numbers, labels: Labels) -> Estimate:
    """Return the mean AUC of the classes against the rest, weighted by their records; every class has some.

    Args:
        probabilities: (records, classes).
        labels: (records,) The class of each record.
    """
    shares = np.bincount(labels) / len(labels)
    each = [one_against_rest(probabilities[:, place], labels == place) for place in range(len(shares))]
    influence = np.sum([share * one.influence for share, one in zip(shares, each, strict=True)], axis=0)
    return Estimate(float(shares @ [one.value for one in each]), influence, labels)


def _on_all(labels: Labels) -> Numbers:
    """(records,) The influence of each record on an AUC that is 1 higher for all pairs that the record is in."""
    shares = np.bincount(labels) / len(labels)
    odds = shares / (1 - shares)
    lift: Numbers = 1 + odds.sum() - odds[labels]
    return lift


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
    return Estimate(value, (above - value) / shares, positive.astype(np.intp))


def _ranks(scores: Numbers) -> Numbers:
    """(scores,) The rank of each, from 1; equal ones share their mean rank.

    The same as `scipy.stats.rankdata`, whose module takes half a second to load in every run.
    """
    _, places, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks: Numbers = (np.cumsum(counts) - (counts - 1) / 2)[places]
    return ranks
