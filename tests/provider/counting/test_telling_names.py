"""Names of masked values tell no value of few records: not in part, in other letters, or as the end of an interval."""

import json
import re

import numpy as np
import pytest

from aegis_provider import apply, load_plan, open_table, prepare_entry
from aegis_provider.counting.counted_table import CountedTable
from aegis_provider.counting.merged_table import merged_texts
from aegis_provider.counting.telling_names import rare_texts, telling_names
from aegis_provider.errors import PromiseError
from aegis_provider.privacy import assess
from aegis_provider.table.values import Domain
from tests.for_each import for_each

RECORDS = {
    ("nurse", "10", "2024-01-01"): 60,
    ("cook", "1000", "2024-03-01"): 40,
    ("clerk / typist", "1234", "2024-03-07"): 25,
    ("bishop", "1235", "2024-03-08"): 2,
    ("federal president", "98765", "2023-05-17"): 1,
}


JOBS = {"nurse and others": ["nurse", "bishop"], "cook | clerk / typist": ["cook", "clerk / typist"]}
JOBS["others"] = ["federal president"]
DAYS = {"before 2024": ["2023-05-17"], "2024-03-07 or earlier": ["2024-01-01", "2024-03-01", "2024-03-07"]}
DAYS["later"] = ["2024-03-08"]


@pytest.fixture
def table(write):
    rows = [",".join((*key, "yn"[place % 2])) for key, times in RECORDS.items() for place in range(times)]
    return write("t.csv", "\n".join(["job,paid,day,y", *rows]) + "\n")


def told(table, plan):
    with open_table(table) as opened:
        return {each.masking: list(each.names) for each in telling_names(CountedTable.of(opened, plan))}


@pytest.fixture
def planned(plan_of):
    def planned(jobs=JOBS, edges="[0, 1000, 1234, 2000, .inf]", days=DAYS, choice="{}", more=""):
        attributes = {
            "job": {"hierarchy": {"tree": jobs}},
            "paid": {"maskings": {"bands": {"bucketize": {"edges": "EDGES"}}}},
            "day": {"hierarchy": {"tree": days}},
        }
        return plan_of(json.dumps(attributes).replace('"EDGES"', edges), f"{{c: {choice}}}\n{more}")

    return planned


def renamed(groups, old, new):
    return {new if name == old else name: values for name, values in groups.items()}


def test_names_of_common_values_and_of_others_tell_nothing(table, planned):
    assert told(table, planned()) == {}


@for_each(
    ("kind", "old", "new"),
    [
        ("jobs", "nurse and others", "nurse | bishop"),
        ("jobs", "nurse and others", "Nurse or BISHOP"),
        ("jobs", "others", "the federal president (federal president)"),
        ("jobs", "nurse and others", "bishop, nurse"),
        ("jobs", "nurse and others", "bishop"),
        ("jobs", "nurse and others", "nurse, bishop*"),
        ("jobs", "others", "the  federal   president of 2024"),
        ("days", "before 2024", "from 17.05.2023"),
        ("days", "later", "2024-03-08 to 2024-03-31"),
        ("days", "before 2024", "[2023-05-17,2024-01-01)"),
    ],
)
def test_a_name_with_a_value_of_few_records_is_found(table, planned, kind, old, new):
    groups = {"jobs": JOBS, "days": DAYS}[kind]
    assert told(table, planned(**{kind: renamed(groups, old, new)})) == {f"{kind[:3]}-1": [new]}


@for_each(
    ("edges", "names"),
    [
        ("[0, 1000, 1235, 2000, .inf]", ["1235-1999"]),
        ("[0, 1000, 98765, .inf]", ["98765+"]),
        ("[0, 1236, .inf]", ["0-1235"]),
        ("[0, 1300, .inf]", []),
        ("[0, 1000, 1236, .inf]", ["1000-1235"]),
    ],
)
def test_an_end_of_an_interval_that_is_a_number_of_few_records_is_found(table, planned, edges, names):
    found = told(table, planned(edges=edges)).get("bands", [])
    assert found == names


