"""All measures on releases whose worth is known, and against scikit-learn's own metrics."""

import numpy as np
import pyarrow as pa
import pytest
from sklearn.cluster import KMeans
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import accuracy_score, adjusted_rand_score, roc_auc_score

from aegis_provider.errors import TableError
from aegis_provider.records import sides_of
from aegis_provider.synth.fidelity import Relation, fidelity
from aegis_provider.synth.fidelity.clusters import agreement, assigned_to, embedded, number_of_clusters
from aegis_provider.synth.fidelity.comparison import Comparison
from aegis_provider.synth.fidelity.encoding import stacked
from aegis_provider.synth.fidelity.measuring import Trials
from aegis_provider.synth.fidelity.parts import parts_of
from aegis_provider.synth.released.opening import open_release
from tests.for_each import for_each

RECORDS = 1_000


def seen(table, as_records):
    """The texts of the records that are not held out."""
    records = sides_of(as_records(table)).training
    return pa.table({each.name: np.array(each.domain.texts)[each.places] for each in records.columns})


def shuffled(table, seed=9):
    rng = np.random.default_rng(seed)
    return pa.table({name: table[name].take(rng.permutation(len(table))) for name in table.column_names})


def rows(records):
    """The records as tuples, -1 where a number is missing."""
    return list(zip(*(np.nan_to_num(each.of_record, nan=-1) for each in records.columns), strict=True))


@pytest.fixture
def table(people):
    return people(RECORDS, 1)


@pytest.mark.long
def test_the_training_records_reach_what_real_ones_reach(table, as_records):
    result = fidelity(seen(table, as_records), table, label="sick")
    assert result.tested_on is Relation.UNSEEN
    assert result.trained == result.trained_on_real
    for model in result.models:
        assert model.auc == model.real_auc
        assert model.accuracy == model.real_accuracy
        assert (model.auc_difference.value, model.kept.value) == (0, 1)
    assert result.agreement.released > result.agreement.real - 0.2


@pytest.mark.long
def test_half_of_a_copy_is_nearer_to_half_of_the_records_than_their_other_half_is(people, as_records):
    """Twice as near in squares: what one half has too much of, the other half lacks, but another random half does not.

    With the error e of a half (by which it differs from all records), the other half has the error -e, at a squared
    distance of 4 e². Another random half has an independent error of the same size, at 2 e² on average. Corrected
    associations are cut off at 0, so that theirs are nearer together than that.
    """
    distances = []
    for seed in range(12):
        table = people(RECORDS, seed)
        parts = parts_of(open_release(seen(table, as_records), table, label="sick"), "r", 0)
        for compared in (Comparison.of(parts, np.random.default_rng(half)) for half in range(4)):
            measures = compared.differences(np.mean), compared.pair_total_variation(), compared.frechet_distance()
            distances.append([(each.released, each.real, each.shuffled) for each in measures])
    associations, variation, frechet = np.mean(distances, axis=0)
    assert variation[0] / variation[1] == pytest.approx(0.5**0.5, abs=0.02)
    assert frechet[0] / frechet[1] == pytest.approx(0.5, abs=0.1)
    assert 0.65 < associations[0] / associations[1] < 0.9
    assert associations[2] > 2 * associations[1]


def test_a_shuffled_release_is_as_unlike_the_table_as_chance_makes_it(table, as_records):
    result = fidelity(shuffled(seen(table, as_records)), table, label="sick")
    assert result.mean_difference.released == pytest.approx(result.mean_difference.shuffled, rel=0.5)
    assert result.pair_total_variation.released == pytest.approx(result.pair_total_variation.shuffled, rel=0.2)
    assert result.frechet_distance.released > result.frechet_distance.real
    worst = result.associations[0]
    assert {worst.first, worst.second} == {"age", "sick"}
    assert worst.real > 0.4
    assert worst.released < 0.15


