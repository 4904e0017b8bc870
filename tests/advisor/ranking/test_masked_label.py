"""Rankings where configurations mask the label: the paper's question, and that of a consumer of a coarser label."""

from collections import Counter
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from aegis_advisor.arrays import fold
from aegis_advisor.evidence import Masking, PairCounts, with_label_masked
from aegis_advisor.measures import MEASURES
from aegis_advisor.ranking import LabelChoices, Question, recommend, recommend_among_labels
from aegis_advisor.reconstruction import reconstruct
from tests.advisor.cases import by_measure, evidence_of, random_mapping, random_table
from tests.for_each import for_each

LABELS = 4
MAPPINGS = (None, np.array([0, 0, 1, 2]), np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]))
ALONE = [measure for measure in MEASURES.values() if not measure.is_joint]


def shown(table, mapping, classes):
    """The true table of masked values and masked labels."""
    groups = fold(table, mapping, int(mapping.max()) + 1)
    return groups if classes is None else np.ascontiguousarray(fold(groups.T.copy(), classes, int(classes.max()) + 1).T)


def random_attribute(rng, name, records, choices):
    """An attribute whose maskings are counted with the labels of the configurations that use them, or with all labels.

    Returns: its evidence, its table, and the mapping of each option.
    """
    weights = rng.dirichlet(np.full(7, 0.6), size=records.size)
    table = np.stack([rng.multinomial(n, p) for n, p in zip(records, weights, strict=True)], axis=1)
    mappings = {f"m{at}": random_mapping(rng, 7, int(rng.integers(2, 5))) for at in range(3)}
    maskings, blocks = [], []
    for masking, mapping in mappings.items():
        whole = rng.random() < 0.3
        joint = shown(table, mapping, None) if whole else None
        maskings.append(Masking(masking, int(mapping.max()) + 1, mapping, joint, deterministic=True))
        for label, classes in enumerate(MAPPINGS):
            if classes is not None and not whole and (masking, label) in choices:
                block = replace(maskings[-1], joint=shown(table, mapping, classes), label_mapping=classes)
                blocks.append(replace(block, id=f"{masking} x {label}"))
    known = replace(evidence_of(table, maskings, histogram=bool(rng.random() < 0.5), name=name), blocks=tuple(blocks))
    return known, table, {**mappings, "drop": np.zeros(7, dtype=int)}


def random_entry(seed, attributes=2):
    rng = np.random.default_rng(seed)
    records = rng.integers(5, 90, LABELS)
    options = [("m0", "m1", "m2", "drop")] * attributes
    codes = rng.integers(0, 4, (12, attributes))
    labels = rng.integers(0 if rng.random() < 0.2 else 1, len(MAPPINGS), 12)
    parts = []
    for at in range(attributes):
        choices = {(options[at][code], label) for code, label in zip(codes[:, at], labels, strict=True)}
        parts.append(random_attribute(rng, f"a{at}", records, choices))
    evidence, tables, mappings = zip(*parts, strict=True)
    return evidence, tables, mappings, options, codes, labels


def utilities(measure, tables, mappings, options, codes, labels):
    """(configurations, attributes) the utility of every two-sided table, which only the provider has."""
    rows = []
    for row, label in zip(codes, labels, strict=True):
        each = zip(tables, mappings, options, row, strict=True)
        rows.append([measure(shown(t, m[names[code]], MAPPINGS[label]).astype(float)) for t, m, names, code in each])
    return np.array(rows)


@by_measure(ALONE)
def test_an_exact_ranking_is_the_ranking_by_the_true_deviation_from_the_unmasked_label(measure):
    bases = Counter()
    for seed in range(8):
        evidence, tables, mappings, options, codes, labels = random_entry(seed)
        question = Question(measure.id, ("a0", "a1"), np.array([0.7, 0.3]))
        references = list(map(reconstruct, evidence))
        answer = recommend_among_labels(evidence, references, codes, options, question, LabelChoices(labels, MAPPINGS))
        bases[answer.ranking_basis] += 1
        whole = np.array([measure(table.astype(float)) for table in tables])
        true = np.abs(whole - utilities(measure, tables, mappings, options, codes, labels)) @ [0.7, 0.3]
        scale = max(1e-9, *(abs(one.reference_utility) for one in answer.attributes))
        if answer.ranking_basis == "exact":
            assert (np.diff(true[answer.ranking.index]) >= -1e-8 * scale).all(), seed
            shift = true[answer.ranking.index] - answer.ranking.deviation
            assert np.ptp(shift) <= 1e-8 * scale, seed
    assert (bases["exact"] > 1) == (measure.label_guarantee == "exact"), bases


