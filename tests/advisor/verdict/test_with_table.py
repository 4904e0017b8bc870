"""What counts give away beside a masked table, against all whole tables that fit both."""

from itertools import product

import numpy as np
import pytest

from aegis_advisor.evidence import PairCounts, Perturbation
from aegis_advisor.verdict import LIKELY, MaskedTable, PublishedCounts, Reason, Releases, ShownCounts, judge_with_table
from tests.advisor.cases import evidence_of, mapped
from tests.advisor.rounding import rounded_once
from tests.for_each import case, for_each

HALVES = np.array([0, 0, 1])
DROPPED = np.array([0, 0])


def published(*evidence, pairs=()):
    codes = np.zeros((1, len(evidence)), dtype=np.int64)
    return PublishedCounts(evidence, dict(enumerate(pairs)), Releases(codes, [("identity",)] * len(evidence), [None]))


def masked(*shown, left_out=(0, 0), pairs=None):
    """The table; `shown`: for each attribute its groups and counts."""
    attributes = [ShownCounts(np.array(groups), np.array(counts)) for groups, counts in shown]
    return MaskedTable(attributes, attributes[0].counts.sum(axis=0), left_out, pairs or {})


def fold(table, groups):
    sums = np.zeros((max(groups) + 1, table.shape[1]), dtype=np.int64)
    np.add.at(sums, groups, table)
    return sums


def folded(tables, groups):
    return np.stack([tables[:, groups == group].sum(axis=1) for group in range(max(groups) + 1)], axis=1)


def tables_of(evidence, base, shown, counts, *, occupied):
    """Every table (values, labels) that fits what is published of an attribute, and the masked table.

    `occupied`: only those in which each listed value has a record.
    """
    ranges = [range(max(0, each - base + 1), each + base) for each in evidence.joint.ravel()]
    tables = np.array(list(product(*ranges))).reshape(-1, *evidence.joint.shape)
    fits = np.ones(len(tables), dtype=bool)
    for mapping, joint in [(one.mapping, one.joint) for one in evidence.maskings]:
        fits &= (abs(folded(tables, mapping) - joint) < base).all(axis=(1, 2))
    fits &= (folded(tables, shown) >= counts).all(axis=(1, 2))
    fits &= tables.sum(axis=2).all(axis=1) | (not occupied)
    return tables[fits]


def certain_by_enumeration(evidence, base, shown, left_out, *, occupied=False):
    """Which small numbers all fitting tables agree on: of cells, and of the records left out whatever their label."""
    both = zip(evidence, shown, strict=True)
    every = [tables_of(one, base, groups, counts, occupied=occupied) for one, (groups, counts) in both]
    labels = shown[0][1].sum(axis=0)
    totals = [{tuple(table.sum(axis=0)) for table in tables} for tables in every]
    histogram = evidence[0].label_histogram
    possible = {
        total
        for total in set.intersection(*totals)
        if (abs(np.array(total) - histogram) < base).all() and left_out[0] <= sum(total) - labels.sum() <= left_out[1]
    }
    cells, rows = [], []
    missing = np.array(sorted(possible)) - labels
    cells += [*missing.T, missing.sum(axis=1)]
    for tables, (groups, counts) in zip(every, shown, strict=True):
        left = np.array([table for table in tables if tuple(table.sum(axis=0)) in possible])
        beside = folded(left, groups) - counts
        cells += [*beside.reshape(len(left), -1).T]
        rows += [*beside.sum(axis=2).T]
        finer = np.bincount(groups)[groups] > 1
        cells += [*left[:, finer].reshape(len(left), -1).T]
    return tuple(any(each.min() == each.max() and 1 <= each.min() <= 4 for each in some) for some in (cells, rows))


