"""Counts that follow from a number of privacy, compared with all small tables and all their classes."""

from collections import defaultdict
from dataclasses import replace
from itertools import product

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from aegis_advisor.evidence import Masking
from aegis_advisor.verdict import PublishedCounts, Reason, Releases, judge
from aegis_advisor.verdict.class_counts import ClassLimits, _Candidates, _simplest, certain_counts
from aegis_advisor.verdict.privacy_steps import STEPS, published_privacy, read, telling_numbers
from tests.advisor.cases import evidence_of
from tests.examples import at_most
from tests.for_each import for_each

NAMES = ("alpha", "beta", "delta_disclosure", "t", "entropy_l")

#: 3,000 records, one of them with a rare label value in a class of two.
RARE = ((1555, 1559), (1, 2), (1441, 1445))


def numbers_of(name, counts, whole):
    """The number that a class (values,) reaches in a table (values,), and the values that it is reached with."""
    q, p = counts / counts.sum(), whole / whole.sum()
    some = counts > 0
    with np.errstate(divide="ignore"):
        by_value = {
            "alpha": q,
            "beta": q / p - 1,
            "delta_disclosure": np.where(some, np.abs(np.log(q / p)), -np.inf),
            "t": q - p,
            "entropy_l": q,
        }[name]
    worst = np.flatnonzero((by_value >= by_value.max() * (1 - 1e-12) - 1e-12) & some)
    if name == "entropy_l":
        return float(np.exp(-np.sum(q[some] * np.log(q[some])))), worst
    return float(by_value.max()), worst


def worlds(name, limits):
    """Yield the number of every class in every table, and its counts (total, cell, class, rest)."""
    for whole in product(*(range(max(1, least), most + 1) for least, most in limits.totals)):
        for counts in product(*(range(each + 1) for each in whole)):
            size = sum(counts)
            if size >= limits.size and sum(each > 0 for each in counts) >= limits.values:
                number, worst = numbers_of(name, np.array(counts), np.array(whole))
                yield number, {(whole[each], counts[each], size, size - counts[each]) for each in worst}


def possible(name, low, high, limits):
    return set().union(*(counts for number, counts in worlds(name, limits) if low < number <= high))


def agreed(found):
    columns = zip(("total", "cell", "class", "rest"), zip(*found, strict=True), strict=True)
    return {name: numbers[0] for name, numbers in columns if len(set(numbers)) == 1 and 1 <= numbers[0] <= 4}


@st.composite
def cases(draw):
    name = draw(st.sampled_from(NAMES))
    least = draw(st.lists(st.integers(1, 5 if name == "t" else 4), min_size=2, max_size=2 if name == "t" else 3))
    totals = tuple((each, each + draw(st.integers(0, 2))) for each in least)
    limits = ClassLimits(totals, draw(st.integers(1, 4)), draw(st.integers(1, 2)))
    whole = [draw(st.integers(*each)) for each in totals]
    counts = np.array([draw(st.integers(0, each)) for each in whole])
    if counts.sum() < limits.size or (counts > 0).sum() < limits.values:
        counts = np.array(whole)
    number, _ = numbers_of(name, counts, np.array(whole))
    width = draw(st.sampled_from([1e-6, 0.0203, 0.2003, 1.0003]))  # no count of so few records is at its end
    return name, number - width, number + draw(st.sampled_from([1e-8, width])), limits


@given(cases())
@at_most(40)
def test_what_is_said_to_follow_holds_in_all_tables_that_fit(case):
    name, low, high, limits = case
    told = certain_counts(name, low, high, limits)
    assert not told or told.items() <= agreed(possible(name, low, high, limits)).items()


def test_nearly_all_that_follows_is_said():
    """By exact numbers of tables of 2 to 16 records; totals that are published exactly are not said to follow."""
    random, told, follows = np.random.default_rng(0), 0, 0
    for name in NAMES:
        for _ in range(12):
            whole = random.integers(1, 9, size=2)
            counts = np.maximum(1, random.integers(0, whole + 1))
            number, _ = numbers_of(name, counts, whole)
            limits = ClassLimits(tuple((int(each), int(each)) for each in whole), 2, 1)
            cell = name, number - 1e-7, number + 1e-7
            known = {what: count for what, count in agreed(possible(*cell, limits)).items() if what != "total"}
            told += len(certain_counts(*cell, limits).keys() & known)
            follows += len(known)
    assert told >= 0.9 * follows > 30


def test_who_knows_the_steps_learns_no_count_from_what_is_published():
    """All tables whose number is published as the same step, or left out, agree on no count that all others lack."""
    random, published = np.random.default_rng(1), 0
    for name in (*NAMES, *NAMES):
        totals = tuple((int(each), int(each + random.integers(1, 3))) for each in (random.integers(1, 4), 22))
        limits = ClassLimits(totals, int(random.integers(1, 5)), int(random.integers(1, 3)))
        alike, every = defaultdict(set), set()
        for number, counts in worlds(name, limits):
            measured = {"k": limits.size, "l": limits.values, name: number}
            alike[published_privacy(measured, {}, [totals]).get(name)] |= counts
            every |= counts
        assert {step: agreed(counts) for step, counts in alike.items()} == dict.fromkeys(alike, agreed(every))
        published += len(alike)
    assert published > 60


