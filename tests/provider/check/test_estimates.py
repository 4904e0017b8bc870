"""AUCs and their intervals against their definitions, pair by pair, and against scikit-learn."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from aegis_provider.check.estimates import accuracy, auc
from aegis_provider.check.folds import folds_of
from tests.for_each import for_each

RANDOM = np.random.default_rng(5)


def drawn(classes, records=90):
    """Labels, folds, and probabilities that know something of the labels, with ties."""
    labels = RANDOM.integers(0, classes, records)
    scores = RANDOM.integers(0, 6, (records, classes)) + 2 * np.eye(classes)[labels] + 0.5
    return labels, folds_of(labels, 3, 0), scores / scores.sum(axis=1, keepdims=True)


@for_each("classes", [2, 3, 5])
def test_the_auc_is_that_of_scikit_learn_as_a_mean_over_the_folds(classes):
    labels, folds, probabilities = drawn(classes)
    expected = [
        roc_auc_score(labels[fold.test], probabilities[fold.test, 1])
        if classes == 2
        else roc_auc_score(labels[fold.test], probabilities[fold.test], multi_class="ovr", average="weighted")
        for fold in folds
    ]
    assert auc(probabilities, labels, folds).value == pytest.approx(np.mean(expected), abs=1e-12)


def test_its_variance_is_that_of_delong_in_every_fold():
    labels, folds, probabilities = drawn(2)
    scores = probabilities[:, 1]
    variances = []
    for fold in folds:
        positive, negative = ([scores[n] for n in fold.test if labels[n] == of] for of in (1, 0))
        won = np.array([[(p > n) + (p == n) / 2 for n in negative] for p in positive])
        # DeLong's structural components, with the divisors of an influence function.
        variances.append(won.mean(axis=1).var() / len(positive) + won.mean(axis=0).var() / len(negative))
    error = np.sqrt(sum(variances)) / len(folds)
    found = auc(probabilities, labels, folds)
    more = 1 + min(1, 2.5 * error / (found.value - 0.5))
    assert found.interval().high - found.value == pytest.approx(1.96 * error * np.sqrt(more), rel=1e-9)
    assert found.influence.mean() == pytest.approx(0, abs=1e-12)


def test_differences_are_paired():
    labels, folds, probabilities = drawn(2)
    better = probabilities + 0.1 * np.eye(2)[labels]
    one, other = auc(better, labels, folds), auc(probabilities, labels, folds)
    apart = one - other
    assert apart.value == pytest.approx(one.value - other.value)
    alone = [each.interval().high - each.value for each in (one, other)]
    assert apart.interval().high - apart.value < np.hypot(*alone)
    assert (other - other).interval().high == 0


def test_the_interval_of_a_share_is_that_of_resampled_records():
    """The spread of the ratio over samples drawn again from a large population, whose folds are drawn with them."""
    random = np.random.default_rng(11)
    shares, widths = [], []
    for _ in range(100):
        labels = random.integers(0, 2, 600)
        seen = random.normal(labels, 1.0)
        masked = np.round(seen + random.normal(0, 0.8, len(labels)))
        folds = folds_of(labels, 3, 0)
        raw, one = (auc(np.stack([-each, each], axis=1), labels, folds) for each in (seen, masked))
        share = replace(one.share_of(raw, 0.5), excess=1.0)  # no model varies here
        assert share.value == pytest.approx((one.value - 0.5) / (raw.value - 0.5))
        shares.append(share.value)
        interval = share.interval(-np.inf, np.inf)
        widths.append(interval.high - interval.value)
    assert np.mean(widths) == pytest.approx(1.96 * np.std(shares), rel=0.2)


def test_of_itself_everything_is_left_for_certain():
    labels, folds, probabilities = drawn(3)
    one = auc(probabilities, labels, folds)
    whole = one.share_of(one, 0.5).interval(0.0)
    assert (whole.value, whole.low, whole.high) == pytest.approx((1, 1, 1))


def test_the_accuracy_has_the_error_of_a_share():
    labels, _, probabilities = drawn(3)
    right = np.mean(
        [max(range(3), key=row.__getitem__) == label for row, label in zip(probabilities, labels, strict=True)]
    )
    found = accuracy(probabilities, labels)
    assert found.value == pytest.approx(right)
    assert found.interval().high - found.value == pytest.approx(1.96 * np.sqrt(right * (1 - right) / len(labels)))


def test_an_interval_ends_where_the_number_does():
    labels, folds, _ = drawn(2, records=30)
    interval = auc(np.eye(2)[labels], labels, folds).interval(0.0)
    assert (interval.value, interval.high) == (1, 1)


def test_folds_share_out_every_class():
    labels, _, _ = drawn(4)
    folds = folds_of(labels, 4, 0)
    assert sorted(np.concatenate([fold.test for fold in folds])) == list(range(len(labels)))
    for fold, each in product(folds, range(4)):
        assert abs((labels[fold.test] == each).sum() - (labels == each).sum() / 4) < 1
        assert not set(fold.train) & set(fold.test)
