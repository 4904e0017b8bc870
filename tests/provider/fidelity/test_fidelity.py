"""What a release is worth, from files: copies, shuffled releases, masked ones, and bad input."""

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pytest
from sklearn.metrics import accuracy_score, adjusted_rand_score, roc_auc_score

from aegis_provider.errors import TableError
from aegis_provider.fidelity import fidelity, result
from aegis_provider.fidelity.clusters import agreement
from aegis_provider.fidelity.models import Trials
from aegis_provider.fidelity.parts import parts_of
from aegis_provider.records import sides_of
from aegis_provider.released import open_release
from tests.provider.released_tables import made, records_of

PEOPLE = made(2_000, 0)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Write texts to a CSV file; return its path."""
    folder = tmp_path_factory.mktemp("fidelity")

    def write(texts, name="release.csv"):
        arrow_csv.write_csv(texts, folder / name, arrow_csv.WriteOptions(quoting_style="needed"))
        return folder / name

    return write


@pytest.fixture(scope="module")
def people(written):
    return written(PEOPLE, "people.csv")


def seen(holdout=0.2):
    """The texts of the records that are not held out."""
    sides = sides_of(records_of(PEOPLE), holdout)
    return pa.table({each.name: np.array(each.domain.texts)[each.places] for each in sides.training.columns})


def shuffled(texts, seed=0):
    rng = np.random.default_rng(seed)
    return pa.table({name: texts[name].take(pa.array(rng.permutation(len(texts)))) for name in texts.column_names})


@pytest.fixture(scope="module")
def copied(written, people):
    return fidelity(written(seen()), people, label="sick")


def test_a_copy_is_worth_what_the_real_records_are_worth(copied):
    assert copied.tested_on is result.Tested.UNSEEN
    assert [each.model for each in copied.models] == ["logistic regression", "random forest", "gradient boosting"]
    for each in copied.models:
        assert each.auc == each.real_auc
        assert each.accuracy == each.real_accuracy
        assert each.auc_difference.value == 0.0
        assert each.kept.value == pytest.approx(1.0)
    assert copied.found < 0.1


def test_a_copy_is_as_near_as_other_real_records(copied):
    for each in (copied.mean_difference, copied.pair_total_variation, copied.frechet_distance):
        assert each.released <= each.real + 0.01
    assert copied.agreement.released > 0.9 * copied.agreement.real


def test_a_shuffled_release_is_worth_nothing(written, people):
    found = fidelity(written(shuffled(seen())), people, label="sick")
    for each in found.models:
        assert each.auc_difference.high < 0
    assert found.mean_difference.released > 3 * found.mean_difference.real
    assert found.mean_difference.released == pytest.approx(found.mean_difference.shuffled, abs=0.03)


def test_auc_and_accuracy_are_those_of_scikit_learn(written, people):
    release = written(made(2_000, 0, fresh=5))
    opened = open_release(release, people, label="sick")
    trials = Trials.of(parts_of(opened, "release.csv", 0), "sick", np.random.default_rng([0, 2]))
    measured = {each.model: each for each in fidelity(release, people, label="sick").models}
    for model, each in measured.items():
        probabilities, labels = trials.released.probabilities(model), trials.released.tested
        assert each.auc.value == pytest.approx(roc_auc_score(labels, probabilities[:, 1]))
        assert each.accuracy.value == pytest.approx(accuracy_score(labels, probabilities.argmax(axis=1)))


def test_agreement_of_clusters_is_the_adjusted_rand_index():
    rng = np.random.default_rng(2)
    one = rng.integers(0, 3, 200)
    other = np.where(rng.random(200) < 0.8, one, rng.integers(0, 3, 200))
    assert agreement(one, other) == pytest.approx(adjusted_rand_score(one, other))
    assert agreement(one, (one + 1) % 3) == 1.0


def test_a_masked_release_is_tested_without_its_own_rows_or_says_so(written, people):
    masked = PEOPLE.set_column(
        0, "age", pa.array([f"[{int(a) // 10 * 10},{int(a) // 10 * 10 + 10})" for a in PEOPLE["age"].to_pylist()])
    )
    masked = masked.set_column(2, "town", pa.array(["*"] * len(masked)))
    found = fidelity(written(shuffled_rows(masked)), people, label="sick")
    assert found.tested_on is result.Tested.RELEASED
    assert found.is_masked
    best = found.best
    assert 0.6 < best.kept.value < 1.1
    associations = {frozenset((each.first, each.second)): each for each in found.associations}
    assert associations[frozenset(("town", "age"))].released < 0.1


def shuffled_rows(texts, seed=3):
    return texts.take(pa.array(np.random.default_rng(seed).permutation(len(texts))))


def test_records_are_shown_in_two_dimensions_if_asked_for(written, people, copied):
    assert copied.embedding is None
    small = written(seen().slice(0, 150))
    shown = fidelity(small, people, label="sick", embed=True).embedding
    assert shown.released.shape[1] == shown.real.shape[1] == 2
    assert np.isfinite(shown.real).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda texts: texts.drop(["sick"]), "no column 'sick'"),
        (lambda texts: texts.select(["sick"]), "no column of .* but the label"),
        (lambda texts: texts.slice(0, 3), "3 records"),
        (lambda texts: texts.rename_columns(["a", "b", "c", "d"]), "no column"),
    ],
)
def test_a_release_that_cannot_be_compared_is_refused_in_one_line(written, people, change, message):
    with pytest.raises(TableError, match=message) as refused:
        fidelity(written(change(seen())), people, label="sick")
    assert "\n" not in str(refused.value)


def test_label_values_that_are_not_understood_tell_nothing(written, people):
    found = fidelity(written(seen().set_column(3, "sick", pa.array(["perhaps"] * len(seen())))), people, label="sick")
    assert found.not_understood["sick"] == ("perhaps",)
    assert all(each.auc_difference.high < 0 for each in found.models)


def test_a_label_with_one_value_is_refused(written):
    table = written(PEOPLE.set_column(3, "sick", pa.array(["yes"] * len(PEOPLE))), "one.csv")
    with pytest.raises(TableError, match="has one value"):
        fidelity(table, table, label="sick", holdout=0.0)
