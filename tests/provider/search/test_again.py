"""The configurations of an earlier search on the same table, and on one that changed."""

from random import Random

import pytest

from aegis_provider import NothingHoldsError, Requirement, assess, find_configurations, load_plan, write_plan
from aegis_provider.search import measure_again
from tests.for_each import for_each

AIM = Requirement({"k": 3}, 0.1)
OTHERS = [AIM, Requirement({"k": 5}, 0.1)]
PLAN = """label: y
attributes:
  age: {type: integer, maskings: {wide: {bucketize: {width: 20}}, wider: {bucketize: {width: 40}}}}
  town: {type: string, maskings: {region: {mapping: {a: N, b: N, c: S, d: S}}}}
"""


def table_of(seed, records=120):
    draw = Random(seed)
    rows = [(draw.randint(0, 79), draw.choice("aabcd"), draw.choice("xyy")) for _ in range(records)]
    return "".join(f"{','.join(map(str, row))}\n" for row in [("age", "town", "y"), *rows])


def searched(folder, seed):
    table, plan = folder / "t.csv", folder / "plan.yaml"
    table.write_text(table_of(seed))
    plan.write_text(PLAN)
    result = find_configurations(table, load_plan(plan, configurations_needed=False), OTHERS)
    found = folder / "found.yaml"
    write_plan(plan, load_plan(plan, configurations_needed=False), result.configurations, found, "found")
    return table, load_plan(found), result


def shares_of(result):
    return {each.id: share for each, share in zip(result.configurations, result.shares, strict=True)}


@for_each("seed", range(5))
def test_the_same_table_gives_the_same_configurations(seed, tmp_path):
    table, plan, before = searched(tmp_path, seed)
    after = measure_again(table, plan, OTHERS)
    assert {each.id: each for each in after.configurations} == {each.id: each for each in before.configurations}
    assert shares_of(after) == pytest.approx(shares_of(before))
    assert [point.configuration and point.utility for point in after.frontier] == pytest.approx(
        [point.configuration and point.utility for point in before.frontier]
    )
    assert (after.names, after.lost) == (before.names, ())


@for_each("seed", range(5))
def test_on_a_changed_table_those_stay_that_a_measurement_of_each_lets_stay(seed, tmp_path):
    table, plan, _ = searched(tmp_path, seed)
    table.write_text(table_of(seed + 100, records=70))
    after = measure_again(table, plan, OTHERS)
    write_plan(tmp_path / "plan.yaml", plan, after.configurations, tmp_path / "again.yaml", "again")
    assessed = assess(table, load_plan(tmp_path / "again.yaml"))
    assert all(each.holds for each in assessed.releases)
    assert {each.id for each in after.configurations} | {*after.lost} == {each.id for each in plan.configurations}
    assert all((each.suppressed or 0) <= 7 for each in after.configurations)
    assert after.lost  # so that the next line says something
    for lost in after.lost:
        assert left_out(table, plan.configuration(lost)) > 7


def left_out(table, configuration):
    """The records of classes that are too small, by the maskings of this plan."""
    region, width = {"a": "N", "b": "N", "c": "S", "d": "S"}, {"identity": 1, "wide": 20, "wider": 40, "drop": 1000}
    classes = {}
    for line in table.read_text().splitlines()[1:]:
        age, town, _ = line.split(",")
        masking = configuration.maskings["town"]
        shown = {"identity": town, "region": region[town], "drop": ""}[masking]
        key = (int(age) // width[configuration.maskings["age"]], shown)
        classes[key] = classes.get(key, 0) + 1
    return sum(size for size in classes.values() if size < configuration.required["k"])


def test_it_says_that_none_is_left(tmp_path):
    table, plan, _ = searched(tmp_path, 1)
    table.write_text("age,town,y\n1,a,x\n11,b,y\n")
    with pytest.raises(NothingHoldsError, match=r"still has k=3, at most 0.1 of the records suppressed; make a new"):
        measure_again(table, plan, OTHERS)
