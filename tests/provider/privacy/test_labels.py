"""Privacy of tables with several labels, each sensitive to somebody who knows all others, by sets in plain Python."""

import random
from dataclasses import replace
from functools import reduce

import pyarrow as pa
import pytest

from aegis_provider.errors import PlanError
from aegis_provider.plan.model import Attribute, Plan, Roles
from aegis_provider.plan.reading import load_plan
from aegis_provider.privacy import assess, left_out_people, measure_privacy, measure_worst
from aegis_provider.privacy.cells import MaskedRecords, suppress
from aegis_provider.privacy.privacy_table import suppress_cells
from aegis_provider.release.apply import apply
from tests.provider.privacy import people_oracle as oracle
from tests.provider.privacy.privacy_tables import records_of
from tests.provider.privacy.test_people import by_person

SAME = dict(zip("012", "012", strict=True))
CRITERIA = ("k", "l", "t", "alpha", "beta")
PROMISES = ({"k": 2}, {"k": 3}, {"k": 2, "l": 2}, {"k": 2, "t": 0.5}, {"l": 2, "alpha": 0.7})
ATTACKS = {"y": (0, 1, 3, 2), "z": (0, 1, 2, 3)}
"""Of rows `(who, a, y, z)`: whose each is, what is known, and the label."""
ROLES = (Roles(("a", "z"), ("y",), "y"), Roles(("a", "y"), ("z",), "z"))


def attacked(rows, label, mask=SAME):
    return [tuple(mask[value] if at == 1 else value for at in ATTACKS[label] for value in [row[at]]) for row in rows]


def worst_by_label(rows, before, mask=SAME):
    return {
        label: oracle.worst(attacked(rows, label, mask), [SAME, SAME], attacked(before, label, mask))
        for label in ATTACKS
    }


def worst(by_label):
    pick = {name: min if name in oracle.AT_LEAST else max for name in CRITERIA}
    return {name: pick[name](each[name] for each in by_label.values()) for name in CRITERIA if all(by_label.values())}


def stay(rows, promise, mask=SAME):
    """Return the rows of those who stay: who has a row in a class of any attack that breaks the promise goes."""
    left = rows
    while True:
        gone = set()
        for label in ATTACKS:
            before = attacked(rows, label, mask)
            for each in oracle.classes_of(attacked(left, label, mask), [SAME, SAME]).values():
                if not oracle.keeps(oracle.measured(each, before), promise):
                    gone |= {row[0] for row in each}
        if not gone:
            return left
        left = [row for row in left if row[0] not in gone]


def random_rows(rng, people, each=1):
    return [(f"p{n}", *rng.choices("012", k=3)) for n in range(people) for _ in range(rng.randint(1, each))]


def as_records(rows):
    return records_of([row[1:] for row in rows], ("a", "y", "z"))


@pytest.mark.parametrize("each", [1, 3])
def test_two_hundred_tables_have_the_privacy_and_the_suppression_of_plain_python(each):
    rng, linked = random.Random(each), 0
    for number in range(200):
        rows, promise = random_rows(rng, rng.randint(1, 40), each), PROMISES[number % len(PROMISES)]
        records = as_records(rows) if each == 1 else by_person(rows, ("a", "y", "z"))
        left = stay(rows, promise)
        found = suppress(MaskedRecords(records, {}, ROLES), promise, {})
        assert found.records == len(rows) - len(left)
        for classes, some in ((found.before, rows), (found.released, left)):
            expected = worst_by_label(some, rows)
            for one, reached in zip(classes, expected.values(), strict=True):
                there = measure_privacy(one)
                assert {name: there[name] for name in CRITERIA if there} == pytest.approx(reached)
            there = measure_worst(classes)
            assert {name: there[name] for name in CRITERIA if there} == pytest.approx(worst(expected))
        alone = [left_out_people(records, {}, [one], promise)[0] for one in ROLES]
        linked += int(records.counts[reduce(lambda a, b: a | b, alone)].sum()) < found.records
    assert linked > 5  # one who leaves in the attack on a label makes others leave in that on another


PLAN = """
labels: [y, z]
attributes:
  a: {type: string, maskings: {a-1: {mapping: {0: 0, 1: 0, 2: 2}}}}
  z: {type: string}
configurations: {c1: {a: a-1}, c2: {a: a-1, z: drop}}
"""
MASK = {"0": "0", "1": "0", "2": "2"}


