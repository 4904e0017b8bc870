"""What two attributes tell only together, against the formula written out on records and cases with known answers."""

import numpy as np
import pytest
from scipy.stats import lognorm

from aegis_advisor.errors import MissingAssociationsError
from aegis_advisor.joint import interactions, score_jointly
from aegis_advisor.joint.design import Design, PairPlace
from aegis_advisor.joint.interactions import _spread
from tests.advisor.joint.interaction_cases import bits, combination_counts, drawn, told
from tests.advisor.joint.joint_cases import counts
from tests.for_each import for_each, for_some


def score(records, codes, associations=None):
    known = told(records) if associations is None else associations
    return score_jointly(
        records.evidence(), records.options, np.array(codes), records.pairs(), corrected=True, associations=known
    )


def all_shared(records):
    return [[2] * len(records.mappings)]


def adjusted(value, dimensions, classes, records):
    return classes - (classes - value) * (records - 1) / (records - 1 - dimensions)


def share_by_hand(records, row, first, second):
    """The share of two maskings of a configuration, from the records and the formula in docs/model.md."""
    alone = [1] * len(row)
    alone[first], alone[second] = row[first], row[second]
    trace, rank = records.trace(alone)
    names = [records.options[at][row[at]] for at in (first, second)]
    table = combination_counts(records, first, names[0], second, names[1])
    n, q, m = table.sum(), np.count_nonzero(table.sum(axis=0)) - 1, len(table)
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    whole = float(np.sum(table**2 / np.outer(rows, columns))) - 1
    degrees = m - 1 - rank
    if n - m < n / 10 or degrees <= 0:
        return 0.0
    v = [(k - 1) * (n - k) / (n - 1) for k in (m, columns.size)]
    w = [(n * np.sum(1 / each) - each.size**2) / (n - 2) for each in (rows, columns)]
    spread = 2 * n / (n - 3) * (v[0] - w[0]) * (v[1] - w[1]) + n**2 / (n - 1) * w[0] * w[1]
    sigma = np.sqrt(np.log(1 + 2 * max(1, spread / (2 * (m - 1) * q)) / (q * degrees)))
    part, mean = (whole - trace) / (q - trace), degrees / (n - 1 - rank)
    if lognorm(sigma, scale=np.exp(-(sigma**2) / 2)).sf(part / mean) * 1000 > 0.05:
        return 0.0
    return 1 - (q - adjusted(whole, m - 1, q, n)) / (q - adjusted(trace, rank, q, n))


@for_each("seed", range(4))
def test_a_pair_adds_its_share_of_what_the_two_leave_unexplained(seed):
    records = drawn(seed)
    codes = [[one, other, 1] for one in (2, 3) for other in (2, 3)]
    scores = score(records, codes)
    for row, utility, added in zip(codes, scores.utility, scores.interactions, strict=True):
        trace, rank = records.trace(row)
        q, n = np.unique(records.classes).size - 1, len(records.classes)
        joint = adjusted(trace, rank, q, n)
        share = share_by_hand(records, row, 0, 1)
        assert added == pytest.approx((q - joint) * share, abs=1e-9)
        assert utility == pytest.approx(joint + added, abs=1e-9)
    assert scores.interactions.max() > 0.1


UNEVEN = [
    ([20, 1, 1, 1, 1, 1, 1, 30, 4], [57, 3]),
    ([1] * 30 + [20], [40, 8, 2]),
    ([1] * 100 + [100, 100], [298, 2]),
]


@for_each(("combinations", "labels"), UNEVEN)
def test_the_variance_is_that_over_all_orders_of_the_labels(combinations, labels):
    rng, shape = np.random.default_rng(0), (len(combinations), len(labels))
    held, order = np.repeat(np.arange(shape[0]), combinations), np.repeat(np.arange(shape[1]), labels)

    def chi_square():
        table = counts(held, rng.permutation(order), shape)
        return sum(combinations) * (np.sum(table**2 / np.outer(combinations, labels)) - 1)

    found = np.var([chi_square() for _ in range(5_000)]) / (2 * (shape[0] - 1) * (shape[1] - 1))
    assert found > 1.5
    assert _spread(np.array(combinations), np.array(labels)) == pytest.approx(found, rel=0.1)


