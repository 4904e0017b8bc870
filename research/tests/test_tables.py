"""The evaluation's tables: what the advisor is given is true, and what it must not see is withheld."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats.contingency import crosstab
from statsmodels.datasets import modechoice

from aegis_advisor.evidence.checks import find_faults
from research import real_tables
from research.evaluation import synthetic_tables
from research.real_tables import STEPS, quarters, texts, thirds
from research.study import Study, mapping_of

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def example() -> Study:
    return real_tables.health()


@pytest.fixture(scope="module")
def wine() -> Study:
    return real_tables.wine()


def test_summaries_of_the_example_are_its_records_counted(example):
    for place, evidence in enumerate(example.evidence):
        column = example.codes[:, place]
        np.testing.assert_array_equal(evidence.histogram, np.bincount(column))
        np.testing.assert_array_equal(example.truths[place], crosstab(column, example.classes).count)
        assert evidence.joint is None
        for masking in evidence.maskings:
            masked = mapping_of(evidence, masking.id)[column]
            np.testing.assert_array_equal(masking.joint, crosstab(masked, example.classes).count)


def test_codes_are_places_in_the_order_of_the_values(example):
    visits = example.table.columns["visits"].astype(int)
    np.testing.assert_array_equal(
        example.codes[:, example.attributes.index("visits")], np.unique(visits, return_inverse=True)[1]
    )


@pytest.mark.parametrize("made", [real_tables.health, real_tables.wine], ids=["health", "wine"])
def test_pairs_are_those_that_configurations_use_counted_in_the_masked_tables(made):
    study = made()
    counted = {(pair.attributes, pair.maskings): pair.joint for pair in study.pairs}
    assert len(counted) == len(study.pairs)
    used = set()
    for configuration in range(len(study.configurations.ids)):
        masked, names = study.masked(configuration), study.maskings(configuration)
        for first, second in combinations(range(len(names)), 2):
            if min(masked[:, first].max(), masked[:, second].max()) == 0:
                continue
            key = (first, second), (names[first], names[second])
            used.add(key)
            np.testing.assert_array_equal(counted[key], crosstab(masked[:, first], masked[:, second]).count)
    assert used == set(counted)


def test_k_that_a_configuration_vouches_for_is_its_smallest_group(wine, example):
    for study in (wine, example):
        for configuration, k in enumerate(study.configurations.privacy["k"]):
            assert np.unique(study.masked(configuration), axis=0, return_counts=True)[1].min() == k


def test_drawn_configurations_differ_and_mask_every_attribute(wine):
    assert len(np.unique(wine.configurations.codes, axis=0)) == len(wine.configurations.ids) == 30
    names = {name for configuration in range(30) for name in wine.maskings(configuration)}
    assert "drop" in names
    assert "identity" not in names
    assert all(find_faults(evidence) == () for evidence in wine.evidence)


def test_intervals_nest_and_do_not(wine):
    masks = {masking.id.rpartition("-")[2]: masking.mapping for masking in wine.evidence[0].maskings}
    assert list(masks) == ["w3", "w5", "w7", "w10", "w20"]

    def nests(fine, coarse):
        return all(len(set(masks[coarse][masks[fine] == group])) == 1 for group in set(masks[fine]))

    assert nests("w5", "w10")
    assert nests("w10", "w20")
    assert not nests("w3", "w7")
    assert not nests("w7", "w20")


def test_the_same_seed_draws_the_same_study():
    first, second = (synthetic_tables.redundant(2, records=200, configurations=5) for _ in range(2))
    np.testing.assert_array_equal(first.configurations.codes, second.configurations.codes)
    np.testing.assert_array_equal(first.codes, second.codes)


def test_numbers_of_many_values_are_rounded_to_steps_of_their_range():
    values = np.append(np.random.default_rng(1).uniform(-1.0, 3.0, 400), (-1.0, 3.0))
    rounded = texts(values).astype(int)
    assert (rounded.min(), rounded.max(), len(set(rounded))) == (0, STEPS - 1, STEPS)
    np.testing.assert_array_equal(rounded, np.digitize(values, np.linspace(-1.0, 3.0, STEPS + 1)[:-1]) - 1)
    assert texts(np.array([0.5, 2.0, 0.5])).tolist() == ["0.5", "2", "0.5"]


def test_quarters_hold_a_quarter_of_the_records_each():
    assert np.unique(quarters(np.arange(100.0)), return_counts=True)[1].tolist() == [25, 25, 25, 25]


def test_thirds_are_of_the_records_and_equals_share_theirs():
    assert np.unique(thirds(np.arange(99.0)), return_counts=True)[1].tolist() == [33, 33, 33]
    assert thirds(np.array([1.0, 1.0, 1.0, 2.0, 3.0, 4.0])).tolist() == ["lowest third"] * 3 + [
        *("middle third", "highest third", "highest third")
    ]


def test_a_record_of_travel_is_a_traveller_with_what_each_way_would_have_taken():
    table = real_tables.travel()
    rows = modechoice.load_pandas().data.to_dict("records")
    expected = {(name, way): [] for name in ("ttme", "invc") for way in real_tables.MODES.values()}
    ways = []
    for traveller in range(1, 211):
        for row in (row for row in rows if row["individual"] == traveller):
            for name in ("ttme", "invc"):
                expected[name, real_tables.MODES[row["mode"]]].append(row[name])
            if row["choice"]:
                ways.append(real_tables.MODES[row["mode"]])
    assert table.label.tolist() == ways
    assert "ttme car" not in table.columns  # always 0
    for way in ("air", "train", "bus"):
        np.testing.assert_array_equal(table.columns[f"ttme {way}"].astype(float), expected["ttme", way])
    np.testing.assert_array_equal(table.columns["invc car"], texts(np.array(expected["invc", "car"])))


def test_schools_do_not_tell_the_share_that_is_asked_for():
    table = real_tables.schools()
    assert len(table.columns) == 20
    assert not {"NABOVE", "NBELOW"} & set(table.columns)
    assert np.unique(table.label, return_counts=True)[1].tolist() == [101, 101, 101]


def test_held_out_are_the_tables_that_had_no_part_in_any_choice(wine, example):
    chosen_by = (
        real_tables.affairs,
        real_tables.election,
        real_tables.vote,
        real_tables.breast_cancer,
        real_tables.digits,
        real_tables.diabetes,
    )
    assert not any(make().held_out for make in chosen_by)
    assert not any(study.table.held_out for study in (wine, example))
    assert all(table.held_out for table in (real_tables.schools(), real_tables.travel(), real_tables.iris(5).table))


def test_exclusive_or_tells_nothing_alone_and_everything_together():
    study = synthetic_tables.interacting(1.0)
    pair = study.codes[:, :2] // 6
    assert crosstab(pair[:, 0], study.classes).count.min() > 0.2 * len(study.classes)
    wrong = np.mean((pair[:, 0] ^ pair[:, 1]) != study.classes)
    assert min(wrong, 1 - wrong) == pytest.approx(1 / (1 + np.exp(2.5)), abs=0.015)


@pytest.mark.parametrize("share", [0.5, 0.01])
def test_the_rarer_label_is_as_rare_as_it_says(share):
    assert np.mean(synthetic_tables.imbalanced(share).table.label == "yes") == pytest.approx(share, abs=1e-3)


def test_near_unique_attributes_have_as_many_values_as_they_say():
    assert len(np.unique(synthetic_tables.near_unique(0.5).table.columns["number"])) == 1_500


def test_configurations_of_a_made_up_table_trade_copies_for_the_others():
    study = synthetic_tables.redundant(4)
    coarse = np.array([study.masked(configuration).max(axis=0) for configuration in range(30)], dtype=float)
    correlation = np.corrcoef(coarse.T)
    assert correlation[:5, :5].mean() > 0.5
    assert correlation[5:, 5:].mean() > 0.5
    assert correlation[:5, 5:].mean() < -0.3
