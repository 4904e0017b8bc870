"""Ranks and traces where attributes depend on each other, or nearly do, against projections in fractions."""

from fractions import Fraction
from itertools import combinations, permutations

import numpy as np
import pytest

from aegis_advisor.errors import ContradictoryPairsError
from aegis_advisor.evidence import AttributeEvidence, Masking, PairCounts
from aegis_advisor.joint import integers, score_jointly
from aegis_advisor.joint.integers import ImpossibleCountsError
from aegis_advisor.measures.association import trace_bias
from aegis_advisor.ranking import Question, recommend
from aegis_advisor.reconstruction import reconstruct
from tests.for_each import for_each, for_some


def projected(values, classes, weights):
    """Pillai's trace and the rank of weighted records, as fractions.

    The indicators are made orthogonal to each other one by one (Gram and Schmidt); then the trace is the sum of the
    squared products with the indicators of the classes, each divided by its records.
    """
    weights = [int(weight) for weight in weights]

    def product(one, other):
        return sum((w * a * b for w, a, b in zip(weights, one, other, strict=True)), Fraction(0))

    kept, trace = [[Fraction(1)] * len(weights)], Fraction(0)
    indicators = [(column == value).astype(int).tolist() for column in values.T for value in np.unique(column)[1:]]
    labels = [(classes == label).astype(int).tolist() for label in np.unique(classes)]
    for indicator in indicators:
        rest = [Fraction(each) for each in indicator]
        for direction in kept:
            share = product(rest, direction) / product(direction, direction)
            rest = [a - share * b for a, b in zip(rest, direction, strict=True)]
        if any(rest):
            kept.append(rest)
            squares = sum(product(rest, label) ** 2 / product(label, label) for label in labels)
            trace += squares / product(rest, rest)
    return trace, len(kept) - 1


def skewed(seed):
    """A few kinds of records, most of them rare and one or some very frequent: values, classes and their counts."""
    rng = np.random.default_rng(seed)
    kinds, attributes = int(rng.integers(4, 11)), int(rng.integers(3, 6))
    values = rng.integers(0, rng.integers(2, 4, attributes), (kinds, attributes))
    classes = np.concatenate([[0, 1], rng.integers(0, 3, kinds - 2)])
    weights = rng.integers(1, 3, kinds)
    weights[rng.integers(kinds)] = 10 ** rng.integers(2, 9)
    spread = (10 ** rng.uniform(0, rng.uniform(1, 8), kinds)).astype(np.int64)
    return values, classes, spread if seed % 3 == 0 else weights


def nearly_dependent(size):
    """Binary attributes whose last is nearly determined by the others: its share shrinks as Fibonacci numbers grow."""
    below = np.subtract.outer(np.arange(size), np.arange(size))
    kinds = np.concatenate([(below == 0) | ((below > 0) & (below % 2 == 1)), np.zeros((1, size), dtype=bool)])
    return kinds.astype(np.int64)[:, ::-1]


def table(one, other, weights):
    counts = np.zeros((int(one.max()) + 1, int(other.max()) + 1), dtype=np.int64)
    np.add.at(counts, (one, other), weights)
    return counts


def view(joint):
    """The masking that leaves an attribute as it is."""
    return Masking("v", len(joint), np.arange(len(joint)), joint, deterministic=True)


def published(values, classes, weights):
    """The evidence on each attribute, left as it is by its one masking, and the pair counts."""
    tables = [table(column, classes, weights) for column in values.T]
    evidence = [
        AttributeEvidence(f"a{at}", len(each), each.sum(axis=0), each.sum(axis=1), None, (view(each),))
        for at, each in enumerate(tables)
    ]
    pairs = [
        PairCounts((i, j), ("v", "v"), table(values[:, i], values[:, j], weights))
        for i, j in combinations(range(values.shape[1]), 2)
    ]
    return evidence, pairs


def scores(values, classes, weights, codes=None, *, corrected=False):
    evidence, pairs = published(values, classes, weights)
    codes = np.zeros((1, len(evidence)), dtype=np.int64) if codes is None else codes
    return score_jointly(evidence, [("v", "drop")] * len(evidence), codes, pairs, corrected=corrected)


def basis(values, classes, weights, codes):
    evidence, pairs = published(values, classes, weights)
    names = tuple(one.name for one in evidence)
    question = Question("joint", names, np.full(len(names), 1 / len(names)))
    options = [("v", "drop")] * len(names)
    return recommend(evidence, list(map(reconstruct, evidence)), codes, options, question, pairs).ranking_basis


@for_some(100, "seed", range(400))
def test_the_rank_is_right_however_rare_the_records(seed):
    records = skewed(seed)
    trace, rank = projected(*records)
    found = scores(*records)
    assert found.dimensions.tolist() == [rank]
    assert found.utility[0] == pytest.approx(float(trace), rel=1e-9, abs=1e-12)
    assert abs(found.utility[0] - float(trace)) <= found.doubt