class TestAnExclusiveOr:
    rng = np.random.default_rng(1)
    first, second, noise = rng.integers(0, 2, (3, 2000))
    label = first ^ second

    def test_is_seen_whole(self):
        scores = score(bits(self.first, self.second, classes=self.label), [[2, 2], [2, 1], [1, 1]])
        assert scores.utility == pytest.approx([1, 0, 0], abs=0.01)
        assert scores.interactions == pytest.approx([1, 0, 0], abs=0.01)

    def test_of_a_copy_counts_once(self):
        rng = np.random.default_rng(2)
        label = self.label ^ (rng.random(2000) < 0.2)
        alone = score(bits(self.first, self.second, classes=label), [[2, 2]]).utility[0]
        copied = score(bits(self.first, self.second, self.first, classes=label), [[2, 2, 2]]).utility[0]
        assert 0.3 < alone < 0.4
        assert copied == pytest.approx(alone, abs=0.001)

    def test_of_a_finer_copy_counts_once(self):
        finer = self.first * 2 + self.noise
        rng = np.random.default_rng(3)
        label = self.label ^ (rng.random(2000) < 0.2)
        alone = score(bits(finer, self.second, classes=label), [[2, 2]]).utility[0]
        assert score(bits(finer, self.second, self.first, classes=label), [[2, 2, 2]]).utility[0] <= alone + 0.005

    def test_that_an_attribute_tells_already_adds_nothing(self):
        scores = score(bits(self.first, self.second, self.label, classes=self.label), [[2, 2, 2]])
        assert scores.utility == pytest.approx([1])
        assert scores.interactions == pytest.approx([0], abs=1e-9)

    def test_that_an_attribute_nearly_tells_already_is_told_twice(self):
        """What pairs tell cannot show this: a third attribute that is nearly the exclusive or of the two others."""
        rng = np.random.default_rng(6)
        label = self.label ^ (rng.random(2000) < 0.2)
        nearly = self.label ^ (rng.random(2000) < 0.05)
        alone = score(bits(self.first, self.second, nearly, classes=label), [[2, 2, 1], [1, 1, 2], [2, 2, 2]]).utility
        assert alone[:2] == pytest.approx([0.36, 0.3], abs=0.05)
        assert alone[2] == pytest.approx(1 - (1 - alone[0]) * (1 - alone[1]), abs=0.02)

    def test_of_three_is_not_seen(self):
        label = self.label ^ self.noise
        assert score(bits(self.first, self.second, self.noise, classes=label), [[2, 2, 2]]).utility[0] < 0.01


NOISE = {
    "even labels": (500, (12, 6, 5, 4), [0.5, 0.5], False),
    "a rare label": (500, (12, 6), [0.98, 0.02], False),
    "a rare label, uneven values": (500, (12, 12), [0.99, 0.01], True),
    "few records": (300, (30, 20), [0.95, 0.05], True),
    "four labels": (1000, (50, 40), [0.4, 0.38, 0.2, 0.02], True),
    "a very rare label": (2000, (60, 60), [0.995, 0.005], False),
}


@for_each(("size", "values", "labels", "uneven"), NOISE.values())
def test_noise_adds_next_to_nothing(size, values, labels, uneven):
    added = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        weights = [rng.dirichlet(np.ones(n)) if uneven else None for n in values]
        columns = [rng.choice(n, size, p=each) for n, each in zip(values, weights, strict=True)]
        held = [np.unique(column, return_inverse=True)[1] for column in columns]
        records = bits(*held, classes=rng.choice(len(labels), size, p=labels))
        added.append(score(records, all_shared(records)).interactions[0])
    assert np.mean(added) <= 0.01


