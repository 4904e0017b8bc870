"""Releases that the ledger allowed, against an attack in plain Python."""

import random
from collections import defaultdict
from dataclasses import replace

import pyarrow as pa
import pytest

from aegis_provider import load_plan
from aegis_provider.ledger import CompositionError, Leaving, forget, hold_back, leave

MASKS = {"identity": lambda v: v, "half": lambda v: v // 2, "third": lambda v: v // 3, "drop": lambda _: 0}
PLAN = """
label: y
attributes:
  a: {type: integer, maskings: {half: {bucketize: {width: 2}}, third: {bucketize: {width: 3}}}}
  b: {type: integer, maskings: {half: {bucketize: {width: 2}}, third: {bucketize: {width: 3}}}}
quasi_identifiers: [a, b]
sensitive: [y]
configurations: {%s}
privacy: {%s}
suppressed: {%s}
"""
CHOICES = [(a, b) for a in MASKS for b in MASKS]


@pytest.fixture
def plan(tmp_path):
    def load(k, person):
        names = [f"c{n}" for n in range(len(CHOICES))]
        maskings = ", ".join(f"{name}: {{a: {a}, b: {b}}}" for name, (a, b) in zip(names, CHOICES, strict=True))
        promises = ", ".join(f"{name}: {{k: {k}, l: 2}}" for name in names)
        path = tmp_path / "plan.yaml"
        path.write_text(PLAN % (maskings, promises, ", ".join(f"{name}: 0" for name in names)))
        return replace(load_plan(path), person="p" if person else None)

    return load


def seen(rows, choice, k):
    """The class of each record in a release, without those that are left out until every class has k and l = 2."""
    a, b = (MASKS[each] for each in choice)
    left = dict(rows)
    while True:
        people, labels = defaultdict(set), defaultdict(lambda: defaultdict(set))
        for person, x, z, y in left.values():
            people[a(x), b(z)].add(person)
            labels[a(x), b(z)][y].add(person)
        bad = {
            each
            for each, who in people.items()
            if len(who) < k or len(labels[each]) < 2 or any(mine == who for mine in labels[each].values())
        }
        out = {person for person, x, z, _ in left.values() if (a(x), b(z)) in bad}
        if not out:
            return {record: (a(x), b(z)) for record, (_, x, z, _) in left.items()}
        left = {record: row for record, row in left.items() if row[0] not in out}


def attacked(releases):
    """The fewest people in the same class of every release, and whether the shown labels leave only one somewhere."""
    every = {record: row for rows, _ in releases for record, row in rows.items()}
    people = defaultdict(set)
    shown = [defaultdict(set) for _ in releases]
    for labels, (rows, classes) in zip(shown, releases, strict=True):
        for record, own in classes.items():
            labels[own].add(rows[record][3])
    certain = False
    for record, row in every.items():
        own = tuple(classes.get(record) for _, classes in releases)
        if any(own):
            people[own].add(row[0])
            possible = [labels[each] for labels, each in zip(shown, own, strict=True) if each is not None]
            certain |= len(set.intersection(*possible)) < 2
    return min(map(len, people.values()), default=99), certain


def numbered(rows, classes, order, person):
    """The same release with records called by their values: nobody tells equal ones, of a person, apart.

    Without a column of people, each record is somebody's.
    """
    so_far, names = defaultdict(int), {}
    for record in order:
        values = rows[record] if person else rows[record][1:]
        names[record] = (values, so_far[values])
        so_far[values] += 1
    whose = {names[record]: row if person else (names[record], *row[1:]) for record, row in rows.items()}
    return whose, {names[record]: own for record, own in classes.items()}


def changed(rows, draw, names):
    rows = {record: row for record, row in rows.items() if draw.random() > 0.1}
    for record in range(max(rows) + 1, max(rows) + 1 + draw.randrange(8)):
        rows[record] = (names(record), draw.randrange(6), draw.randrange(6), draw.randrange(3))
    return rows


def table(rows):
    columns = zip(*((f"p{p}", x, z, f"y{y}") for p, x, z, y in rows), strict=True)
    return pa.table(dict(zip("paby", map(list, columns), strict=True)))


@pytest.mark.parametrize("some", [range(2), *(pytest.param(range(n, n + 20), marks=pytest.mark.long) for n in (2, 22))])
def test_an_attack_on_what_the_ledger_allowed_finds_nobody(plan, some):
    """Releases of versions that change, with one and with several records a person."""
    found, waiting = 0, 0
    for seed in some:
        draw, allowed = random.Random(seed), []
        k, person = draw.choice([2, 3, 4]), seed % 2 == 1
        names = (lambda record: record // 2) if person else (lambda record: record)
        rows = {n: (names(n), draw.randrange(6), draw.randrange(6), draw.randrange(3)) for n in range(90)}
        intended = replace(plan(k, person), rows_per_person=2 if person else None)
        for turn in range(4):
            chosen = draw.randrange(len(CHOICES))
            classes = seen(rows, CHOICES[chosen], k)
            leaving = Leaving(name="t", place=str(turn), to="x", ranking=[f"c{chosen}"])
            order = draw.sample(sorted(rows), len(rows))
            about = (table([rows[each] for each in order]), intended, f"c{chosen}")
            try:
                if (held := hold_back(*about, leaving, {"delimiter": ","})) is not None:
                    out = {each for each, is_held in zip(order, held.records, strict=True) if is_held}
                    classes = {each: own for each, own in classes.items() if each not in out}
                    leaving, waiting = replace(leaving, held=held.digest), waiting + len(out)
                leave(*about, leaving, {"delimiter": ","})
            except CompositionError:
                least, certain = attacked([*allowed, numbered(rows, classes, order, person)])
                found += least < k or certain
            else:
                allowed.append(numbered(rows, classes, order, person))
                least, certain = attacked(allowed)
                assert least >= k, seed
                assert not certain, seed
            rows = changed(rows, draw, names) if draw.random() < 0.5 else rows
        forget("t", [])
    assert found
    assert waiting


def test_what_is_offered_instead_tells_nothing_new(plan):
    rows = {n: (n, n % 6, n // 6 % 6, n // 36) for n in range(72)}
    intended = plan(3, person=False)
    first, other = (f"c{CHOICES.index(each)}" for each in (("identity", "third"), ("third", "identity")))
    leave(table(rows.values()), intended, first, Leaving(name="t", place="1"), {"delimiter": ","})
    with pytest.raises(CompositionError, match=r"k = 2 for 72 records.* does not leave: (c\d+) keeps it") as refused:
        leave(table(rows.values()), intended, other, Leaving(name="t", place="2"), {"delimiter": ","})
    offered = str(refused.value).partition("does not leave: ")[2].split()[0]
    assert CHOICES[int(offered[1:])] in {("identity", "third"), ("third", "third"), ("identity", "drop")}
    assert leave(table(rows.values()), intended, offered, Leaving(name="t", place="2"), {"delimiter": ","}) == []
    accepted = Leaving(name="t", place="3", accept=True)
    [said] = leave(table(rows.values()), intended, other, accepted, {"delimiter": ","})
    assert said.endswith("k = 2 for 72 records")


def test_a_person_with_one_record_is_the_same_with_other_values(plan):
    """In both versions p0 is in a group with y0 and another label, so whoever knows where p0 was knows y0."""
    intended = replace(plan(2, person=True), rows_per_person=1)
    chosen = f"c{CHOICES.index(('identity', 'drop'))}"
    before = {0: (0, 0, 0, 0), 1: (1, 0, 0, 1), 2: (2, 1, 0, 0), 3: (3, 1, 0, 2)}
    after = {0: (0, 2, 0, 0), 1: (1, 3, 0, 1), 2: (2, 3, 0, 0), 3: (3, 2, 0, 2)}
    leave(table(before.values()), intended, chosen, Leaving(name="t", place="1"), {"delimiter": ","})
    with pytest.raises(CompositionError, match="k = 1, l = 1 for 4 people, y of 4 certain"):
        leave(table(after.values()), intended, chosen, Leaving(name="t", place="2"), {"delimiter": ","})


def test_one_of_two_equal_records_of_a_person_does_not_leave_unseen(plan):
    """The difference of both versions is that record, with its label."""
    intended, chosen = replace(plan(2, person=True), rows_per_person=2), f"c{CHOICES.index(('identity', 'drop'))}"
    rows = [(n // 2, 0, 0, n // 2 % 2) for n in range(8)]
    leave(table(rows), intended, chosen, Leaving(name="t", place="1"), {"delimiter": ","})
    with pytest.raises(CompositionError, match="k = 1, l = 1 for 1 person"):
        leave(table(rows[1:]), intended, chosen, Leaving(name="t", place="2"), {"delimiter": ","})


def test_what_was_accepted_lets_nothing_worse_leave(plan):
    """All are in groups of two once the second release is accepted; the third one would leave everybody alone."""
    rows = {n: (n, n % 2, n // 2 % 4, n // 8) for n in range(16)}
    intended = plan(5, person=False)
    choices = [("identity", "drop"), ("drop", "half"), ("drop", "third")]
    first, second, third = (f"c{CHOICES.index(each)}" for each in choices)

    def left(chosen, place, **how):
        leaving = Leaving(name="t", place=place, **how)
        return leave(table(rows.values()), intended, chosen, leaving, {"delimiter": ","})

    left(first, "1")
    [said] = left(second, "2", accept=True)
    assert said.endswith("k = 4 for 16 records")
    assert left(first, "3")
    with pytest.raises(CompositionError, match="k = 2 for 16 records"):
        left(third, "4")
