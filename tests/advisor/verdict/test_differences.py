"""Two maskings whose cuts differ in one place, and many pair tables that show the sums on both sides of the cuts."""

from dataclasses import replace

import numpy as np

from aegis_advisor.evidence import PairCounts, Perturbation, masked_records
from aegis_advisor.evidence.checks import find_pair_faults
from aegis_advisor.verdict import SMALL, PublishedCounts, Releases, judge
from aegis_advisor.verdict.differences import known_differences
from aegis_advisor.verdict.rounded import RoundedTable
from tests.advisor.cases import evidence_of, mapped
from tests.advisor.rounding import at_random, rounded_once
from tests.for_each import for_each

BASE, AGES = 3, 20
CUTS = {"m1": [10], "m2": [11]}


def records_of_one_age(rng, few, size=3_000):
    """Ages and labels of records, of which a few have the age between the cuts."""
    age = np.where(rng.random(size) < 0.45, rng.integers(0, 10, size), rng.integers(11, AGES, size))
    age[:few] = 10
    return age, (rng.random(size) < 1 / (1 + np.exp((10 - age) / 8))).astype(int)


def attributes(age, label, others):
    tables = [np.histogram2d(age, label, (AGES, 2), ((0, AGES), (0, 2)))[0].astype(int)]
    tables += [np.array([np.bincount(label[other == side], minlength=2) for side in (0, 1)]) for other in others]
    maskings = [
        mapped(name, np.searchsorted(cuts, np.arange(AGES), side="right"), tables[0]) for name, cuts in CUTS.items()
    ]
    return [evidence_of(tables[0], maskings, joint=True), *(evidence_of(each, [], joint=True) for each in tables[1:])]


def pairs_of(age, others):
    for place, other in enumerate(others, 1):
        for name, cuts in CUTS.items():
            joint = np.zeros((len(cuts) + 1, 2), dtype=int)
            np.add.at(joint, (np.searchsorted(cuts, age, side="right"), other), 1)
            yield PairCounts((0, place), (name, "identity"), joint)


def apart(rng, pair):
    return replace(pair, joint=at_random(rng, pair.joint, BASE), perturbation=Perturbation(rounded_to=BASE))


def verdict_on(evidence, pairs):
    nothing = Releases(np.zeros((0, len(evidence)), dtype=np.int64), [], [])
    hidden = [replace(evidence[0], joint=None, histogram=None), *evidence[1:]]
    return judge(PublishedCounts(hidden, dict(enumerate(pairs)), nothing))


def known(looks, base, few):
    """The probability that a reader of the sums below both cuts, each rounded so often, gives the true difference.

    A reader with a table of all pairs of numbers: `looks` are (looks, 2), errors are those of two roundings each.
    """
    one = np.maximum(0, 1 - np.abs(np.arange(-base, base + 1)) / base)
    errors = np.convolve(one, one)
    half = errors.size // 2
    least, most = looks.min(axis=0) - half, looks.max(axis=0) + half
    shares = []
    for side in (0, 1):
        numbers = np.arange(least[side], most[side] + 1)
        off = looks[:, side, np.newaxis] - numbers + half
        weights = np.where((off >= 0) & (off < errors.size), errors[np.clip(off, 0, errors.size - 1)], 0).prod(axis=0)
        shares.append((numbers, weights / weights.sum()))
    (low, one), (high, other) = shares
    between = high[np.newaxis] - low[:, np.newaxis]
    both = one[:, np.newaxis] * other * (between >= 1)
    return both[between == few].sum() / both.sum()