def told_by_all(agreement, values, copies, *, originals):
    """What all attributes together say about the label, from the probabilities of every combination of their values.

    Two attributes with this many equally likely values each have copies, which keep a value with a probability and have
    it drawn anew otherwise. The label is the exclusive or of their upper halves, wrong with a probability of 0.1.
    """
    kept = agreement * np.eye(values) + (1 - agreement) / values
    one = np.ones((1, values)) / values  # (combinations of copies, values of the original)
    for _ in range(copies):
        one = (one[:, np.newaxis] * kept[np.newaxis]).reshape(-1, values)
    upper = one[:, values // 2 :].sum(axis=1)
    if originals:
        one = np.concatenate([one * row for row in np.eye(values)])
        upper = one[:, values // 2 :].sum(axis=1)
    weights = np.outer(one.sum(axis=1), one.sum(axis=1))
    exclusive = np.outer(upper, one.sum(axis=1) - upper) + np.outer(one.sum(axis=1) - upper, upper)
    label = 0.1 + 0.8 * exclusive[weights > 0] / weights[weights > 0]
    return float(np.sum(weights[weights > 0] * (2 * label - 1) ** 2))


@for_some(5, ("agreement", "values"), [(kept, values) for values in (2, 4) for kept in (0.2, 0.6, 0.8, 0.9, 0.98)])
def test_noisy_copies_tell_no_more_than_there_is(agreement, values):
    """An exclusive or whose attributes have noisy copies: never more than the joint distribution of all has it."""
    rng, copies = np.random.default_rng(9), 3
    pair = rng.integers(0, values, (2, 8000))
    copied = np.where(rng.random((6, 8000)) < agreement, pair.repeat(3, 0), rng.integers(0, values, (6, 8000)))
    label = (pair >= values // 2).sum(axis=0) % 2 ^ (rng.random(8000) < 0.1)
    few, most = [2, 2, *[1] * 2 * copies], [2] * (2 + 2 * copies)
    real, every, alone = score(bits(*pair, *copied, classes=label), [few, most, [1, 1, *most[2:]]]).utility
    assert real == pytest.approx(told_by_all(agreement, values, copies, originals=True), abs=0.03)
    assert real - 0.01 <= every <= 1.03 * real
    assert alone <= min(1.03 * told_by_all(agreement, values, copies, originals=False) + 0.003, real)


class TestACycleOfPairs:
    """Three attributes, any two of which tell something together."""

    rng = np.random.default_rng(0)
    columns = rng.integers(0, 2, (3, 4000))
    first, second, third = 2 * columns - 1
    label = (rng.random(4000) < 0.5 + 0.12 * (first * second + second * third + first * third)).astype(int)

    def utility(self, *columns):
        records = bits(*columns, classes=self.label)
        return score(records, all_shared(records)).utility[0]

    def test_counts_without_the_pair_that_closes_it(self):
        two = bits(*self.columns, classes=self.label)
        pairs = sorted(score(two, [[2, 2, 1], [2, 1, 2], [1, 2, 2]]).utility)
        assert pairs[0] > 0.03
        assert self.utility(*self.columns) == pytest.approx(1 - (1 - pairs[1]) * (1 - pairs[2]), abs=0.002)

    @for_each("copied", [0, 1, 2])
    def test_is_not_opened_by_a_copy(self, copied):
        assert self.utility(*self.columns, self.columns[copied]) == pytest.approx(
            self.utility(*self.columns), abs=0.001
        )


def test_which_gains_count_does_not_depend_on_what_else_is_asked():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        first, second, third = rng.integers(0, 2, (3, 100))
        records = bits(first, second, third, classes=((first ^ second) ^ (rng.random(100) < 0.38)).astype(int))
        alone = score(records, [[2, 2, 1]]).utility[0]
        assert score(records, [[2, 2, 1], [2, 2, 2]]).utility[0] == alone


def test_configurations_are_looked_up_in_blocks(monkeypatch):
    records, codes = drawn(0), [[one, other, two] for one in (2, 3) for other in (2, 3) for two in (1, 2, 3)]
    expected = score(records, codes).utility
    monkeypatch.setattr(interactions, "BLOCK", 15)
    assert score(records, codes).utility.tolist() == expected.tolist()


def test_nearly_as_many_combinations_as_records_say_nothing(monkeypatch):
    """A Latin square, which the two determine together: without the limit it would seem real."""
    first, second = np.arange(100).repeat(100), np.tile(np.arange(100), 100)
    doubled = np.arange(10_000) < 1_050
    first, second = np.concatenate([first, first[doubled]]), np.concatenate([second, second[doubled]])
    records = bits(first, second, classes=(first + second) % 100 // 50)
    assert score(records, all_shared(records)).interactions == pytest.approx([0])
    monkeypatch.setattr(interactions, "LEAST_LEFT", 0.01)
    assert score(records, all_shared(records)).interactions[0] > 0.5


def test_the_overlap_of_maskings_that_have_nothing_in_common_is_nothing():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        records = bits(rng.integers(0, 25, 300), rng.integers(0, 20, 300), classes=rng.integers(0, 2, 300))
        design = Design.of(records.evidence(), records.options, np.array([[2, 2]]), records.pairs())
        assert interactions.overlap(design, PairPlace(0, 1, 2, 2), 300, 1) == 0


def test_the_total_is_never_more_than_there_is_to_explain():
    rng = np.random.default_rng(5)
    columns = rng.integers(0, 2, (6, 1000))
    label = (columns[0] ^ columns[1]) + (columns[2] ^ columns[3]) + (columns[4] ^ columns[5])
    records = bits(*columns, classes=label)
    scores = score(records, all_shared(records))
    assert 0.5 < scores.utility[0] <= 3


def test_without_what_a_pair_tells_there_is_no_score():
    records = drawn(0)
    with pytest.raises(MissingAssociationsError, match=r"'v0' of 'a0' with 'v0' of 'a1'"):
        score(records, all_shared(records), associations=told(records)[1:])
