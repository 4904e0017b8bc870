"""Releases that the ledger allowed, against an attack in plain Python."""

import random
from collections import defaultdict
from dataclasses import replace

import pyarrow as pa
import pytest

from aegis_provider import load_plan
from aegis_provider.ledger import CompositionError, Leaving, forget, leave

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
        for record, (person, x, z, y) in left.items():
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


def changed(rows, draw, names):
    rows = {record: row for record, row in rows.items() if draw.random() > 0.1}
    for record in range(max(rows) + 1, max(rows) + 1 + draw.randrange(8)):
        rows[record] = (names(record), draw.randrange(6), draw.randrange(6), draw.randrange(3))
    return rows


def table(rows, draw):
    listed = draw.sample(sorted(rows.values()), len(rows))
    columns = zip(*((f"p{p}", x, z, f"y{y}") for p, x, z, y in listed), strict=True)
    return pa.table(dict(zip("paby", map(list, columns), strict=True)))


@pytest.mark.parametrize("some", range(10))
def test_an_attack_on_what_the_ledger_allowed_finds_nobody(plan, some):
    """200 sequences of releases in all, of versions that change, with one and with several records a person."""
    found = 0
    for seed in range(some * 20, some * 20 + 20):
        draw, allowed = random.Random(seed), []
        k, person = draw.choice([2, 3, 4]), seed % 2 == 1
        each_has = (lambda record: record // 2) if person else (lambda record: record)
        rows = {n: (each_has(n), draw.randrange(6), draw.randrange(6), draw.randrange(3)) for n in range(90)}
        if not person:  # equal records could be those of either
            rows = {n: row for n, row in rows.items() if row[1:] not in {other[1:] for m, other in rows.items() if m < n}}
        intended = plan(k, person)
        for turn in range(4):
            chosen = draw.randrange(len(CHOICES))
            release = (rows, seen(rows, CHOICES[chosen], k))
            how = Leaving(name=f"t{seed}", place=str(turn), to=draw.choice(["x", "anyone"]))
            try:
                leave(table(rows, draw), replace(intended, rows_per_person=2 if person else None), f"c{chosen}", replace(how, to="x"), {"delimiter": ","})
            except CompositionError:
                least, certain = attacked([*allowed, release])
                found += least < k or certain
            else:
                allowed.append(release)
                least, certain = attacked(allowed)
                assert least >= k
                assert not certain
            rows = changed(rows, draw, each_has) if draw.random() < 0.5 else rows
        forget(f"t{seed}", [])
    assert found