@for_each(
    ("column", "masking", "names"),
    [
        ("size", "{hierarchy: {prefixes: [3, 1], level: 1}}", ["1,3*", "2,1*"]),
        ("size", "{hierarchy: {prefixes: [3, 1], level: 2}}", ["2***"]),
        ("size", "{blur: {keep: 2, at: end}}", ["**10", "**38"]),
        ("size", "{blur: {positions: [1, 2, 3]}}", ["***8"]),
        ("size", "{blur: {keep: 0, character: x}}", []),
        ("size", "{hierarchy: {tree: {'1,3*': ['1,38'], a: ['2,10'], '1,7': ['1,70', '1,75']}, level: 1}}", ["1,3*"]),
        ("size", "{mapping: {'1,38': short, '2,10': '10'}, other: others}", ["10"]),
        ("size", "{suppress: {}}", []),
        ("day", "{hierarchy: {dates: [month, year], level: 1}}", ["1911-03"]),
        ("day", "{hierarchy: {dates: [quarter], level: 1}}", ["1911-Q1"]),
        ("day", "{hierarchy: {dates: [year, decade], level: 2}}", ["1910s"]),
        ("paid", "{round: {to: 1}}", ["7654"]),
        ("paid", "{round: {to: 1000}}", []),
        ("paid", "{bucketize: {width: 5}}", ["[7650,7655)"]),
        ("paid", "{bucketize: {width: 10}}", []),
        ("paid", "{bucketize: {edges: [0, 7651, 7659, .inf]}}", ["[7651,7659)"]),
        ("paid", "{bucketize: {edges: [0, 3217, .inf]}}", []),
        ("paid", "{hierarchy: {intervals: [1, 100], level: 1}}", ["[7654,7655)"]),
        ("paid", "{hierarchy: {intervals: [1, 100], level: 2}}", []),
        ("paid", "{top_bottom: {top: 7001}}", []),
        ("paid", "{microaggregate: {size: 2}}", []),
    ],
)
def test_a_part_of_what_fewer_than_20_records_have_is_found_whatever_function_made_it(
    write, plan_of, column, masking, names
):
    """A prefix in a plan that a person wrote named the one patient of 1,38 m, and a month the one visit of 1911."""
    rows = ['"1,70",2024-03-01,2000.5', '"1,75",2024-03-02,2000.5'] * 25
    rows += ['"1,38",1911-03-11,7654.4', '"2,10",2024-03-03,2000.5']
    lines = [f"{row},{'yn'[place % 2]}" for place, row in enumerate(rows)]
    table = write("t.csv", "\n".join(["size,day,paid,y", *lines]) + "\n")
    as_text = "type: string, " if column == "size" else ""
    plan = plan_of(f"{{{column}: {{{as_text}maskings: {{m: {masking}}}}}}}", f"{{c: {{{column}: m}}}}\n")
    assert told(table, plan) == ({"m": names} if names else {})


def test_a_name_that_the_table_does_not_have_is_not_told_of(table, planned, tmp_path):
    """The one president is left out for k, so nobody reads that name."""
    jobs = renamed(JOBS, "others", "federal president or so")
    left_out = "privacy: {c: {k: 5}}\nsuppressed: {c: 1}\nquasi_identifiers: [job]\n"
    plan = planned(jobs=jobs, choice="{job: job-1, paid: drop, day: drop}", more=left_out)
    assert apply(table, plan, "c", tmp_path / "masked.csv").checked.shown.telling == ()


def test_the_entry_and_the_table_say_which_names_tell_and_what_to_do(table, planned, tmp_path):
    plan = planned(jobs=renamed(JOBS, "nurse and others", "bishop | nurse"), choice="{job: job-1}")
    said = "job, job-1 has names that tell values of fewer than 20 records: bishop | nurse; write `others` for these"
    for exact in (False, True):
        assert prepare_entry(table, plan, name="t", exact=exact).warnings[0].startswith(said)
    assert next(apply(table, plan, "c", tmp_path / "masked.csv").checked.shown.in_words()).startswith(said)


@for_each(
    ("group", "ordered", "name"),
    [
        (["a", "b"], False, "a or b"),
        (["a", "x"], False, "a or others"),
        (["x", "X2"], False, "rare values"),
        (["1", "2", "3"], True, "1 to 3"),
        (["1", "2", "x"], True, "1 or 2 or others"),
        (["", "x"], False, "rare values or missing"),
    ],
)
def test_a_merged_value_is_not_named_by_rare_ones(group, ordered, name):
    assert merged_texts([group], [], ordered=ordered, rare={"x", "x2"}) == [name]


