"""Discretization of continuous attributes, against exact fractions, sorted lists and NumPy."""

import bisect
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from math import floor

import duckdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegis_provider import PlanError, TableError, apply
from aegis_provider.counting.counted_table import CountedTable, DistinctRecords
from aegis_provider.table import open_table
from aegis_provider.table.discretization import roundest_above
from aegis_sdk.wire import EntryDocument
from tests.examples import at_most
from tests.for_each import for_each
from tests.provider import oracle
from tests.provider.documents import summarize


def attribute_of(path, plan):
    entry = summarize(path, plan, name="t")
    EntryDocument.model_validate(entry)
    return entry["attributes"][0]


def table_of(write, texts):
    return write("t.csv", "a,y\n" + "".join(f"{text},{place % 2}\n" for place, text in enumerate(texts)))


def histogram(attribute):
    return dict(zip(attribute["domain"], attribute["histogram"], strict=True))


def places_of(number):
    return max(0, -Decimal(number).as_tuple().exponent)


decimals = st.decimals(-50, 50, places=2).map(str)


@pytest.mark.long
@at_most(40)
@given(
    st.lists(st.one_of(decimals, st.just("")), min_size=2, max_size=40),
    st.sampled_from(["0.1", "0.3", "7", "0.25", "1.1"]),
    st.sampled_from(["0", "0.05", "-3", "1000.1"]),
)
def test_bins_of_one_width_hold_what_exact_arithmetic_says(write, plan_of, texts, width, origin):
    texts = [*texts, width, origin, "0.3"]
    path = table_of(write, texts)
    rule = f"{{a: {{discretize: {{rule: equal_width, width: {width}, origin: {origin}}}}}}}"
    places = max(places_of(width), places_of(origin))

    def name(text):
        if text == "":
            return ""
        lower, upper = oracle.equal_bucket(text, width, origin)
        return f"[{oracle.plain(lower, places)},{oracle.plain(upper, places)})"

    found = attribute_of(path, plan_of(rule))
    assert histogram(found) == Counter(map(name, texts))
    assert found["type"] == "string"
    parameters = found["discretization"]["parameters"]
    assert {key: Fraction(str(value)) for key, value in parameters.items()} == {
        "width": Fraction(width),
        "origin": Fraction(origin),
    }


@pytest.mark.long
@given(
    st.lists(st.one_of(decimals, st.just("")), min_size=2, max_size=40),
    st.lists(st.decimals(-40, 40, places=1), min_size=2, max_size=9, unique=True).map(sorted),
)
def test_bins_between_edges_hold_what_exact_arithmetic_says(write, plan_of, texts, edges):
    texts = [*texts, str(edges[0]), str(edges[-1])]
    rule = f"{{a: {{discretize: {{rule: edges, edges: [{', '.join(map(str, edges))}]}}}}}}"

    def name(text):
        place = bisect.bisect_right(edges, Decimal(text)) if text else 0
        return f"[{edges[place - 1]:f},{edges[place]:f})".replace("-0.0", "0.0") if 0 < place < len(edges) else ""

    assert histogram(attribute_of(table_of(write, texts), plan_of(rule))) == Counter(map(name, texts))


def test_bins_are_in_the_order_of_numbers_and_open_ends_are_named(write, plan_of):
    rule = "{a: {discretize: {rule: edges, edges: [-.inf, -5, 0, 10, 100, .inf]}}}"
    found = attribute_of(table_of(write, ["100", "-7", "5", "10", "", "-5", "99.9"]), plan_of(rule))
    assert found["domain"] == ["", "(-inf,-5)", "[-5,0)", "[0,10)", "[10,100)", "[100,inf)"]
    assert found["histogram"] == [1, 1, 1, 1, 2, 1]
    assert found["discretization"] == {
        "rule": "edges",
        "parameters": {"edges": ["-inf", -5, 0, 10, 100, "inf"]},
    }


@pytest.mark.long
@at_most(40)
@given(
    st.lists(st.integers(0, 10_000), min_size=20, max_size=400, unique=True),
    st.integers(2, 12),
    st.sampled_from([1, 7]),
)
def test_bins_of_equal_frequency_differ_by_a_tenth_at_most(write, plan_of, numbers, bins, scale):
    path = table_of(write, [str(Decimal(number) / scale) for number in numbers])
    found = attribute_of(path, plan_of(f"{{a: {{discretize: {{rule: equal_frequency, bins: {bins}}}}}}}"))
    share = len(numbers) / bins
    assert len(found["domain"]) == bins
    assert all(abs(count - share) <= 0.1 * share + 1 for count in found["histogram"])


