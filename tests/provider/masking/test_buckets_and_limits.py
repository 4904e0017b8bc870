"""Equal frequency, top and bottom coding, and blurring from both ends."""

from bisect import bisect_right
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from aegis_provider.errors import UnmaskableValueError
from aegis_provider.masking.numbers import EdgeBuckets, EqualBuckets, EqualFrequency, Round, TopBottom
from aegis_provider.masking.texts import Blur, BlurPositions
from aegis_provider.table.values import Domain, ValueType
from tests.for_each import for_each
from tests.provider import oracle
from tests.provider.documents import summarize


def masked(function, *texts, declared=None):
    domain = Domain.of(texts, declared)
    by_value = function.mask(domain)
    return [by_value[domain.places[text]] for text in texts]


def fitted(buckets, records):
    domain = Domain.of(records)
    histogram = np.bincount([domain.places[text] for text in records])
    return EqualFrequency(buckets).fit(domain, histogram)


records = st.lists(st.integers(-9, 9), min_size=1, max_size=60)


@given(records, st.integers(2, 8))
def test_equally_frequent_buckets_differ_from_their_share_by_no_more_than_the_most_frequent_value(numbers, buckets):
    edges = [float(edge) for edge in fitted(buckets, [str(number) for number in numbers]).edges]
    sizes = np.bincount([bisect_right(edges, number) - 1 for number in numbers], minlength=len(edges) - 1)
    largest = max(numbers.count(number) for number in numbers)
    assert len(sizes) <= buckets
    assert (sizes > 0).all()
    assert all(abs(size - len(numbers) / buckets) <= largest for size in sizes)


@given(st.sets(st.integers(-(10**6), 10**6), min_size=4, max_size=4), st.integers(1, 5))
def test_values_that_are_equally_frequent_are_split_evenly(numbers, times):
    records = list(map(str, sorted(numbers))) * times
    for buckets in (2, 4):
        found = fitted(buckets, records)
        assert len(set(masked(found, *records[:4]))) == buckets
        assert len(found.edges) == buckets + 1


@example({100, 1_234}, "1000")
@example({1_234, 1_235}, "1235")
@example({-1_234, -100}, "-1000")
@given(st.sets(st.integers(-(10**6), 10**6), min_size=2, max_size=2), st.none())
def test_an_edge_lies_between_two_values_and_is_the_roundest_number_there(numbers, known):
    low, high = sorted(numbers)
    [_, edge, _] = fitted(2, [str(low), str(high)]).edges
    assert low < edge <= high
    assert known is None or edge == Decimal(known)
    unit = 10 ** (len(str(abs(int(edge)))) - len(str(abs(int(edge))).rstrip("0"))) if edge else 1
    assert edge == 0 or low // (10 * unit) == high // (10 * unit)


def test_one_value_makes_one_bucket_and_no_value_none():
    assert masked(fitted(3, ["7", "7", ""]), "7", "") == ["(-inf,inf)", ""]
    assert masked(fitted(3, [""]), "") == [""]


def test_missing_values_do_not_count_in_the_frequencies():
    assert fitted(2, [""] * 50 + ["1", "2", "3", "4"]).edges[1] == 3


def test_the_entry_has_the_edges_that_were_found(write, plan_of):
    plan = plan_of("{a: {maskings: {m: {bucketize: {equal_frequency: 3}}}}}")
    rows = [(1, "n"), (1, "m"), (2, "n"), (2, "n"), (9, "m"), (9, "m")]
    entry = summarize(write("t.csv", "a,y\n" + "".join(f"{a},{y}\n" for a, y in rows)), plan, name="t")
    [masking] = entry["attributes"][0]["maskings"]
    assert masking["function"]["parameters"] == {"equal_frequency": 3, "edges": ["-inf", 2, 3, "inf"]}
    assert (masking["domain"], masking["mapping"]) == (["<2", "2", "3+"], [0, 1, 2])
    assert masking["joint"] == [[1, 1], [0, 2], [2, 0]]


