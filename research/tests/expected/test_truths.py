"""What models reach, against the usual way to compute it, and the rows of the page."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from research.expected.__main__ import Row
from research.expected.truths import truth
from research.study import Table


@pytest.mark.parametrize(("classes", "scoring"), [(2, "roc_auc"), (3, "roc_auc_ovr")])
def test_what_is_reached_is_what_cross_validation_says(tmp_path, classes, scoring):
    draw = np.random.default_rng(1)
    masked = draw.integers(0, 4, (600, 3))
    label = np.minimum((masked.sum(axis=1) + draw.integers(0, 5, 600)) * classes // 13, classes - 1)
    model = make_pipeline(OneHotEncoder(), LogisticRegression(max_iter=1000))
    each = [
        cross_val_score(model, masked, label, cv=StratifiedKFold(5, shuffle=True, random_state=seed), scoring=scoring)
        for seed in range(2)
    ]
    reached = truth("logistic regression", masked, label, 2, tmp_path)
    assert reached[1] == pytest.approx(np.mean(each), abs=1e-3)
    assert truth("logistic regression", masked, label, 2, tmp_path) == pytest.approx(reached, abs=0)


def test_a_row_counts_the_intervals_that_hold_what_is_reached():
    table = Table("made up", "", "", {}, np.array(["a", "b"]))
    expected = np.array([[0.7, 0.69, 0.71, 0.6], [0.6, 0.59, 0.61, 0.6]])
    row = Row(table, expected, expected[:, 0], np.array([[0.6, 0.705], [0.6, 0.65]]), np.array([[0.7, 0.8]]))
    assert row.covered == 0.5
    assert row.errors == pytest.approx([-0.005, -0.05])