@pytest.mark.long
def test_models_trained_on_shuffled_releases_know_nothing_on_average(people, as_records):
    """What one of them takes for a trend is chance, and may be right or wrong about all real records.

    Models trained on real records know nearly all that there is to know: 7 of 10 are sick among those over 60, who are
    29 of 72, and 2 of 10 among the others, so the best possible AUC is 0.75.
    """
    found, real = [], []
    for seed in range(4):
        table = people(RECORDS, seed)
        release = shuffled(seen(table, as_records), seed)
        trials = Trials.of(
            parts_of(open_release(release, table, label="sick"), "r", 0), "sick", np.random.default_rng(0)
        )
        values = list(trials.values(lambda _done, _all: None))
        found.append(np.mean([each.auc.value for each in values]))
        real.append([each.real_auc.value for each in values])
    assert np.mean(found) == pytest.approx(0.5, abs=2.8 * np.std(found, ddof=1) / np.sqrt(4))
    assert np.mean(found) < 0.6
    assert np.mean(real, axis=0) == pytest.approx(0.75, abs=2.8 * np.std(real, axis=0, ddof=1).max() / np.sqrt(4))
    assert np.mean(real, axis=0).min() > 0.7


def test_auc_and_accuracy_are_those_of_scikit_learn(people, as_records):
    table = people(800, 2)
    opened = open_release(seen(table, as_records), table, label="sick")
    trials = Trials.of(parts_of(opened, "r", 0), "sick", np.random.default_rng(0))
    for value in trials.values(lambda _done, _all: None):
        for trial, auc, accuracy in (
            (trials.released, value.auc, value.accuracy),
            (trials.real, value.real_auc, value.real_accuracy),
        ):
            probabilities = trial.fitting(value.model).probabilities()
            assert auc.value == pytest.approx(roc_auc_score(trial.tested, probabilities[:, 1]))
            assert accuracy.value == pytest.approx(accuracy_score(trial.tested, probabilities.argmax(axis=1)))
            assert auc.low < auc.value < auc.high
        assert value.auc_difference.value == pytest.approx(value.auc.value - value.real_auc.value)
        assert value.kept.value == pytest.approx((value.auc.value - 0.5) / (value.real_auc.value - 0.5))
    assert trials.real.guessed == pytest.approx(max(np.bincount(trials.real.tested)) / len(trials.real.tested))


def test_the_forest_is_that_of_scikit_learn_on_the_order_of_the_values(people, as_records):
    table = people(400, 3)
    opened = open_release(seen(table, as_records), table, label="sick")
    trial = Trials.of(parts_of(opened, "r", 0), "sick", np.random.default_rng(0)).released
    matrix = np.stack([each.places for each in trial.features], axis=1)
    forest = RandomForestClassifier(100, min_samples_leaf=5, random_state=0)
    forest.fit(matrix[: trial.trained], trial.labels[: trial.trained])
    np.testing.assert_allclose(
        trial.fitting("random forest").probabilities(), forest.predict_proba(matrix[trial.trained :])
    )


def test_clusters_are_those_of_scikit_learn():
    rng = np.random.default_rng(3)
    centres = rng.normal(scale=20, size=(4, 3))
    one, other, assigned = (centres[rng.integers(0, 4, 300)] + rng.normal(size=(300, 3)) for _ in range(3))
    assert number_of_clusters(one) == 4
    expected = [KMeans(4, n_init=4, random_state=0).fit(each).predict(assigned) for each in (one, other)]
    made = [assigned_to(each, assigned, 4) for each in (one, other)]
    assert agreement(*made) == adjusted_rand_score(*expected) == 1
    assert abs(agreement(made[0], rng.permutation(made[0]))) < 0.05
    assert number_of_clusters(np.ones((20, 2))) is None
    assert number_of_clusters(np.repeat(np.eye(2), 10, axis=0)) is None


def test_each_kind_has_as_many_records_and_no_real_one_twice(people, as_records):
    table = people(900, 4)
    parts = parts_of(open_release(seen(table, as_records).slice(0, 200), table, label="sick"), "r", 0)
    compared = Comparison.of(parts, np.random.default_rng(0))
    sizes = {len(each) for each in (compared.real, compared.other, compared.released, compared.shuffled)}
    assert sizes == {200}
    assert len(compared.assigned) == len(parts.tested)
    both, everyone = (rows(stacked(each)) for each in ((compared.real, compared.other), (parts.real,)))
    assert all(both.count(row) <= everyone.count(row) for row in both)