@pytest.mark.long
@at_most(40)
@given(st.lists(st.integers(0, 9), min_size=2, max_size=60), st.integers(2, 30))
def test_records_with_one_number_share_a_bin_of_equal_frequency(write, plan_of, numbers, bins):
    found = attribute_of(
        table_of(write, map(str, numbers)), plan_of(f"{{a: {{discretize: {{rule: equal_frequency, bins: {bins}}}}}}}")
    )
    edges = [float(edge) for edge in found["discretization"]["parameters"]["edges"]]
    assert edges == sorted(set(edges))
    assert found["histogram"] == [int(n) for n in np.histogram(numbers, edges)[0]]
    assert min(found["histogram"]) > 0
    largest = max(Counter(numbers).values())
    assert max(found["histogram"]) <= len(numbers) / bins * 1.1 + 1 + largest


@given(st.floats(-1e9, 1e9), st.floats(-1e9, 1e9))
def test_a_cut_is_the_roundest_number_between_two(one, other):
    lower, upper = sorted([one, other])
    found = roundest_above(lower, upper)
    least, most = Decimal(repr(lower)), Decimal(repr(upper))
    assert least < found <= most or (lower == upper and found == most)
    coarser = Fraction(10) ** (found.normalize().as_tuple().exponent + 1)
    if lower < upper and found:
        assert floor(Fraction(most) / coarser) * coarser <= Fraction(least)


def test_the_width_of_freedman_and_diaconis_is_that_of_numpy_rounded(write, plan_of):
    numbers = np.random.default_rng(3).normal(50, 12, 4_000).round(3)
    found = attribute_of(table_of(write, map(str, numbers)), plan_of("{a: {discretize: {rule: freedman_diaconis}}}"))
    edges = np.histogram_bin_edges(numbers, "fd")
    width = found["discretization"]["parameters"]["width"]
    assert width in {1, 2, 5}
    assert 1 / np.sqrt(2.5) <= width / (edges[1] - edges[0]) <= np.sqrt(2.5)
    assert sum(found["histogram"]) == 4_000


@for_each(
    ("attribute", "message"),
    [
        ("{discretize: {width: 5}}", "attributes.a.discretize: `rule` is missing; available: equal_width, edges, "),
        ("{discretize: {rule: equal_widht, width: 5}}", "unknown rule 'equal_widht'; did you mean 'equal_width'?"),
        ("{discretize: {rule: equal_width}}", "attributes.a.discretize: `width` is missing"),
        ("{discretize: {rule: equal_width, width: 0}}", "attributes.a.discretize.width: must be above 0, not 0"),
        ("{discretize: {rule: edges, edges: [2, 1]}}", "edges must ascend, but 1 follows 2"),
        ("{discretize: {rule: equal_frequency, bins: 1}}", "expected an integer of at least 2, not '1'"),
        ("{discretize: {rule: equal_frequency, bins: 99999}}", "at most 10000 bins are allowed, not 99999"),
        ("{discretize: {rule: freedman_diaconis, bins: 3}}", "unknown key 'bins'"),
        (
            "{type: date, discretize: {rule: equal_width, width: 1}}",
            "only numbers can be discretised, but the type is date",
        ),
    ],
)
def test_a_rule_that_is_none_is_refused_with_its_place(plan_of, attribute, message):
    with pytest.raises(PlanError) as raised:
        plan_of(f"{{a: {attribute}}}")
    assert str(raised.value).startswith("plan.yaml: attributes.a.discretize")
    assert message in str(raised.value)


@for_each(
    ("texts", "rule", "message"),
    [
        (["1", "x", "2"], "rule: equal_width, width: 5", "line 3: a 'x' is not a number that equal_width can use"),
        (["", ""], "rule: equal_width, width: 5", "a has no numbers, but equal_width needs some"),
        (["1", "1", "1", "9"], "rule: freedman_diaconis", "half of its values are 1.0, so freedman_diaconis finds no"),
        (
            ["0", "1e9"],
            "rule: equal_width, width: 0.001",
            "a width of 0.001 makes too many bins of the values from 0.0 to",
        ),
    ],
)
def test_a_column_that_a_rule_does_not_fit_is_refused(write, plan_of, texts, rule, message):
    with pytest.raises(TableError, match=message):
        summarize(table_of(write, texts), plan_of(f"{{a: {{discretize: {{{rule}}}}}}}"), name="t")


def test_a_column_of_dates_is_not_discretised(plan_of, tmp_path):
    path = tmp_path / "t.parquet"
    duckdb.sql("SELECT DATE '2024-01-01' AS a, unnest([1, 2]) AS y").write_parquet(str(path))
    with pytest.raises(TableError, match="a is a column of type date; only numbers are discretised"):
        summarize(path, plan_of("{a: {discretize: {rule: equal_width, width: 5}}}"), name="t")


