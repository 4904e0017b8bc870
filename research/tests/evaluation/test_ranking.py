"""Training, rankers and their outcomes, against independent computations."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, roc_auc_score
from sklearn.preprocessing import OneHotEncoder

from aegis_advisor.measures import MEASURES
from aegis_advisor.ranking import Question
from research.evaluation import synthetic_tables
from research.evaluation.outcomes import levels, outcome
from research.evaluation.rankers import DRAWS, KNOWLEDGE, Scores, ask, known, outside
from research.losses import Estimate, lost
from research.training import METRICS, MODELS, Results, quality, sizes_of, splits_of

pytestmark = pytest.mark.long

RNG = np.random.default_rng(5)


def test_quality_is_that_of_brute_force_and_scikit_learn():
    truth = RNG.integers(3, size=60)
    truth[:3] = range(3)
    found = RNG.dirichlet(np.ones(3), size=60)
    wins = []
    for one in range(3):
        ours, others = found[truth == one, one], found[truth != one, one]
        wins.append(np.mean([(a > b) + (a == b) / 2 for a in ours for b in others]))
    assert quality(truth, found) == pytest.approx((accuracy_score(truth, found.argmax(axis=1)), np.mean(wins)))
    binary = (truth > 0).astype(int)
    expected = roc_auc_score(binary, 1 - found[:, 0])
    assert quality(binary, np.stack([found[:, 0], 1 - found[:, 0]], axis=1))[1] == pytest.approx(expected)


def test_splits_are_halves_with_the_classes_shares():
    classes = np.repeat([0, 1], [180, 20])
    halves = splits_of(classes, 20)
    assert len(halves) == 20
    for train, test in halves:
        assert sorted([*train, *test]) == list(range(200))
        assert np.bincount(classes[train]).tolist() == [90, 10]
    assert len({train.tobytes() for train, _ in halves}) == 20
    many = splits_of(np.repeat([0, 1], [6_000, 6_001]), 2)
    assert {(train.size, test.size) for train, test in many} == {(4_000, 6_001)} == {sizes_of(12_001)}


@pytest.mark.parametrize("measure", ["mutual_information", "chi_square", "g3", "g1"])
def test_the_products_utilities_are_the_measures_of_the_masked_table_but_for_a_constant(wine, by_id, measure):
    scores = by_id[f"{measure}, counts"].scores(wine)
    sign = 1 if MEASURES[measure].better == "higher" else -1
    expected = np.zeros(8)
    for configuration in range(8):
        for column in wine.masked(configuration).T:
            counts = np.zeros((column.max() + 1, 3))
            np.add.at(counts, (column, wine.classes), 1)
            expected[configuration] += sign * MEASURES[measure](counts) / len(wine.evidence)
    differences = scores.utilities - expected
    assert np.ptp(differences) == pytest.approx(0.0, abs=1e-8 * np.abs(expected).max())
    for places in levels(8):
        assert scores.pick(places).tolist() == np.eye(places.size)[np.argmax(expected[places])].tolist()


def test_everyone_ranks_every_configuration(by_id):
    study = synthetic_tables.redundant(0, records=300, configurations=8)
    for entrant in by_id.values():
        scores = entrant.scores(study)
        assert scores.utilities.shape == (8,)
        for places in levels(8):
            pick = scores.pick(places)
            assert pick.sum() == pytest.approx(1.0)
            assert scores.utilities[places[pick > 0]].min() == scores.utilities[places].max()
    assert len({(entrant.group, entrant.title) for entrant in by_id.values()}) == len(by_id)


def test_a_rivals_best_are_picked_with_equal_probability(wine):
    scores = outside(wine, lambda _: np.array([1.0, 3.0, 3.0 + 1e-12, 0.0, 3.0, -1.0, 2.0, 2.0]))
    assert scores.pick(np.arange(8)) == pytest.approx(np.array([0, 1, 1, 0, 1, 0, 0, 0]) / 3)
    assert scores.pick(np.array([3, 6, 7])) == pytest.approx(np.array([0, 0.5, 0.5]))
    assert (scores.tied(np.arange(8)), scores.tied(np.arange(3, 6))) == (3, 1)


def test_an_order_breaks_ties():
    scores = Scores(np.array([1.0, 2.0, 2.0, 0.0]), np.array([2, 1, 0, 3]))
    assert scores.pick(np.arange(4)).tolist() == [0.0, 0.0, 1.0, 0.0]
    assert scores.pick(np.array([0, 1, 3])).tolist() == [0.0, 1.0, 0.0]
    assert scores.tied(np.arange(4)) == 2


def test_levels_leave_the_most_private():
    assert [places.tolist() for places in levels(6)] == [[0, 1, 2, 3, 4, 5], [2, 3, 4, 5], [4, 5]]
    assert [places.size for places in levels(30)] == [30, 20, 10]


@pytest.mark.parametrize("measure", ["mutual_information", "g3"])
def test_among_fewer_configurations_the_pick_is_what_the_product_answers(wine, by_id, measure):
    scores = by_id[f"{measure}, counts"].scores(wine)
    question = Question(measure, wine.attributes, np.full(13, 1 / 13))
    for places in levels(8):
        fewer = replace(wine.configurations, codes=wine.configurations.codes[places])
        best = ask(replace(wine, configurations=fewer), question).best
        assert scores.pick(places)[best] == 1.0


def test_what_is_known_is_what_it_says(wine):
    for knowledge in KNOWLEDGE:
        for told, full in zip(known(wine.evidence, knowledge), wine.evidence, strict=True):
            counted = [masking for masking in told.maskings if masking.joint is not None]
            halved = -(-len(full.maskings) // 2)
            assert len(counted) == (halved if knowledge.startswith("half") else len(full.maskings))
            assert any(masking.groups > 1 for masking in counted)
            assert (told.histogram is None) == knowledge.endswith("no histograms")
            assert all(masking.mapping is not None for masking in told.maskings)


def test_joint_utilities_are_pillais_trace_of_the_records(wine, by_id):
    expected = []
    for configuration in range(8):
        shared = OneHotEncoder(sparse_output=False).fit_transform(wine.masked(configuration))
        label = np.eye(3)[wine.classes]
        x, y = shared - shared.mean(axis=0), label - label.mean(axis=0)
        # The part of the label's orthonormal indicators that a least-squares fit on the masked indicators explains.
        basis = np.linalg.svd(y, full_matrices=False)[0][:, :2]
        expected.append(np.sum((x @ np.linalg.lstsq(x, basis)[0]) ** 2))
    differences = by_id["joint, not corrected"].scores(wine).utilities - np.array(expected)
    assert np.ptp(differences) == pytest.approx(0.0, abs=1e-6)


def test_an_outcome_holds_scores_against_results(wine, by_id):
    results = Results(RNG.random((8, len(MODELS), 4, len(METRICS))))
    found = outcome(wine, results, [by_id["chi_square, counts"], by_id["random choice"]])
    effect = found.by_id["chi_square, counts"]
    expected = np.zeros((3, 4))
    for places in levels(8):
        for model in range(3):
            auc = results.values[places, model, :, 1].T
            expected[model] += lost(auc, effect.scores.pick(places)) / 3
    for model, name in enumerate(MODELS):
        assert effect.loss("AUC", name) == pytest.approx(expected[model])
    assert effect.loss() == pytest.approx(expected.mean(axis=0))
    interval = Estimate.of(expected.mean(axis=0), 89 / 89)
    assert effect.mean_loss() == Estimate(pytest.approx(interval.mean), pytest.approx(interval.half_width))
    assert found.by_id["random choice"].spearman().mean == 0.0
    assert found.auc[2] == pytest.approx(results.values[2, :, :, 1].mean())


def test_what_draws_at_random_is_worth_the_mean_over_its_draws(wine, by_id):
    results = Results(RNG.random((8, len(MODELS), 4, len(METRICS))))
    drawing = by_id["sampling"]
    seeds = [replace(drawing, scores=ranked, again=()) for ranked in (drawing.scores, *drawing.again)]
    mean, *each = (outcome(wine, results, [one]).effects[0] for one in (drawing, *seeds))
    assert len({one.scores.utilities.tobytes() for one in each}) == len(each) == DRAWS
    assert mean.loss() == pytest.approx(np.mean([one.loss() for one in each], axis=0))
    assert mean.correlation == pytest.approx(np.mean([one.correlation for one in each], axis=0))
    assert [len(by_id[name].again) for name in ("g3, own", "Mascara")] == [DRAWS - 1, 0]
