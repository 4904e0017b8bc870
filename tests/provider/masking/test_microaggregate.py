"""Microaggregation gives the best of all partitions, none worse than that of MDAV, and keeps means."""

from collections import Counter
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate, pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegis_provider import TableError, apply, load_plan
from aegis_provider.masking.microaggregate import Microaggregate, best_groups
from aegis_provider.table.values import Domain
from tests.for_each import for_each
from tests.provider import oracle

NUMBERS = st.decimals(-50, 50, places=1).map(str)
EXTREMES = st.sampled_from(["1e30", "-1e30", "1000000000.1", "1000000000.2"])


def mdav_by_hand(numbers, size):
    """Return the groups of different numbers: MDAV-generic as its authors state it, with distances and sorting."""
    left, groups = list(numbers), []

    def farthest(point):
        return max(left, key=lambda number: (abs(number - point), -number))

    def take(record):
        group = sorted(left, key=lambda number: abs(number - record))[:size]
        groups.append(sorted(group))
        left[:] = [number for number in left if number not in group]

    while len(left) >= 3 * size:
        r = farthest(sum(left) / len(left))
        s = farthest(r)
        take(r)
        take(s)
    if len(left) >= 2 * size:
        take(farthest(sum(left) / len(left)))
    return sorted([*groups, sorted(left)])


def partitions(values):
    """Yield all ways to cut values into runs."""
    for cuts in product([False, True], repeat=len(values) - 1):
        ends = [*(place for place, cut in enumerate(cuts, start=1) if cut), len(values)]
        yield list(pairwise([0, *ends]))


def squared_error(values, counts, groups):
    """Return the exact sum of squared distances of all records to the means of their groups."""
    total = Fraction(0)
    for first, end in groups:
        records = [
            Fraction(each) for each, n in zip(values[first:end], counts[first:end], strict=True) for _ in range(n)
        ]
        mean = sum(records) / len(records)
        total += sum((each - mean) ** 2 for each in records)
    return total


def masked_by(size, texts):
    counts = Counter(texts)
    domain = Domain.of(counts)
    fitted = Microaggregate(size).fit(domain, np.array([counts[text] for text in domain.texts]))
    return dict(zip(domain.texts, fitted.mask(domain), strict=True)), fitted


@given(st.dictionaries(NUMBERS | EXTREMES, st.integers(1, 4), min_size=1, max_size=8), st.integers(2, 5))
def test_no_partition_into_groups_of_that_size_is_better(table, size):
    counted = sorted((Decimal(text), n) for text, n in table.items())
    values, counts = [number for number, _ in counted], [n for _, n in counted]
    if len(set(values)) < len(values) or sum(counts) < size:
        return
    possible = [groups for groups in partitions(values) if all(sum(counts[first:end]) >= size for first, end in groups)]
    found = best_groups(values, counts, size)
    assert found in possible
    least = min(squared_error(values, counts, groups) for groups in possible)
    # The cost of a group is cut after 32 binary digits of the square of a tenth.
    assert squared_error(values, counts, found) <= least + Fraction(8, 100 * 2**32)


@given(st.sets(NUMBERS, min_size=1, max_size=40), st.integers(2, 6))
def test_of_different_numbers_groups_are_never_worse_than_those_of_mdav(texts, size):
    values = sorted(set(map(Decimal, texts)))
    if len(values) < size:
        return
    groups = best_groups(values, [1] * len(values), size)
    assert all(size <= end - first < 2 * size for first, end in groups)
    ends = [*accumulate(map(len, mdav_by_hand(list(map(Fraction, values)), size)))]
    counts = [1] * len(values)
    assert squared_error(values, counts, groups) <= squared_error(values, counts, list(pairwise([0, *ends])))


def test_clusters_that_mdav_cuts_stay_whole():
    values = [Decimal(1000 * cluster + at) for cluster in range(5) for at in range(4)]
    assert best_groups(values, [1] * 20, 3) == [(first, first + 4) for first in range(0, 20, 4)]
    assert [len(each) for each in mdav_by_hand(list(map(Fraction, values)), 3)] != [4] * 5


@given(st.lists(st.integers(-9, 30).map(str), min_size=6, max_size=60), st.integers(2, 6))
def test_groups_are_runs_of_whole_values_with_enough_records_and_keep_the_sum(texts, size):
    masks, _ = masked_by(size, texts)
    sizes = Counter(masks[text] for text in texts)
    assert min(sizes.values()) >= size
    for mean in sizes:
        members = [Fraction(text) for text in texts if masks[text] == mean]
        assert abs(Fraction(mean) - sum(members) / len(members)) <= Fraction(1, 2000)
        assert {Fraction(text) for text in texts if min(members) <= Fraction(text) <= max(members)} == set(members)
    rounding = Fraction(len(texts), 2000)
    assert abs(sum(Fraction(masks[text]) for text in texts) - sum(map(Fraction, texts))) <= rounding


def test_equal_numbers_stay_together_and_missing_ones_stay_missing():
    masks, _ = masked_by(3, ["1", "1", "1", "1", "2", "4", "9", "9", "", ""])
    assert masks == {"": "", "1": "1.2", "2": "1.2", "4": "7.333", "9": "7.333"}


@for_each(
    ("texts", "mean"),
    [(["1", "2"], "1.5"), (["0.1", "0.2", "0.2"], "0.1667"), (["-1", "-2", "-2"], "-1.667"), (["-1", "1"], "0")],
)
def test_means_have_three_decimals_more_than_the_numbers(texts, mean):
    masks, _ = masked_by(len(texts), texts)
    assert set(masks.values()) == {mean}


@for_each(
    ("attribute", "values", "detail"),
    [
        ("{maskings: {m: {microaggregate: {size: 5}}}}", "1 2 3", "only 3 records have a number; a group needs 5"),
        ("{maskings: {m: {microaggregate: {size: 2}}}}", "1 2 x", "x"),
        (
            "{discretize: {rule: equal_width, width: 5}, maskings: {m: {microaggregate: {size: 2}}}}",
            "1 2 3",
            "is a bin, but microaggregate needs numbers; leave out `discretize`",
        ),
    ],
)
def test_what_cannot_be_grouped_is_refused(write, tmp_path, attribute, values, detail):
    table = write("t.csv", "a,y\n" + "".join(f"{value},{n % 2}\n" for n, value in enumerate(values.split())))
    plan = load_plan(write("plan.yaml", f"label: y\nattributes: {{a: {attribute}}}\nconfigurations: {{c: {{a: m}}}}\n"))
    with pytest.raises(TableError, match=detail):
        apply(table, plan, "c", tmp_path / "masked.csv")


def test_the_written_table_has_the_means(write, tmp_path):
    numbers = [3, 1, 4, 1, 5, 9, 2, 6]
    table = write("t.csv", "a,y\n" + "".join(f"{number},{number % 2}\n" for number in numbers))
    plan = "label: y\nattributes: {a: {maskings: {m: {microaggregate: {size: 3}}}}}\nconfigurations: {c: {a: m}}\n"
    apply(table, load_plan(write("plan.yaml", plan)), "c", tmp_path / "masked.csv", keep_order=True)
    written = [row["a"] for row in oracle.records_of(tmp_path / "masked.csv")]
    assert written == ["2.2", "2.2", "2.2", "2.2", "6.667", "6.667", "2.2", "6.667"]