@pytest.fixture
def plan(tmp_path):
    (tmp_path / "plan.yaml").write_text(PLAN, encoding="utf-8")
    return load_plan(tmp_path / "plan.yaml")


def test_a_plan_says_what_is_known_in_the_attack_on_each_label(plan, tmp_path):
    assert plan.roles == ROLES
    assert plan.all_roles == Roles(("a", "z", "y"), ("y", "z"))
    assert plan.roles_among(["a", "y"]) == (Roles(("a",), ("y",), "y"),)
    stated = PLAN + "quasi_identifiers: []\nsensitive: [a]\n"
    (tmp_path / "plan.yaml").write_text(stated, encoding="utf-8")
    other = load_plan(tmp_path / "plan.yaml")
    assert other.sensitive == ("a", "y", "z")
    assert other.roles == (Roles(("z",), ("y", "a"), "y"), Roles(("y",), ("z", "a"), "z"))
    single = Plan("p", "y", (Attribute("a", None, ()),), (), {}, ("y",), ("a",))
    assert single.roles == (single.all_roles,) == (Roles(("a",), ("y",)),)


def test_a_plan_has_no_privacy_of_a_label_that_its_configuration_drops(plan, tmp_path):
    assert plan.labels == ("y", "z")
    (tmp_path / "plan.yaml").write_text(PLAN + "privacy_by_label: {c2: {y: {l: 2}, z: {l: 2}}}\n", encoding="utf-8")
    with pytest.raises(PlanError, match="drops 'z', so `privacy_by_label` cannot have it"):
        load_plan(tmp_path / "plan.yaml")


def test_a_release_is_measured_for_each_label_and_keeps_who_may_stay(plan, tmp_path):
    rng, promise, mended = random.Random(4), {"k": 2, "l": 2}, 0
    for _ in range(6):
        rows = random_rows(rng, 24)
        table = pa.table(
            dict(zip(("a", "y", "z"), map(list, zip(*(row[1:] for row in rows), strict=True)), strict=True))
        )
        left = stay(rows, promise, MASK)
        chosen = replace(plan.configurations[0], privacy=promise, suppressed=len(rows) - len(left))
        safe = replace(plan, configurations=(chosen, plan.configurations[1]))
        both = assess(table, safe)
        [one, dropped] = both.releases
        expected = worst_by_label(left, rows, MASK)
        assert one.suppressed == len(rows) - len(left)
        if not left:
            continue
        assert {name: one.privacy[name] for name in CRITERIA} == pytest.approx(worst(expected))
        assert {label: each["l"] for label, each in one.by_label.items()} == {
            label: each["l"] for label, each in expected.items()
        }
        assert both.as_it_is.privacy["k"] == worst(worst_by_label(rows, rows))["k"]
        assert list(dropped.by_label) == ["y"]
        applied = apply(table, safe, "c1", tmp_path / "masked.csv", accept_unique=True)
        written = sorted((tmp_path / "masked.csv").read_text(encoding="utf-8").split()[1:])
        assert written == sorted(",".join((MASK[row[1]], *row[2:])) for row in left)
        assert applied.reached == pytest.approx(one.privacy)
        mended += one.suppressed > 0
    assert mended > 2


def test_a_warning_names_the_labels_that_are_certain(plan):
    """Whoever knows a and z knows y; of those with a = 0 and y = 0, z is 0 or 1."""
    table = pa.table({"a": ["0"] * 4, "y": ["0", "0", "1", "0"], "z": ["0", "1", "2", "1"]})
    mixed = replace(plan, configurations=plan.configurations[:1])
    both = assess(table, mixed).certain_values
    one = assess(pa.table({"a": ["0"] * 4, "y": list("0000"), "z": list("0101")}), mixed).certain_values
    assert both.endswith("all records have the same y or z (l = 1)")  # z of the one with y = 1
    assert one == "the label of some people is certain: in classes with 4 records all records have the same y (l = 1)"


def test_single_cells_are_suppressed_for_one_label_only(plan):
    chosen = replace(plan.configurations[0], privacy={"k": 2}, suppressed=1)
    with pytest.raises(PlanError, match="labels: suppressed cells protect one label only"):
        suppress_cells(pa.table({"a": ["0"], "y": ["0"], "z": ["0"]}), replace(plan, configurations=(chosen,)))
