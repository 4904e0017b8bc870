"""Errors of whole configurations for records with dependent attributes, and the indistinguishable set they imply."""

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from aegis_advisor.measures import MEASURES
from aegis_advisor.ranking import Question, recommend
from aegis_advisor.ranking.order import CodeBlocks
from aegis_advisor.ranking.standard_errors import CONFIDENCE, indistinguishable, standard_errors
from aegis_advisor.reconstruction import reconstruct
from tests.advisor.cases import by_measure, counted, errors_of, evidence_of, mapped, random_table
from tests.for_each import for_each

HEALTH = Path(__file__).parents[3] / "examples" / "health" / "health.csv"


@pytest.fixture(scope="module")
def people():
    """A column of codes for each attribute of the health data, and the label's."""
    with HEALTH.open(newline="") as file:
        rows = list(csv.DictReader(file))
    columns = {name: np.unique([row[name] for row in rows], return_inverse=True)[1] for name in rows[0]}
    return columns, columns.pop("health")


def joint_of(column, label, rows):
    table = np.zeros((column.max() + 1, label.max() + 1), dtype=np.int64)
    np.add.at(table, (column[rows], label[rows]), 1)
    return table


OPTIONS = ("identity", "three", "drop")


def evidence_on(people, maps, rows):
    columns, label = people
    tables = {name: joint_of(column, label, rows) for name, column in columns.items()}
    return [evidence_of(t, [mapped("three", maps[name], t)], joint=True, name=name) for name, t in tables.items()]


def utilities_of(measure, known, codes):
    """The mean utility of each configuration, from tables counted here."""
    found = []
    for one in known:
        table = one.joint.astype(float)
        found.append(
            [measure(t) for t in (table, one.maskings[0].joint.astype(float), table.sum(axis=0, keepdims=True))]
        )
    return np.array([np.mean([found[at][code] for at, code in enumerate(row)]) for row in codes])


@by_measure([MEASURES[name] for name in ("mutual_information", "chi_square", "g3", "goodman_kruskal_tau")])
def test_errors_on_records_are_never_too_small_and_not_absurdly_large(people, measure):
    """Use the records of the health data as the population, with their dependence between attributes."""
    columns, label = people
    rng = np.random.default_rng(13)
    maps = {name: rng.integers(0, 3, column.max() + 1) for name, column in columns.items()}
    codes = rng.integers(0, 3, (25, len(columns)))
    samples = [evidence_on(people, maps, rng.integers(0, label.size, 2_000)) for _ in range(150)]
    utilities = np.array([utilities_of(measure, known, codes) for known in samples])

    def errors(known):
        found = [errors_of(one, measure, OPTIONS) for one in known]
        whole = sum(np.array([one.utility(name) for name in OPTIONS])[codes[:, at]] for at, one in enumerate(found))
        apart = sum(
            np.array([one.difference(name, OPTIONS[codes[0, at]]) for name in OPTIONS])[codes[:, at]]
            for at, one in enumerate(found)
        )
        return np.linalg.norm([whole, apart], axis=-1) / len(columns)

    said = np.sqrt(np.mean([errors(known) ** 2 for known in samples[:15]], axis=0))
    spread = np.std([utilities, utilities - utilities[:, [0]]], axis=1)
    assert spread[1, 0] == said[1, 0] == 0
    ratio = np.delete(said / np.maximum(spread, 1e-12), 25)
    # The spread of 150 draws has an error of 6 %.
    assert ratio.min() > 0.88
    assert ratio.max() < 4
    assert np.median(ratio) < 2.2


def test_the_answer_names_those_that_cannot_be_told_from_the_best(people):
    columns, label = people
    rng = np.random.default_rng(14)
    maps = {name: rng.integers(0, 3, column.max() + 1) for name, column in columns.items()}
    known = evidence_on(people, maps, np.arange(0, label.size, 7))
    codes = rng.integers(0, 3, (400, len(columns)))
    question = Question("mutual_information", tuple(columns), np.full(len(columns), 1 / len(columns)))
    references = [reconstruct(one) for one in known]
    answer = recommend(known, references, codes, [OPTIONS] * len(known), question)
    bias = [np.array([one.maskings[option].bias for option in OPTIONS]) for one in answer.attributes]
    by_chance = np.mean([one[codes[:, at]] for at, one in enumerate(bias)], axis=0)
    gap = answer.ranking.deviation - answer.deviation - (by_chance[answer.best] - by_chance[answer.ranking.index])
    within = gap <= CONFIDENCE * answer.ranking.difference_error
    assert answer.indistinguishable.tolist() == answer.ranking.index[within].tolist()
    assert 1 < answer.indistinguishable.size == answer.indistinguishable_count < 100
    assert answer.indistinguishable[0] == answer.best
    short = recommend(known, references, codes, [OPTIONS] * len(known), replace(question, limit=3))
    assert short.indistinguishable.tolist() == answer.indistinguishable.tolist()
    for one in answer.attributes:
        assert all(score.standard_error >= 0 for score in one.maskings.values())
        assert one.maskings["drop"].standard_error == pytest.approx(0, abs=1e-12)


