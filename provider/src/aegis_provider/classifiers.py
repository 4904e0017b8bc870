"""Models of scikit-learn: linear, forest and boosted, with usual settings and a fixed seed; and their results.

A label that is a number is predicted by *ridge regression* and *boosted regression*, from the same columns.

*Logistic regression* gets an indicator per value; rare values of an attribute share one. Numbers are also standardised,
and get no indicators if they have many different values. *Random forest* and *gradient boosting* get the ranks of
values: trees can cut an order anywhere, and masked values keep the order of the values that they mask.

This module imports little, because every process that fits classifiers imports it.
"""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import floor, log10
from time import monotonic
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aegis_sdk.reading import number

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
        classifier: A name in `CLASSIFIERS` or `REGRESSORS`, or `RATES`.
        trained: (trained records, columns) The training data.
        labels: (trained records,) Their classes, from 0.
        tested: (tested records, columns) The records to predict.
        classes: The number of classes.
        listed: Number of leading columns that get indicators in logistic regression.
        also_trained: Whether to predict the trained records as well, after the tested ones.
        numbers: (trained records,) The numbers to predict instead of classes, if the label is a number.
    """

    classifier: str
    trained: Matrix
    labels: Places
    tested: Matrix
    classes: int
    listed: int = 0
    also_trained: bool = False
    numbers: Matrix | None = None

    def probabilities_before(self, end: float) -> Matrix | None:
        """Return the probabilities, or `None` after `end` of the monotonic clock; rates take no time."""
        return self.probabilities() if self.classifier == RATES or monotonic() < end else None

    def probabilities(self) -> Matrix:
        """(predicted records, classes) Fit the model; return the probability of each class, or (records, 1) numbers.

        One thread fits it, so that sums have the same order on any machine.
        """
        from sklearn.exceptions import ConvergenceWarning  # noqa: PLC0415 - an extra, and slow to load
        from threadpoolctl import threadpool_limits  # noqa: PLC0415 - an extra

        asked = np.concatenate([self.tested, self.trained]) if self.also_trained else self.tested
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            if self.numbers is not None:
                regressor = _mean(self) if self.classifier == RATES else REGRESSORS[self.classifier](self)
                predicted: Matrix = regressor.fit(self.trained, self.numbers).predict(asked)
                return predicted[:, np.newaxis]
            classifier = _rates(self) if self.classifier == RATES else CLASSIFIERS[self.classifier](self)
            classifier.fit(self.trained, self.labels)
            found = classifier.predict_proba(asked)
        probabilities = np.zeros((len(asked), self.classes))
        probabilities[:, classifier.classes_] = found
        return probabilities


def _rates(_fitting: Fitting) -> Any:  # noqa: ANN401 - scikit-learn has no types
    from sklearn.dummy import DummyClassifier  # noqa: PLC0415 - an extra, and slow to load

    return DummyClassifier(strategy="prior")


def _mean(_fitting: Fitting) -> Any:  # noqa: ANN401 - as above
    from sklearn.dummy import DummyRegressor  # noqa: PLC0415 - an extra, and slow to load

    return DummyRegressor()


def _linear(fitting: Fitting) -> Any:  # noqa: ANN401 - as above
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - an extra, and slow to load
    from sklearn.pipeline import make_pipeline  # noqa: PLC0415

    return make_pipeline(_columns(fitting), LogisticRegression(max_iter=_ITERATIONS))


def _ridge(fitting: Fitting) -> Any:  # noqa: ANN401 - as above
    from sklearn.linear_model import Ridge  # noqa: PLC0415 - an extra, and slow to load
    from sklearn.pipeline import make_pipeline  # noqa: PLC0415

    return make_pipeline(_columns(fitting), Ridge())


def _columns(fitting: Fitting) -> Any:  # noqa: ANN401 - as above
    from sklearn.compose import ColumnTransformer  # noqa: PLC0415 - an extra, and slow to load
    from sklearn.impute import SimpleImputer  # noqa: PLC0415
    from sklearn.pipeline import make_pipeline  # noqa: PLC0415
    from sklearn.preprocessing import OneHotEncoder, StandardScaler  # noqa: PLC0415

    columns = list(range(fitting.trained.shape[1]))
    indicators = OneHotEncoder(min_frequency=_RARE, handle_unknown="infrequent_if_exist")
    scaled = make_pipeline(SimpleImputer(add_indicator=True, keep_empty_features=True), StandardScaler())
    parts = [("indicators", indicators, columns[: fitting.listed]), ("numbers", scaled, columns[fitting.listed :])]
    return ColumnTransformer(parts)


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


def _boosted_numbers(_fitting: Fitting) -> Any:  # noqa: ANN401 - as above
    from sklearn.ensemble import HistGradientBoostingRegressor  # noqa: PLC0415 - an extra, and slow to load

    how = {"max_leaf_nodes": _LEAVES, "min_samples_leaf": _IN_A_BOOSTED_LEAF, "early_stopping": False}
    return HistGradientBoostingRegressor(max_iter=_TREES, random_state=0, **how)


REGRESSORS: Final[Mapping[str, Callable[[Fitting], Any]]] = {
    "ridge regression": _ridge,
    "boosted regression": _boosted_numbers,
}
"""Makes the model of a number to fit, by name."""

CLASSIFIERS: Final[Mapping[str, Callable[[Fitting], Any]]] = {
    LOGISTIC_REGRESSION: _linear,
    "random forest": _forest,
    "gradient boosting": _boosted,
}
"""Makes the classifier to fit, by name."""


def stratified(labels: Places, count: int, seed: int, people: Places | None = None) -> list[tuple[Places, Places]]:
    """Split records into random folds, with about the same share of every class in each.

    Args:
        labels: (records,) The classes.
        count: The number of folds; every class needs at least as many records.
        people: (records,) The number of the person of each, whose records stay together; `None` if records are people.

    Returns:
        For each fold, the places of the records to train on and of those to test on, ascending.
    """
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold  # noqa: PLC0415 - an extra, slow to load

    how = StratifiedKFold if people is None else StratifiedGroupKFold
    return list(how(count, shuffle=True, random_state=seed).split(labels, labels, people))


AUC: Final = "AUC"
R2: Final = "R2"

RAW: Final = "(as it is)"
NOTHING: Final = "(nothing shared)"

#: The AUC of a constant model.
CHANCE: Final = 0.5

#: A smaller difference in AUC is no reason to choose another configuration.
SMALLEST: Final = 0.005

_FEW: Final = 40
"""With fewer records of a class, intervals cover the AUC in 92 to 94 % of tables, not 95 (`docs/model.md`)."""


@dataclass(frozen=True)
class Interval:
    """A measured value and the limits of its 95 % interval."""

    value: float
    low: float
    high: float

    def in_words(self, digits: int, sign: str = "") -> str:
        """Return the value with half the width of its interval: `0.699 ± 0.004`."""
        half = max(self.value - self.low, self.high - self.value)
        return f"{self.value:{sign}.{digits}f} ± {half:.{digits}f}"

    def in_unit(self) -> str:
        """Return the same to four digits of the value: `119.2 ± 9.2`."""
        return self.in_words(max(0, 3 - floor(log10(self.value))) if self.value > 0 else 4)


@dataclass(frozen=True)
class Performance:
    """How well a model predicts the label from a table.

    Attributes:
        table: The id of a configuration, `RAW` or `NOTHING`.
        auc: The area under the ROC curve; with more than two classes, the mean of each against the rest, weighted by
            the records of the class. Of a label that is a number, `R^2`, the share of its variance that is predicted.
        accuracy: The share of records whose most probable class is the true one. Of a number, the root of the mean
            squared error, in its unit.
        to_raw: The AUC minus that of `RAW`; `None` for `RAW` itself, or if it did not finish.
        to_winner: The AUC minus that of the first configuration; `None` for that itself, or if it did not finish.
    """

    table: str
    model: str
    auc: Interval
    accuracy: Interval
    to_raw: Interval | None = None
    to_winner: Interval | None = None


@dataclass(frozen=True)
class LabelCheck:
    """How well one model predicts one more label.

    Attributes:
        model: The model; empty without one.
        raw: Its AUC on the table, or `R^2` if the label is a number.
        own: The same on the winner's release.
        why: Why no model was trained; empty if one was.
        scale: What these are: `AUC` or `R2`.
        rmse: Of a number, the root of the mean squared error on that release, in its unit.
    """

    model: str
    raw: Interval | None
    own: Interval | None
    why: str = ""
    scale: str = "AUC"
    rmse: Interval | None = None

    @property
    def in_words(self) -> str:
        """The numbers in words."""
        if self.raw is None or self.own is None:
            return self.why
        error = "" if self.rmse is None else f", RMSE {number(self.rmse.value, 3)}"
        return f"{self.scale} {self.own.value:.3f} of {self.raw.value:.3f}{error}, by {self.model}"


@dataclass(frozen=True)
class CheckResult:
    """The result of `check`.

    Attributes:
        configurations: The ids of the configurations checked; the first is the winner.
        performances: The results, by model, then in the order `RAW`, configurations, `NOTHING`.
        unfinished: By model, the tables whose training did not finish in time.
        records: Number of records used, out of the `of_records` of the table.
        classes: Number of label values predicted.
        rare: Label values with too few records for the folds, and their numbers of records; these are not used.
        left_out: By configuration that finished, how many of the used records its release leaves out. Models are
            tested on these, but not trained on them.
        shares: By configuration that finished, further ones included, its AUC above chance as a share of
            `RAW`'s, by the best model.
        refitted: The attributes whose maskings were refitted to the label in each fold.
        chosen_anew: Whether the configurations were chosen anew in each fold.
        fewest: Number of used records of the rarest class.
        by_label: Of several labels, how well one model predicts each but the default one, which all else is about.
        scale: What performances are measured in: `AUC`, or `R2` of a label that is a number.
        shown_as: The masking of the label, which is predicted as the winner shows it; `identity` if as it is.
        apart: The configurations that were to be checked, but show the label otherwise.
    """

    label: str
    configurations: tuple[str, ...]
    performances: tuple[Performance, ...]
    unfinished: Mapping[str, tuple[str, ...]]
    seconds: float
    folds: int
    records: int
    of_records: int
    classes: int
    rare: Mapping[str, int]
    left_out: Mapping[str, int]
    shares: Mapping[str, Interval] = field(default_factory=dict)
    refitted: tuple[str, ...] = ()
    chosen_anew: bool = False
    fewest: int = _FEW
    by_label: Mapping[str, LabelCheck] = field(default_factory=dict)
    scale: str = AUC
    shown_as: str = "identity"
    apart: tuple[str, ...] = ()

    @property
    def winner(self) -> str:
        """The first configuration."""
        return self.configurations[0]

    @property
    def models(self) -> tuple[str, ...]:
        """The models with a result."""
        return tuple(dict.fromkeys(performance.model for performance in self.performances))

    @property
    def best_model(self) -> str | None:
        """The model that predicts best from the unmasked table; `None` if none finished."""
        raw = [performance for performance in self.performances if performance.table == RAW]
        return max(raw, key=lambda each: each.auc.value).model if raw else None

    def of(self, table: str, model: str) -> Performance | None:
        """Return the performance of the model on the table, or `None` if it did not finish."""
        return next(
            (
                performance
                for performance in self.performances
                if (performance.table, performance.model) == (table, model)
            ),
            None,
        )

    def share(self, table: str) -> float | None:
        """Return the AUC above chance as a share of `RAW`'s, by the best model; `None` if unknown."""
        share = self.shares.get(table)
        return None if share is None else share.value

    @property
    def held(self) -> bool | None:
        """Whether no configuration has a higher AUC than the winner, beyond chance and by 0.005; `None` if unknown."""
        return not any(rival.matters for rival in self._rivals) if self._rivals else None

    @property
    def verdict(self) -> str:
        """Whether the advice held, in a sentence."""
        if len(self.configurations) == 1:
            return f"only {self.winner} was checked: name other configurations after it to see whether the advice held"
        if not self._rivals:
            return f"whether the advice held is not known: the models were not trained within {self.seconds:g} seconds"
        return self._judged() + (", of what was finished in time" if self.unfinished else "")

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the AUCs and their intervals, a sentence each."""
        anew = "the search was repeated in each fold, without the labels of the records tested"
        few = f"fewer than {_FEW} records have the rarest label, so the 95 % intervals are slightly too narrow"
        trained = any(performance.table != NOTHING for performance in self.performances)
        is_few = trained and self.scale == AUC and self.fewest < _FEW
        return (*[anew] * (trained and self.chosen_anew), *[few] * is_few)

    def _judged(self) -> str:
        better = [rival for rival in self._rivals if rival.matters]
        best = max(better or self._rivals, key=lambda each: each.difference.value)
        if best.difference.value <= 0:
            return f"the advice held: {self.winner} has the highest {self.scale} of the configurations checked"
        limits = f"{best.difference.low:.4f} to {best.difference.high:.4f}"
        higher = f"higher {self.scale} than {self.winner}, by {best.difference.value:.4f} ({limits})"
        if better:
            return f"the advice did not hold: {best.table} has a {higher}, with {best.model}"
        is_chance = best.difference.low <= 0
        within = "within chance" if is_chance else f"within {SMALLEST:g}, which is too little to matter"
        return f"the advice held {within}: with {best.model}, {best.table} has a slightly {higher}"

    @property
    def _rivals(self) -> list["_Rival"]:
        """The configurations that can be compared with the winner, by each model."""
        rivals = [performance for performance in self.performances if performance.table in self.configurations[1:]]
        return [_Rival(rival.table, rival.model, rival.to_winner) for rival in rivals if rival.to_winner is not None]


@dataclass(frozen=True)
class _Rival:
    """A configuration with the difference of its AUC from the winner's, by one model."""

    table: str
    model: str
    difference: Interval

    @property
    def matters(self) -> bool:
        """Whether the difference is a reason to choose this configuration: not chance, and large enough."""
        return self.difference.low > 0 and self.difference.value >= SMALLEST
