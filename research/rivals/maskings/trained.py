"""Models trained on what a masking shows of some records, and tested on others that are masked by the same rules."""

import numpy as np

from aegis_advisor.arrays import FloatArray, IntArray
from aegis_provider.classifiers import CHANCE, LOGISTIC_REGRESSION, Fitting
from research.rivals.maskings.recoding import Masked, given_levels
from research.rivals.maskings.tables import Split
from research.training import quality

MODELS = (LOGISTIC_REGRESSION, "gradient boosting")


def aucs(masked: Masked, split: Split) -> list[float]:
    """Return the AUC of each model (macro average over more than two classes): the classifiers of `aegis check`.

    Logistic regression gets an indicator for each masked value, trees the order of the masked values. Where masked
    values have no order of their own (local recoding), both get the middle of the numbers behind them.
    """
    classes = split.classes[masked.shown]
    if len(np.unique(classes)) < 2:
        return [CHANCE] * len(MODELS)
    train, test = (_matrix(masked, place) for place in (0, 1))
    listed = masked.train.shape[1]
    values = []
    for model in MODELS:
        linear = model == LOGISTIC_REGRESSION
        start = 0 if linear or masked.middles is None else listed
        fitting = Fitting(
            model, train[masked.shown, start:], classes, test[:, start:], split.labels, listed if linear else 0
        )
        values.append(quality(split.truth, fitting.probabilities())[1])
    return values


def _matrix(masked: Masked, place: int) -> FloatArray:
    codes = (masked.train, masked.test)[place].astype(np.float64)
    return codes if masked.middles is None else np.hstack([codes, masked.middles[place]])


def unmasked(split: Split) -> Masked:
    """Return both parts as they are: indicators of the finest given level, and the values in their order."""
    finest = [levels[0] for levels in given_levels(split)]
    train, test = (_finest(finest, part) for part in (split.train, split.test))
    middles = tuple(_as_numbers(split, part) for part in (split.train, split.test))
    return Masked(train, test, np.ones(len(train), dtype=np.bool_), (middles[0], middles[1]))


def _finest(finest: list[IntArray], part: IntArray) -> IntArray:
    return np.stack([level[column] for level, column in zip(finest, part.T, strict=True)], axis=1)


def _as_numbers(split: Split, part: IntArray) -> FloatArray:
    columns = zip(split.numbers, part.T, strict=True)
    return np.stack([codes if numbers is None else numbers[codes] for numbers, codes in columns], axis=1).astype(float)
