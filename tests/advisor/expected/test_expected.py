"""What is expected of a model, against enumerated tables with a known best score, and against trained models."""

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest
from scipy.special import expit, softmax
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from aegis_advisor.evidence import AttributeEvidence, PairCounts
from aegis_advisor.expected import Expected, expect, expect_number, expect_of_trace
from aegis_advisor.expected.logistic import area
from aegis_advisor.expected.population import RECORDS, population
from aegis_advisor.joint import score_jointly

MANY = 10**6
NAMES = ("identity", "drop")


def published(values, classes, weight):
    """What a provider publishes of weighted records: evidence and pair counts, as whole numbers."""
    sizes, labels = values.max(axis=0) + 1, int(classes.max()) + 1

    def counted(first, second, shape):
        table = np.bincount(first * shape[1] + second, weight, shape[0] * shape[1]).reshape(shape)
        return np.rint(table).astype(np.int64)

    evidence = []
    for place, size in enumerate(sizes.tolist()):
        joint = counted(values[:, place], classes, (size, labels))
        evidence.append(AttributeEvidence(f"a{place}", size, joint.sum(axis=0), joint.sum(axis=1), joint, ()))
    pairs = [
        PairCounts(
            (one, two), ("identity", "identity"), counted(values[:, one], values[:, two], tuple(sizes[[one, two]]))
        )
        for one, two in combinations(range(len(sizes)), 2)
    ]
    return evidence, pairs


def expected(values, classes, weight, row=None):
    evidence, pairs = published(values, classes, weight)
    codes = np.array([row or [0] * len(evidence)])
    return expect(evidence, [NAMES] * len(evidence), codes, pairs)[0]


def enumerated(shares, odds):
    """Each combination of values with each class, and its records; `odds` (combinations, classes)."""
    cells = np.array(list(product(*(range(size) for size in shares.shape))))
    chances, classes = softmax(odds(cells), axis=1), odds(cells).shape[1]
    weight = MANY * shares.reshape(-1, 1) * chances
    return np.repeat(cells, classes, axis=0), np.tile(np.arange(classes), len(cells)), weight.reshape(-1), chances


def two(odds):
    return lambda cells: np.stack([np.zeros(len(cells)), odds(cells)], axis=1)


def independent(draw, sizes):
    shares = np.ones(())
    for size in sizes:
        shares = np.multiply.outer(shares, draw.dirichlet(np.full(size, 2.0)))
    return shares


def dependent(draw, size, attributes):
    """Cut normal variables with a common part: every two attributes depend on each other."""
    hidden = draw.standard_normal((200_000, 1)) + draw.standard_normal((200_000, attributes))
    places = np.minimum(np.floor(np.abs(hidden)), size - 1).astype(np.int64)
    return np.histogramdd(places, bins=[np.arange(size + 1)] * attributes)[0] / 200_000


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("depend", [False, True], ids=["independent", "dependent"])
def test_the_true_logistic_score_is_reached(seed, depend):
    draw = np.random.default_rng(seed)
    shares = dependent(draw, 4, 5) if depend else independent(draw, (4, 3, 4, 5))
    weights = [draw.normal(0, 0.8, size) for size in shares.shape]
    values, classes, weight, _ = enumerated(
        shares, two(lambda cells: -1 + sum(one[place] for one, place in zip(weights, cells.T, strict=True)))
    )
    score = sum(one[place] for one, place in zip(weights, values.T, strict=True))
    truth = roc_auc_score(classes, score, sample_weight=weight)
    assert expected(values, classes, weight).auc == pytest.approx(truth, abs=0.004)


def test_a_score_far_from_normal_is_none_the_less_reached():
    shares = np.multiply.outer(np.multiply.outer([0.97, 0.03], [0.95, 0.05]), np.full((5, 5, 5), 1 / 125))
    values, classes, weight, chances = enumerated(
        shares, two(lambda cells: -2.5 + 4 * cells[:, 0] + 3 * cells[:, 1] + 0.15 * cells[:, 2:].sum(axis=1))
    )
    truth = roc_auc_score(classes, np.repeat(chances[:, 1], 2), sample_weight=weight)
    told = expected(values, classes, weight)
    assert told.auc == pytest.approx(truth, abs=0.005)
    best = weight @ (np.repeat(chances.argmax(axis=1), 2) == classes) / weight.sum()
    assert told.accuracy == pytest.approx(best, abs=0.005)


