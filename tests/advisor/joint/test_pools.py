"""Masked values with few records are pooled with their neighbours where joint measures read inexact counts."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegis_advisor.evidence import IDENTITY
from aegis_advisor.joint import score_jointly
from aegis_advisor.joint.design import Basis, Design
from tests.advisor.joint.joint_cases import Records
from tests.advisor.rounding import rounded_once, rounded_pairs

COUNTS = st.lists(st.integers(0, 30), min_size=1, max_size=25).filter(any)


def runs(counts, least):
    """Lists of neighbouring values with records: each is closed by the value with which it has enough."""
    closed, run = [], []
    for value, count in enumerate(counts):
        if not count:
            continue
        run.append(value)
        if sum(counts[each] for each in run) >= least:
            closed, run = [*closed, run], []
    if closed:
        return [*closed[:-1], closed[-1] + run]
    return [run]


def functions(basis, size):
    """(basis.size, size) The functions of a masked value; those of values without records are 0."""
    return basis.project(np.eye(size))


@given(COUNTS, st.floats(0, 100))
def test_functions_are_orthonormal_and_equal_on_values_that_are_pooled(counts, least):
    basis = Basis.of(np.array(counts), least)
    found, pools = functions(basis, len(counts)), runs(counts, least)
    shares = np.array(counts) / sum(counts)
    assert basis.size == len(pools) - 1
    assert (found * shares) @ found.T == pytest.approx(np.eye(len(pools) - 1), abs=1e-12)
    assert found @ shares == pytest.approx(np.zeros(len(pools) - 1), abs=1e-12)
    for pool in pools:
        assert found[:, pool] == pytest.approx(np.repeat(found[:, pool[:1]], len(pool), axis=1), abs=1e-12)


@given(COUNTS, st.floats(0, 100))
def test_they_span_all_functions_that_are_equal_on_values_that_are_pooled(counts, least):
    """By QR: whatever two orthonormal bases of the same functions are, their projections are the same."""
    pools, shares = runs(counts, least), np.array(counts) / sum(counts)
    indicators = np.zeros((len(counts), len(pools)))
    for number, pool in enumerate(pools):
        indicators[pool, number] = 1
    weighted = np.sqrt(shares)[:, None] * (indicators - shares @ indicators)
    expected, _ = np.linalg.qr(weighted[:, 1:])  # those of all pools add up to 0
    found = functions(Basis.of(np.array(counts), least), len(counts)) * np.sqrt(shares)
    assert found.T @ found == pytest.approx(expected @ expected.T, abs=1e-9)


@given(COUNTS)
def test_without_a_least_number_none_are_pooled(counts):
    assert Basis.of(np.array(counts)).size == np.count_nonzero(counts) - 1


def test_pooled_values_are_as_one_in_sums_of_squares_and_products():
    counts, errors = np.array([1, 2, 0, 40, 3, 50, 1, 1]), np.random.default_rng(3).normal(size=(200_000, 8))
    basis = Basis.of(counts, 5.0)
    assert basis.size == 1
    errors[:, 2] = 0  # there are no records whose number could be wrong
    projected = basis.project(errors.T)
    assert np.var(projected, axis=1) == pytest.approx(basis.spread(), rel=0.02)
    assert np.cov(projected).reshape(1, 1) == pytest.approx(basis.products(), rel=0.02)


def thin(seed, size=3_000):
    """Records of two attributes: one has 40 common values, the other 2 common ones between 30 with ten records each."""
    rng = np.random.default_rng(seed)
    common = np.where(rng.random(size - 300) < 0.5, 10, 21)
    rare = np.repeat(np.delete(np.arange(32), [10, 21]), 10)
    code = np.concatenate([common, rare])
    place = rng.integers(0, 40, size)
    classes = (rng.random(size) < 0.2 + 0.5 * (code == 10) + 0.2 * (place < 20)).astype(int)
    return Records(np.stack([code, place], axis=1), classes, [[np.arange(32)], [np.arange(40) // 20]])


def designed(records, evidence, pairs):
    codes = np.array([[0, 0], [2, 0], [2, 2], [0, 2]])
    return Design.of(evidence, records.options, codes, pairs), codes


def test_a_design_of_inexact_counts_has_the_columns_that_pooling_leaves():
    records, rng = thin(0), np.random.default_rng(0)
    evidence = rounded_once(rng, records.evidence(joint=True), 5)
    pairs = rounded_pairs(rng, records.pairs(identity=True), 5)
    design, _ = designed(records, evidence, pairs)
    # The other attribute has 40 masked values, so a pool has 40 records; that one has 32, and its values have more.
    for code, option in ((0, IDENTITY), (2, "v0")):
        sums = (evidence[0].joint if option == IDENTITY else evidence[0].masking(option).joint).sum(axis=1)
        assert design.columns[0][code].size == len(runs(sums.tolist(), 40)) - 1 < 20
    assert design.columns[1][0].size == 39
    assert design.columns[1][2].size == 1


def test_exact_counts_are_not_pooled():
    records = thin(0)
    design, _ = designed(records, records.evidence(joint=True), records.pairs(identity=True))
    assert [design.columns[0][0].size, design.columns[0][2].size, design.columns[1][0].size] == [31, 31, 39]


def test_of_values_that_are_counted_together_the_truth_is_told_nearly():
    """The pair counts of thin values are those of their neighbours, so their own would be 0."""
    records, rng = thin(1), np.random.default_rng(1)
    codes = np.array([[0, 0], [1, 0], [0, 1]])
    pairs = records.pairs(identity=True)
    exact = score_jointly(records.evidence(joint=True), records.options, codes, pairs, corrected=True).utility
    together = [counted_together(pair) if pair.joint.shape[0] == 32 else pair for pair in pairs]
    evidence = rounded_once(rng, records.evidence(joint=True), 5)
    found = score_jointly(evidence, records.options, codes, rounded_pairs(rng, together, 5), corrected=True).utility
    assert found == pytest.approx(exact, abs=0.02)


def counted_together(pair):
    """Pair counts in which all rare values are counted with the next common one, or with the last of those."""
    places = np.array([10] * 11 + [21] * 21)
    joint = np.zeros_like(pair.joint)
    np.add.at(joint, places, pair.joint)
    return replace(pair, joint=joint, counted_with=(places, np.arange(joint.shape[1])))


def two_codes(size=3_000):
    """Records of two attributes with 60 values of 50 records each, of which the first tells the class for certain."""
    rng = np.random.default_rng(5)
    one, two = (rng.permutation(np.arange(size) % 60) for _ in range(2))
    return Records(np.stack([one, two], axis=1), one % 2, [[np.arange(60) // 30], [np.arange(60) // 30]])


def test_a_masking_is_pooled_only_for_what_a_configuration_uses_with_it():
    """Each code has more masked values than a value of the other has records, but no configuration has both of them."""
    records, rng = two_codes(), np.random.default_rng(6)
    codes = np.array([[0, 1], [1, 0], [0, 2], [2, 0]])
    pairs = [records.pair(0, "identity", 1, "v0"), records.pair(0, "v0", 1, "identity")]
    exact = score_jointly(records.evidence(joint=True), records.options, codes, pairs, corrected=True).utility
    evidence = rounded_once(rng, records.evidence(joint=True), 5)
    rounded = rounded_pairs(rng, pairs, 5)
    apart = score_jointly(evidence, records.options, codes, rounded, corrected=True).utility
    assert exact[0] == exact[2] == pytest.approx(1)
    assert apart == pytest.approx(exact, abs=0.05)
    together = np.concatenate([codes, [[0, 0]]])
    pooled = Design.of(evidence, records.options, together, rounded_pairs(rng, records.pairs(identity=True), 5))
    assert pooled.columns[0][0].size < 59 == Design.of(evidence, records.options, codes, rounded).columns[0][0].size
