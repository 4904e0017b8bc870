"""Records that are held back so that releases of a changing table keep their promises together, by sets of names."""

import random
from collections import Counter, defaultdict

import numpy as np
import pyarrow as pa
import pytest

from aegis_provider.ledger.composition import composed
from aegis_provider.ledger.holding import held_back
from aegis_provider.ledger.rows import LEFT_OUT, Shown

L2 = 2


def table(version):
    """The rows of a version, {record: (person, class, label)}, in the order of its records."""
    people, classes, labels = zip(*(version[each] for each in sorted(version)), strict=True)
    rows = {
        "high": pa.array(people, pa.uint64()),
        "low": pa.array([0] * len(people), pa.uint64()),
        "record": pa.array(sorted(version), pa.uint32()),
        "class": pa.array(classes, pa.int32()),
        "s0": pa.array(labels, pa.int32()),
    }
    return Shown([("y", False)]).described(pa.table(rows))


def join_of(versions):
    """The records of the join, each with its class and label in each version that shows it, by the names of today's.

    Of a person who has several records since some version, each is known by itself, the one of before by its first
    name; others are known by who they are.
    """
    since, first = {}, {}
    for n, version in enumerate(versions):
        for person, records in Counter(row[0] for row in version.values()).items():
            if records > 1:
                since.setdefault(person, n)
        for record, (person, *_) in version.items():
            first.setdefault(person, record)

    def name(n, record, person):
        own = record if since.get(person, len(versions)) <= n else first[person]
        return person, own if person in since else 0

    names = [{record: name(n, record, row[0]) for record, row in version.items()} for n, version in enumerate(versions)]
    shown = [
        {own[record]: row[1:] for record, row in version.items() if row[1] != LEFT_OUT}
        for own, version in zip(names, versions, strict=True)
    ]
    return {whose: [each.get(whose) for each in shown] for whose in set().union(*shown)}, names[-1]


def broken_in(versions, k):
    """The classes of the join that break the promise."""
    people, labels = defaultdict(set), defaultdict(lambda: defaultdict(set))
    for (person, _), rows in join_of(versions)[0].items():
        own = tuple(LEFT_OUT if row is None else row[0] for row in rows)
        people[own].add(person)
        for n, row in enumerate(rows):
            if row is not None:
                labels[own, n][row[1]].add(person)
    few = {own for own, who in people.items() if len(who) < k}
    return few | {own for (own, _), told in labels.items() if len(told) < L2 or people[own] in told.values()}


