"""The training data of models, from the columns of a table."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aegis_provider.classifiers import CLASSIFIERS, LOGISTIC_REGRESSION, RATES, Fitting, Matrix, stratified
from aegis_provider.counting.counts import Places
from aegis_provider.processes import results
from aegis_provider.records import NUMERIC, as_numbers
from aegis_provider.table.values import MISSING, Domain, infer_type


@dataclass(frozen=True, eq=False)
class Feature:
    """A column of a table.

    Attributes:
        name: The attribute.
        places: (records,) The place of each value in the order of the domain.
        numbers: (values,) The number of each value, NaN if it is missing; `None` if the values are categories.
    """

    name: str
    places: Places
    numbers: NDArray[np.float64] | None

    @property
    def distinct(self) -> int:
        """The number of different values that occur."""
        return len(np.unique(self.places))


def masked_numbers(texts: Sequence[str], original: Domain) -> NDArray[np.float64] | None:
    """(masked values,) The numbers of masked values, which are numbers only if the unmasked values are."""
    if original.value_type not in NUMERIC or infer_type(texts) not in NUMERIC:
        return None
    return as_numbers([None if text == MISSING else text for text in texts])


Labels: TypeAlias = NDArray[np.intp]
"""(records,) The class of each record, from 0."""


@dataclass(frozen=True, eq=False)
class Fold:
    """The records to train on and those to test on, as ascending indices."""

    train: NDArray[np.intp]
    test: NDArray[np.intp]


def folds_of(labels: Labels, count: int, seed: int) -> list[Fold]:
    """Split the records at random, with about the same share of each class in every fold; each class has `count`
    records.
    """
    [split] = results([partial(stratified, labels, count, seed)], len(labels))
    return [Fold(train, test) for train, test in split]


MODELS: Final = tuple(CLASSIFIERS)
"""The names of the models."""

USUAL: Final = (LOGISTIC_REGRESSION, "gradient boosting")
"""The models of a check, which trains many: a forest takes longer and ranks tables alike."""

# Numbers with more different values have no indicators.
_MOST_INDICATORS: Final = 50


def fitting_of(model: str, features: Sequence[Feature], labels: Labels, train: NDArray[np.intp], fold: Fold) -> Fitting:
    """Return a model to fit, and the records of the fold's test to predict.

    Args:
        model: A name in `MODELS`.
        features: The columns of all records.
        labels: The classes of all records.
        train: The records of the fold that the release shows, to train on. If there are none, only the shares of the
            classes in the fold are used.
        fold: The fold.
    """
    features = [feature for feature in features if feature.places.min() < feature.places.max()]  # others tell nothing
    known, classes = (train if len(train) else fold.train), int(labels.max()) + 1
    if not features or len(np.unique(labels[train])) <= 1:
        nothing = np.zeros((len(labels), 1))
        return Fitting(RATES, nothing[known], labels[known], nothing[fold.test], classes)
    matrix, listed = _columns(features) if model == LOGISTIC_REGRESSION else (_places(features), 0)
    return Fitting(model, matrix[known], labels[known], matrix[fold.test], classes, listed)


def _columns(features: Sequence[Feature]) -> tuple[Matrix, int]:
    """Return the columns of logistic regression, and how many of them get indicators."""
    listed = [feature for feature in features if feature.numbers is None or feature.distinct <= _MOST_INDICATORS]
    numbers = [feature.numbers[feature.places] for feature in features if feature.numbers is not None]
    return np.column_stack([*(each.places for each in listed), *numbers]).astype(np.float64), len(listed)


def _places(features: Sequence[Feature]) -> Matrix:
    return np.column_stack([feature.places for feature in features]).astype(np.float64)
