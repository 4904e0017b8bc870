from itertools import product

import numpy as np
import pytest

from aegis_advisor.atoms import AtomStatistics
from aegis_advisor.errors import UnknownMeasureError
from aegis_advisor.measures import MEASURES, measure_named
from tests.advisor.cases import PAPER_TABLE, random_mapping, random_table
from tests.for_each import for_each

PAPER_FIGURES = {
    "mutual_information": 0.4176,
    "chi_square": 58.63,
    "g3": 0.5900,
    "g1": 0.4830,
    "g2": 1.0000,
    "theils_u": 0.1855,
    "goodman_kruskal_lambda": 0.15714,
    "goodman_kruskal_tau": 0.12670,
    "cramers_v": 0.7657,
    "cramers_v_corrected": 0.74264,
    "jensen_shannon": 0.11456,
    "normalised_mutual_information": 0.28090,
    "joint": 0.5863,
}
MONOTONE = [measure for measure in MEASURES.values() if measure.monotone]


@for_each(("measure", "figure"), PAPER_FIGURES.items())
def test_the_papers_table_has_the_papers_figures(measure, figure):
    assert MEASURES[measure](PAPER_TABLE.astype(float)) == pytest.approx(figure, rel=2e-4)


def records_of(table):
    return [
        (value, label)
        for value, label in product(range(table.shape[0]), range(table.shape[1]))
        for _ in range(table[value, label])
    ]


def pairs_that_differ(records):
    return [(i, j) for (i, a), (j, b) in product(enumerate(records), repeat=2) if a[0] == b[0] and a[1] != b[1]]


@for_each("seed", range(8))
def test_g1_and_g2_count_pairs_of_records(seed):
    table = random_table(np.random.default_rng(seed), values=5, records=40)
    records = records_of(table)
    pairs = pairs_that_differ(records)
    assert MEASURES["g1"](table.astype(float)) == pytest.approx(len(pairs) / len(records) ** 2)
    assert MEASURES["g2"](table.astype(float)) == pytest.approx(len({i for i, _ in pairs}) / len(records))


@for_each("seed", range(8))
def test_g3_is_the_least_share_of_records_to_delete(seed):
    table = random_table(np.random.default_rng(seed), values=3, labels=3, records=30)
    kept = max(
        sum(1 for value, label in records_of(table) if kept_label[value] == label)
        for kept_label in product(range(3), repeat=3)
    )
    assert MEASURES["g3"](table.astype(float)) == pytest.approx(1 - kept / table.sum())


@for_each("seed", range(5))
def test_mutual_information_and_chi_square_agree_with_their_other_formulas(seed):
    table = random_table(np.random.default_rng(seed)).astype(float)
    share = table / table.sum()

    def entropy(p):
        return -sum(x * np.log2(x) for x in p.ravel() if x > 0)

    information = entropy(share.sum(0)) + entropy(share.sum(1)) - entropy(share)
    assert MEASURES["mutual_information"](table) == pytest.approx(information, abs=1e-12)
    rows, columns = np.nonzero(np.outer(table.sum(1), table.sum(0)))
    ratio = table[rows, columns] ** 2 / (table.sum(1)[rows] * table.sum(0)[columns])
    assert MEASURES["chi_square"](table) == pytest.approx(table.sum() * (ratio.sum() - 1), abs=1e-9)


def gain_by_merging(measure, seed):
    """How much merging the rows of a random table improves a measure."""
    rng = np.random.default_rng(seed)
    table = random_table(rng).astype(float)
    mapping = random_mapping(rng, 9, 4)
    merged = np.stack([table[mapping == group].sum(0) for group in range(4)])
    gain = measure(merged) - measure(table)
    return gain if measure.better == "higher" else -gain


@for_each("measure", MONOTONE)
def test_merging_rows_never_improves_what_is_called_monotone(measure):
    assert max(gain_by_merging(measure, seed) for seed in range(30)) <= 1e-12


