"""The joint measure where rounding matters, against exact fractions."""

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

from aegis_advisor.evidence import AttributeEvidence, Masking, PairCounts
from aegis_advisor.joint import integers, score_jointly
from aegis_advisor.ranking import Question, recommend
from aegis_advisor.reconstruction import reconstruct
from tests.advisor.joint.joint_cases import Records, random_codes, random_records, regressed
from tests.for_each import for_each

OPTIONS = ("identity", "drop", "v")


class Binary:
    """Records of binary attributes and a binary label, from the number of each kind: (a0, a1, ..., y, count)."""

    def __init__(self, *kinds):
        self.values, self.classes = np.array(kinds)[:, :-2], np.array(kinds)[:, -2]
        self.counts = np.array([kind[-1] for kind in kinds], dtype=np.int64)

    @property
    def attributes(self):
        return self.values.shape[1]

    def table(self, one, other):
        found = np.zeros((2, 2), dtype=np.int64)
        np.add.at(found, (one, other), self.counts)
        return found

    def evidence(self):
        tables = [self.table(column, self.classes) for column in self.values.T]
        return [
            AttributeEvidence(
                f"a{at}", 2, t.sum(axis=0), t.sum(axis=1), None, (Masking("v", 2, np.arange(2), t, True),)
            )
            for at, t in enumerate(tables)
        ]

    def pairs(self):
        return [
            PairCounts((i, j), ("v", "v"), self.table(self.values[:, i], self.values[:, j]))
            for i, j in combinations(range(self.attributes), 2)
        ]

    def scores(self, codes):
        return score_jointly(self.evidence(), [OPTIONS] * self.attributes, codes, self.pairs(), corrected=False)

    def advice(self, codes):
        evidence, names = self.evidence(), [f"a{at}" for at in range(self.attributes)]
        question = Question("joint", tuple(names), np.full(len(names), 1 / len(names)))
        return recommend(
            evidence, list(map(reconstruct, evidence)), codes, [OPTIONS] * len(names), question, self.pairs()
        )

    def trace(self, row):
        """`S_xy' Sxx^- S_xy / S_yy` by elimination in fractions."""
        shown = [self.values[:, at] for at, code in enumerate(row) if code == 2]
        columns = [*shown, self.classes]
        total = int(self.counts.sum())
        means = [Fraction(int(self.counts @ column), total) for column in columns]
        covariance = [
            [Fraction(int(self.counts @ (a * b)), total) - m * n for b, n in zip(columns, means, strict=True)]
            for a, m in zip(columns, means, strict=True)
        ]
        whole = covariance[-1][-1]
        for at in range(len(shown)):
            pivot = covariance[at][at]
            if pivot:
                for under in range(at + 1, len(columns)):
                    share = covariance[under][at] / pivot
                    covariance[under] = [x - share * y for x, y in zip(covariance[under], covariance[at], strict=True)]
        return (whole - covariance[-1][-1]) / whole


NEARLY_EQUAL = Binary(
    (0, 0, 0, 0, 999987), (0, 0, 1, 0, 8), (0, 0, 1, 1, 5), (1, 1, 0, 0, 999980),
    (1, 0, 1, 1, 7), (1, 0, 0, 1, 5), (1, 0, 0, 0, 8),
)  # fmt: skip


def test_attributes_that_differ_in_few_records_are_told_apart():
    codes = np.array([[2, 2, 1], [1, 1, 2]])
    exact = [NEARLY_EQUAL.trace(row) for row in codes]
    assert 0 < exact[0] - exact[1] < 1e-6
    answer = NEARLY_EQUAL.advice(codes)
    assert (answer.best, answer.tied) == (0, (0,))
    assert answer.ranking.utility == pytest.approx([float(one) for one in exact], rel=1e-9)


