"""Counts of classes that follow because the other classes fill up a small table, compared with all ways to split it."""

from collections import defaultdict
from itertools import product
from math import exp, inf, log

from aegis_advisor.verdict.class_counts import ClassLimits, certain_counts, counts_in_all_tables
from aegis_advisor.verdict.privacy_steps import published_privacy, read, telling_numbers
from tests.for_each import for_each


def splits(totals, size, last=None):
    """Yield the classes of at least this many records that a table with these totals may have, once in any order."""
    if not any(totals):
        yield ()
        return
    for counts in product(*(range(each, -1, -1) for each in totals)):
        if sum(counts) >= size and (last is None or counts <= last):
            for others in splits(tuple(each - own for each, own in zip(totals, counts, strict=True)), size, counts):
                yield counts, *others


def numbers_of(classes, totals):
    shares = [[each / sum(counts) for each in counts] for counts in classes]
    whole = [each / sum(totals) for each in totals]
    gains = [[q / p for q, p in zip(each, whole, strict=True)] for each in shares]
    return {
        "alpha": max(map(max, shares)),
        "beta": max(map(max, gains)) - 1,
        "delta_disclosure": max(abs(log(gain)) for each in gains for gain in each if gain),
        "t": max(sum(max(0, q - p) for q, p in zip(each, whole, strict=True)) for each in shares),
        "entropy_l": min(exp(-sum(q * log(q) for q in each if q)) for each in shares),
    }


def small_counts(classes):
    """The counts of 1 to 4 of label values, and of all records, that some class has."""
    named = [(f"value {place}", n) for counts in classes for place, n in enumerate(counts)]
    return {(name, n) for name, n in [*named, *(("class", sum(each)) for each in classes)] if 1 <= n <= 4}


def least_of_each(facts):
    return dict(sorted(facts, reverse=True))


@for_each(
    ("totals", "size", "names"),
    [
        ((6, 10), 5, ["alpha"]),
        ((6, 10), 5, ["t", "entropy_l"]),
        ((9, 9), 3, ["beta", "delta_disclosure"]),
        ((4, 4, 5), 4, ["t"]),
        ((4, 4, 5), 4, ["alpha", "beta"]),
    ],
)
def test_it_says_exactly_what_all_tables_with_these_numbers_have_in_common(totals, size, names):
    alike = defaultdict(list)
    for classes in splits(totals, size):
        numbers = numbers_of(classes, totals)
        alike[tuple(round(numbers[name], 6) for name in names)].append(small_counts(classes))
    limits = ClassLimits(tuple((each, each) for each in totals), size)
    for key, counts in alike.items():
        stated = tuple((name, number - 1e-6, number + 1e-6) for name, number in zip(names, key, strict=True))
        assert counts_in_all_tables(stated, limits) == least_of_each(set.intersection(*counts)), key
    assert len(alike) > 3


def test_it_says_what_all_tables_with_rounded_label_counts_have_in_common():
    """Also a total: classes in which no value has more than 0.65 need three records of the first value."""
    ranges, found = ((1, 3), (4, 5)), {}
    for low, high in ((-1, 0.65), (0.65, 0.8), (0.8, 1)):
        tables = [
            small_counts(classes) | {("total 0", totals[0])}
            for totals in product(*(range(least, most + 1) for least, most in ranges))
            for classes in splits(totals, 3)
            if low < numbers_of(classes, totals)["alpha"] <= high
        ]
        found[low] = counts_in_all_tables((("alpha", low, high),), ClassLimits(ranges, 3))
        assert found[low] == least_of_each(set.intersection(*tables))
    assert found[-1]["total 0"] == 3


def test_what_no_table_reaches_is_a_promise_and_large_tables_are_left_out():
    limits = ClassLimits(((6, 6), (10, 10)), 5)
    assert counts_in_all_tables((("beta", 5.0, inf),), limits) is None
    assert counts_in_all_tables((("alpha", 0.87, 0.88),), ClassLimits(((60, 60), (60, 60)), 5)) == {}


def test_the_others_leave_one_class_possible_and_such_a_number_is_not_published():
    """22 records: two of 16 have the share 0.875 as well, but then all of the other six have the other value."""
    totals, privacy = ((8, 8), (14, 14)), {"k": 5, "alpha": 0.875}
    by_itself = certain_counts("alpha", *read("alpha", 0.875), ClassLimits(totals, 5))
    assert by_itself == {}
    assert telling_numbers(privacy, totals) == {"alpha": {"value 0": 1}}
    published = published_privacy(privacy, {}, [totals])
    assert not telling_numbers(published, totals)


def test_a_number_tells_together_with_those_before_it():
    totals = ((8, 8), (14, 14))
    numbers = {"k": 5, "t": 0.197, "alpha": 0.833}
    assert telling_numbers(numbers, totals).keys() == {"t"}