def test_several_classes_are_each_told_from_the_rest():
    draw = np.random.default_rng(5)
    tables = [draw.normal(0, 0.7, (4, 3)) for _ in range(4)]
    values, classes, weight, chances = enumerated(
        independent(draw, (4, 4, 4, 4)),
        lambda cells: sum(one[place] for one, place in zip(tables, cells.T, strict=True)),
    )
    each = [roc_auc_score(classes == one, np.repeat(chances[:, one], 3), sample_weight=weight) for one in range(3)]
    told = expected(values, classes, weight)
    assert told.auc == pytest.approx(np.mean(each), abs=0.01)
    best = weight @ (np.repeat(chances.argmax(axis=1), 3) == classes) / weight.sum()
    assert told.accuracy == pytest.approx(best, abs=0.015)


def test_a_trained_model_reaches_it_on_new_records():
    draw = np.random.default_rng(3)
    values = np.minimum(draw.poisson(1.5, (3000, 6)) + draw.poisson(0.5, (3000, 1)), 6)
    classes = (draw.random(3000) < expit(-2 + 0.25 * values[:, :4].sum(axis=1) - 0.1 * values[:, 4])).astype(np.int64)
    model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression(max_iter=500))
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    told = expected(values, classes, np.ones(3000))
    auc = cross_val_score(model, values, classes, cv=folds, scoring="roc_auc").mean()
    assert told.auc == pytest.approx(auc, abs=0.01)
    assert told.low <= auc <= told.high
    right = np.mean(cross_val_predict(model, values, classes, cv=folds) == classes)
    assert told.accuracy == pytest.approx(right, abs=0.015)


def test_values_that_only_few_records_have_promise_nothing():
    draw = np.random.default_rng(4)
    values, classes = draw.integers(0, 150, (1000, 2)), draw.integers(0, 2, 1000)
    told = expected(values, classes, np.ones(1000))
    assert told.auc < 0.53
    assert told.low == 0.5


def test_a_copy_of_an_attribute_adds_nothing_and_the_order_does_not_matter():
    draw = np.random.default_rng(6)
    values = draw.integers(0, 4, (5000, 3))
    classes = (draw.random(5000) < expit(values.sum(axis=1) * 0.5 - 2)).astype(np.int64)
    alone = expected(values, classes, np.ones(5000))
    copied = expected(np.hstack([values, values[:, :1]]), classes, np.ones(5000))
    turned = expected(3 - values[:, ::-1], classes, np.ones(5000))
    assert copied.auc == pytest.approx(alone.auc, abs=0.003)
    assert turned.auc == pytest.approx(alone.auc, abs=0.003)


def test_nothing_shared_is_chance_and_missing_pairs_are_said():
    draw = np.random.default_rng(7)
    values, classes = draw.integers(0, 3, (500, 3)), draw.integers(0, 2, 500)
    evidence, pairs = published(values, classes, np.ones(500))
    codes = np.array([[1, 1, 1], [0, 0, 1], [0, 1, 0]])
    nothing, known, missing = expect(evidence, [NAMES] * 3, codes, pairs[:1])
    assert (nothing.auc, nothing.low, nothing.high) == (0.5, 0.5, 0.5)
    assert nothing.accuracy == max(np.mean(classes), 1 - np.mean(classes))
    assert known.auc >= 0.5
    assert missing is None


def test_the_trace_of_the_unmasked_table_is_enough():
    draw = np.random.default_rng(8)
    values = draw.integers(0, 6, (20_000, 4))
    classes = (draw.random(20_000) < expit(0.5 * values.sum(axis=1) - 6)).astype(np.int64)
    evidence, pairs = published(values, classes, np.ones(20_000))
    options, codes = [NAMES] * 4, np.array([[0, 0, 0, 0], [0, 0, 1, 1]])
    whole, _ = expect(evidence, options, codes, pairs)
    trace = score_jointly(evidence, options, codes[:1], pairs, corrected=True).utility[0]
    told = expect_of_trace(evidence, options, codes[1:], pairs, trace)
    assert told.auc == pytest.approx(whole.auc, abs=0.01)


