"""What a reader knows of pair counts in which masked values with few records are counted together."""

from dataclasses import replace
from fractions import Fraction
from math import comb

import numpy as np

from aegis_advisor.evidence import PairCounts, Perturbation
from aegis_advisor.verdict import LIKELY, PublishedCounts, Releases
from aegis_advisor.verdict.rounded import tables_of_pairs
from aegis_advisor.verdict.totals import find_likely
from tests.advisor.cases import evidence_of, mapped
from tests.for_each import for_each

BASE = 5
ROUNDED = Perturbation(rounded_to=BASE)
NOTHING = Releases(np.zeros((0, 2), dtype=np.int64), [], [])


def published(evidence, *pairs):
    return PublishedCounts(evidence, dict(enumerate(pairs)), NOTHING)


def test_values_that_are_counted_together_are_one_row_or_column():
    table = np.full((5, 2), 50)
    masked = mapped("masked", [0, 0, 1, 2, 3], table)
    evidence = [evidence_of(table, [], joint=True), evidence_of(table, [masked], joint=True, name="b")]
    joint = np.array([[0, 0, 0, 0, 0], [0, 0, 5, 0, 10], [0, 0, 0, 0, 0], [0, 0, 15, 0, 20]]).T
    pair = PairCounts(
        (0, 1), ("identity", "masked"), joint, ROUNDED, (np.array([2, 2, 2, 4, 4]), np.array([1, 1, 3, 3]))
    )
    turned = replace(pair, attributes=(1, 0), maskings=pair.maskings[::-1], joint=joint.T)
    turned = replace(turned, counted_with=pair.counted_with[::-1])
    for both, found in tables_of_pairs(published(evidence, pair, turned)):
        assert both == (0, 1)
        assert found.counts.tolist() == [[5, 15], [10, 20]]
        assert found.mappings[0].tolist() == [0, 0, 0, 1, 1]
        assert found.mappings[1].tolist() == [0, 0, 0, 1, 1]  # of the values, the first two of which are masked alike


def entry(cells, up, shown, together):
    """Two attributes: of one, two values are counted together in a row where `up` cells are 5 and all others 0.

    Their own two counts with the label, together, are as `shown`.
    """
    first = np.array([[shown[0], 0], [0, shown[1]], [10 * cells, 10 * cells]])
    joint = np.full((3, cells), 20)
    joint[:2] = 0
    joint[1, :up] = BASE
    counted_with = (np.array([1, 1, 2]), np.arange(cells)) if together else None
    evidence = [
        replace(evidence_of(first, [mapped("same", [0, 0, 1], first)], histogram=False), rounded_once=BASE),
        replace(evidence_of(np.full((cells, 2), 10), [], joint=True, name="b"), rounded_once=BASE),
    ]
    joint, names = (joint, ("identity", "identity")) if together else (joint[1:], ("same", "identity"))
    return published(evidence, PairCounts((0, 1), names, joint, ROUNDED, counted_with))


MOST = 45
"""The largest sum that is looked at; larger ones hardly ever look like those of the tests."""


def share_of_small(cells, up, shown, least):
    """The largest probability of a count of 1 to 4 in a cell that was rounded up, to a reader of what is published.

    All sums from `least` are equally probable, and so are all tables with a sum. Whole numbers are added: the weight of
    a table that is certain to be rounded to what is shown is `BASE` to the power of its cells.
    """
    own = powers([(count, 1) for count in shown])
    weights = np.zeros(BASE, dtype=object)
    others = powers([(0, cells - up), (BASE, up - 1)])
    for count in range(1, 2 * BASE):
        for total in range(max(least, count), MOST + 1):
            weight = likely(BASE, count) * others[total - count] * own[total]
            weights[min(count, BASE) - 1] += Fraction(weight, ways(cells, total) * ways(2, total))
    return float(max(weights[:-1]) / sum(weights))


def powers(published):
    """The weights of all tables with each sum, by these published counts, each with the number of its cells."""
    product = [1] + [0] * MOST
    for count, cells in published:
        for _ in range(cells):
            near = range(max(0, count - BASE), count + BASE)
            product = [
                sum(likely(count, one) * product[total - one] for one in near if one <= total)
                for total in range(MOST + 1)
            ]
    return product


def likely(published, count):
    """How likely a count is rounded to what is published, in units of 1 / BASE."""
    return max(0, BASE - abs(count - published))


def ways(cells, total):
    return comb(total + cells - 1, cells - 1)


CASES = [(40, 1, (5, 5)), (150, 2, (5, 5)), (150, 1, (0, 5)), (150, 2, (0, 5)), (97, 1, (0, 5))]


@for_each(("cells", "up", "shown"), CASES)
def test_a_reader_knows_what_all_tables_together_say(cells, up, shown):
    for together in (True, False):
        found = find_likely(entry(cells, up, shown, together))
        known = [each.cells for each in found if each.path == ("pairs", 0, "joint")]
        share = share_of_small(cells, up, shown, 2)  # each of the two values has a record
        assert known == ([up] if share > LIKELY else [])


@for_each("first", [0, 1])
def test_a_sum_that_two_tables_give_away_counts_for_the_finer_one(first):
    """Two cells of 0, by base 3 at most 2 each, are at most 4; one cell of 6 is at least 4."""
    joint = np.full((4, 2), 40)
    maskings = [mapped("fine", [0, 1, 2, 2], joint), mapped("coarse", [0, 0, 1, 1], joint)]
    evidence = [evidence_of(joint, maskings, joint=True), evidence_of(joint, [], joint=True, name="b")]
    by_three = Perturbation(rounded_to=3)
    pairs = [
        PairCounts((0, 1), ("fine", "identity"), np.array([[0, 30, 30, 30], [0, 30, 30, 30], [60] * 4]), by_three),
        PairCounts((0, 1), ("coarse", "identity"), np.array([[6, 60, 60, 60], [60] * 4]), by_three),
    ]
    [found] = find_likely(published(evidence, *(pairs if first == 0 else pairs[::-1])))
    assert (found.path, found.cells) == (("pairs", first, "joint"), 1)
