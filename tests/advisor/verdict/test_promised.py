"""What a reader of rounded counts knows who is told what every class keeps to, against all rows, one by one."""

from dataclasses import replace
from itertools import count, product
from math import exp, log

import numpy as np

from aegis_advisor.evidence import PairCounts, Perturbation
from aegis_advisor.verdict import Finding, PublishedCounts, Reason, Releases, judge
from aegis_advisor.verdict.promised import _Limits, find_promised
from tests.advisor.cases import evidence_of, mapped
from tests.for_each import for_each


def published(table, base, privacy, *, suppressed=0, others=(), known=None):
    """An entry of one masking, whose rows are its masked values, with a configuration of it, and perhaps others."""
    rows = np.arange(len(table))
    evidence = evidence_of(table, [mapped("m", rows, table)], histogram=False)
    codes = np.array([[0], *([1] for _ in others)])
    numbers = {name: [each, *(other.get(name) for other in others)] for name, each in privacy.items()}
    releases = Releases(codes, [("m", "drop")], [suppressed] * len(codes), (), numbers, known=known)
    return PublishedCounts([replace(evidence, rounded_once=base)], {}, releases)


def is_known(row, base, keeps):
    """Whether a cell of a row, or its sum, has one count of 1 to 4 with a probability above 0.9."""
    ranges = [range(max(0, each - base + 1), each + base) for each in row]
    weights = {
        counts: np.prod([1 - abs(n - p) / base for n, p in zip(counts, row, strict=True)])
        for counts in product(*ranges)
        if sum(counts) >= 1 and keeps(counts)
    }
    total = sum(weights.values())
    return any(
        sum(weight for counts, weight in weights.items() if (*counts, sum(counts))[place] == count) > 0.9 * total
        for place in range(len(row) + 1)
        for count in range(1, 5)
    )


def keeps(privacy):
    def kept(counts):
        if not any(counts):
            return False
        shares = [each / sum(counts) for each in counts if each]
        entropy_l = exp(-sum(each * log(each) for each in shares))
        reached = {"k": sum(counts), "l": len(shares), "entropy_l": entropy_l, "alpha": -max(shares)}
        return all(reached[name] >= (-each if name == "alpha" else each) - 1e-9 for name, each in privacy.items())

    return kept


def test_a_row_of_k_records_that_was_rounded_down_is_known():
    """5 and 2 of 7 records: nothing else that base 3 publishes as 3 and 0 has so many."""
    entry, place = np.array([[3, 0], [21, 30]]), ("attributes", 0, "maskings", 0, "joint")
    assert judge(published(entry, 3, {"k": 7})).findings == (Finding(Reason.LIKELY, place, 1),)
    assert judge(published(entry, 3, {"k": 6})).passed


def test_a_promise_tells_nothing_of_records_that_others_show():
    entry = np.array([[3, 0], [21, 30]])
    assert not judge(published(entry, 3, {"k": 7}, suppressed=9)).passed  # no other release
    assert not judge(published(entry, 3, {"k": 7}, others=[{}])).passed
    assert judge(published(entry, 3, {"k": 7}, suppressed=9, others=[{"k": 7}])).passed


def test_a_generated_table_beside_a_release_shows_no_record():
    entry = published(np.array([[3, 0], [21, 30]]), 3, {"k": 7}, suppressed=9, others=[{}])
    assert judge(entry).passed
    assert not judge(replace(entry, releases=replace(entry.releases, generated=frozenset([1])))).passed


def test_a_promise_tells_nothing_of_attributes_that_it_is_not_about():
    assert judge(published(np.array([[3, 0], [21, 30]]), 3, {"k": 7}, known=frozenset())).passed


@for_each("criterion", ["beta", "t", "delta_disclosure"])
def test_shares_near_those_of_the_table_tell_a_count(criterion):
    """A tenth of the table has the first value, so with beta = 1 at most 20 % of a row: one record, not two."""
    entry = np.array([[3, 3], [900, 8100]])
    tells, does_not = {"beta": (1.0, 2.0), "t": (0.1, 0.2), "delta_disclosure": (log(2), log(3))}[criterion]
    assert not judge(published(entry, 3, {criterion: tells, "k": 2})).passed
    assert judge(published(entry, 3, {criterion: does_not, "k": 2})).passed


def test_a_row_is_known_if_all_others_that_keep_the_promise_are_unlikely():
    random, found = np.random.default_rng(7), []
    for _ in range(30):
        base, labels = int(random.choice([2, 3, 5])), int(random.integers(2, 4))
        row = base * random.integers(0, 3, labels)
        privacy = {"k": int(random.integers(2, 16))}
        privacy |= random.choice([{}, {"l": 2}, {"alpha": 0.6}, {"alpha": 0.75}, {"entropy_l": 1.9}])
        if not any(map(keeps(privacy), product(*(range(max(0, each - base + 1), each + base) for each in row)))):
            continue
        large = np.full(labels, base * 40)
        known = is_known(tuple(row.tolist()), base, keeps(privacy))
        only_sizes = is_known(tuple(row.tolist()), base, keeps({"k": privacy["k"]}))
        assert judge(published(np.array([row, large]), base, privacy)).passed is not (known or only_sizes)
        found.append(known)
    assert 2 <= sum(found) < len(found) - 5


