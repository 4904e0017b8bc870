"""Risk and suppression compared with plain Python, record by record; releases compared with the masked table."""

from collections import Counter
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegis_provider import PlanError, TableError, apply
from aegis_provider.counting.counted_table import CountedTable
from aegis_provider.plan.model import DROP
from aegis_provider.privacy import (
    CRITERIA,
    Classes,
    ClassSizes,
    PrivacyTable,
    Risk,
    assess,
    classes_of,
    measure_privacy,
    plan_of_roles,
)
from aegis_provider.table import open_table
from aegis_sdk.reading import Share, share_with_limits
from tests.for_each import for_each
from tests.provider import oracle
from tests.provider.privacy.privacy_tables import records_of

SIZES = st.lists(st.integers(1, 30), min_size=1, max_size=40)


def sizes_of(sizes):
    return ClassSizes.of(Classes(np.array(sizes, dtype=np.int64), {}))


@given(SIZES, st.sampled_from([0.05, 0.1, 0.2, 0.5]))
def test_risks_are_those_of_the_records_one_by_one(sizes, threshold):
    risks = [1 / size for size in sizes for _ in range(size)]
    found = Risk.of(sizes_of(sizes), [threshold])
    assert (found.records, found.classes) == (len(risks), len(sizes))
    assert found.highest == max(risks)
    assert found.average == pytest.approx(sum(risks) / len(risks))
    assert found.above == {threshold: sum(risk > threshold for risk in risks) / len(risks)}
    assert (found.uniques, found.unique_share) == (risks.count(1), risks.count(1) / len(risks))


def test_who_links_at_random_within_the_classes_matches_the_marketer_share():
    sizes, draws, random = [1, 1, 2, 3, 5, 8], 4000, np.random.default_rng(3)
    matched = [sum((random.permutation(size) == range(size)).sum() for size in sizes) for _ in range(draws)]
    assert np.mean(matched) / 20 == pytest.approx(Risk.of(sizes_of(sizes)).marketer, abs=4 * np.std(matched) / 20 / 63)


def test_no_record_has_no_risk():
    assert Risk.of(sizes_of([])) is None


@given(st.lists(st.integers(0, 3), min_size=1, max_size=9), st.integers(1, 6))
def test_no_fewer_records_can_be_suppressed_to_reach_a_k(classes, k):
    fewest = next(
        left_out
        for left_out in range(len(classes) + 1)
        for kept in combinations(classes, len(classes) - left_out)
        if not kept or min(Counter(kept).values()) >= k
    )
    sizes = sizes_of(list(Counter(classes).values()))
    assert sizes.suppressed_for([k]) == [fewest]


@given(SIZES)
def test_the_sizes_between_two_bounds(sizes):
    between = [size for size in sizes if 3 <= size <= 9]
    assert sizes_of(sizes).within(3, 9) == (len(between), sum(between))
    assert sizes_of(sizes).within(1) == (len(sizes), sum(sizes))


def group_sizes(records, names):
    return Counter(tuple(record[name] for name in names) for record in records)


@pytest.fixture(scope="module")
def assessment(health_table, health_plan):
    return assess(health_table, health_plan)


def test_the_table_as_it_is(assessment, health_table, health_plan):
    sizes = group_sizes(oracle.records_of(health_table), health_plan.quasi_identifiers).values()
    found = assessment.as_it_is
    assert found.risk.classes == len(sizes)
    assert found.risk.uniques == list(sizes).count(1)
    assert found.privacy["k"] == min(sizes)
    assert found.verdicts == ()


def test_every_configuration_of_the_example_keeps_its_promise(assessment, health_plan):
    assert [each.id for each in assessment.releases] == [each.id for each in health_plan.configurations]
    for release, configuration in zip(assessment.releases, health_plan.configurations, strict=True):
        assert release.privacy["k"] == configuration.privacy["k"]
        assert (release.broken, release.suppressed, release.declared) == ((), 0, {})


def test_a_release_is_measured_as_the_masked_table_is(assessment, health_table, health_plan, tmp_path):
    configuration = health_plan.configurations[33]
    apply(health_table, health_plan, configuration.id, tmp_path / "masked.csv")
    kept = [name for name, choice in configuration.maskings.items() if choice != DROP]
    roles = replace(plan_of_roles(kept, ["health"]), order=health_plan.order)
    masked = assess(tmp_path / "masked.csv", roles).as_it_is
    assert masked.privacy == pytest.approx(assessment.releases[33].privacy)
    assert masked.risk == assessment.releases[33].risk