@for_each("seed", range(10))
def test_the_correction_uses_the_right_rank(seed):
    values, classes, weights = skewed(seed)
    trace, rank = projected(values, classes, weights)
    expected = float(trace) - trace_bias(float(trace), rank, len(np.unique(classes)) - 1, float(weights.sum()))
    assert scores(values, classes, weights, corrected=True).utility[0] == pytest.approx(expected, rel=1e-8, abs=1e-9)


def test_three_attributes_of_which_one_record_in_a_hundred_is_rare():
    values = np.array([[2, 2, 2, 2, 2, 0, 1, 2], [2, 1, 2, 2, 1, 0, 1, 2], [0, 1, 0, 1, 1, 0, 0, 1]]).T
    classes, weights = np.array([0, 0, 0, 1, 1, 0, 0, 0]), np.array([100, 1, 1, 1, 2, 1, 1, 1])
    assert projected(values, classes, weights) == (Fraction(3, 5), 4)
    for order in permutations(range(3)):
        found = scores(values[:, order], classes, weights)
        assert (found.dimensions[0], found.utility[0]) == (4, pytest.approx(0.6, rel=1e-12))


NEARLY = [(size, step) for size in (12, 24, 36) for step in (1, -1)]


@pytest.mark.long
@for_each(("size", "step"), NEARLY)
def test_what_nearly_depends_on_the_others_is_not_lost(size, step):
    """Dimensions as many as records but one explain every label, but not without those of the last attribute."""
    values = nearly_dependent(size)[:, ::step]
    classes, weights = np.zeros(size + 1, dtype=np.int64), np.ones(size + 1, dtype=np.int64)
    classes[-2] = 1
    codes = np.array([[0] * size, [0] * (size - 1) + [1]])
    found = scores(values, classes, weights, codes)
    trace, rank = projected(values[:, :-1], classes, weights)
    assert found.dimensions.tolist() == [size, rank]
    assert found.utility == pytest.approx([1.0, float(trace)], rel=1e-9)
    assert basis(values, classes, weights, codes) == "exact"


@for_each(("size", "step"), NEARLY)
def test_what_cannot_be_settled_is_not_called_exact(size, step, monkeypatch):
    monkeypatch.setattr(integers, "MOST_WORK", 0)
    values = nearly_dependent(size)[:, ::step]
    classes, weights = np.arange(size + 1) % 2, np.ones(size + 1, dtype=np.int64)
    codes = np.zeros((1, size), dtype=np.int64)
    found = scores(values, classes, weights)
    if basis(values, classes, weights, codes) == "exact":
        assert found.utility[0] == pytest.approx(1, abs=1e-9)
        assert found.dimensions[0] == size
    else:
        assert size > 12 or step == 1


def test_with_many_columns_only_the_rank_is_settled_exactly(monkeypatch):
    monkeypatch.setattr(integers, "MOST_COLUMNS", 0)
    values = nearly_dependent(36)
    classes, weights = np.arange(37) % 2, np.ones(37, dtype=np.int64)
    found = scores(values, classes, weights)
    assert found.dimensions[0] == 36
    assert found.doubt == np.inf


def test_a_copy_is_known_to_be_one_without_looking_at_all_attributes(monkeypatch):
    sizes = []
    ranks = integers._rank_modulo
    monkeypatch.setattr(
        integers, "_rank_modulo", lambda matrix, prime: sizes.append(len(matrix)) or ranks(matrix, prime)
    )
    rng = np.random.default_rng(0)
    values, classes, weights = rng.integers(0, 3, (400, 6)), rng.integers(0, 2, 400), np.ones(400, dtype=np.int64)
    values[:, 4] = values[:, 1]
    assert scores(values, classes, weights).dimensions[0] == 10
    assert set(sizes) == {3, 5}


@for_each("products", [[[2, 3], [3, 2]], [[1, 1], [1, 1]]])
def test_what_is_no_matrix_of_products_is_refused(products):
    with pytest.raises(ImpossibleCountsError):
        integers._eliminate(np.array(products), np.array([[1], [0]]))


def test_pair_counts_that_no_table_has_are_found_in_whole_numbers():
    """Two pairs of attributes differ in two records each, so the outer two cannot differ in twenty of 10^8."""
    half = 5 * 10**7
    label = np.full((2, 2), half // 2)
    evidence = [
        AttributeEvidence(f"a{at}", 2, label.sum(axis=0), label.sum(axis=1), None, (view(label),)) for at in range(3)
    ]
    differing = {(0, 1): 1, (1, 2): 1, (0, 2): 10}
    pairs = [PairCounts(of, ("v", "v"), np.array([[half - k, k], [k, half - k]])) for of, k in differing.items()]
    with pytest.raises(ContradictoryPairsError):
        score_jointly(evidence, [("v", "drop")] * 3, np.zeros((1, 3), dtype=np.int64), pairs, corrected=False)
