"""Logistic regression on made-up records, with the shares of the class that the counts give."""

from typing import Final

import numpy as np
from scipy.special import expit, logit

from aegis_advisor.arrays import FloatArray, IntArray

STEPS: Final = 6
LONGEST: Final = 3.0
"""The most that a step moves a weight."""

LINK_STEPS: Final = 60
CLOSE: Final = 1e-10


def fitted(places: IntArray, values: int, shares: FloatArray, weights: FloatArray, ridge: float) -> FloatArray:
    """Newton's method from these weights; return the weights (values,) of the masked values.

    The records say which masked values occur together, the counts how often the class occurs with each. The weights
    are those at which the modelled share of the class agrees with its share in every masked value, but for the ridge.

    Args:
        places: (records, attributes) the place in `weights` of each masked value.
        values: how many masked values there are in all.
        shares: (values,) the share of the class among the records of each masked value.
        ridge: the penalty on squared weights, by record: `1 / n` is scikit-learn's default for `n` records.
    """
    records, attributes = places.shape
    indicators = np.zeros((records, values))
    indicators[np.arange(records)[:, np.newaxis], places] = 1.0
    frequencies = indicators.mean(axis=0)
    design = np.hstack([np.ones((records, 1)), indicators])
    wanted = np.concatenate([[(frequencies * shares).sum() / attributes], frequencies * shares])
    penalty = np.concatenate([[0.0], np.full(values, ridge)])
    start = logit(np.clip(wanted[0], 1e-9, 1 - 1e-9))  # counts that are not exact may leave no record of a class
    solution = np.concatenate([[float(start)], weights])
    for _ in range(STEPS):
        modelled = expit(design @ solution)
        curvature = (design * (modelled * (1 - modelled) / records)[:, np.newaxis]).T @ design
        slope = wanted - modelled @ design / records - penalty * solution
        step = np.linalg.solve(curvature + np.diag(penalty + 1e-10), slope)
        solution = solution + step * min(1.0, LONGEST / max(float(np.abs(step).max()), 1e-300))
    return np.asarray(solution[1:])


def linked(score: FloatArray, share: float, explained: float) -> FloatArray:
    """The chances of a class (records,) that rise with a score as a logistic curve.

    Their mean is the share of the class, and the score explains this part of the class's variance.

    Args:
        score: (records,) with the mean 0 and the variance 1.
    """
    wanted = np.sqrt(explained * share * (1 - share))
    line = np.array([logit(share), wanted / (share * (1 - share))])
    design = np.stack([np.ones(score.size), score])
    for _ in range(LINK_STEPS):
        chance = expit(line @ design)
        lacking = np.array([share, wanted]) - design @ chance / score.size
        if np.abs(lacking).max() < CLOSE:
            break
        curvature = (design * (chance * (1 - chance))) @ design.T / score.size
        step = np.linalg.solve(curvature + 1e-12 * np.eye(2), lacking)
        line = line + step * min(1.0, 2 / max(float(np.abs(step).max()), 1e-300))
    return np.asarray(expit(line @ design))


def area(score: FloatArray, chance: FloatArray) -> float:
    """The expected AUC of a score (records,) for a class with these chances; half of the ties count."""
    _, place = np.unique(np.round(score, 9), return_inverse=True)
    inside, outside = np.bincount(place, chance), np.bincount(place, 1 - chance)
    below = np.cumsum(outside) - outside / 2
    return float(inside @ below / (inside.sum() * outside.sum()))