NOT_MONOTONE = [
    # With one attribute, `joint_interactions` is `joint`; only with several is it not monotone.
    *(measure for measure in MEASURES.values() if not measure.monotone and not measure.sees_interactions),
    *(measure.corrected() for measure in MEASURES.values() if measure.correction),
]


@for_each("measure", NOT_MONOTONE)
def test_merging_rows_can_improve_what_is_not(measure):
    alike = np.array([[30.0, 0, 10], [30, 0, 10], [0, 40, 10]])  # the first two rows have the same distribution
    merged = np.array([[60.0, 0, 20], [0, 40, 10]])
    assert measure.guarantee == "none"
    assert measure(merged) > measure(alike) + 0.005


@for_each("measure", MEASURES.values())
class TestEveryMeasure:
    def test_order_and_names_do_not_matter(self, measure):
        rng = np.random.default_rng(3)
        table = random_table(rng).astype(float)
        classes = rng.permutation(3)
        shuffled = table[rng.permutation(9)][:, classes]
        scored = measure.scored(classes.astype(float)) if measure.uses_scores else measure
        assert scored(shuffled) == pytest.approx(measure(table), rel=1e-12)

    def test_scale_matters_to_chi_square_alone_and_in_proportion(self, measure):
        if measure.id == "cramers_v_corrected":
            return  # its correction is smaller where there are more records
        table = random_table(np.random.default_rng(4)).astype(float)
        factor = 1000 if measure.id == "chi_square" else 1
        assert measure(table * 1000) == pytest.approx(measure(table) * factor, rel=1e-12)

    def test_empty_rows_and_columns_change_nothing(self, measure):
        table = random_table(np.random.default_rng(5)).astype(float)
        assert measure(np.pad(table, 2)) == pytest.approx(measure(table), rel=1e-12)

    def test_one_class_has_no_dependence_and_no_error(self, measure):
        assert measure(np.array([[3.0], [0.0], [9.0]])) == 0.0

    def test_an_empty_table_is_0(self, measure):
        assert measure(np.zeros((3, 2))) == 0.0

    def test_counts_near_2_to_the_53_are_as_good_as_any(self, measure):
        large = PAPER_TABLE.astype(float) * (2**53 // 100)
        factor = 2**53 // 100 if measure.id == "chi_square" else 1
        # With this many records there is nothing to correct.
        small = MEASURES["cramers_v"] if measure.id == "cramers_v_corrected" else measure
        assert measure(large) == pytest.approx(small(PAPER_TABLE.astype(float)) * factor, rel=1e-12)


@for_each("measure", MEASURES.values())
@for_each("seed", range(6))
def test_atoms_stand_for_their_values(measure, seed):
    rng = np.random.default_rng(seed)
    histogram = rng.integers(0, 9, 12)
    atom_of_value = np.sort(np.concatenate([np.arange(4), rng.integers(0, 4, 8)])).astype(np.int32)
    shares = rng.dirichlet([0.6, 0.6, 0.6], size=4) * (rng.random((4, 3)) > 0.2)
    shares /= np.maximum(shares.sum(1, keepdims=True), 1e-9)
    full = histogram[:, None] * shares[atom_of_value]
    atoms = np.stack([full[atom_of_value == atom].sum(0) for atom in range(4)])
    statistics = AtomStatistics.counted(atom_of_value, 4, histogram)
    assert measure(atoms, statistics) == pytest.approx(measure(full), abs=1e-12)


def test_an_unknown_measure_is_named():
    with pytest.raises(UnknownMeasureError, match="accuracy"):
        measure_named("accuracy")


def test_the_registry_speaks_of_itself():
    assert set(PAPER_FIGURES) <= set(MEASURES)
    assert {measure.better for measure in MEASURES.values()} == {"higher", "lower"}
    assert all(
        measure.id == key and measure.formula and measure.reason and measure.source for key, measure in MEASURES.items()
    )
