"""The models that are trained: a linear one, a forest and a boosted one, with usual settings and a fixed seed.

*Logistic regression* gets an indicator for each value, and rare values of an attribute share one. It also gets numbers
as numbers, standardised; those with many different values only so. *Random forest* and *gradient boosting* get the
places of the values in their order: trees cut an order wherever they need to, and masked values keep the order of the
values that they mask.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from aegis_provider.check.features import Feature
from aegis_provider.check.folds import Fold, Labels

Matrix: TypeAlias = NDArray[np.float64]

# Numbers with more different values have no indicators.
_MOST_INDICATORS: Final = 50
# Values with fewer records in the training folds share an indicator.
_RARE: Final = 10
_ITERATIONS: Final = 200
_TREES: Final = 60
_LEAVES: Final = 15
_FOREST: Final = 100
# A leaf of fewer records says too little about its probabilities.
_IN_A_LEAF: Final = 5


def predicted(model: str, features: Sequence[Feature], labels: Labels, train: NDArray[np.intp], fold: Fold) -> Matrix:
    """(tested records, classes) Train a model and return its probabilities for the records of the fold's test.

    Args:
        model: A name in `MODELS`.
        features: The columns of all records.
        labels: The classes of all records.
        train: The records to train on: those of the fold that the release shows.
        fold: The fold.
    """
    classes = int(labels.max()) + 1
    known = np.unique(labels[train])
    features = [each for each in features if each.places.min() < each.places.max()]  # others tell nothing
    if not features or len(known) < 2:  # noqa: PLR2004 - one class, or none
        return np.tile(base_rates(labels, train if len(train) else fold.train), (len(fold.test), 1))
    matrix, pipeline = MODELS[model](features)
    probabilities = np.zeros((len(fold.test), classes))
    pipeline.fit(matrix[train], labels[train])
    probabilities[:, known] = pipeline.predict_proba(matrix[fold.test])
    return probabilities


def base_rates(labels: Labels, train: NDArray[np.intp]) -> NDArray[np.float64]:
    """(classes,) The share of each class among some records, which is all that nothing else tells."""
    counts = np.bincount(labels[train], minlength=int(labels.max()) + 1)
    return counts / len(train)


def _linear(features: Sequence[Feature]) -> tuple[Matrix, Any]:
    """Return the columns and the pipeline of logistic regression."""
    listed = [each.places for each in features if each.numbers is None or each.distinct <= _MOST_INDICATORS]
    numbers = [each.numbers[each.places] for each in features if each.numbers is not None]
    indicators = OneHotEncoder(min_frequency=_RARE, handle_unknown="infrequent_if_exist")
    scaled = make_pipeline(SimpleImputer(add_indicator=True, keep_empty_features=True), StandardScaler())
    parts = [
        ("indicators", indicators, list(range(len(listed)))),
        ("numbers", scaled, list(range(len(listed), len(listed) + len(numbers)))),
    ]
    return _stacked([*listed, *numbers]), make_pipeline(
        ColumnTransformer(parts), LogisticRegression(max_iter=_ITERATIONS)
    )


def _boosted(features: Sequence[Feature]) -> tuple[Matrix, Any]:
    """Return the columns and the classifier of gradient boosting."""
    classifier = HistGradientBoostingClassifier(
        max_iter=_TREES, max_leaf_nodes=_LEAVES, early_stopping=False, random_state=0
    )
    return _stacked([each.places for each in features]), classifier


def _forest(features: Sequence[Feature]) -> tuple[Matrix, Any]:
    """Return the columns and the classifier of a random forest."""
    classifier = RandomForestClassifier(_FOREST, min_samples_leaf=_IN_A_LEAF, random_state=0)
    return _stacked([each.places for each in features]), classifier


def _stacked(columns: Sequence[NDArray[Any]]) -> Matrix:
    return np.stack(columns, axis=1).astype(np.float64)


MODELS: Final[Mapping[str, Callable[[Sequence[Feature]], tuple[Matrix, Any]]]] = {
    "logistic regression": _linear,
    "random forest": _forest,
    "gradient boosting": _boosted,
}
"""Return the columns of the features and the model to train on them, by the name of the model."""

USUAL: Final = ("logistic regression", "gradient boosting")
"""The models of a check, which trains them on many tables: a forest takes longer and ranks these alike."""
