"""What models are trained on, from the columns of a table."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aegis_provider.check.features import Feature
from aegis_provider.check.folds import Fold, Labels
from aegis_provider.classifiers import CLASSIFIERS, LOGISTIC_REGRESSION, RATES, Fitting, Matrix

MODELS: Final = tuple(CLASSIFIERS)
"""The names of the models."""

USUAL: Final = (LOGISTIC_REGRESSION, "gradient boosting")
"""The models of a check, which trains them on many tables: a forest takes longer and ranks these alike."""

# Numbers with more different values have no indicators.
_MOST_INDICATORS: Final = 50


def fitting_of(model: str, features: Sequence[Feature], labels: Labels, train: NDArray[np.intp], fold: Fold) -> Fitting:
    """Return a model to fit, and the records of the fold's test to predict.

    Args:
        model: A name in `MODELS`.
        features: The columns of all records.
        labels: The classes of all records.
        train: The records to train on: those of the fold that the release shows. If it shows none, the shares of the
            classes in the fold are all that is known.
        fold: The fold.
    """
    features = [each for each in features if each.places.min() < each.places.max()]  # others tell nothing
    known, classes = (train if len(train) else fold.train), int(labels.max()) + 1
    if not features or len(np.unique(labels[train])) <= 1:
        nothing = np.zeros((len(labels), 1))
        return Fitting(RATES, nothing[known], labels[known], nothing[fold.test], classes)
    matrix, listed = _columns(features) if model == LOGISTIC_REGRESSION else (_places(features), 0)
    return Fitting(model, matrix[known], labels[known], matrix[fold.test], classes, listed)


def _columns(features: Sequence[Feature]) -> tuple[Matrix, int]:
    """Return the columns of logistic regression, and how many of them are to have indicators."""
    listed = [each for each in features if each.numbers is None or each.distinct <= _MOST_INDICATORS]
    numbers = [each.numbers[each.places] for each in features if each.numbers is not None]
    return np.column_stack([*(each.places for each in listed), *numbers]).astype(np.float64), len(listed)


def _places(features: Sequence[Feature]) -> Matrix:
    return np.column_stack([each.places for each in features]).astype(np.float64)