TABLE = "a,b,s\n1,x,yes\n1,x,no\n1,x,no\n2,x,yes\n2,y,yes\n3,y,no\n3,y,no\n"


@pytest.fixture
def table(write):
    return write("t.csv", TABLE)


def with_promises(plan, **changes):
    return replace(plan, configurations=tuple(replace(each, **changes) for each in plan.configurations))


ATTRIBUTES = "{a: {maskings: {up: {bucketize: {edges: [1, 3, .inf]}}, gone: {suppress: {}}}}, b: {}}"


@pytest.fixture
def plan(plan_of):
    return plan_of(ATTRIBUTES, "{c: {a: up, b: drop}}", label="s")


def test_records_of_classes_that_break_the_promise_are_left_out(table, plan):
    # By a alone: 1-2 (yes 3, no 2) and 3+ (no 2).
    suppressing = with_promises(plan, privacy={"k": 3}, suppressed=2)
    [release] = assess(table, suppressing).releases
    assert (release.suppressed, release.privacy["k"], release.privacy["l"]) == (2, 5, 2)
    # Of the whole table 3 of 7 are yes.
    assert release.privacy["t"] == pytest.approx(3 / 5 - 3 / 7)
    assert release.broken == ()


@for_each(
    ("promise", "holds", "words"),
    [
        ({}, True, "promises nothing"),
        ({"k": 2}, True, "holds k = 2"),
        ({"k": 2, "epsilon": 0.5}, None, "holds k = 2; epsilon not measured"),
        ({"epsilon": 0.5}, None, "epsilon not measured"),
        ({"k": 3, "t": 0.1}, False, "BROKEN: k is 2, not 3; t is 0.428571, not 0.1"),
    ],
)
def test_what_is_not_measured_is_not_said_to_hold(table, plan, promise, holds, words):
    [release] = assess(table, with_promises(plan, privacy=promise)).releases
    assert (release.holds, release.in_words()) == (holds, words)


def test_a_wrong_number_of_suppressed_records_breaks_the_promise(table, plan):
    [release] = assess(table, with_promises(plan, privacy={"k": 3}, suppressed=1)).releases
    assert [(each.name, each.promised, each.reached) for each in release.broken] == [("suppressed", 1, 2)]


def test_a_broken_promise_is_found(table, plan):
    [release] = assess(table, with_promises(plan, privacy={"k": 3, "l": 1, "alpha": 0.7, "epsilon": 1})).releases
    assert [(each.name, each.reached) for each in release.broken] == [("k", 2), ("alpha", 1)]
    assert (release.unmeasured, release.holds) == (("epsilon",), False)


def test_the_stricter_of_promise_and_requirement_counts(table, plan):
    promising = with_promises(plan, privacy={"k": 1, "alpha": 0.5})
    [release] = assess(table, promising, require={"k": 2, "alpha": 1, "l": 2}).releases
    assert {each.name: each.promised for each in release.verdicts} == {"k": 2, "alpha": 0.5, "l": 2}
    assert [each.name for each in release.broken] == ["alpha", "l"]


def test_nothing_is_left_of_a_table_that_is_all_suppressed(table, plan):
    [release] = assess(table, with_promises(plan, privacy={"k": 8}, suppressed=7)).releases
    assert (release.privacy, release.risk, release.suppressed) == ({}, None, 7)
    assert (release.broken, release.unmeasured, release.holds) == ((), (), True)


def test_a_dropped_sensitive_attribute_is_not_measured_and_a_masked_one_is_as_masked(table, plan_of):
    plan = plan_of(ATTRIBUTES, "{c: {a: up}, d: {a: drop}, e: {a: gone}}", label="s")
    releases = assess(table, replace(plan, sensitive=("a",), quasi_identifiers=("b", "s"))).releases
    assert releases[0].privacy["l"] == 1
    assert releases[0].privacy["t"] == pytest.approx(5 / 7)
    assert releases[1].privacy == {"k": 1}
    assert (releases[2].privacy["l"], releases[2].privacy["t"], releases[2].privacy["ordered_t"]) == (1, 0, 0)


def test_one_configuration_alone(health_table, health_plan):
    found = assess(health_table, health_plan, configuration="c40")
    assert [each.id for each in found.releases] == ["c40"]
    with pytest.raises(PlanError, match="no configuration 'c400'; did you mean 'c40'"):
        assess(health_table, health_plan, configuration="c400")


