"""A reader who knows how the product rounds, and takes all tables for equally probable, against the verdict."""

from collections import Counter
from itertools import product

import numpy as np
import pytest

from aegis_advisor.verdict import LIKELY
from aegis_provider.control.counted_together import rounded_to_sums
from aegis_provider.control.dependent_rounding import rounded_once, rounded_up
from aegis_provider.counting.counts import Partition
from aegis_provider.disclosure import verdict_on
from tests.for_each import for_each
from tests.provider.control.drawing import drawn_by
from tests.provider.control.pair_cases import Case, drawn_case, rounded
from tests.provider.control.pair_reader import Attribute, PairTable, Reader, counts_of, shares_of

BIT = 0.02
"""Shares of a chain that is long enough are off by so much."""

LENGTHS = (80, 350, 1_500, 6_000)
"""A chain that has hardly moved says that it knows counts: then a longer one is asked."""


def known(seed):
    """Whether the verdict on an entry passes, and the largest probability of a count of 1 to 4, to the reader.

    The count is that of any run of values, with any value of a partner or all, and with any label value or all.
    """
    rng = np.random.default_rng(seed)
    case = drawn_case(rng)
    entry = rounded(case, drawn_by(rng))
    passed, most = verdict_on(entry, 60).verdict.passed, 1.0
    for length in LENGTHS if passed else ():
        reader = Reader(entry, case.base, np.random.default_rng(10**6 + seed + length))
        most = float(shares_of(reader.read(case.tables, length))[:, 1:5].max())
        if most <= LIKELY - BIT:
            break
    return passed, most


@for_each("seed", [35, 250, 251])
def test_of_no_entry_that_passes_the_reader_knows_a_count(seed):
    assert known(seed)[1] <= LIKELY


def test_the_reader_knows_the_record_of_a_rare_label_that_the_verdict_fails():
    """By base 2, a label value that is listed and published as 0 has one record."""
    joint = np.array([[20, 1], [31, 0]])
    case = Case(
        2,
        [np.stack([joint // 3, joint - joint // 3], axis=1)],
        {"identity": np.arange(2)},
        [{"identity": np.arange(2)}],
    )
    entry = next(
        each
        for seed in range(20)
        if not (each := rounded(case, drawn_by(np.random.default_rng(seed)))).label.histogram[1]
    )
    shares = shares_of(Reader(entry, 2, np.random.default_rng(0)).read(case.tables, LENGTHS[0]))
    assert not verdict_on(entry, 60).verdict.passed
    assert shares[np.concatenate(list(counts_of(case.tables))) == 1, 1].max() == 1


@pytest.mark.long
@for_each("seed", range(20))
def test_of_no_entry_of_many_shapes_that_passes_the_reader_knows_a_count(seed):
    passed, most = known(seed)
    assert not passed or most <= LIKELY


@for_each("seed", range(3))
def test_the_probability_of_an_attribute_is_the_share_of_what_the_product_draws(seed):
    rng, draws = np.random.default_rng(seed), 200
    joint, base = rng.integers(0, 12, (5, 2)), 3
    views = [np.array([0, 0, 1, 1, 1]), np.array([0, 0, 0, 1, 1])]  # they cross
    up = rounded_up(joint.sum(axis=0), base, drawn_by(rng))
    parts = [Partition(view, 2) for view in views]
    drawn = [rounded_once(joint, parts, base, up, drawn_by(rng)) for _ in range(draws)]
    shown = Counter(tuple(np.concatenate([_folded(each, view) for view in views]).ravel()) for each in drawn)
    told = {}
    for each in shown:
        tables = np.array(each).reshape(2, 2, 2)
        told[each] = np.exp(Attribute(views, list(zip(views, tables, strict=True)), "01234", base).logs(joint, up))
    assert sum(told.values()) > 0.9
    for each, number in shown.items():
        assert abs(told[each] - number / draws) < 4 * (told[each] / draws) ** 0.5


def _folded(joint, view):
    sums = np.zeros((2, joint.shape[1]), dtype=int)
    np.add.at(sums, view, joint)
    return sums


@for_each(("seed", "shape", "within"), [(2, (3, 3), 2), (5, (3, 3), 1), (17, (2, 3), 1)])
def test_the_probability_of_a_pair_is_the_share_of_what_the_product_draws(seed, shape, within):
    rng, draws, base = np.random.default_rng(seed), 150, 3
    counts, several = np.zeros(shape, dtype=int), Counter()
    while len(several) < 2:
        counts = rng.integers(0, 12, shape) * (rng.random(shape) < 0.7)
        up = rounded_up(np.array([counts.sum()]), base, drawn_by(rng))
        sums = [
            rounded_once(each[:, np.newaxis], [], base, up, drawn_by(rng))[:, 0]
            for each in (counts.sum(1), counts.sum(0))
        ]
        drawn = [rounded_to_sums(counts, (sums[0], sums[1]), base, drawn_by(rng)) for _ in range(3)]
        several = Counter(each.tobytes() for each, reached in drawn if reached == within)
    drawn = [rounded_to_sums(counts, (sums[0], sums[1]), base, drawn_by(rng)) for _ in range(draws)]
    for each, number in Counter((table.tobytes(), reached) for table, reached in drawn).items():
        published = np.frombuffer(each[0], dtype=counts.dtype).reshape(shape)
        rows, columns = map(np.arange, shape)
        told = np.exp(PairTable(rows, columns, published, base, each[1], rng.random((2_000, counts.size))).log(counts))
        assert abs(told - number / draws) < 4 * (told / draws) ** 0.5


@pytest.mark.long
def test_the_chain_draws_tables_by_their_probability():
    """All tables of an attribute and two partners of two values each are weighed."""
    joint = np.array([[2, 1], [1, 5]])
    tables = [np.stack([joint - joint // 2, joint // 2], axis=1) for _ in range(2)]
    case = Case(3, tables, {"identity": np.arange(2)}, [{"identity": np.arange(2)}] * 2)
    rng = np.random.default_rng(1)
    reader = Reader(rounded(case, drawn_by(rng)), 3, rng)
    shares = shares_of(reader.read(case.tables, 4_000))
    np.testing.assert_allclose(shares, _weighed(reader), atol=4 * BIT)


def _weighed(reader):
    total, weight = 0.0, 0.0
    for cells in product(range(9), repeat=4):
        joint = np.array(cells).reshape(2, 2)
        if (own := reader.log_of_joint(joint)) == -np.inf:
            continue
        splits = [np.array(each).reshape(2, 2) for each in product(*(range(count + 1) for count in cells))]
        parts = [np.stack([joint - each, each], axis=1) for each in splits]
        logs = [np.exp([reader.log_of_partner(place, part) for part in parts]) for place in range(2)]
        each = np.exp(own) * logs[0].mean() * logs[1].mean()
        if each > 0:
            means = [np.tensordot(log / log.sum(), _bins(parts), axes=1) for log in logs]
            total, weight = total + each * np.concatenate(means), weight + each
    return total / weight


def _bins(parts):
    counts = np.array([next(counts_of([part])) for part in parts])
    return (np.minimum(counts, 5)[:, :, np.newaxis] == np.arange(6)).astype(float)
