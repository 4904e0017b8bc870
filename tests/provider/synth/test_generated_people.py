"""Tables generated from the records of people: nobody is split, few people are no value, and epsilon is a person's."""

import math
import random
from collections import Counter, defaultdict

import pyarrow as pa
import pytest

from aegis_provider import PlanError, load_plan, prepare_entry
from aegis_provider.control import LastingRandomness, RandomRounding
from aegis_provider.entry import document_of
from aegis_provider.records import held_out_of, read_records
from aegis_provider.synth.attacks.attack import open_case
from aegis_provider.synth.generate.generating import generate
from aegis_provider.synth.generate.methods.method import Knobs, knobs_of_records
from aegis_provider.synth.generate.prepared import Wish
from aegis_provider.synth.offer import RealSides, draw_table, with_generated
from aegis_provider.synth.released.opening import MaskedRecords
from aegis_provider.table import open_table
from aegis_sdk.wire import publishable
from tests.for_each import for_each
from tests.provider.synth.released.test_masked_records import everyone, shown, written

PLAN = """label: back
{person}
quasi_identifiers: [age, ward]
attributes:
  age: {{type: integer, maskings: {{tens: {{bucketize: {{width: 30}}}}}}}}
  ward: {{type: string}}
configurations: {{c1: {{age: tens, ward: identity}}}}
privacy: {{c1: {{k: 4}}}}
suppressed: {{c1: {gone}}}
holdout: 0.3
"""
HOW = {"delimiter": ",", "memory_limit": "1GB"}


@pytest.fixture
def plan_of(write):
    """Returns the plan, for people unless it is said otherwise."""

    def plan(person="person: who\nrows_per_person: 8", gone=0):
        return load_plan(write("plan.yaml", PLAN.format(person=person, gone=gone)))

    return plan


def rows_of_people(people=400, most=4):
    """Visits of people, and forty of four people in a ward of their own; three rows say nothing of whose they are."""
    rng, rows = random.Random(5), []
    for person in range(people):
        age = rng.randint(20, 79)
        rows += [
            (f"p{person}", f"{age}", rng.choice("ABC"), "yes" if rng.random() < age / 100 else "no")
            for _ in range(rng.randint(1, most))
        ]
    rows += [(f"often{n % 4}", "50", "rare", rng.choice(["yes", "no"])) for n in range(40 if most > 1 else 4)]
    return rows + [(None, "33", "A", "no")] * 3


def a_table(rows):
    return pa.table(dict(zip(("who", "age", "ward", "back"), map(list, zip(*rows, strict=True)), strict=True)))


def test_with_one_record_a_person_the_generated_table_is_that_of_records(plan_of):
    rows = [(f"q{n}", *row[1:]) for n, row in enumerate(rows_of_people(most=1))]
    table, made = a_table(rows), {}
    for person in ("person: who", ""):
        generated = generate(table, plan_of(person), wish=Wish(seed=3, holdout=0.3))
        case = open_case(generated.table, table, plan=plan_of(person), holdout=0.3).case
        sides = [side.places(side.names).tolist() for side in (case.seen, case.held_out)]
        made[person] = (generated.table, generated.learnt_from, generated.validated, case.seen.people, sides)
    assert made["person: who"] == made[""]


def test_nobody_is_on_both_sides_whatever_the_order_of_the_records(plan_of):
    rows, plan, held_out = rows_of_people(), plan_of(), set()
    for some in (rows, rows[::-1]):
        with open_table(a_table(some)) as opened:
            records = read_records(opened, plan.attributes, "back", person="who")
            sides = RealSides.read(opened, plan)
        assert len(records) == len(some)
        out = held_out_of(records, 0.3)
        people = defaultdict(set)
        for (who, *_), side in zip(some, out.tolist(), strict=True):
            people[who].add(side)
        assert all(len(those) == 1 for who, those in people.items())
        held_out.add(frozenset(who for who, those in people.items() if True in those))
        assert 0.2 < out.mean() < 0.4
        generated = generate(a_table(some), plan, wish=Wish(seed=1, holdout=0.3))
        case = open_case(generated.table, a_table(some), plan=plan, holdout=0.3).case
        assert not {*case.seen.people} & {*case.held_out.people}
        assert generated.held_out == len(case.held_out) == int(sides.rows.sum())
        assert generated.learnt_from + generated.validated == len(case.seen)
        assert generated.table.column_names == ["age", "ward", "back"]
    assert len(held_out) == 1


def test_no_value_of_a_few_people_is_generated_however_often_they_came(plan_of):
    by_record = generate(a_table(rows_of_people()), plan_of(""), wish=Wish(seed=1))
    assert "rare" in by_record.table["ward"].unique().to_pylist()
    of_people = generate(a_table(rows_of_people()), plan_of(), wish=Wish(seed=1))
    assert {*of_people.table["ward"].unique().to_pylist()} == {*"ABC"}