def test_a_combination_of_exact_values_has_no_record_or_k():
    """Of 8 records of the first value, 4 and 4 have the others: k = 4 forbids 1 to 3, and 0 is not published as 5."""
    own, other = np.array([[8, 0], [20, 36]]), np.array([[14, 20], [14, 16]])
    evidence = [evidence_of(each, [mapped("m", [0, 1], each)], histogram=False) for each in (own, other)]
    pair = PairCounts((0, 1), ("m", "m"), np.array([[5, 5], [30, 25]]), Perturbation(rounded_to=5))
    codes = np.array([[0, 0]])
    for promised, findings in ((4, (Finding(Reason.LIKELY, ("pairs", 7, "joint"), 2),)), (3, ()), (5, ())):
        releases = Releases(codes, [("m",), ("m",)], [0], (), {"k": [promised]})
        assert judge(PublishedCounts(evidence, {7: pair}, releases)).findings == findings
    releases = Releases(codes, [("m",), ("m",)], [0], (), {"k": [4]})
    stopped = find_promised(PublishedCounts(evidence, {7: pair}, releases), stop=lambda: True)
    assert list(stopped) == [Finding(Reason.UNDECIDED, ("pairs", 7, "joint"), 4)]


def test_what_is_not_published_tells_no_more_than_what_is():
    """A consumer's copy has no numbers of suppressed records; that some are does not make a promise that of all."""
    entry, others = np.array([[3, 0], [21, 30]]), [{"k": 7}]
    told = {each: judge(published(entry, 3, {"k": 7}, suppressed=each, others=others)) for each in (None, 0, 9)}
    assert {each: verdict.passed for each, verdict in told.items()} == {None: True, 0: False, 9: True}


def test_it_is_undecided_once_it_is_to_stop_whatever_row_that_is():
    entry, asked = published(np.array([[3, 0]] * 3 + [[21, 30]]), 3, {"k": 7}), count()
    undecided = (Finding(Reason.UNDECIDED, ("attributes", 0), 4),)
    assert tuple(find_promised(entry, stop=lambda: next(asked) == 2)) == undecided
    assert [each.cells for each in find_promised(entry, stop=lambda: False)] == [3]


def of_people(table, group, labels):
    """alpha, beta, delta-disclosure and t of a class, of pairs of person and label, by sets of people."""

    def share(pairs, value):
        return len({who for who, had in pairs if had == value}) / len({who for who, _ in pairs})

    pairs = [(share(group, value), share(table, value)) for value in range(labels)]
    gained, lost = (sum(max(0.0, sign * (q - p)) for q, p in pairs) for sign in (1, -1))
    return {
        "alpha": max(q for q, _ in pairs),
        "beta": max((q - p) / p for q, p in pairs),
        "delta_disclosure": max(abs(log(q / p)) for q, p in pairs if q),
        "t": min(1.0, max(gained, lost)),
    }


def test_promises_on_people_allow_the_records_of_every_table_and_not_all_others():
    rng, labels, excluded = np.random.default_rng(5), 3, 0
    for _ in range(200):
        most = int(rng.integers(1, 5))
        person = np.repeat(np.arange(12), rng.integers(1, most + 1, 12))
        label = rng.choice(labels, len(person), p=[0.6, 0.3, 0.1])
        label[:labels] = range(labels)
        chosen = rng.random(len(person)) < 0.6
        totals, counts = (np.bincount(each, minlength=labels) for each in (label, label[chosen]))
        table = list(zip(person.tolist(), label.tolist(), strict=True))
        group = [pair for pair, is_in in zip(table, chosen, strict=True) if is_in]
        for promise in of_people(table, group, labels).items():
            limits = _Limits.of(dict([promise]), [(each, each) for each in totals.tolist()], most)
            assert limits.admits(counts[:, np.newaxis]).all(), (promise, most, counts)
            excluded += not limits.admits(np.array([[0], [0], [9]])).all()
    assert excluded > 100


def test_the_alpha_of_people_tells_a_count_of_records():
    """At most .55 of a class's people have a value, so at most .71 of its records, with two of each person."""
    table = np.array([[3, 0], [300, 400]])
    by_alpha, without = (
        replace(published(table, 3, privacy), rows_per_person=2) for privacy in ({"k": 6, "alpha": 0.55}, {"k": 6})
    )
    assert [each.reason for each in find_promised(by_alpha)] == [Reason.LIKELY]
    assert list(find_promised(without)) == []
