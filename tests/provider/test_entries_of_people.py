"""Entries of a plan that says whose a record is, compared with dictionaries of sets of names."""

import random
from collections import Counter, defaultdict
from dataclasses import replace

import pyarrow as pa
import pytest

from aegis_provider import PlanError, load_plan
from aegis_provider.control import LaplaceNoise, LastingRandomness, MinimumCell
from aegis_provider.disclosure import verdict_on
from aegis_provider.entry import document_of
from aegis_provider.errors import NothingHoldsError, TableError
from aegis_provider.prepare import prepare_entry
from aegis_provider.search import Requirement, find_configurations
from aegis_provider.summary import summarize, summarize_shared
from aegis_provider.table import open_table
from aegis_provider.table.values import Domain
from tests.for_each import for_each
from tests.provider.privacy import people_oracle as oracle
from tests.provider.privacy.test_people import CHOSEN, A, B, a_plan, a_table, random_rows
from tests.service import publication

UNIT = ("format", "unit", "people", "rows_per_person")
KEY = LastingRandomness(b"0" * 32)


def masks_of(configuration):
    """Return what a configuration of the plan of people does to `a` and `b`."""
    return [A[configuration.maskings["a"]], B[configuration.maskings["b"]]]


def with_people(plan, most):
    return replace(plan, rows_per_person=most)


def test_an_entry_counts_people_and_the_records_of_each_that_are_used(tmp_path):
    rng, plan = random.Random(1), a_plan(tmp_path, CHOSEN)
    for _ in range(8):
        rows = random_rows(rng, rng.randint(8, 40), 4)
        each = Counter(row[0] for row in rows)
        whole, bounded = (summarize(a_table(rows), with_people(plan, most), name="v") for most in (4, 2))
        assert (whole.format, whole.unit, whole.people, whole.rows_per_person) == (3, "person", len(each), 4)
        cells = Counter((row[1], row[3]) for row in rows)
        [a] = [one for one in whole.attributes if one.name == "a"]
        [mask] = [one for one in a.maskings if one.id == "a-1"]
        joint = Counter()
        for value, row in zip(a.domain, mask.mapping, strict=True):
            for place, label in enumerate(whole.label.domain):
                joint[row, place] += cells[value, label]
        assert {place: mask.joint[place[0]][place[1]] for place in joint} == joint
        assert (bounded.people, bounded.records) == (len(each), sum(min(number, 2) for number in each.values()))


def test_the_records_of_people_whom_every_release_leaves_out_are_not_counted(tmp_path):
    rng, plan, left_out = random.Random(2), with_people(a_plan(tmp_path, CHOSEN), 3), 0
    for _ in range(30):
        rows, promise = random_rows(rng, rng.randint(6, 14), 3), {"k": 4, "l": 2}
        left = oracle.released(rows, [A["a-1"], B["drop"]], promise)
        if not left or len({row[3] for row in left}) == 1:
            continue
        gone = len(rows) - len(left)
        chosen = replace(plan.configurations[0], privacy=promise, required=promise, suppressed=gone)
        shared = summarize_shared(a_table(rows), replace(plan, configurations=(chosen,)), name="v")
        assert (shared.entry.people, shared.entry.records) == (len({row[0] for row in left}), len(left))
        stay = Counter(row[3] for row in left)
        assert dict(zip(shared.entry.label.domain, shared.entry.label.histogram, strict=True)) == stay
        left_out += gone > 0
    assert left_out > 3


@pytest.mark.parametrize("promise", [{"k": 3}, {"k": 2, "l": 2}])
def test_published_privacy_is_what_the_people_of_each_class_have(tmp_path, promise):
    rng, plan, told = random.Random(3), with_people(a_plan(tmp_path), 3), 0
    for _ in range(12):
        rows = random_rows(rng, rng.randint(15, 40), 3)
        try:
            found = find_configurations(a_table(rows), plan, Requirement(promise, 0.5)).configurations
        except NothingHoldsError:
            continue
        entry = prepare_entry(a_table(rows), replace(plan, configurations=found), name="v", chance=KEY).entry
        for each in entry.masked:
            there = oracle.worst(oracle.released(rows, masks_of(each), promise), masks_of(each), rows)
            assert all(promise[name] <= each.privacy[name] <= there[name] for name in promise)
            told += each.privacy["k"] > promise["k"]
        assert entry.disclosure_control.rounded_to == 9
        assert entry.people % 3 == 0
    assert told


def test_no_count_is_of_fewer_people_than_the_minimum_cell(tmp_path):
    rng, plan, merged = random.Random(4), with_people(a_plan(tmp_path, CHOSEN), 3), 0
    for _ in range(20):
        rows = [*random_rows(rng, rng.randint(40, 90), 3), *[("odd", "2", "0", "0")] * 3]
        try:
            prepared = prepare_entry(a_table(rows), plan, [MinimumCell(3)], name="v", exact=False)
        except TableError:
            continue
        [a] = [one for one in prepared.plan.attributes if one.name == "a"]
        domain = Domain.of("012")
        became = dict(zip(domain.texts, a.masking("a-1").function.mask(domain), strict=True))
        people, records = defaultdict(set), Counter()
        for person, value, _, label in rows:
            people[became[value], label].add(person)
            records[became[value], label] += 1
        assert min(map(len, people.values())) >= 3
        assert min(records.values()) >= prepared.entry.disclosure_control.min_cell == 9
        [mask] = next(one for one in prepared.entry.attributes if one.name == "a").maskings
        counted = [count for row in mask.joint for count in row if count]
        assert sorted(counted) == sorted(records.values())
        merged += bool(prepared.controlled.changes.merged)
    assert merged


