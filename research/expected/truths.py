"""What models reach: means over five folds of all records, kept in a folder since they take hours."""

import hashlib
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

from aegis_advisor.arrays import FloatArray, IntArray
from research.training import BOOSTING

FOLDS = 5
WIDE = 400
"""From this many weights on, Newton's method needs more time than L-BFGS."""


def logistic(masked: IntArray, classes: IntArray, repeats: int) -> FloatArray:
    """(2,) accuracy and AUC of logistic regression with one-hot masked values, the mean over `repeats` x 5 folds.

    Equal records are trained on once, with their number as weight, which changes nothing but the time.
    """
    labels, results = int(classes.max()) + 1, []
    distinct, row = np.unique(masked, axis=0, return_inverse=True)
    design = np.concatenate([np.eye(int(column.max()) + 1)[column] for column in distinct.T], axis=1)
    solver = "newton-cholesky" if labels * design.shape[1] < WIDE else "lbfgs"
    for train, test in _folds(classes, repeats):
        weight = np.bincount(row[train] * labels + classes[train], minlength=len(distinct) * labels)
        kept = np.flatnonzero(weight)
        model = LogisticRegression(max_iter=300, solver=solver)
        model.fit(design[kept // labels], kept % labels, sample_weight=weight[kept].astype(np.float64))
        results.append(_quality(classes[test], model.predict_proba(design)[row[test]]))
    return np.asarray(np.mean(results, axis=0))


def boosting(masked: IntArray, classes: IntArray, repeats: int) -> FloatArray:
    """(2,) the same of gradient boosting on the places of masked values in their domains."""
    results = []
    for train, test in _folds(classes, repeats):
        model = HistGradientBoostingClassifier(**BOOSTING, early_stopping=False, random_state=0)
        results.append(_quality(classes[test], model.fit(masked[train], classes[train]).predict_proba(masked[test])))
    return np.asarray(np.mean(results, axis=0))


MODELS = {"logistic regression": logistic, "gradient boosting": boosting}


def truth(model: str, masked: IntArray, classes: IntArray, repeats: int, kept: Path | None) -> FloatArray:
    """(2,) accuracy and AUC of a model, from the folder if they are there."""
    shown = masked[:, masked.max(axis=0) > 0]
    digest = hashlib.sha256(repr((model, repeats, FOLDS)).encode())
    for part in (shown, classes):
        digest.update(np.ascontiguousarray(part, dtype=np.int64).tobytes())
    place = None if kept is None else kept / f"{digest.hexdigest()[:32]}.npy"
    if place is not None and place.exists():
        return np.asarray(np.load(place))
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        result = MODELS[model](shown, classes, repeats)
    if place is not None:
        place.parent.mkdir(parents=True, exist_ok=True)
        np.save(place, result)
    return result


def _folds(classes: IntArray, repeats: int) -> Sequence[tuple[IntArray, IntArray]]:
    return [
        fold
        for seed in range(repeats)
        for fold in StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(classes, classes)
    ]


def _quality(truths: IntArray, chances: FloatArray) -> tuple[float, float]:
    """Accuracy and AUC; of several classes the mean over all, each against the rest."""
    each = range(chances.shape[1]) if chances.shape[1] > 2 else [1]
    aucs = [roc_auc_score(truths == one, chances[:, one]) for one in each]
    return float(np.mean(chances.argmax(axis=1) == truths)), float(np.mean(aucs))