def test_a_text_has_no_frequency_of_numbers():
    with pytest.raises(UnmaskableValueError, match="'x' is not a number"):
        fitted(2, ["x", "1"])


def test_values_beyond_a_limit_become_one_and_the_others_stay():
    ages = TopBottom(Decimal(90), Decimal(18))
    assert masked(ages, "17", "18", "89", "90", "104", "") == ["<18", "18", "89", "90+", "90+", ""]
    assert masked(TopBottom(top=Decimal("2.5")), "2.4", "2.50", "3") == ["2.4", "[2.5,inf)", "[2.5,inf)"]
    assert masked(TopBottom(bottom=Decimal(0)), "-1", "-0.5", "0.0") == ["(-inf,0)", "(-inf,0)", "0.0"]


@given(st.lists(st.integers(-99, 99), min_size=1), st.integers(-50, 50), st.integers(1, 50))
def test_coding_is_what_a_comparison_says(numbers, bottom, width):
    limits = TopBottom(Decimal(bottom + width), Decimal(bottom))
    texts = [str(number) for number in numbers]
    by_hand = [
        f"<{bottom}" if number < bottom else f"{bottom + width}+" if number >= bottom + width else str(number)
        for number in numbers
    ]
    assert masked(limits, *texts, declared=ValueType.INTEGER) == by_hand


texts = st.lists(st.text(max_size=8), min_size=1)


@given(texts, st.integers(0, 9))
def test_blurring_from_the_end_is_blurring_the_reverse_from_the_start(found, keep):
    backwards = [oracle.blurred(text[::-1], keep)[::-1] for text in found]
    assert masked(Blur(keep, at="end"), *found, declared=ValueType.STRING) == backwards


def test_positions_count_from_both_ends():
    assert masked(BlurPositions((1, -1), "#"), "12345", "12", "1", "") == ["#234#", "##", "#", ""]
    assert masked(BlurPositions((2, 9)), "12345") == ["1*345"]


@given(texts, st.sets(st.integers(-9, 9).filter(bool), min_size=1))
def test_a_blurred_text_differs_at_its_positions_only(found, positions):
    for text, blurred in zip(
        found, masked(BlurPositions(tuple(positions), "\u2588"), *found, declared=ValueType.STRING), strict=True
    ):
        for place, (before, after) in enumerate(zip(text, blurred, strict=True)):
            hidden = place + 1 in positions or place - len(text) in positions
            assert after == ("\u2588" if hidden else before)


@for_each(
    ("build", "message"),
    [
        (lambda: EqualFrequency(1), "`equal_frequency` must be an integer of at least 2, not 1"),
        (lambda: EqualBuckets(Decimal(0)), "`width` must be a number above 0, not 0"),
        (lambda: EqualBuckets(Decimal(1), Decimal("-inf")), "`origin` must be a finite number, not -Infinity"),
        (lambda: EdgeBuckets((Decimal(1),)), "at least two edges are needed"),
        (lambda: EdgeBuckets((Decimal(1), Decimal(1))), "edges must ascend, but 1 follows 1"),
        (lambda: EdgeBuckets((Decimal(1), Decimal("nan"))), "edges must ascend, but NaN follows 1"),
        (lambda: Round(Decimal("inf")), "`to` must be a number above 0, not Infinity"),
        (TopBottom, "`top`, `bottom` or both are needed"),
        (lambda: TopBottom(Decimal(1), Decimal(1)), "`bottom` must be below `top`, but 1 is not below 1"),
        (lambda: TopBottom(Decimal("inf")), "`top` must be a finite number, not Infinity"),
        (lambda: Blur(-1), "`keep` must be at least 0, not -1"),
        (lambda: Blur(1, "**"), "`character` must be one character, not '[*][*]'"),
        (lambda: Blur(1, at="middle"), "`at` must be start or end, not 'middle'"),
        (lambda: BlurPositions(()), "`positions` must be one or more of 1 "),
        (lambda: BlurPositions((0,)), "`positions` must be one or more of 1 "),
        (lambda: BlurPositions((1, 1)), "`positions` lists a position twice"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(build, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        build()