@for_each("records", [10**4, 10**6, 10**7, 10**8])
def test_a_label_that_is_the_one_record_in_which_two_attributes_differ_is_told(records):
    one = Binary((0, 0, 0, records // 2), (1, 1, 0, records // 2), (1, 0, 1, 1))
    found = one.scores(np.array([[2, 2]]))
    assert one.trace([2, 2]) == 1
    assert abs(found.utility[0] - 1) < max(1e-9, found.doubt)
    assert found.dimensions[0] == 2
    basis = one.advice(np.array([[2, 2], [2, 1]])).ranking_basis
    assert basis == ("exact" if found.doubt < 1e-9 else "estimated")


@for_each("records", [10**9, 10**12, 2**52])
def test_what_doubles_cannot_tell_is_told_by_whole_numbers_or_not_called_exact(records, monkeypatch):
    one, codes = Binary((0, 0, 0, records // 2), (1, 1, 0, records // 2), (1, 0, 1, 1)), np.array([[2, 2], [2, 1]])
    told = one.advice(codes)
    assert (told.ranking_basis, told.ranking.utility[0], told.joint.dimensions) == ("exact", 1.0, 2)
    monkeypatch.setattr(integers, "MOST_WORK", 0)
    assert one.advice(codes).ranking_basis == "estimated"


@for_each("seed", range(60))
def test_no_exact_order_is_wrong_however_uneven_the_counts(seed):
    rng = np.random.default_rng(seed)
    kinds = list(product((0, 1), repeat=4))
    counts = (10 ** rng.uniform(0, rng.uniform(1, 9), 16)).astype(np.int64) * (rng.random(16) < 0.7)
    counts[:2] += 1
    one = Binary(*[(*kind, int(count)) for kind, count in zip(kinds, counts, strict=True)])
    codes = np.array(list(product((1, 2), repeat=3)))
    if np.ptp(one.classes[one.counts > 0]) == 0:
        return  # a label of one class
    answer, exact = one.advice(codes), [one.trace(row) for row in codes]
    if answer.ranking_basis == "exact":
        scale = float(max(exact))
        in_order = [float(exact[row]) for row in answer.ranking.index]
        assert (np.diff(in_order) <= 2e-9 * max(scale, 1e-3)).all()
        assert answer.ranking.utility == pytest.approx(in_order, abs=2e-9 * max(scale, 1e-3))


def test_attributes_that_depend_on_each_other_tie_whichever_are_kept():
    """Any two of three attributes determine the third: a2 = a0 - a1."""
    one = Binary(
        (0, 0, 0, 0, 700), (0, 0, 0, 1, 300), (1, 1, 0, 0, 200), (1, 1, 0, 1, 100), (1, 0, 1, 0, 300), (1, 0, 1, 1, 400)
    )
    codes = np.array([[2, 2, 2], [2, 2, 1], [2, 1, 2], [1, 2, 2]])
    answer = one.advice(codes)
    assert sorted(answer.tied) == [0, 1, 2, 3]
    assert one.scores(codes).dimensions.tolist() == [2, 2, 2, 2]
    assert one.scores(codes[:1]).dimensions.tolist() == [2]


def test_attributes_that_tell_nothing_at_all_tie():
    """A full factorial: every utility is 0 up to rounding."""
    values = np.array(list(product(range(3), range(3), range(5), range(2))))
    records = Records(values[:, :3], values[:, 3], [[np.arange(3)], [np.arange(3)], [np.arange(5)]])
    codes = np.array(list(product((1, 2), repeat=3)))
    answer = records.advice(codes, records.pairs())
    assert len(answer.tied) == 8


@for_each("seed", range(5))
def test_the_rank_does_not_hang_on_the_order_of_attributes_nor_on_other_configurations(seed):
    records = random_records(seed, attributes=3, values=5)
    doubled = Records(
        np.repeat(records.values, 2, axis=1), records.classes, [m for m in records.mappings for _ in "ab"]
    )
    codes = random_codes(seed, doubled, configurations=8)
    found = score_jointly(doubled.evidence(), doubled.options, codes, doubled.pairs(), corrected=False)
    assert found.dimensions.tolist() == [doubled.trace(row)[1] for row in codes]
    for row in codes:
        alone = score_jointly(doubled.evidence(), doubled.options, row[None], doubled.pairs(), corrected=False)
        assert alone.dimensions[0] == doubled.trace(row)[1]


@for_each("seed", range(4))
def test_of_one_attribute_the_correction_is_that_of_its_regression(seed):
    records = random_records(seed, labels=2, records=80)
    answer = records.advice(np.array([[2, 1, 1, 1], [3, 1, 1, 1]]), [], weights=[1, 0, 0, 0], bias_correction=True)
    for row, _, utility in answer.ranking:
        assert utility == pytest.approx(regressed(records, [[2, 1, 1, 1], [3, 1, 1, 1]][row]), abs=1e-9)