def test_the_published_reference_has_no_difference_errors():
    table = random_table(np.random.default_rng(15), values=6, records=600)
    known = evidence_of(table, [mapped("half", np.arange(6) // 3, table)])
    question = Question("mutual_information", ("a",), np.ones(1), reference="own")
    answer = recommend([known], [reconstruct(known)], np.array([[0], [1]]), [("half", "drop")], question)
    assert answer.indistinguishable is answer.indistinguishable_count is None
    assert np.isnan(answer.ranking.difference_error).all()
    assert answer.ranking.standard_error[0] > 0


def test_a_measure_of_the_support_has_no_errors():
    table = random_table(np.random.default_rng(15), values=6, records=600)
    known = evidence_of(table, [mapped("half", np.arange(6) // 3, table)])
    answer = recommend(
        [known], [reconstruct(known)], np.array([[0], [1]]), [("half", "drop")], Question("g2", ("a",), np.ones(1))
    )
    assert answer.indistinguishable is answer.indistinguishable_count is None
    assert np.isnan([answer.ranking.standard_error, answer.ranking.difference_error]).all()
    assert {score.standard_error for score in answer.attributes[0].maskings.values()} == {None}


def test_the_correction_of_bias_moves_utilities_and_not_their_errors():
    table = random_table(np.random.default_rng(16), values=6, records=600) + 1
    known = evidence_of(table, [mapped("half", np.arange(6) // 3, table)], joint=True)
    question = Question("mutual_information", ("a",), np.ones(1))
    corrected = replace(question, bias_correction=True)
    codes, options = np.array([[0], [1]]), [("identity", "half")]
    plain, less = (recommend([known], [reconstruct(known)], codes, options, one) for one in (question, corrected))
    for masking, score in plain.attributes[0].maskings.items():
        assert score.bias > 0
        assert less.attributes[0].maskings[masking].utility == pytest.approx(score.utility - score.bias)
        assert less.attributes[0].maskings[masking].bias == 0
        assert less.attributes[0].maskings[masking].standard_error == pytest.approx(score.standard_error)
    assert (plain.ranking_basis, less.ranking_basis) == ("exact", "estimated")
    with pytest.raises(ValueError, match="g3"):
        recommend([known], [reconstruct(known)], codes, options, replace(corrected, measure="g3"))


@for_each("seed", range(20))
def test_the_pruned_search_finds_what_adding_up_all_vectors_finds(seed):
    rng = np.random.default_rng(seed)
    sizes = [int(size) for size in rng.integers(1, 6, 7)]
    codes = np.column_stack([rng.integers(0, size, 300) for size in sizes])
    vectors = [np.abs(rng.standard_normal((size, 7))) * rng.random() for size in sizes]
    for vector in vectors:
        vector[:, :3] *= rng.choice([-1, 1], 3)
        vector[0] = 0
    gaps = rng.exponential(rng.choice([0.5, 3.0, 10.0]), 300)
    blocks = CodeBlocks.of(codes, sizes)
    exact = standard_errors(blocks, vectors, np.arange(300))
    expected = np.linalg.norm(sum(vector[codes[:, at]] for at, vector in enumerate(vectors)), axis=1)
    np.testing.assert_allclose(exact, expected)
    np.testing.assert_array_equal(indistinguishable(blocks, vectors, gaps, 0.0), gaps <= CONFIDENCE * expected)


def test_a_masking_beyond_the_reference_does_not_cancel_against_another_attribute():
    """One attribute has counts of unknown origin that tell more than its view; both attributes depend on one label."""
    rng = np.random.default_rng(17)
    measure = MEASURES["mutual_information"]
    gaps, said = [], []
    for _ in range(150):
        label = (rng.random(3_000) < 0.1).astype(int)
        plain, clear, other = (
            np.where(rng.random(label.size) < noise, 1 - label, label) for noise in (0.4, 0.01, 0.01)
        )
        rows = np.arange(label.size)
        view, beyond = (joint_of(column, label, rows) for column in (plain, clear))
        first = evidence_of(view, [mapped("v", [0, 1], view), counted("s", beyond, deterministic=False)])
        second = joint_of(other, label, rows)
        second = evidence_of(second, [mapped("v", [0, 1], second)])
        found = [errors_of(first, measure, ("v", "s")), errors_of(second, measure, ("v", "drop"))]
        moves = found[0].difference("s", "v") + found[1].difference("drop", "v")
        gain = measure(beyond.astype(float)) - measure(view.astype(float))
        gaps.append(gain + measure(second.maskings[0].joint.astype(float)))
        said.append(np.linalg.norm(moves))
    assert np.mean(said) > 0.9 * np.std(gaps)
