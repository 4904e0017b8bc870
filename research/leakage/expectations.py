"""What a model should reach with one attribute, by the advisor's formulas, of many tables at once.

`aegis_advisor.expected` takes one table at a time. With one attribute its made-up records have the shares of the masked
values, so that the values themselves stand for them here.
"""

import numpy as np
from scipy.special import expit, logit

from aegis_advisor.arrays import FloatArray
from aegis_advisor.expected.performance import TRAINED

_LINK_STEPS = 8
_SURE = 1e-4
_LEAST = 1e-300


def expectations(tables: FloatArray) -> FloatArray:
    """(2, ...) the AUC and the accuracy that are expected of each table (..., rows, labels) of counts."""
    total = tables.sum(axis=(-2, -1))
    shares, classes = tables.sum(axis=-1) / total[..., np.newaxis], tables.sum(axis=-2) / total[..., np.newaxis]
    told = slice(1, 2) if tables.shape[-1] == 2 else slice(None)
    inside, of_class = (np.moveaxis(one, -1, 0)[told] for one in (tables, classes))
    chances = _told(inside, shares, of_class, total)
    areas = _area(chances, chances, shares)
    if len(chances) == 1:
        return np.stack([areas[0], np.sum(shares * np.maximum(chances[0], 1 - chances[0]), axis=-1)])
    among = chances / np.maximum(chances.sum(axis=0), _LEAST)
    areas = np.maximum(areas, _area(among, among, shares))
    return np.stack([areas.mean(axis=0), np.sum(shares * among.max(axis=0), axis=-1)])


def _told(inside: FloatArray, shares: FloatArray, of_class: FloatArray, total: FloatArray) -> FloatArray:
    """The chance (classes, ..., rows) of each class by its share of a row, or by its log odds if that does better.

    Args:
        inside: (classes, ..., rows) the records of each class.
        of_class: (classes, ...) its share of all.
    """
    share, kept = of_class[..., np.newaxis], np.maximum(np.count_nonzero(shares, axis=-1) - 1, 0)
    known = np.where(shares > 0, inside / np.maximum(shares * total[..., np.newaxis], _LEAST), share)
    scores = np.stack([known, logit(np.clip(known, _SURE, 1 - _SURE))])
    scores = scores - np.sum(shares * scores, axis=-1, keepdims=True)
    spread = np.maximum(np.sum(shares * scores**2, axis=-1), _LEAST)
    explained = np.sum(shares * scores * known, axis=-1) ** 2 / np.maximum(spread * of_class * (1 - of_class), _LEAST)
    adjusted = np.maximum(explained - (1 - explained) * kept / np.maximum(total - 1 - kept, 1), 0.0)
    reached = _generalised(adjusted, kept, total)
    chances = _linked(scores / np.sqrt(spread)[..., np.newaxis], shares, share, reached)
    first, second = _area(chances, chances, shares)
    return np.where((second > first)[..., np.newaxis], chances[1], chances[0])


def _generalised(adjusted: FloatArray, kept: FloatArray, total: FloatArray) -> FloatArray:
    """`aegis_advisor.expected.performance.generalised`, in arrays."""
    chance = 2 * kept * (1 - adjusted) ** 2 / ((total - 1) * np.maximum(total - kept + 1, 1))
    fourth, trained = np.maximum(adjusted**2 - chance, 0.0), TRAINED * total
    below = (trained - 2 * kept - 2) * adjusted + kept
    reached = np.maximum((trained - kept - 3) * fourth + adjusted, 0.0) / np.where(below > 0, below, 1.0)
    return np.where(below > 0, np.minimum(reached, adjusted), 0.0)


def _linked(scores: FloatArray, shares: FloatArray, share: FloatArray, reached: FloatArray) -> FloatArray:
    """`aegis_advisor.expected.logistic.linked`, in arrays: a logistic curve of a score (..., rows)."""
    certain = np.clip(share, _SURE, 1 - _SURE)
    wanted = np.sqrt(reached[..., np.newaxis] * share * (1 - share))
    base, slope = logit(certain) + 0 * wanted, wanted / (certain * (1 - certain))
    for _ in range(_LINK_STEPS):
        chance = expit(base + slope * scores)
        weight = shares * chance * (1 - chance)
        flat, lean, steep = (np.sum(weight * scores**power, axis=-1, keepdims=True) for power in range(3))
        off = share - np.sum(shares * chance, axis=-1, keepdims=True)
        out = wanted - np.sum(shares * scores * chance, axis=-1, keepdims=True)
        scale = np.maximum(flat * steep - lean**2, 1e-15)
        base = base + np.clip((steep * off - lean * out) / scale, -2, 2)
        slope = slope + np.clip((flat * out - lean * off) / scale, -2, 2)
    return expit(base + slope * scores)


def _area(scores: FloatArray, chances: FloatArray, shares: FloatArray) -> FloatArray:
    """(...) the AUC of scores (..., rows) for a class with these chances; half of the ties count."""
    inside, outside = shares * chances, shares * (1 - chances)
    above = np.sign(np.round(scores[..., :, np.newaxis] - scores[..., np.newaxis, :], 12)) / 2 + 0.5
    won = np.einsum("...i,...ij,...j->...", inside, above, outside)
    both = inside.sum(axis=-1) * outside.sum(axis=-1)
    return np.where(both > 0, won / np.where(both > 0, both, 1.0), 0.5)