def test_two_digits_beside_k_and_l_give_a_rare_label_value_away():
    """The script of the audit: beta was 1,499, published as 1,500."""
    privacy = {"k": 2, "l": 2, "beta": 1500}
    assert telling_numbers(privacy, RARE) == {"beta": {"total": 1, "cell": 1, "class": 2, "rest": 1}}
    assert telling_numbers({"k": 2, "l": 2, "beta": 100_000}, RARE) == {}  # nothing reaches that: it is a promise


def test_what_is_promised_is_published_as_promised_and_what_is_measured_beyond_in_steps():
    totals = ((300, 304), (1560, 1564), (18300, 18304))

    def published(measured, promised):
        return published_privacy(measured, promised, [totals])

    assert published({"k": 7, "t": 0.21, "epsilon": 0.3}, {"t": 0.33}) == {"k": 7, "t": 0.25, "epsilon": 0.3}
    assert published({"t": 0.31}, {"t": 0.33}) == {"t": 0.33}
    assert published({"entropy_l": 1.53}, {"entropy_l": 1.5}) == {"entropy_l": 1.5}
    assert published({"entropy_l": 2.2}, {"entropy_l": 1.5}) == {"entropy_l": 2.0}
    assert published({"beta": 12.8}, {}) == {"beta": 20}


def test_beyond_the_last_step_that_tells_nothing_a_weaker_one_or_the_promise_is_published():
    promise = {"k": 2, "l": 2, "beta": 100_000}
    for settled in (RARE, ((1557, 1557), (1, 2), (1443, 1443))):
        told = [published_privacy({**promise, "beta": beta}, promise, [settled])["beta"] for beta in (1499, 999, 749)]
        assert set(told) <= {1000, 2000, 5000}
        assert not any(telling_numbers({**promise, "beta": beta}, settled) for beta in told)


def test_a_number_is_read_by_its_step_or_its_last_digit():
    assert read("beta", 20) == (10, 20)
    assert read("beta", 1500) == (1400, 1550)
    assert np.allclose(read("t", 0.74), (0.73, 0.745))
    assert np.allclose(read("t", 0.75), (0.7, 0.75))
    assert np.allclose(read("entropy_l", 1.4), (1.3999999986, 1.5999999984))
    assert all(low < step <= high for name in STEPS for step in STEPS[name] for low, high in [read(name, step)])


@for_each("totals", [np.arange(5, 10_005, 5), np.full(2_000, 300), np.arange(1_000, 2_001_000, 1_000)])
def test_what_is_tried_of_many_label_values_is_bounded(totals):
    """Values with one range are tried once, and of many wide ranges the least totals and some others."""
    limits = ClassLimits(tuple((each - each // 5 + 1, each + each // 5 - 1) for each in totals.tolist()), 5, 2)
    candidates = _Candidates.of(limits)
    assert candidates.totals.size <= max(200, 22 * len(set(limits.totals)))
    assert np.isin(limits.totals, candidates.totals).all()
    least, most = limits.totals[0]
    assert limits.records[1] - most in candidates.most[candidates.totals == least]


@example(0.75, 0.125)
@given(st.floats(0.001, 0.9), st.floats(1e-5, 0.2))
def test_the_simplest_share_between_two_is_that_of_the_smallest_class(low, width):
    [cell], [size] = _simplest(np.array([low]), np.array([low + width]))
    sizes = np.arange(1, size + 1)
    slack = 1e-9  # a share at an end of the interval is in it
    fitting = np.ceil(low * sizes * (1 - slack)) <= (low + width) * sizes * (1 + slack)
    assert sizes[fitting].tolist() == [size]
    assert low * (1 - slack) <= cell / size <= (low + width) * (1 + slack)


def test_the_verdict_names_the_number_and_what_it_had_no_time_for_is_no_pass():
    counts = np.array([[1557, 1443, 0]])
    masking = Masking("m", 1, np.zeros(2, dtype=np.int64), counts, deterministic=True)
    evidence = replace(evidence_of(counts, [masking], histogram=False), values=2, rounded_once=3)
    privacy = {"k": [2, 2, 5], "l": [2, 2, 2], "beta": [1500, 1500, None]}
    releases = Releases(np.zeros((3, 1), dtype=np.int64), [("m",)], [0] * 3, privacy=privacy, in_columns=True)
    findings = judge(PublishedCounts([evidence], {}, releases)).findings
    assert [(each.reason, each.path) for each in findings] == [
        (Reason.CERTAIN, ("configuration_table", "privacy", "beta", place)) for place in (0, 1)
    ]
    *_, undecided = judge(PublishedCounts([evidence], {}, releases), stop=lambda: True).findings
    assert undecided.reason == Reason.UNDECIDED