VALUES = (
    "label: y\nperson: who\nrows_per_person: 10\nattributes: {v: {type: string}}\nconfigurations: {c1: {v: identity}}\n"
)


def of_values(folder, extra):
    """Return a table of 300 people with 1 to 3 rows of four values, and these rows more, and its plan."""
    rng = random.Random(5)
    rows = [(f"p{n}", rng.choice("abcd"), rng.choice("01")) for n in range(300) for _ in range(rng.randint(1, 3))]
    rows += extra
    (folder / "values.yaml").write_text(VALUES, encoding="utf-8")
    columns = dict(zip(("who", "v", "y"), map(list, zip(*rows, strict=True)), strict=True))
    return pa.table(columns), load_plan(folder / "values.yaml")


@for_each(
    ("rows", "is_small", "is_listed"),
    [
        ([("one", "rare", "0")] * 7, True, False),  # of one person
        ([(f"few{n}", "rare", "01"[n % 2]) for n in range(3) for _ in range(10)], True, False),  # 30 records of 3
        ([(f"all{n}", "rare", "01"[n % 2]) for n in range(19) for _ in range(10)], False, False),
        ([(f"all{n}", "rare", "01"[n % 2]) for n in range(20) for _ in range(10)], False, True),
    ],
)
def test_a_cell_of_one_person_is_small_and_merged_and_no_name_tells_it(tmp_path, rows, is_small, is_listed):
    table, plan = of_values(tmp_path, rows)
    prepared = prepare_entry(table, plan, name="v", pairs=True)
    assert ("rare" in prepared.entry.attributes[0].domain) == is_listed
    assert prepared.entry.disclosure_control.rounded_to == 30
    assert verdict_on(prepared.entry, 60.0).verdict.passed
    assert publication(document_of(prepared.entry)).small_counts == ()
    exact = prepare_entry(table, plan, name="v", exact=True)
    assert (exact.exposure.small.counts > 0) == is_small
    assert verdict_on(exact.entry, 60.0).verdict.passed != is_small
    assert bool(publication(document_of(exact.entry)).small_counts) == is_small


@for_each(("control"), [None, MinimumCell(2)])
def test_with_one_record_a_person_the_entry_is_that_of_records(tmp_path, control):
    rng, plan, same = random.Random(6), a_plan(tmp_path, CHOSEN), 0
    for _ in range(10):
        rows = random_rows(rng, rng.randint(20, 200), 1)
        controls, how = [control] if control else [], {"name": "v", "pairs": True, "chance": KEY}
        try:
            theirs = document_of(
                prepare_entry(a_table(rows), replace(plan, person=None, rows_per_person=None), controls, **how).entry
            )
        except TableError:
            continue
        ours = document_of(prepare_entry(a_table(rows), plan, controls, **how).entry)
        assert [ours.pop(name) for name in UNIT] == [3, "person", theirs["records"], 1]
        assert theirs.pop("format") == 1
        assert ours == theirs
        same += 1
    assert same > 3


def test_epsilon_covers_a_person_with_all_records(tmp_path):
    rows = random_rows(random.Random(7), 60, 3)
    noisy = prepare_entry(
        a_table(rows), with_people(a_plan(tmp_path, CHOSEN), 3), [LaplaceNoise(2.0)], name="v", pairs=True
    )
    tables = noisy.controlled.changes.noise
    assert sum(each.epsilon for each in tables) <= 2.0
    assert [each.scale * each.epsilon >= 3 * (1 - 1e-9) for each in tables[:-1]] == [True] * (len(tables) - 1)
    assert (tables[-1].table, tables[-1].scale * tables[-1].epsilon) == ("people", pytest.approx(1))
    assert noisy.entry.label.noise.scale == tables[0].scale


def test_tables_that_do_not_say_whose_records_they_have_are_refused(tmp_path):
    rows = random_rows(random.Random(8), 20, 2)
    other = tmp_path / "other.csv"
    other.write_text("a,y\n0,0\n", encoding="utf-8")
    masking = f"{{m: {{masked_table: {{file: {other}}}}}}}"
    text = f"label: y\nperson: who\nattributes: {{a: {{maskings: {masking}}}}}\nconfigurations: {{c1: {{a: m}}}}\n"
    with pytest.raises(PlanError, match="masked elsewhere does not say whose its records are") as error:
        summarize(a_table(rows), a_plan(tmp_path, "", text), name="v")
    assert "\n" not in str(error.value)


def test_the_people_of_a_value_are_counted_alike_by_the_engine_and_in_memory(tmp_path):
    path, rng = tmp_path / "t.csv", random.Random(4)
    rows = [(rng.choice("abc"), rng.choice(["", "p1", "p2", "p3"])) for _ in range(40)]
    path.write_text("value,who\n" + "".join(f"{value},{who}\n" for value, who in rows))
    people = {
        value: len({who for one, who in rows if one == value and who}) + rows.count((value, "")) for value in "abc"
    }
    with open_table(path) as table:
        for one in (table, replace(table, memory=None, kept={})):
            assert dict(one.people_of_texts("value", "who")) == people
