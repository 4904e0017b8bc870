"""Attacks find people, not records, where a person may have several."""

import random
from collections import defaultdict

import numpy as np
import pyarrow as pa
import pytest

from aegis_provider import PlanError, apply, load_plan
from aegis_provider.records import held_out_of
from aegis_provider.synth.attacks.article29 import isolated, singling_out
from aegis_provider.synth.attacks.attack import open_case

PLAN = """
label: y
person: who
rows_per_person: 8
attributes: {age: {type: string, maskings: {one: {mapping: {0: x, 1: x, 2: z}}}}, habit: {type: string}}
configurations: {open: {age: one, habit: identity}, few: {age: one, habit: drop}}
"""


@pytest.fixture
def plan(tmp_path):
    (tmp_path / "plan.yaml").write_text(PLAN, encoding="utf-8")
    return load_plan(tmp_path / "plan.yaml")


def a_table(rows):
    return pa.table(dict(zip(("who", "age", "habit", "y"), map(list, zip(*rows, strict=True)), strict=True)))


@pytest.fixture
def habits():
    """Forty people with up to ten rows and one habit each."""
    rng = random.Random(1)
    return [
        (f"p{n}", rng.choice("012"), f"h{n}", rng.choice("01")) for n in range(40) for _ in range(rng.randint(2, 10))
    ]


def released(table, plan, configuration, folder):
    apply(table, plan, configuration, folder / "masked.csv", accept_unique=True)
    return folder / "masked.csv"


def test_a_value_of_one_person_with_several_rows_singles_out_the_person(plan, tmp_path, habits):
    table = a_table(habits)
    found = {}
    for name in ("open", "few"):
        case = open_case(released(table, plan, name, tmp_path), table, plan=plan, configuration=name).case
        assert (len(np.unique(case.seen.people)), case.rows) == (40, 8)
        assert [len(side) for side in case.persons("x", 1_000)] == [40, 0]
        found[name] = {each.variant: each for each in singling_out(case)}
    assert ", 40 single out one of 40 people; " in found["open"]["one column"].sentence  # by each habit
    assert all(", 0 single out one of" in each.sentence for each in found["few"].values())
    alone = open_case(tmp_path / "masked.csv", a_table(habits), person="who", rows_per_person=8).case
    assert len(np.unique(alone.seen.people)) == 40
    by_records = open_case(released(table, plan, "open", tmp_path), table).case
    assert by_records.seen.people is None
    with pytest.raises(PlanError, match="of no column"):
        open_case(tmp_path / "masked.csv", table, rows_per_person=2)


def test_predicates_find_a_person_where_sets_of_names_have_one(plan, tmp_path):
    rng = random.Random(2)
    rows = [
        (f"p{n}" if n else None, rng.choice("012"), rng.choice("abcdefghijklmnopqrstuvwxyz"), "01"[n % 2])
        for n in range(15)
        for _ in range(rng.randint(1, 4))
    ]
    case = open_case(
        released(a_table(rows), plan, "open", tmp_path), a_table(rows), plan=plan, configuration="open"
    ).case
    have = defaultdict(set)
    for place, (who, _, habit, _) in enumerate(rows):
        have[habit].add(place if who is None else who)
    column = case.seen.column("habit")
    predicates = [[("habit", np.arange(len(column.domain)) == column.domain.places[habit])] for habit in have]
    assert [place >= 0 for place in isolated(predicates, case.seen)] == [len(some) == 1 for some in have.values()]
    assert {len(some) == 1 for some in have.values()} == {True, False}


def test_people_are_held_out_with_all_their_rows(plan, tmp_path, habits):
    records = open_case(
        released(a_table(habits), plan, "few", tmp_path), a_table(habits), plan=plan, configuration="few"
    )
    seen = records.case.seen
    out = held_out_of(seen, 0.3)
    assert 0 < len(np.unique(seen.people[out])) < 40
    assert not {*seen.people[out]} & {*seen.people[~out]}