@for_each("seed", range(12))
def test_whoever_averages_many_pairs_is_seen(seed):
    """Sums of two counts, rounded so often that a reader knows their difference by enumeration."""
    rng, number = np.random.default_rng(seed), 160
    few = int(rng.integers(1, 5))
    below = np.array([2_000 + seed, 2_000 + seed + few])
    halves = np.stack([below // 2, below - below // 2], axis=1)
    looks = at_random(rng, np.repeat(halves[np.newaxis], number, axis=0), BASE)
    values = np.repeat([0, 1, 2], [3, 1, 3])
    tables = []
    for rounded in looks:
        for cut, pair in enumerate(rounded):
            counts = np.stack([pair, np.array([BASE * 300, BASE * 300])])
            rows = (values > (0 if cut == 0 else 1)).astype(int)
            tables.append(RoundedTable(("pairs", 0, "joint"), BASE, counts, (rows, np.arange(2))))
    assert known(looks.sum(axis=2), BASE, few) > 0.9
    assert known_differences(tables, SMALL) > 0


@for_each("seed", [1, 3])
def test_pairs_that_keep_the_published_sums_add_no_look_at_them(seed):
    rng = np.random.default_rng(seed)
    age, label = records_of_one_age(rng, 1 + seed)
    others = rng.integers(0, 2, (150, age.size))
    rounded = rounded_once(rng, attributes(age, label, others), BASE)
    exact = list(pairs_of(age, others))
    found = verdict_on(rounded, [apart(rng, each) for each in exact])
    assert {each.reason.value for each in found.findings} == {"likely"}
    assert ("attributes", 0) in {each.path for each in found.findings}
    kept = [keeping(pair, rounded) for pair in exact[:40]]
    assert find_pair_faults(rounded, kept) == ()
    assert verdict_on(rounded, kept).passed


def keeping(pair, rounded):
    """The pair rounded to the published records of its masked values, by moving bases around cycles."""
    rows, columns = (
        masked_records(rounded[place], name) for place, name in zip(pair.attributes, pair.maskings, strict=True)
    )
    first = min(int(pair.joint[0, 0] // BASE * BASE), int(rows[0]), int(columns[0]))
    first = max(first, int(rows[0] - columns[1]), 0)
    joint = np.array([[first, rows[0] - first], [columns[0] - first, rows[1] - columns[0] + first]])
    within = int(np.abs(joint - pair.joint).max()) // BASE + 1
    return replace(pair, joint=joint, perturbation=Perturbation(rounded_to=BASE, within=within))


def test_who_says_to_keep_sums_that_nobody_publishes_is_refused():
    rng = np.random.default_rng(0)
    age, label = records_of_one_age(rng, 2)
    others = rng.integers(0, 2, (1, age.size))
    rounded = rounded_once(rng, attributes(age, label, others), BASE)
    hidden = [
        replace(
            rounded[0],
            joint=None,
            histogram=None,
            maskings=tuple(replace(each, joint=None) for each in rounded[0].maskings),
        ),
        rounded[1],
    ]
    pair = keeping(next(pairs_of(age, others)), rounded)
    assert find_pair_faults(rounded, [pair]) == ()
    assert "are not published" in str(find_pair_faults(hidden, [pair]))


def test_a_base_that_no_number_of_looks_tells_takes_no_time():
    rows = np.array([0, 0, 1])
    tables = [
        RoundedTable(("pairs", n, "joint"), 2**53 - 1, np.zeros((2, 2), dtype=int), (rows, np.arange(2)))
        for n in range(3)
    ]
    assert known_differences(tables, SMALL) == 0


def test_looks_that_contradict_each_other_are_not_decided():
    rows = np.array([0, 0, 1])
    tables = [
        RoundedTable(("pairs", n, "joint"), BASE, np.array([[count, 0], [100, 0]]), (rows[::step], np.arange(2)))
        for n, (count, step) in enumerate([(100, 1), (900, 1), (105, -1), (500, -1)])
    ]
    assert known_differences(tables, SMALL) is None


def test_a_difference_of_fewer_records_than_listed_values_is_not_decided():
    """Twenty listed values between two cuts have twenty records at least; the looks allow sixteen at most."""
    values = np.arange(22)
    tables = [
        RoundedTable(
            ("pairs", n, "joint"), BASE, np.array([[count], [300]]), ((values > cut).astype(int), np.arange(1))
        )
        for n, (count, cut) in enumerate([(300, 0), (303, 20)])
    ]
    assert known_differences(tables, SMALL) is None


def many(groups, values, mappings, counts):
    """Tables that round the same records apart, by runs of values or, with one mapping, anyhow."""
    rng = np.random.default_rng(0)
    for number in range(mappings):
        rows = np.arange(values) * groups // values
        rows = np.roll(rows, number) if number < mappings - 1 else rng.permutation(rows)
        yield RoundedTable(("pairs", number, "joint"), BASE, np.full((groups, 2), counts), (rows, np.arange(2)))


@for_each(
    ("groups", "values", "mappings", "counts", "most"),
    [
        (1_500, 3_000, 2, 300, 0),  # too many unions
        (900, 60_000, 2, 300, 0),  # too many values in each
        (250, 500, 3, 0, 1_500),  # too many that are close
        (100, 200, 3, 300, 600),
    ],
)
def test_what_differences_of_hostile_entries_cost_is_bounded(groups, values, mappings, counts, most):
    """Whether it is to stop is asked for each union and for each two that are close."""
    asked = []
    known = known_differences(list(many(groups, values, mappings, counts)), SMALL, lambda: bool(asked.append(0)))
    assert len(asked) <= most
    assert known == (0 if most and counts else None)


def test_it_stops_when_it_is_to_stop():
    assert known_differences(list(many(40, 80, 3, 0)), SMALL, lambda: True) is None
