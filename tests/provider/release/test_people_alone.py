"""Who is alone, and how many show a value, if a plan says whose a record is: compared with sets of names."""

import random
from collections import defaultdict

import pyarrow as pa
import pytest

from aegis_provider import PromiseError, apply, load_plan
from aegis_provider.release.alone import CountedAlone, alone_in_releases

PLAN = """
label: y
seed: 7
person: who
rows_per_person: 9
quasi_identifiers: [age]
attributes:
  age: {type: string, maskings: {one: {mapping: {0: x, 1: x, 2: z}}}}
  habit: {type: string, maskings: {chance: {shuffle: {}}}}
configurations:
  raw: {age: identity, habit: identity}
  few: {age: one, habit: drop}
  some: {age: one, habit: identity}
  drawn: {age: one, habit: chance}
"""


def a_plan(folder, more=""):
    (folder / "plan.yaml").write_text(PLAN + more, encoding="utf-8")
    return load_plan(folder / "plan.yaml")


def a_table(rows):
    return pa.table(dict(zip(("who", "age", "habit", "y"), map(list, zip(*rows, strict=True)), strict=True)))


def alone_among(rows, shared):
    """Return the share of people with a record whose shared values nobody else has; `None` is always someone else."""
    have = defaultdict(set)
    people = [number if row[0] is None else row[0] for number, row in enumerate(rows)]
    for person, row in zip(people, rows, strict=True):
        have[shared(*row[1:3])].add(person)
    alone = {person for some in have.values() if len(some) == 1 for person in some}
    return CountedAlone(len(alone), len(set(people))).share


def test_forty_people_with_eight_rows_and_a_habit_each_are_all_alone(tmp_path):
    rows = [(f"p{n}", "0", f"habit {n}", str(n % 2)) for n in range(40) for _ in range(8)]
    plan = a_plan(tmp_path, "privacy: {some: {k: 2}, raw: {}, few: {}, drawn: {}}\n")
    with pytest.raises(PromiseError, match="habit: shared as it is, with values of fewer people than the k"):
        apply(a_table(rows), plan, "some", tmp_path / "masked.csv")
    applied = apply(a_table(rows), plan, "some", tmp_path / "masked.csv", accept_unique=True)
    assert applied.checked.alone == CountedAlone(40, 40)
    assert (applied.checked.shown.rare, applied.checked.shown.below_k) == ({"habit": 40}, {"habit": 40})
    assert "fewer than 20 people have: habit 40" in " ".join(applied.checked.shown.in_words())
    assert applied.checked.known.shares.all == 0.0  # all masked rows of all are alike in what others know
    assert sorted(path.name for path in tmp_path.iterdir()) == ["masked.csv", "plan.yaml"]


def test_people_who_are_alone_are_those_of_dictionaries(tmp_path):
    rng, plan = random.Random(1), a_plan(tmp_path)
    views = {
        "raw": lambda age, habit: (age, habit),
        "few": lambda age, _: age == "2",
        "some": lambda age, habit: (age == "2", habit),
    }
    told = set()
    for people in (8, 40):
        rows = [
            (f"p{person}", rng.choice("012"), rng.choice("abcdefgh"), rng.choice("01"))
            for person in range(people)
            for _ in range(rng.randint(1, 3))
        ]
        rows += [(None, rng.choice("012"), rng.choice("abcdefgh"), "0") for _ in range(3)]
        table = a_table(rows)
        shares = alone_in_releases(table, plan)
        wanted = {name: alone_among(rows, view) for name, view in views.items()}
        assert {name: shares[name] for name in views} == wanted
        for name in views:
            applied = apply(table, plan, name, tmp_path / "masked.csv", accept_unique=True)
            assert applied.checked.alone.share == wanted[name]
            assert applied.checked.alone.records == people + 3
        drawn = apply(table, plan, "drawn", tmp_path / "masked.csv", accept_unique=True)
        assert drawn.checked.alone.share == shares["drawn"]  # the same draws, without the file
        told |= set(wanted.values())
    assert len(told) > 2


def test_with_one_row_a_person_the_numbers_are_those_of_records(tmp_path):
    rng = random.Random(2)
    rows = [(f"p{n}", rng.choice("012"), rng.choice("abcdefgh"), rng.choice("01")) for n in range(60)]
    people = a_plan(tmp_path)
    (tmp_path / "other.yaml").write_text(PLAN.replace("person: who\nrows_per_person: 9\n", ""), encoding="utf-8")
    records = load_plan(tmp_path / "other.yaml")
    both = [apply(a_table(rows), plan, "some", tmp_path / "masked.csv").checked for plan in (people, records)]
    assert both[0] == both[1]