@pytest.mark.parametrize("records", [600, 4000])
def test_a_number_is_predicted_as_regression_predicts_it(records):
    draw = np.random.default_rng(11)
    values = draw.integers(0, 8, (records, 4))
    number = values @ np.array([3.0, 1.0, 0.0, -2.0]) + 10 * draw.standard_normal(records)
    edges = np.quantile(number, np.linspace(0, 1, 13)[1:-1])
    classes = np.searchsorted(edges, number)
    means = np.bincount(classes, number) / np.bincount(classes)
    evidence, pairs = published(values, classes, np.ones(records))
    evidence = [replace(one, label_scores=means) for one in evidence]
    codes, variance = np.zeros((1, 4), dtype=np.int64), float(number.var())
    [told] = expect_number(evidence, [NAMES] * 4, codes, pairs, variance)
    [of_scores] = expect_number(evidence, [NAMES] * 4, codes, pairs)
    assert of_scores.rmse is None
    assert of_scores.r2 == pytest.approx(reached(values, means[classes]), abs=0.005)
    assert told.r2 == pytest.approx(of_scores.r2 * means[classes].var() / variance, rel=1e-6)
    assert told.low <= reached(values, number) <= told.high + 0.01
    assert told.rmse == pytest.approx(np.sqrt(variance * (1 - told.r2)))
    assert told.auc is None


def reached(values, number):
    """The R^2 of ridge regression on held-out records."""
    model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), Ridge(1.0))
    folds = (KFold(5, shuffle=True, random_state=seed) for seed in range(4))
    return np.mean([cross_val_score(model, values, number, cv=fold).mean() for fold in folds])


def test_to_two_digits_the_interval_and_the_error_say_no_more_than_the_number():
    close = np.arange(0.6951, 0.7049, 0.0007)
    coarse = {Expected(auc=one, accuracy=0.8, low=one - 0.009, high=one + 0.009).in_two_digits for one in close}
    assert coarse == {Expected(auc=0.7, accuracy=0.8, low=0.69, high=0.71)}
    errors = [Expected(r2=one, rmse=5.0 * np.sqrt(1 - one), low=one - 0.007, high=one + 0.012) for one in close]
    assert {one.in_two_digits for one in errors} == {Expected(r2=0.7, rmse=2.7, low=0.69, high=0.71)}
    ends = Expected(auc=0.4996, low=0.5, high=0.5086), Expected(r2=1.0, rmse=0.0, low=0.993, high=1.0)
    assert [(one.in_two_digits.low, one.in_two_digits.high) for one in ends] == [(0.5, 0.51), (0.99, 1.0)]


def test_made_up_records_have_the_shares_and_the_covariances():
    draw = np.random.default_rng(9)
    weights = [np.array([0.0, 1.0, 3.0]), np.array([2.0, -1.0]), np.array([1.0, 0.0, 0.5, -2.0])]
    shares = [draw.dirichlet(np.full(one.size, 4.0)) for one in weights]
    scale = [np.sqrt(share @ (one - share @ one) ** 2) for one, share in zip(weights, shares, strict=True)]
    wanted = np.outer(scale, scale) * np.array([[1, 0.3, -0.2], [0.3, 1, 0.1], [-0.2, 0.1, 1]])
    places = population(weights, shares, wanted)
    for column, share in zip(places.T, shares, strict=True):
        assert np.bincount(column, minlength=share.size) / RECORDS == pytest.approx(share, abs=1 / RECORDS)
    scores = np.stack([one[column] for one, column in zip(weights, places.T, strict=True)])
    assert np.cov(scores) == pytest.approx(wanted, abs=0.05 * wanted.max())


def test_the_area_is_that_of_weighted_records():
    draw = np.random.default_rng(10)
    score, chance = draw.integers(0, 9, 200).astype(np.float64), draw.random(200)
    both, classes = np.tile(score, 2), np.repeat([1, 0], 200)
    truth = roc_auc_score(classes, both, sample_weight=np.concatenate([chance, 1 - chance]))
    assert area(score, chance) == pytest.approx(truth, abs=1e-12)
