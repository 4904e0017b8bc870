"""AUC and accuracy of cross-validated predictions, with the influence of each record on them.

Influence values have a mean of 0, and their mean square over the number of records is the variance of the estimate,
apart from divisors. A record is compared with those of its fold, which its model has not seen (LeDell, Petersen and van
der Laan, Computationally efficient confidence intervals for cross-validated area under the ROC curve estimates, 2015),
and its class with that of all folds, since a fold may have few records of a class. For one fold, this is the variance
of DeLong et al. (1988). Estimates on the same records are paired: the influence on a difference is the difference of
the influences.

This is the variance over test records for given models. But models vary, too, and across folds they are correlated: two
records of different folds affect each other twice, each once as a test record. So the interval for the expected AUC of
a model trained on this many records is wider, by `excess_of`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
import scipy  # loads its submodules on first use
from numpy.typing import NDArray

from aegis_provider.check.masked_records import Fold, Labels
from aegis_provider.classifiers import CHANCE, Interval

_UPPER = 0.975
_UNTESTED = -1

Numbers = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Estimate:
    """A mean over the records.

    Attributes:
        influence: (records,) The influence of each record on it, for given models.
        classes: (records,) The class of each record; -1 if not tested.
        excess: The factor by which its variance grows because models vary.
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
        """Return this estimate as a share of another, both counted from `nothing`, by the delta method."""
        above = whole.value - nothing
        share = (self.value - nothing) / above
        excess = (self.excess + whole.excess) / 2
        return Estimate(share, (self.influence - share * whole.influence) / above, self.classes, excess)

    def interval(self, least: float = -1.0, most: float = 1.0) -> Interval:
        """Return the 95 % interval by Student's distribution, cut to `least` and `most`.

        The variance within a small class is itself uncertain. The total is a sum over the classes, each with the
        divisor of DeLong et al., with the degrees of freedom of such a sum (Satterthwaite, An approximate distribution
        of estimates of variance components, 1946).
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
    """Return the AUC: the mean over the folds, and over the classes weighted by their records.

    With two classes this is the AUC of either. With more, each class is compared with the rest.

    Args:
        probabilities: (records, classes) From the model that did not see the record.
        labels: (records,) The class of each record; every fold has every class.
        on_trained: The AUC of each fold's model on its training records; without it, the estimate is for given models.
    """
    values, classes = np.zeros(len(folds)), np.full(len(labels), _UNTESTED)
    influence, of_fold = np.zeros((2, len(labels)))
    for place, fold in enumerate(folds):
        tested = labels[fold.test]
        one = weighted_auc(probabilities[fold.test], tested)
        # All folds have equal weight, so records of a smaller fold have slightly more.
        weight = len(labels) / (len(folds) * len(fold.test))
        values[place], classes[fold.test] = one.value, tested
        influence[fold.test] = one.influence * weight
        shares = np.bincount(tested) / len(tested)
        odds = shares / (1 - shares)
        won: Numbers = 1 + odds.sum() - odds[tested]  # the influence of each record if it won all of its pairs
        of_fold[fold.test] = won * weight
    mean = float(values.mean())
    for value, fold in zip(values, folds, strict=True):
        influence[fold.test] += (value - mean) * of_fold[fold.test]
    estimate = Estimate(mean, influence, classes)
    if on_trained is None:
        return estimate
    return replace(estimate, excess=excess_of(noise_of(estimate.value, float(np.mean(on_trained))), len(folds)))


def noise_of(tested: float, trained: float) -> float:
    """Return the share of a model's score on new records that is due to chance in its training records.

    `1 - Phi^-1(tested) / Phi^-1(trained)` for a linear model and two normal classes of one covariance, if its AUC is
    `tested` on new records and `trained` on its training records (`docs/model.md`).
    """
    if tested <= CHANCE:
        return 1.0
    if tested >= trained:
        return 0.0
    return float(1 - scipy.special.ndtri(tested) / scipy.special.ndtri(trained))


def excess_of(noise: float, folds: int) -> float:
    """Return the factor by which the variance of a cross-validated AUC exceeds that for given models.

    For a linear model and two normal classes of one covariance, to the second order (`docs/model.md` derives it): the
    contributions of single test and training records, of pairs of different folds, and of pairs of the same fold. It is
    2 for a score of pure chance, and 1 for a score without chance.

    Args:
        noise: The share of the score that is chance (`noise_of`).
        folds: The number of folds. One fold of a large table, tested alone, varies like two.
    """
    known, others = 1 - noise, max(1, folds - 1)
    apart, together = 1 - known * (others - 1) / (2 * others), known**2 / (4 * others)
    return known * (1 + noise) ** 2 + 2 * noise * (apart**2 + together)


def accuracy(probabilities: Numbers, labels: Labels) -> Estimate:
    """Return the share of the records whose most probable class is the true one."""
    right = (probabilities.argmax(axis=1) == labels).astype(np.float64)
    return Estimate(float(right.mean()), right - right.mean(), labels)


def r_squared(
    predicted: Numbers, numbers: Numbers, labels: Labels, tested: Sequence[Fold], on_trained: Sequence[float] = ()
) -> Estimate:
    """Return the share of the variance of numbers that predictions explain, `1 - MSE / variance`, in these folds.

    The intervals' excess is that of a score whose share of chance is that by which `R^2` is higher on the training
    records, as for an AUC.

    Args:
        predicted: (records,) By the model that did not see the record.
        numbers: (records,) The true ones.
        labels: (records,) The class of each record, among which its influence is compared.
        on_trained: `R^2` of each fold's model on its training records.
    """
    places = np.concatenate([fold.test for fold in tested])
    errors, apart = (predicted - numbers)[places] ** 2, (numbers[places] - numbers[places].mean()) ** 2
    mean, variance = float(errors.mean()), float(apart.mean())
    classes, influence = np.full(len(numbers), _UNTESTED), np.zeros(len(numbers))
    classes[places] = labels[places]
    weight = len(numbers) / len(places)
    influence[places] = weight * (mean / variance * (apart - variance) - (errors - mean)) / variance
    value, trained = 1 - mean / variance, float(np.mean(on_trained)) if len(on_trained) else 0.0
    noise = min(1.0, max(0.0, 1 - value / trained)) if trained > 0 else 1.0
    return Estimate(value, influence, classes, excess_of(noise, len(tested)) if len(on_trained) else 1.0)


def root_mean_square(predicted: Numbers, numbers: Numbers, labels: Labels) -> Estimate:
    """Return the root of the mean squared error of predictions (records,), in the unit of the numbers."""
    errors = (predicted - numbers) ** 2
    root = sqrt(float(errors.mean()))
    return Estimate(root, (errors - errors.mean()) / (2 * root) if root else np.zeros(len(errors)), labels)


def weighted_auc(probabilities: Numbers, labels: Labels) -> Estimate:
    """Return the mean AUC of each class against the rest, weighted by records, from (records, classes) numbers."""
    shares = np.bincount(labels) / len(labels)
    each = [one_against_rest(probabilities[:, place], labels == place) for place in range(len(shares))]
    influence = np.sum([share * one.influence for share, one in zip(shares, each, strict=True)], axis=0)
    return Estimate(float(shares @ [one.value for one in each]), influence, labels)


def one_against_rest(scores: Numbers, positive: NDArray[np.bool_]) -> Estimate:
    """Return the AUC of scores: the probability that a positive record scores higher, where ties count half.

    A positive record contributes the share of negatives below it, a negative one the share of positives above it.
    """
    ranks, above = _ranks(scores), np.zeros(len(scores))
    positives, negatives = int(positive.sum()), int((~positive).sum())
    above[positive] = (ranks[positive] - _ranks(scores[positive])) / negatives
    above[~positive] = 1 - (ranks[~positive] - _ranks(scores[~positive])) / positives
    value = float(above[positive].mean())
    shares = np.where(positive, positives, negatives) / len(scores)
    return Estimate(value, (above - value) / shares, positive.astype(np.intp))


def _ranks(scores: Numbers) -> Numbers:
    """(scores,) The ranks from 1, as by `scipy.stats.rankdata`, whose module takes half a second to load."""
    _, places, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks: Numbers = (np.cumsum(counts) - (counts - 1) / 2)[places]
    return ranks