@for_each(("epsilon", "delta", "rows"), [(1.0, 1e-9, 1), (1.0, 1e-9, 4), (8.0, 1e-6, 10), (0.1, 1e-5, 1_000)])
def test_as_many_steps_of_one_record_as_a_person_has_spend_the_epsilon_and_delta_of_a_person(epsilon, delta, rows):
    knobs = knobs_of_records(Knobs(), (epsilon, delta), rows)
    spent = failed = 0.0
    for _ in range(rows):
        spent, failed = spent + knobs.epsilon, failed * math.exp(knobs.epsilon) + knobs.delta
    assert (spent, failed) == (pytest.approx(epsilon), pytest.approx(delta))


@for_each(("person", "epsilon", "said"), [("person: who", 1.0, "rows_per_person: state it"), (None, 1e4, "8 records")])
def test_a_guarantee_that_cannot_be_given_is_refused(plan_of, person, epsilon, said):
    plan = plan_of() if person is None else plan_of(person)
    with pytest.raises(PlanError, match=said):
        generate(a_table(rows_of_people()), plan, method="mbi", knobs=Knobs(epsilon=epsilon))


@pytest.mark.long
def test_a_guarantee_is_a_persons(plan_of):
    table, knobs = a_table(rows_of_people()), Knobs(epsilon=40.0)
    made = generate(table, plan_of("person: who\nrows_per_person: 2"), method="mbi", knobs=knobs, wish=Wish())
    assert made.guarantee[0] == 40.0
    assert made.promise.endswith("of the generated records alone, for a person with at most 2 records")
    assert made.learnt_from + made.validated + made.held_out == made.of_records < len(rows_of_people())


def test_masked_records_of_people_are_those_that_apply_writes(plan_of, tmp_path):
    rng = random.Random(2)
    rows = [
        (f"p{n % 9}" if n % 7 else None, f"{rng.randint(20, 79)}", rng.choice("AB"), "yn"[n % 2]) for n in range(60)
    ]
    plan = plan_of()
    with open_table(a_table(rows)) as opened:
        masked = MaskedRecords.read(opened, plan)
    released = masked.released(plan.configurations[0], everyone(masked))
    assert 0 < len(released) < 60
    assert shown(released) == written(a_table(rows), plan, "c1", tmp_path / "masked.csv")


def test_an_entry_of_people_offers_them_and_its_numbers_hide_a_person(plan_of, tmp_path):
    table, plan = a_table(rows_of_people()), plan_of()
    drawn = draw_table(table, plan, 5.0, tmp_path, 0.3, HOW)
    assert set(drawn.attacks) == {"reidentification", "attribute_disclosure", "membership"}
    plan = plan_of()
    offered = {**vars(plan), "generated": (drawn.stated(tmp_path),)}
    how = {"name": "visits", "chance": LastingRandomness(b"1" * 32)}
    prepared = with_generated(prepare_entry(table, type(plan)(**offered), [RandomRounding(5)], **how))
    entry = publishable(document_of(prepared.entry))
    assert (entry.format, entry.unit) == (3, "person")
    assert [each.id for each in entry.generated] == ["trees-5"]
    most = max(Counter(row[0] for row in rows_of_people() if row[0]).values())
    assert entry.holdout.rounded_to * entry.holdout.records >= 10 * min(most, 8) * 0.999
    assert "who" not in drawn.file


def test_the_commands_take_whose_a_record_is(aegis, write, tmp_path):
    rows = [",".join(cell or "" for cell in row) for row in rows_of_people()]
    table = write("visits.csv", "\n".join(["who,age,ward,back", *rows]) + "\n")
    plan, made = write("plan.yaml", PLAN.format(person="", gone=0)), tmp_path / "made.csv"
    options = ("--plan", plan, "--output", made, "--person", "who", "--rows-per-person", "4", "--seed", "1")
    _, printed, _ = aegis("synth", "generate", table, *options)
    assert "at most 4 rows of each of 407 people ('who')" in printed
    card = (tmp_path / "made.csv.card.md").read_text()
    assert "at most 4 rows of each of 407 people" in card
    assert "column links it with others" in card
    assert made.read_text().splitlines()[0] == "age,ward,back"
    more = (
        "--against",
        table,
        "--plan",
        plan,
        "--person",
        "who",
        "--rows-per-person",
        "4",
        "--holdout",
        "0.3",
        "--json",
    )
    code, printed, said = aegis("synth", "fidelity", made, *more)
    assert code == 0, said
