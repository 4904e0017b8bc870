"""Classifiers of scikit-learn: a linear one, a forest and a boosted one, with usual settings and a fixed seed.

*Logistic regression* gets an indicator per value; rare values of an attribute share one. Numbers are also standardised,
and get no indicators if they have many different values. *Random forest* and *gradient boosting* get the ranks of
values: trees can cut an order anywhere, and masked values keep the order of the values that they mask.

This module imports little, because every process that fits classifiers imports it.
"""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Matrix: TypeAlias = NDArray[np.float64]
Places: TypeAlias = NDArray[np.intp]

LOGISTIC_REGRESSION: Final = "logistic regression"
RATES: Final = "rates"
"""Predicts the share of each class."""

# Values with fewer records in the training folds share an indicator.
_RARE: Final = 10
_ITERATIONS: Final = 200
_TREES: Final = 60
_LEAVES: Final = 15
_FOREST: Final = 100
_IN_A_BOOSTED_LEAF: Final = 20
# Probabilities of smaller leaves are too uncertain.
_IN_A_LEAF: Final = 5


@dataclass(frozen=True, eq=False)
class Fitting:
    """A classifier to fit, and records to predict.

    Attributes:
        classifier: A name in `CLASSIFIERS`, or `RATES`.
        trained: (trained records, columns) The training data.
        labels: (trained records,) Their classes, from 0.
        tested: (tested records, columns) The records to predict.
        classes: The number of classes.
        listed: Number of leading columns that get indicators in logistic regression.
        also_trained: Whether to predict the trained records as well, after the tested ones.
    """

    classifier: str
    trained: Matrix
    labels: Places
    tested: Matrix
    classes: int
    listed: int = 0
    also_trained: bool = False

    def probabilities_before(self, end: float) -> Matrix | None:
        """Return the probabilities, or `None` after `end` of the monotonic clock; rates take no time."""
        return self.probabilities() if self.classifier == RATES or monotonic() < end else None

    def probabilities(self) -> Matrix:
        """(predicted records, classes) Fit the classifier, and return the probability of each class.

        One thread fits it, so that sums have the same order on any machine.
        """
        from sklearn.exceptions import ConvergenceWarning  # noqa: PLC0415 - an extra, and slow to load
        from threadpoolctl import threadpool_limits  # noqa: PLC0415 - an extra

        asked = np.concatenate([self.tested, self.trained]) if self.also_trained else self.tested
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            classifier = _rates(self) if self.classifier == RATES else CLASSIFIERS[self.classifier](self)
            classifier.fit(self.trained, self.labels)
            found = classifier.predict_proba(asked)
        probabilities = np.zeros((len(asked), self.classes))
        probabilities[:, classifier.classes_] = found
        return probabilities


def _rates(_fitting: Fitting) -> Any:  # noqa: ANN401 - scikit-learn has no types
    from sklearn.dummy import DummyClassifier  # noqa: PLC0415 - an extra, and slow to load

    return DummyClassifier(strategy="prior")


def _linear(fitting: Fitting) -> Any:  # noqa: ANN401 - as above
    from sklearn.compose import ColumnTransformer  # noqa: PLC0415 - an extra, and slow to load
    from sklearn.impute import SimpleImputer  # noqa: PLC0415
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415
    from sklearn.pipeline import make_pipeline  # noqa: PLC0415
    from sklearn.preprocessing import OneHotEncoder, StandardScaler  # noqa: PLC0415

    columns = list(range(fitting.trained.shape[1]))
    indicators = OneHotEncoder(min_frequency=_RARE, handle_unknown="infrequent_if_exist")
    scaled = make_pipeline(SimpleImputer(add_indicator=True, keep_empty_features=True), StandardScaler())
    parts = [("indicators", indicators, columns[: fitting.listed]), ("numbers", scaled, columns[fitting.listed :])]
    return make_pipeline(ColumnTransformer(parts), LogisticRegression(max_iter=_ITERATIONS))


def _forest(_fitting: Fitting) -> Any:  # noqa: ANN401 - as above
    from sklearn.ensemble import RandomForestClassifier  # noqa: PLC0415 - an extra, and slow to load

    return RandomForestClassifier(_FOREST, min_samples_leaf=_IN_A_LEAF, random_state=0)


def _boosted(_fitting: Fitting) -> Any:  # noqa: ANN401 - as above
    return boosted_trees(_IN_A_BOOSTED_LEAF, 0)


def boosted_trees(in_a_leaf: int, seed: int) -> Any:  # noqa: ANN401 - as above
    """Return gradient boosting of trees with a minimum number of records per leaf."""
    from sklearn.ensemble import HistGradientBoostingClassifier  # noqa: PLC0415 - an extra, and slow to load

    return HistGradientBoostingClassifier(
        max_iter=_TREES,
        max_leaf_nodes=_LEAVES,
        min_samples_leaf=in_a_leaf,
        early_stopping=False,
        random_state=seed,
    )


CLASSIFIERS: Final[Mapping[str, Callable[[Fitting], Any]]] = {
    LOGISTIC_REGRESSION: _linear,
    "random forest": _forest,
    "gradient boosting": _boosted,
}
"""Makes the classifier to fit, by name."""


def stratified(labels: Places, count: int, seed: int) -> list[tuple[Places, Places]]:
    """Split records into random folds, with about the same share of every class in each.

    Args:
        labels: (records,) The classes.
        count: The number of folds; every class needs at least as many records.

    Returns:
        For each fold, the places of the records to train on and of those to test on, ascending.
    """
    from sklearn.model_selection import StratifiedKFold  # noqa: PLC0415 - an extra, and slow to load

    return list(StratifiedKFold(count, shuffle=True, random_state=seed).split(labels, labels))