@pytest.mark.long
def test_masked_values_are_worth_less_but_something(people):
    table = people(RECORDS, 5)
    wide = [f"[{int(each) // 35 * 35},{int(each) // 35 * 35 + 35})" for each in table["age"].to_pylist()]
    masked = table.set_column(0, "age", [wide]).set_column(2, "town", [["*"] * RECORDS])
    result = fidelity(masked, table, label="sick")
    assert (result.tested_on, result.is_masked) == (Relation.TAKEN_OUT, True)
    assert 0.2 < result.best.kept.value < 0.95
    assert result.trained == result.trained_on_real
    hidden = fidelity(masked.set_column(0, "age", [["*"] * RECORDS]), table, label="sick")
    assert hidden.best.auc.low < 0.5 < hidden.best.auc.high  # nothing but the income is left, which tells nothing


def test_columns_that_are_not_released_are_missed_by_models_only(people, write):
    from aegis_provider import load_plan  # noqa: PLC0415 - beside the plan that it reads

    plan = load_plan(write("p.yaml", "label: sick\nattributes: {age: {}, town: {}}\n"), configurations_needed=False)
    table = people(RECORDS, 6)
    result = fidelity(table.select(["town", "sick"]), table, plan=plan, holdout=0)
    assert result.lacking == ("age",)
    assert result.best.real_auc.low > 0.6
    assert result.best.auc.value < 0.6
    assert [(each.first, each.second) for each in result.associations] == [("town", "sick")]


def test_points_are_those_of_real_and_of_released_records():
    rng = np.random.default_rng(7)
    near, far = rng.normal(size=(60, 4)), rng.normal(size=(50, 4)) + 100
    both = embedded(near, far)
    assert both.real.shape == (60, 2)
    assert both.released.shape == (50, 2)
    joined = np.concatenate([both.real, both.released])
    apart = np.linalg.norm(joined[:, None] - joined, axis=2) + np.diag([np.inf] * 110)
    assert ((apart.argmin(axis=1) < 60) == (np.arange(110) < 60)).mean() > 0.95
    assert embedded(np.ones((5, 2)), np.ones((5, 2))) is None


@pytest.mark.long
def test_equal_arguments_give_equal_results(people):
    one, other = (fidelity(people(400, 8, fresh=9), people(400, 8), label="sick") for _ in range(2))
    assert one.models == other.models
    assert one.agreement == other.agreement
    assert one.frechet_distance == other.frechet_distance


LABELS = np.array([str(each) for each in range(300)])

BAD = {
    "no label": (lambda table: (table, table, {}), "no label is named"),
    "label not released": (
        lambda table: (table.select(["age", "town"]), table, {"label": "sick"}),
        "no column 'sick'",
    ),
    "label only": (lambda table: (table.select(["sick"]), table, {"label": "sick"}), "no column of .* but the label"),
    "one class": (
        lambda table: (table, table.set_column(3, "sick", [["yes"] * 300]), {"label": "sick"}),
        "has one value, so there is nothing to predict",
    ),
    "too many classes": (
        lambda table: (table, table.set_column(3, "sick", [LABELS]), {"label": "sick"}),
        r"has 300 values; models can predict at most 50",
    ),
    "other label values": (
        lambda table: (
            table.set_column(3, "sick", [["7"] * 300]),
            table.set_column(3, "sick", [[str(each % 3) for each in range(300)]]),
            {"label": "sick"},
        ),
        "no released value of the label 'sick' is one of the table's",
    ),
}


@for_each("name", BAD)
def test_what_cannot_be_measured_is_one_line(people, name):
    make, words = BAD[name]
    release, table, options = make(people(300, 1))
    with pytest.raises(TableError, match=words) as error:
        fidelity(release, table, **options)
    assert "\n" not in str(error.value)