@for_each(
    ("masking", "masked"),
    [
        ("bucketize: {width: 10}", ["", "[0,10)", "[0,10)", "[10,20)"]),
        ("bucketize: {edges: [0, 5, .inf]}", ["", "[0,5)", "[5,inf)", "[5,inf)"]),
        ("mapping: {'[0,5)': low}, other: high", ["", "low", "high", "high"]),
        ("bucketize: {equal_frequency: 3}", ["", "(-inf,5)", "[5,10)", "[10,inf)"]),
        ("top_bottom: {top: 10, bottom: 5}", ["", "(-inf,5)", "[5,10)", "[10,inf)"]),
        ("hierarchy: {intervals: [10, 20], level: 1}", ["", "[0,10)", "[0,10)", "[10,20)"]),
        ("suppress: {}", ["*"] * 4),
    ],
)
def test_bins_are_masked_as_wholes(write, plan_of, masking, masked):
    rule = f"{{a: {{discretize: {{rule: equal_width, width: 5}}, maskings: {{m: {{{masking}}}}}}}}}"
    found = attribute_of(table_of(write, ["", "1", "7", "12.5"]), plan_of(rule))
    [masking] = found["maskings"]
    assert [masking["domain"][place] for place in masking["mapping"]] == masked


@for_each(
    ("masking", "message"),
    [
        ("bucketize: {width: 7}", r"a '\[5,10\)' is a bin that bucketize would cut: '\[0,7\)' and '\[7,14\)'"),
        ("bucketize: {edges: [0, 8, 20]}", r"a '\[5,10\)' is a bin that bucketize would cut: '\[0,8\)' and '\[8,20\)'"),
        ("top_bottom: {top: 12}", r"a '\[10,15\)' is a bin that top_bottom would cut: '\[10,15\)' and '\[12,inf\)'"),
        ("round: {to: 3}", r"a '\[0,5\)' is a bin that round would cut: '0' and '6'"),
    ],
)
def test_an_edge_that_would_cut_a_bin_is_an_error_that_names_both(write, plan_of, masking, message):
    rule = f"{{a: {{discretize: {{rule: equal_width, width: 5}}, maskings: {{m: {{{masking}}}}}}}}}"
    with pytest.raises(TableError, match=message) as raised:
        summarize(table_of(write, ["1", "7", "12.5"]), plan_of(rule), name="t")
    assert str(raised.value).endswith("(plan.yaml: attributes.a.maskings.m)")


def test_an_open_bin_is_no_part_of_a_bucket(write, plan_of):
    rule = "{a: {discretize: {rule: edges, edges: [0, 5, .inf]}, maskings: {m: {bucketize: {width: 5}}}}}"
    with pytest.raises(TableError, match=r"a '\[5,inf\)' is a bin that bucketize would cut"):
        summarize(table_of(write, ["1", "7"]), plan_of(rule), name="t")


def test_everything_that_is_made_of_the_table_sees_bins(write, plan_of, tmp_path):
    texts = ["0.3", "", "0.25", "7", "0.1"]
    path = table_of(write, texts)
    plan = plan_of("{a: {discretize: {rule: equal_width, width: 0.1}}}", "{c: {}}")
    apply(path, plan, "c", tmp_path / "masked.csv", keep_order=True)
    bins = ["[0.3,0.4)", "", "[0.2,0.3)", "[7.0,7.1)", "[0.1,0.2)"]
    lines = (tmp_path / "masked.csv").read_text(encoding="utf-8").splitlines()
    assert lines[1:] == [f'"{name}",{n % 2}' if name else f",{n % 2}" for n, name in enumerate(bins)]
    with open_table(path) as opened:
        distinct = DistinctRecords.of(CountedTable.of(opened, plan), ["a"])
    names = [distinct.domains[0].texts[code] for code in distinct.codes[:, 0]]
    assert sorted(names) == sorted(bins)


def test_many_distinct_values_never_come_back(plan_of, tmp_path):
    path = tmp_path / "t.parquet"
    duckdb.sql("SELECT i / 1000 AS a, i % 2 AS y FROM range(200_000) AS t(i)").write_parquet(str(path))
    plan = plan_of("{a: {discretize: {rule: equal_frequency, bins: 20}}}")
    found = attribute_of(path, plan)
    edges = [float(edge) for edge in found["discretization"]["parameters"]["edges"]]
    assert edges[1:-1] == [10.0 * place for place in range(1, 20)]
    assert found["histogram"] == [10_000] * 20