def drawn(seed, base):
    """Records with few left out, as an entry publishes them, and what a masked table shows."""
    rng = np.random.default_rng(seed)
    number = rng.integers(3, 14)
    records = np.stack([rng.integers(0, 3, number), rng.integers(0, 2, number), rng.integers(0, 2, number)], axis=1)
    records = np.concatenate([records, [[0, 0, 0], [1, 1, 1], [2, 0, 1]]])
    kept = records[rng.random(len(records)) > rng.choice([0, 0.1, 0.3])]
    first, second = (joint_of(records, column, size) for column, size in ((0, 3), (1, 2)))
    exact = [
        evidence_of(first, [mapped("halves", HALVES, first)], joint=True),
        evidence_of(second, [], joint=True, name="b"),
    ]
    shown = [(HALVES, fold(joint_of(kept, 0, 3), HALVES)), (DROPPED, joint_of(kept, 1, 2).sum(axis=0, keepdims=True))]
    missing = len(records) - len(kept)
    least = 0 if not missing else max(0, missing // base * base - base + 1)
    published = rounded_once(rng, exact, base)
    while (abs(published[0].maskings[0].joint - exact[0].maskings[0].joint) >= base).any():
        published = rounded_once(rng, exact, base)
    return published, shown, (least, missing // base * base + base - 1 if missing else 0)


def joint_of(records, column, size):
    joint = np.zeros((size, 2), dtype=np.int64)
    np.add.at(joint, (records[:, column], records[:, 2]), 1)
    return joint


CASES = [*((seed, 2) for seed in range(30))]
MANY = [*((seed, 2) for seed in range(30, 200)), *((seed, 3) for seed in range(8))]


@pytest.mark.parametrize("cases", [CASES, pytest.param(MANY, marks=pytest.mark.long)])
def test_counts_are_certain_where_all_fitting_tables_agree(cases):
    for seed, base in cases:
        with case(f"seed {seed}, base {base}"):
            assert_as_enumerated(seed, base)


def assert_as_enumerated(seed, base):
    evidence, shown, left_out = drawn(seed, base)
    verdict = judge_with_table(published(*evidence), masked(*shown, left_out=left_out))
    certain = verdict.cells(Reason.CERTAIN) > 0
    cells, _ = certain_by_enumeration(evidence, base, shown, left_out)
    assert certain or not cells
    assert any(certain_by_enumeration(evidence, base, shown, left_out, occupied=True)) or not certain


def test_the_oracle_sees_both_verdicts():
    outcomes = {certain_by_enumeration(*(drawn(seed, 2)[0], 2, *drawn(seed, 2)[1:]))[0] for seed in range(0, 40, 2)}
    assert outcomes == {True, False}


def test_sums_that_do_not_nest_are_known_together():
    table = np.array([[20, 30], [2, 0], [30, 30], [25, 15]])
    evidence = evidence_of(table, [mapped("one", [0, 0, 1, 1], table)], histogram=False)
    for groups, fails in [([0, 1, 1, 1], True), ([0, 0, 0, 1], False)]:
        shown = np.array(groups), fold(table, np.array(groups))
        verdict = judge_with_table(published(evidence), masked(shown))
        assert [(each.reason, each.path) for each in verdict.findings] == [(Reason.CERTAIN, ("attributes", 0))] * fails


@for_each(
    ("joint", "fails"),
    [
        ([[5, 5], [20, 20]], 2),  # 2 records of the first row: one each
        ([[5, 0], [20, 20]], 0),
        ([[0, 0], [20, 20]], 0),
    ],
)
def test_finer_combinations_are_certain_by_their_sum_in_the_table(joint, fails):
    first = evidence_of([[2, 0], [20, 20]], [], joint=True)
    second = evidence_of([[11, 10], [11, 10]], [], joint=True, name="b")
    pair = PairCounts((0, 1), ("identity", "identity"), np.array(joint), perturbation=Perturbation(rounded_to=5))
    shown = (np.arange(2), first.joint), (np.zeros(2, dtype=int), [[22, 20]])
    table = masked(*shown, pairs={(0, 1): np.array([[2], [40]])})
    verdict = judge_with_table(published(first, second, pairs=[pair]), table)
    assert [(each.path, each.cells) for each in verdict.findings] == [(("pairs", 0, "joint"), fails)] * bool(fails)


def test_a_count_rounded_once_is_certain_or_not_likely_whatever_its_sum():
    """A reader who takes all counts for equally probable: the reason why only certain ones are looked for."""
    shares = []
    for base, first, second in product(range(2, 7), range(3), range(3)):
        counts = np.arange(4 * base)
        one, two = (np.maximum(0, 1 - abs(counts - base * each) / base) for each in (first, second))
        for total in range(3 * base):
            chances = one[: total + 1] * two[total::-1]
            if np.count_nonzero(chances) > 1:
                shares.append((chances / chances.sum())[1:5].max(initial=0))
    assert max(shares) == pytest.approx(0.8)
    assert max(shares) < LIKELY
