"""Exhaustive training: every model trained on every configuration of a table, on the same splits."""

import hashlib
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder
from threadpoolctl import threadpool_limits

from aegis_advisor.arrays import FloatArray, IntArray
from research.study import Study

MOST_TRAINED = 4_000
SPLITS = 10
SPLITS_OF_SMALL = 20
SMALL = 1_000
SEED = 0

METRICS = ("accuracy", "AUC")
MODELS = ("logistic regression", "random forest", "gradient boosting")
FOREST: Mapping[str, int] = {"n_estimators": 50, "min_samples_leaf": 3}
BOOSTING: Mapping[str, int] = {"max_iter": 40, "max_leaf_nodes": 15}
ITERATIONS = 200

Classifier: TypeAlias = Pipeline | RandomForestClassifier | HistGradientBoostingClassifier
Split = tuple[IntArray, IntArray]


@dataclass(frozen=True, eq=False)
class Results:
    """The performance of models on the masked tables.

    Attributes:
        values: (configurations, models, splits, metrics) in the order of `MODELS` and `METRICS`.
    """

    values: FloatArray

    def of(self, model: str, metric: str) -> FloatArray:
        """Return (splits, configurations) the values of one model by one metric."""
        return self.values[:, MODELS.index(model), :, METRICS.index(metric)].T


def train(study: Study, pool: Executor, splits: int | None = None, kept: Path | None = None) -> Results:
    """Train on one half of a table and test on the other, under every configuration.

    Args:
        study: the table.
        pool: the executor that trains.
        splits: how many halves to draw; None for the usual number.
        kept: a folder of earlier results. They are used again if nothing that they depend on has changed; library
            versions are not compared.
    """
    tables = [study.masked(configuration) for configuration in range(len(study.configurations.ids))]
    halves = splits_of(study.classes, splits or usual_splits(study))
    place = None if kept is None else kept / f"{_digest(tables, study.classes, halves)}.npy"
    if place is not None and place.exists():
        return Results(np.load(place))
    one = partial(trained, classes=study.classes, splits=halves)
    values = np.stack(list(_reported(study.name, pool.map(one, tables))))
    if place is not None:
        place.parent.mkdir(parents=True, exist_ok=True)
        np.save(place, values)
    return Results(values)


def _digest(tables: Sequence[IntArray], classes: IntArray, halves: Sequence[Split]) -> str:
    digest = hashlib.sha256(repr((MODELS, METRICS, FOREST, BOOSTING, ITERATIONS, SEED)).encode())
    for part in (*tables, classes, *(places for half in halves for places in half)):
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()


def usual_splits(study: Study) -> int:
    """Return the usual number of splits, which is larger for small tables."""
    return SPLITS_OF_SMALL if study.table.records < SMALL else SPLITS


def sizes_of(records: int) -> tuple[int, int]:
    """Return how many records are trained on (half, but at most 4,000) and how many are tested (the other half)."""
    half = records // 2
    return min(half, MOST_TRAINED), records - half


def splits_of(classes: IntArray, count: int) -> list[Split]:
    """Draw random halves with the classes' shares kept, as the indices of the records to train and to test on."""
    trained, tested = sizes_of(classes.size)
    drawn = StratifiedShuffleSplit(count, train_size=trained, test_size=tested, random_state=SEED)
    return list(drawn.split(np.zeros(classes.size), classes))


def trained(masked: IntArray, classes: IntArray, splits: Sequence[Split]) -> FloatArray:
    """Return (models, splits, metrics) the performance of every model on one masked table."""
    shared = masked[:, masked.max(axis=0) > 0]
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return np.array([[_one_model(model, shared, classes, split) for split in splits] for model in MODELS])


def _one_model(model: str, masked: IntArray, classes: IntArray, split: Split) -> tuple[float, float]:
    train, test = split
    if masked.shape[1] == 0:  # nothing is shared
        probabilities = np.tile(np.bincount(classes[train]) / train.size, (test.size, 1))
    else:
        probabilities = classifier_of(model).fit(masked[train], classes[train]).predict_proba(masked[test])
    return quality(classes[test], probabilities)


def classifier_of(model: str) -> Classifier:
    """Return the model: one-hot for the linear model, which knows no order; codes in domain order for trees.

    Trees cut an order as often as they need, and masked values keep the order of their attribute. One-hot columns
    would only make trees deeper and slower.
    """
    if model == "random forest":
        return RandomForestClassifier(**FOREST, random_state=SEED, n_jobs=1)
    if model == "gradient boosting":
        return HistGradientBoostingClassifier(**BOOSTING, early_stopping=False, random_state=SEED)
    return logistic_regression()


def logistic_regression() -> Pipeline:
    """Return logistic regression of one-hot masked values."""
    return make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression(max_iter=ITERATIONS))


def quality(truth: IntArray, probabilities: NDArray[np.float64]) -> tuple[float, float]:
    """Return accuracy and AUC (macro average of one class against the rest) of the predicted probabilities."""
    accuracy = float(np.mean(probabilities.argmax(axis=1) == truth))
    if probabilities.shape[1] == 2:
        return accuracy, float(roc_auc_score(truth, probabilities[:, 1]))
    return accuracy, float(roc_auc_score(truth, probabilities, multi_class="ovr", average="macro"))


def _reported(name: str, results: Iterator[FloatArray]) -> Iterator[FloatArray]:
    for number, result in enumerate(results, start=1):
        print(f"\r{name}: {number} configurations trained", end="", file=sys.stderr, flush=True)
        yield result
    print(file=sys.stderr)