def test_round_numbers_are_no_rare_texts():
    domain = Domain.of(["7", "1000", "1034", "5021"])
    assert rare_texts(domain, np.array([1, 1, 1, 50])) == {"1034"}


def test_a_name_of_many_parts_is_no_long_work():
    domain = Domain.of(["bishop", " | ".join(f"part {place}" for place in range(20_000))])
    assert rare_texts(domain, np.array([1, 50])) == {"bishop"}


def test_only_the_maskings_that_a_configuration_uses_are_judged_where_it_is_applied(table, planned, tmp_path):
    plan = planned(jobs=renamed(JOBS, "others", "federal president or so"), choice="{paid: bands}")
    assert apply(table, plan, "c", tmp_path / "masked.csv").checked.shown.telling == ()


def test_a_masking_that_leaves_rare_values_as_they_are_shows_them(table, planned, tmp_path):
    jobs = {
        "bishop": ["bishop"],
        "federal president": ["federal president"],
        "others": ["nurse", "cook", "clerk / typist"],
    }
    shown = apply(
        table, planned(jobs=jobs, choice="{job: job-1, day: drop}"), "c", tmp_path / "masked.csv"
    ).checked.shown
    assert (dict(shown.rare), shown.telling) == ({"job": 2, "paid": 2}, ())


def test_a_promise_is_not_kept_by_values_of_fewer_records_beside_it(table, planned, tmp_path):
    privacy = "privacy: {c: {k: 5}}\nquasi_identifiers: [paid]\n"
    plan = planned(edges="[0, 1100, .inf]", choice="{paid: bands, day: drop}", more=privacy)
    with pytest.raises(PromiseError, match="job: shared as it is, with values of fewer records than the k"):
        apply(table, plan, "c", tmp_path / "masked.csv")
    assert not (tmp_path / "masked.csv").exists()
    assert dict(apply(table, plan, "c", tmp_path / "masked.csv", accept_unique=True).checked.shown.below_k) == {
        "job": 2
    }


def test_a_promise_is_not_kept_by_a_masked_value_that_names_one_person_beside_it(write, tmp_path):
    rows = "".join(
        f"{30 + place % 3},{2000 + place % 2}-05-0{1 + place % 9},{'ny'[place % 2]}\n" for place in range(90)
    )
    table = write("t.csv", f"age,admitted,y\n{rows}31,1999-05-01,n\n")
    plan = write(
        "plan.yaml",
        "label: y\nattributes: {age: {}, admitted: {hierarchy: {dates: [year]}}}\nquasi_identifiers: [age]\n"
        "configurations: {c: {admitted: admitted-1}}\nprivacy: {c: {k: 5}}\n",
    )
    with pytest.raises(
        PromiseError, match="admitted, admitted-1 has names that tell values of fewer than 20 records: 1999"
    ):
        apply(table, load_plan(plan), "c", tmp_path / "masked.csv")
    assert not (tmp_path / "masked.csv").exists()
    assert apply(table, load_plan(plan), "c", tmp_path / "masked.csv", accept_unique=True).checked.faults


def test_values_shared_as_they_are_are_counted_if_few_records_show_them(table, planned, tmp_path):
    plan = planned(choice="{paid: bands}")
    shown = apply(table, plan, "c", tmp_path / "masked.csv").checked.shown
    assert dict(shown.rare) == {"job": 2, "day": 2}
    assert list(shown.in_words())[-1].endswith("fewer than 20 records show: job 2, day 2")


def test_a_card_tells_no_exact_number_that_compares_with_what_is_left_out(table, planned):
    plan = planned(choice="{job: job-1, paid: bands, day: drop}", more="privacy: {c: {t: 0.618034, k: 1}}\n")
    [release] = assess(table, plan, configuration="c").releases
    assert release.in_words() == "holds t = 0.618034"
    assert release.in_words(counted=False) == "holds t = 0.62"
    broken = planned(choice="{job: job-1, paid: bands, day: drop}", more="privacy: {c: {t: 0.000123, k: 1}}\n")
    [release] = assess(table, broken, configuration="c").releases
    assert re.fullmatch(r"BROKEN: t is 0\.\d\d?, not 0\.00013", release.in_words(counted=False))
