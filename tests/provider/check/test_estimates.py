"""AUCs and their intervals against their definitions, pair by pair, and against scikit-learn."""

from itertools import product

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score

from aegis_provider.check.estimates import accuracy, auc, excess_of, noise_of, one_against_rest
from aegis_provider.check.masked_records import Fold, folds_of
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


def test_its_variance_is_that_of_delong_with_each_class_compared_across_the_folds():
    labels = RANDOM.permutation(np.repeat([0, 1], [60, 15]))
    folds, scores = folds_of(labels, 3, 0), RANDOM.integers(0, 6, 75) + labels
    parts = [[], []]
    for fold in folds:
        positive, negative = ([scores[n] for n in fold.test if labels[n] == of] for of in (1, 0))
        won = np.array([[(p > n) + (p == n) / 2 for n in negative] for p in positive])
        parts[0].extend(won.mean(axis=0))
        parts[1].extend(won.mean(axis=1))
    variances = np.array([np.var(each, ddof=1) / len(each) for each in parts])
    freedom = variances.sum() ** 2 / (variances**2 / [59, 14]).sum()
    error = stats.t.ppf(0.975, freedom) * np.sqrt(variances.sum())
    probabilities = np.stack([-scores, scores], axis=1)
    given = auc(probabilities, labels, folds)
    assert given.interval().high - given.value == pytest.approx(error, rel=1e-9)
    assert given.influence.mean() == pytest.approx(0, abs=1e-12)
    trained = auc(probabilities, labels, folds, [0.9, 0.95, 1.0])
    more = excess_of(noise_of(given.value, 0.95), 3)
    assert trained.interval().high - given.value == pytest.approx(error * np.sqrt(more), rel=1e-9)


@pytest.mark.long
@for_each(("distance", "size"), [(0.0, 10), (0.4, 3), (0.7, 10), (1.0, 30)])
def test_models_vary_as_much_as_said_where_two_normal_classes_are_told_apart(distance, size):
    """The variance over 400 tables of 200 records with this many numbers, in five folds: its own error is 7 %."""
    random, found, seen = np.random.default_rng(7), [], []
    labels = np.tile([0, 1], 100)
    folds = [Fold(np.flatnonzero(of), np.flatnonzero(~of)) for of in np.arange(200) // 2 % 5 != np.arange(5)[:, None]]
    for _ in range(400):
        numbers = random.normal(size=(200, size))
        numbers[labels == 1, 0] += distance
        scores, trained = np.zeros(200), []
        for fold in folds:
            one, other = (numbers[fold.train][labels[fold.train] == each].mean(axis=0) for each in (1, 0))
            said = numbers @ (one - other)
            scores[fold.test] = said[fold.test]
            trained.append(one_against_rest(said[fold.train], labels[fold.train] == 1).value)
        found.append(auc(np.stack([-scores, scores], axis=1), labels, folds))
        seen.append(np.mean(trained))
    values = [each.value for each in found]
    given = np.mean([np.mean(each.influence**2) / 198 for each in found])
    excess = np.var(values) / given
    noise = 1.0 if distance == 0 else size * 4 / 160 / (distance**2 + size * 4 / 160)
    assert noise_of(np.mean(values), np.mean(seen)) == pytest.approx(noise, abs=0.08)
    assert excess == pytest.approx(excess_of(noise, 5), rel=0.2)


def test_what_is_chance_in_a_model():
    """Nothing of one that does as well on new records, all of one that does no better than chance on these."""
    assert [noise_of(*each) for each in ((0.7, 0.7), (0.8, 0.7), (0.5, 0.7), (0.4, 1.0), (0.7, 1.0))] == [0, 0, 1, 1, 1]
    assert [excess_of(noise, 5) for noise in (0, 1)] == [1, 2]


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
        share = one.share_of(raw, 0.5)  # no model varies here
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
    assert found.interval().high - found.value == pytest.approx(
        1.96 * np.sqrt(right * (1 - right) / len(labels)), rel=0.1
    )


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
