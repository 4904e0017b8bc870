"""Small tables to check, and the models of the check written out with scikit-learn."""

import csv
import io
from itertools import islice

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

PLAN = """
attributes:
  age: {type: integer, maskings: {decades: {bucketize: {width: 10}}}}
  town: {type: string, maskings: {side: {mapping: {a: left, b: left, c: right, d: right}}}}
"""


def records(count=240, seed=3):
    """Draw records of an age, a town and a label that depends on both: lists of texts, the header first."""
    random = np.random.default_rng(seed)
    ages, towns = random.choice(range(20, 50, 3), count), random.choice(list("abcd"), count)
    chance = 0.15 + 0.5 * (ages >= 35) + 0.25 * (towns > "b")
    labels = np.where(random.random(count) < chance, "yes", "no")
    rows = zip(ages.tolist(), towns.tolist(), labels.tolist(), strict=True)
    return [["age", "town", "y"], *([str(age), town, label] for age, town, label in rows)]


def as_csv(rows):
    """Return the records as CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def trained(model, columns, labels, shown=None, numbers=(), folds=5):
    """Return the AUC and the accuracy of a model by plain scikit-learn.

    Args:
        model: The name of the model.
        columns: A list of values for each column.
        labels: The labels.
        shown: Whether each record may be trained on.
        numbers: Columns that are given to the linear model as numbers, too.
        folds: How many of the five folds are tested.
    """
    codes = [np.unique(column, return_inverse=True)[1] for column in columns]
    labels, shown = np.array(labels), np.ones(len(labels), dtype=bool) if shown is None else np.array(shown)
    aucs, right = [], []
    splits = StratifiedKFold(5, shuffle=True, random_state=0).split(labels, labels)
    for others, test in islice(splits, folds):
        train = others[shown[others]]
        if model == "logistic regression":
            scaled = [
                (np.array(each) - np.mean(np.array(each)[train])) / np.std(np.array(each)[train]) for each in numbers
            ]
            matrix = np.column_stack([*(np.eye(code.max() + 1)[code] for code in codes), *scaled])
            classifier = LogisticRegression(max_iter=200)
        else:
            matrix = np.column_stack(codes)
            classifier = HistGradientBoostingClassifier(
                max_iter=60, max_leaf_nodes=15, early_stopping=False, random_state=0
            )
        with threadpool_limits(1):
            chances = classifier.fit(matrix[train], labels[train]).predict_proba(matrix[test])
        aucs.append(roc_auc_score(labels[test], chances[:, 1]))
        right += (classifier.classes_[chances.argmax(axis=1)] == labels[test]).tolist()
    return np.mean(aucs), np.mean(right)