def changed(version, draw, people, classes):
    """The version of the next month: some left, some have other values, some came, some of them for the second time."""
    stays = {record: row for record, row in version.items() if draw.random() > 0.05}
    for record in draw.sample(sorted(stays), len(stays) // 10):
        stays[record] = (stays[record][0], draw.randrange(classes), draw.randrange(3))
    for record in range(max(version) + 1, max(version) + 1 + draw.randrange(30)):
        stays[record] = (people(record), draw.randrange(classes), draw.randrange(3))
    return stays


@pytest.mark.parametrize("some", [range(3), pytest.param(range(3, 58), marks=pytest.mark.long)])
def test_what_is_held_back_keeps_the_promise_in_the_join_and_nobody_else_is(some):
    held, out_again, shown = 0, 0, 0
    for seed in some:
        draw = random.Random(seed)
        k, classes, many = draw.randrange(2, 6), draw.randrange(2, 7), seed % 2 == 1
        people = (lambda _, draw=draw: draw.randrange(150)) if many else (lambda record: record)
        today = {n: (people(n), draw.randrange(classes), draw.randrange(3)) for n in range(200)}
        left, before = [], set()
        promise = {"k": k, "l": L2}
        for _ in range(draw.randrange(2, 7)):
            rows, promises = table(today), [promise] * (len(left) + 1)
            mask = held_back([table(each) for each in left], rows, promises, of_people=True)
            records = {record for record, out in zip(sorted(today), mask, strict=True) if out}
            release = {n: (p, LEFT_OUT if n in records else own, y) for n, (p, own, y) in today.items()}
            assert not broken_in([*left, release], k)
            classes_ = pa.array(np.where(mask, LEFT_OUT, rows["class"].to_numpy()).astype(np.int32))
            measured = [*map(table, left), rows.set_column(3, "class", classes_)]
            assert not composed(measured, promises, of_people=True).broken
            # Only records of a class of what left before that has a broken class with all of today's table.
            bad = {own[:-1] for own in broken_in([*left, today], k)}
            assert records <= {n for n, own in classes_before(left, today).items() if own in bad}
            held, shown, out_again = held + len(records), shown + len(today), out_again + len(before - records)
            before, left = records & set(today), [*left, release]
            today = changed(today, draw, people, classes)
            before &= set(today)
    assert 0 < held < shown / 2
    assert out_again


def classes_before(left, today):
    """The classes in what left before of each record of today."""
    join, names = join_of([*left, today])
    known = {n: join[names[n]] for n in today}
    return {n: tuple(LEFT_OUT if row is None else row[0] for row in rows[:-1]) for n, rows in known.items()}


def month(rows):
    return {n: (n, own, label) for n, own, label in rows}


def held(left, today, k=5, **how):
    promise = {"k": k, "l": L2, **how}
    mask = held_back([table(each) for each in left], table(today), [promise] * (len(left) + 1), of_people=True)
    return {record for record, out in zip(sorted(today), mask, strict=True) if out}


def test_newcomers_wait_until_there_are_k_of_a_kind():
    january = month((n, 0, n % 2) for n in range(20))
    february = january | month((n, 0, n % 2) for n in range(20, 24))
    assert held([january], february) == {20, 21, 22, 23}
    released = {n: (p, LEFT_OUT if n >= 20 else own, y) for n, (p, own, y) in february.items()}
    assert held([january, released], february | month([(24, 0, 0)])) == set()
    assert held([january], january | month((n, 0, 0) for n in range(20, 26))) == {*range(20, 26)}  # one label


def test_no_more_are_held_back_with_one_who_left_than_make_k_of_both_labels():
    january = month((n, 0, n % 2) for n in range(20))
    february = {n: row for n, row in january.items() if n}
    for k in (2, 3, 5):
        with_them = held([january], february, k)
        assert len(with_them) == k - 1
        assert {january[n][2] for n in {0, *with_them}} == {0, 1}
    few = month((n, 0, n % 2) for n in range(9))
    assert held([few], {n: row for n, row in few.items() if n}) == {*range(1, 9)}  # four would stay


def test_whoever_moved_to_a_class_alone_is_held_back_with_others_of_the_class_before():
    january = month((n, n // 20, n % 2) for n in range(40))
    february = january | {0: (0, 1, 0)}
    with_them = held([january], february)
    assert 0 in with_them
    assert len(with_them) == 5
    assert with_them < {*range(20)}


def test_what_left_with_a_stricter_promise_keeps_it():
    january = month((n, 0, n % 2) for n in range(30))
    february = {n: row for n, row in january.items() if n > 3} | month((n, 0, n % 2) for n in range(30, 34))
    mask = held_back([table(january)], table(february), [{"k": 10, "l": 2}, {"k": 3, "l": 2}], of_people=True)
    chosen = {record for record, out in zip(sorted(february), mask, strict=True) if out}
    assert len(chosen) == 6  # with the four who left; four who came are enough
    assert chosen < set(january)


def test_records_without_people_are_held_back_one_by_one():
    january = month((n, 0, n % 2) for n in range(20))
    february = {n: row for n, row in january.items() if n > 1}
    promise = [{"k": 4, "l": 2}] * 2
    mask = held_back([table(january)], table(february), promise, of_people=False)
    assert mask.sum() == 2