def test_a_label_that_is_easier_to_guess_is_a_deviation_too():
    """The value says which of two merged labels it is: U is 1/2 of four labels, 2/3 of three, and 1 of two."""
    table, mapping = np.array([[20, 20, 0, 0], [0, 0, 20, 20]]), np.array([0, 1])
    known = evidence_of(table, [Masking("all", 2, mapping, table, deterministic=True)])
    codes, labels = np.zeros((3, 1), dtype=int), np.array([2, 0, 1])
    for measure, deviations in (("theils_u", [0.0, 1 / 6, 0.5]), ("mutual_information", [0.0, 0.0, 0.0])):
        question = Question(measure, ("a",), np.ones(1))
        answer = recommend_among_labels(
            [known], [reconstruct(known)], codes, [("all",)], question, LabelChoices(labels, MAPPINGS)
        )
        assert answer.ranking.deviation == pytest.approx(deviations)
        assert answer.ranking_basis == MEASURES[measure].label_guarantee.replace("none", "estimated")


def pairs_of(options, mappings, shared):
    """Counts of every two maskings of two attributes, given how the records spread over both and the label."""
    pairs = []
    for one, other in product(options[0], options[1]):
        if "drop" not in (one, other):
            first, second = mappings[0][one], mappings[1][other]
            joint = fold(shared.sum(axis=2), first, int(first.max()) + 1)
            joint = fold(joint.T.copy(), second, int(second.max()) + 1).T.copy()
            pairs.append(PairCounts((0, 1), (one, other), joint))
    return pairs


def trace(columns, label, shared):
    """Pillai's trace by its definition, from the records spread over (values, values, labels)."""
    weights = shared.ravel() / shared.sum()
    places = np.indices(shared.shape).reshape(3, -1)
    x = np.hstack([np.eye(int(m.max()) + 1)[m[places[at]]] for at, m in enumerate(columns)])
    y = np.eye(int(label.max()) + 1)[label[places[2]]]
    x, y = x - weights @ x, y - weights @ y
    xx, yy, xy = (one.T @ (weights[:, np.newaxis] * other) for one, other in ((x, x), (y, y), (x, y)))
    return float(np.trace(np.linalg.pinv(xx, rcond=1e-9) @ xy @ np.linalg.pinv(yy, rcond=1e-9) @ xy.T))