@for_each(("columns", "k"), [(["a"], 2), (["b"], 3), (["s", "b"], 1), (["a", "b", "s"], 1)])
def test_a_table_without_plan_and_sensitive_attribute_has_a_k(table, columns, k):
    assert assess(table, plan_of_roles(columns, [])).as_it_is.privacy == {"k": k}


def test_a_table_without_plan_may_have_to_hold_something(table):
    found = assess(table, plan_of_roles(["a"], ["s"]), require={"k": 2, "l": 2}).as_it_is
    assert [(each.name, each.reached) for each in found.broken] == [("l", 1)]


def test_roles_that_make_no_sense_are_refused(table):
    with pytest.raises(PlanError, match="'a' is named twice"):
        plan_of_roles(["a", "b"], ["a"])
    with pytest.raises(PlanError, match="no column is named"):
        plan_of_roles([], [])
    with pytest.raises(TableError, match="no column 'z'"):
        assess(table, plan_of_roles(["z"], ["s"]))


def test_a_plan_without_any_role_is_refused(table, plan):
    with pytest.raises(PlanError, match="no attribute is a quasi-identifier or sensitive"):
        assess(table, replace(plan, sensitive=(), quasi_identifiers=()))


def test_progress_is_told(health_table, health_plan):
    told = []
    assess(health_table, health_plan, configuration="c60", progress=lambda *each: told.append(each))
    assert told == [(0, 1)]


def test_what_is_left_is_compared_with_the_whole_table():
    rows = [("a", "x")] * 2 + [("b", "y")] * 2
    classes = classes_of(records_of(rows, ["q", "s"]), {}, ["q"], ["s"])
    left = classes.without(np.array([False, True]))
    assert measure_privacy(left)["t"] == 0.5


def test_what_is_left_to_chance_is_not_guessed(table, plan):
    with open_table(table) as opened:
        measured = PrivacyTable.of(CountedTable.of(opened, plan), plan)
    chance = replace(measured, mappings={})
    assert chance.left_to_chance(plan.configurations[0]) == ["a"]
    with pytest.raises(PlanError, match="c masks a at random; measure the masked table"):
        chance.masked(plan.configurations[0])


@for_each(
    ("name", "reached", "said"),
    [
        ("k", 1, "stands alone"),
        ("k", 12, "one of at least 12"),
        ("l", 1, "for certain"),
        ("l", 3, "at least 3 values"),
        ("entropy_l", 1.7546, "among 1.75 equally"),
        ("t", 0.25, "25 % of its records"),
        ("ordered_t", 0.25, "25 % of their range"),
        ("alpha", 0.75, "75 % of the cases"),
        ("beta", 1.5, "2.5 times as likely"),
        ("delta_disclosure", np.log(4), "4 times more or less likely"),
        ("epsilon", np.log(4), "at most 4 times as likely"),
    ],
)
def test_what_a_criterion_means_is_said_with_its_number(name, reached, said):
    assert said in CRITERIA[name].consequence(reached)


def test_an_unknown_name_cannot_be_required(table, plan):
    with pytest.raises(PlanError, match="unknown privacy criterion 'kk'; use one of k, l, entropy_l, t"):
        assess(table, plan, require={"kk": 5})


@for_each(
    ("share", "said"),
    [
        (0, "0 %"),
        (1e-9, "< 0.1 %"),
        (0.001, "0.1 %"),
        (0.0123, "1.2 %"),
        (0.2414, "24.1 %"),
        (0.9996, "> 99.9 %"),
        (1, "100 %"),
        (52.635, "5,260 %"),
    ],
)
def test_no_risk_is_shown_as_none(share, said):
    assert str(Share(share)) == said


@for_each(
    ("share", "said"),
    [
        ((0.81, 0.78, 0.84), "81 % (78 to 84 %)"),
        ((1.29, -3.5, 6.07), None),
        ((-0.05, -1.71, 1.6), None),
        ((-0.02, -0.1, 0.06), "0 % (0 to 6 %)"),
        ((0.997, 0.99, 1.004), "> 99 % (99 to > 100 %)"),
        ((1, 1, 1), "100 % (100 to 100 %)"),
    ],
)
def test_a_share_that_can_be_anything_is_not_told(share, said):
    assert share_with_limits(*share) == said