@for_each("seed", range(6))
def test_joint_is_that_of_the_masked_tables_and_no_masked_label_beats_the_label(seed):
    rng = np.random.default_rng(seed)
    shared = rng.poisson(rng.gamma(0.5, 8, (4, 4, LABELS)))
    tables = shared.sum(axis=1), shared.sum(axis=0)
    mappings = [{"m0": np.arange(4), "m1": np.arange(4) // 2, "drop": np.zeros(4, dtype=int)}] * 2
    options = [("m0", "m1", "drop")] * 2
    grid = np.array(list(product(range(3), range(3), range(len(MAPPINGS)))))
    codes, labels = grid[:, :2], grid[:, 2]
    evidence = [
        evidence_of(
            table,
            [Masking(name, int(m.max()) + 1, m, shown(table, m, None), True) for name, m in mappings[at].items()][:2],
            name=f"a{at}",
        )
        for at, table in enumerate(tables)
    ]
    question = Question("joint", ("a0", "a1"), np.array([0.5, 0.5]))
    choices = LabelChoices(labels, MAPPINGS)
    pairs = pairs_of(options, mappings, shared)
    answer = recommend_among_labels(
        evidence, list(map(reconstruct, evidence)), codes, options, question, choices, pairs
    )
    expected = np.array(
        [
            trace(
                [mappings[at][options[at][code]] for at, code in enumerate(row)],
                np.arange(LABELS) if MAPPINGS[label] is None else MAPPINGS[label],
                shared,
            )
            for row, label in zip(codes, labels, strict=True)
        ]
    )
    assert answer.ranking_basis == "exact"
    np.testing.assert_allclose(answer.ranking.utility, expected[answer.ranking.index], atol=1e-9)
    whole = expected[(codes == 0).all(axis=1) & (labels == 0)][0]
    np.testing.assert_allclose(answer.ranking.deviation, whole - expected[answer.ranking.index], atol=1e-9)


@for_each("seed", range(8))
def test_the_task_of_a_coarser_label_is_that_of_an_entry_made_with_it(seed):
    """A consumer's question: blocks of finer labels, and counts of all labels, become counts of the coarser label."""
    rng = np.random.default_rng(seed)
    table, target, finer = random_table(rng, 8, LABELS), np.array([0, 0, 1, 1]), np.array([0, 0, 1, 2])
    mappings = [random_mapping(rng, 8, groups) for groups in (4, 3, 5)]
    maskings = [
        Masking(f"m{at}", int(m.max()) + 1, m, shown(table, m, None) if at == 0 else None, deterministic=True)
        for at, m in enumerate(mappings)
    ]
    blocks = [
        replace(maskings[at], joint=shown(table, mappings[at], classes), label_mapping=classes)
        for at, classes in ((1, finer), (2, np.array([0, 1, 1, 1])))  # the last crosses the target
    ]
    known = replace(evidence_of(table, maskings), blocks=tuple(blocks))
    found = with_label_masked(known, target)
    alone = shown(table, np.arange(8), target)
    expected = evidence_of(
        alone,
        [
            Masking(one.id, one.groups, one.mapping, shown(table, one.mapping, target) if at < 2 else None, True)
            for at, one in enumerate(maskings)
        ],
    )
    assert found.blocks == ()
    np.testing.assert_array_equal(found.label_histogram, expected.label_histogram)
    question, codes = Question("mutual_information", ("a",), np.ones(1)), np.array([[0], [1], [2], [3]])
    options = [("m0", "m1", "m2", "drop")]
    answers = [recommend([one], [reconstruct(one)], codes, options, question) for one in (found, expected)]
    assert answers[0].ranking.index.tolist() == answers[1].ranking.index.tolist()
    assert answers[0].ranking.deviation == pytest.approx(answers[1].ranking.deviation)


def test_blocks_of_coarser_labels_than_the_target_still_constrain_its_reference():
    table = random_table(np.random.default_rng(2), 6, LABELS, 4_000) + 5
    fine, coarse = np.arange(6), np.array([0, 0, 1, 1])
    known = evidence_of(table, [Masking("m", 6, fine, None, True)])
    known = replace(known, blocks=(Masking("m", 6, fine, shown(table, fine, coarse), True, label_mapping=coarse),))
    found = with_label_masked(known, np.array([0, 1, 2, 2]))
    reference = reconstruct(found)
    np.testing.assert_array_equal(found.blocks[0].label_mapping, [0, 0, 1])
    np.testing.assert_allclose(shown(reference.joint.T.copy(), np.array([0, 0, 1]), None).T, shown(table, fine, coarse))


@for_each("shows", [(0, 1), (2, 2), (3, 0)])
def test_differences_of_tables_that_show_the_label_differently_have_bounds_of_their_errors(shows):
    """The tables of many samples of the records differ about as much as stated, or less."""
    rng = np.random.default_rng(3)
    table, mapping, measure = random_table(rng, 7, LABELS, 3_000), np.array([0, 0, 1, 1, 2, 2, 2]), "mutual_information"
    known = evidence_of(table, [Masking("m", 3, mapping, shown(table, mapping, None), True)])
    codes, options, labels = np.array([[0], [1]]), [("m", "drop")], LabelChoices(np.array(shows), MAPPINGS)
    codes = codes if shows != (0, 1) else np.zeros((2, 1), dtype=int)
    question = Question(measure, ("a",), np.ones(1))
    answer = recommend_among_labels([known], [reconstruct(known)], codes, options, question, labels)
    mappings = [{"m": mapping, "drop": np.zeros(7, dtype=int)}]
    samples = rng.multinomial(table.sum(), table.ravel() / table.sum(), 400).reshape(-1, *table.shape)
    told = [utilities(MEASURES[measure], [one], mappings, options, codes, labels.codes)[:, 0] for one in samples]
    spread = np.std(np.subtract(*np.transpose(told)))
    assert answer.ranking.difference_error[0] == 0 or shows[0] != shows[1]
    assert 0.9 * spread <= answer.ranking.difference_error[1] <= 3 * spread
