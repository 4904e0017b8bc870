"""Hierarchies built from rules: each level matches an oracle and is a function of the level below."""

import datetime as dt
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegis_provider import PlanError, TableError
from aegis_provider.errors import UnmaskableValueError
from aegis_provider.masking.hierarchy import DateHierarchy, IntervalHierarchy, PrefixHierarchy, TreeHierarchy
from aegis_provider.table.values import Domain, ValueType
from tests.for_each import for_each
from tests.provider import oracle
from tests.provider.documents import summarize

WORLD = {"Europe": {"North": ("SE", "DK"), "South": ("IT",)}, "Asia": ("JP",)}

numbers = st.decimals(min_value=-(10**6), max_value=10**6, places=2)
factors = st.lists(st.integers(2, 5), max_size=3)
dates = st.dates(dt.date(1, 1, 1)).map(str)


def masked(function, texts, declared=None):
    domain = Domain.of(texts, declared)
    by_value = function.mask(domain)
    return [by_value[domain.places[text]] for text in texts]


def is_function_of(coarser, finer):
    return len(set(zip(finer, coarser, strict=True))) == len(set(finer))


def widths_of(first, multiples):
    widths = [first]
    for multiple in multiples:
        widths.append(widths[-1] * multiple)
    return tuple(widths)


@given(
    st.lists(numbers, min_size=1),
    st.decimals(min_value="0.01", max_value=50, places=2),
    factors,
    numbers,
)
def test_a_level_of_intervals_is_that_of_its_width_and_follows_from_the_level_below(found, first, multiples, origin):
    texts, widths = [str(number) for number in found], widths_of(first, multiples)
    levels = [
        masked(IntervalHierarchy(widths, level, origin), texts, ValueType.NUMBER) for level in range(1, len(widths) + 1)
    ]
    for width, level in zip(widths, levels, strict=True):
        bounds = [tuple(map(Fraction, name[1:-1].split(","))) for name in level]
        assert bounds == [oracle.equal_bucket(text, str(width), str(origin)) for text in texts]
    assert all(is_function_of(coarser, finer) for finer, coarser in pairwise(levels))


@given(st.lists(st.text("ab*", max_size=6), min_size=1), st.sets(st.integers(0, 6), min_size=1).map(sorted))
def test_a_level_of_prefixes_keeps_that_many_characters_and_follows_from_the_level_below(texts, ascending):
    kept = tuple(reversed(ascending))
    levels = [masked(PrefixHierarchy(kept, level), texts) for level in range(1, len(kept) + 1)]
    assert levels == [[oracle.blurred(text, keep) for text in texts] for keep in kept]
    assert all(is_function_of(coarser, finer) for finer, coarser in pairwise(levels))


@given(st.lists(dates, min_size=1))
def test_units_of_dates_are_whole_ones_of_finer_units(texts):
    units = ("month", "quarter", "year", "decade")
    levels = [masked(DateHierarchy(units, level), texts) for level in (1, 2, 3, 4)]
    by_hand = [(text[:7], f"{text[:4]}-Q{1 + (int(text[5:7]) - 1) // 3}", text[:4], f"{text[:3]}0s") for text in texts]
    assert list(zip(*levels, strict=True)) == by_hand
    assert all(is_function_of(coarser, finer) for finer, coarser in pairwise(levels))


def test_a_date_becomes_its_month_quarter_year_or_decade():
    levels = [
        masked(DateHierarchy(("month", "quarter", "year", "decade"), level), ["2024-03-31"]) for level in range(1, 5)
    ]
    assert levels == [["2024-03"], ["2024-Q1"], ["2024"], ["2020s"]]


def test_dates_in_a_text_attribute_are_read_and_what_is_none_is_named():
    assert masked(DateHierarchy(("year",), 1), ["2024-03-31", ""], ValueType.STRING) == ["2024", ""]
    with pytest.raises(UnmaskableValueError, match="'soon' is not a date"):
        masked(DateHierarchy(("year",), 1), ["soon", "2024-03-31"])


def test_a_tree_gives_the_groups_above_a_value_and_repeats_the_highest():
    texts = ["SE", "DK", "IT", "JP", ""]
    assert masked(TreeHierarchy(WORLD, 1), texts) == ["North", "North", "South", "Asia", ""]
    assert masked(TreeHierarchy(WORLD, 2), texts) == ["Europe", "Europe", "Europe", "Asia", ""]


def test_a_tree_finds_values_by_number_and_may_say_what_a_missing_one_is():
    tree = {"low": ("1.0", "2"), "none": ("",)}
    assert masked(TreeHierarchy(tree, 1), ["1.00", "2", ""]) == ["low", "low", "none"]


def test_a_value_outside_the_tree_is_named_with_its_line(write, plan_of):
    plan = plan_of("{c: {maskings: {m: {hierarchy: {tree: {Asia: [JP]}, level: 1}}}}}")
    with pytest.raises(TableError, match=r"t\.csv: line 3: c 'US' is not in the tree \(plan\.yaml: .*maskings\.m\)"):
        summarize(write("t.csv", "c,y\nJP,n\nUS,m\n"), plan, name="t")


@for_each(
    ("build", "message"),
    [
        (lambda: IntervalHierarchy((Decimal(5), Decimal(12)), 1), "intervals must nest, but 12 is not a multiple of 5"),
        (lambda: IntervalHierarchy((Decimal(5), Decimal(5)), 1), "intervals must ascend, but 5 follows 5"),
        (lambda: IntervalHierarchy((Decimal(0),), 1), "`intervals` must be a number above 0, not 0"),
        (lambda: IntervalHierarchy((Decimal(5),), 2), "has levels 1 to 1, not 2"),
        (lambda: IntervalHierarchy((Decimal(5),), 1, Decimal("inf")), "`origin` must be a finite number"),
        (lambda: PrefixHierarchy((2, 3), 1), "prefixes must become shorter, but 3 follows 2"),
        (lambda: PrefixHierarchy((2, 2), 1), "prefixes must become shorter, but 2 follows 2"),
        (lambda: PrefixHierarchy((2, -1), 1), "prefix lengths must not be negative"),
        (lambda: PrefixHierarchy((2,), 0), "has levels 1 to 1, not 0"),
        (lambda: DateHierarchy(("week",), 1), "unknown unit 'week'; available: month, quarter, year, decade"),
        (lambda: DateHierarchy(("year", "month"), 1), "units must become coarser, but month follows year"),
        (lambda: DateHierarchy(("year",), 2), "has levels 1 to 1, not 2"),
        (lambda: TreeHierarchy({"A": ("x",), "B": ("x",)}, 1), "the value 'x' appears twice in the tree"),
        (lambda: TreeHierarchy({"A": {"N": ("x",)}, "B": {"N": ("z",)}}, 1), "the group 'N' appears twice in the tree"),
        (lambda: TreeHierarchy({"A": {"A": ("x",), "N": ("z",)}}, 1), "the group 'A' appears twice in the tree"),
        (lambda: TreeHierarchy({"A": ()}, 1), "the tree contains no value"),
        (lambda: TreeHierarchy(WORLD, 3), "has levels 1 to 2, not 3"),
    ],
)
def test_what_is_no_hierarchy_is_refused(build, message):
    with pytest.raises(ValueError, match="^" + message.replace("(", r"\(")):
        build()


class TestHierarchyOfAnAttribute:
    """`hierarchy:` beside `maskings:` makes a masking for each level."""

    @for_each(
        ("hierarchy", "expected"),
        [
            (
                "{intervals: [5, 10], origin: 2}",
                [IntervalHierarchy((Decimal(5), Decimal(10)), n, Decimal(2)) for n in (1, 2)],
            ),
            ("{prefixes: [3, 1]}", [PrefixHierarchy((3, 1), level) for level in (1, 2)]),
            ("{dates: [quarter, year]}", [DateHierarchy(("quarter", "year"), level) for level in (1, 2)]),
            ("{tree: {Europe: {North: [SE, DK], South: [IT]}, Asia: [JP]}}", [TreeHierarchy(WORLD, n) for n in (1, 2)]),
        ],
    )
    def test_every_level_is_a_masking(self, plan_of, hierarchy, expected):
        maskings = plan_of(f"{{a: {{hierarchy: {hierarchy}}}}}").attributes[0].maskings
        assert [masking.id for masking in maskings] == ["a-1", "a-2"]
        assert [masking.function for masking in maskings] == expected
        assert maskings[0].place == "plan.yaml: attributes.a.hierarchy"

    def test_a_file_has_as_many_levels_as_its_lines(self, write, plan_of):
        write("h.csv", "1,low,*\n2,high,*\n")
        plan = plan_of(
            "{a: {hierarchy: {file: h.csv, delimiter: ','}, maskings: {gone: {suppress: {}}}}}", "{c: {a: a-2}}"
        )
        assert [masking.id for masking in plan.attributes[0].maskings] == ["a-1", "a-2", "gone"]
        entry = summarize(write("t.csv", "a,y\n1,n\n2,m\n"), plan, name="t")
        assert [each["domain"] for each in entry["attributes"][0]["maskings"]] == [["low", "high"], ["*"], ["*"]]

    @for_each(
        ("attribute", "message"),
        [
            ("{hierarchy: {}}", "hierarchy: expected one of `file`, `intervals`, `prefixes`, `dates`, `tree`"),
            ("{hierarchy: {dates: [year], prefixes: [1]}}", "hierarchy: expected one of `file`, `intervals`"),
            ("{hierarchy: {dates: []}}", "hierarchy: the hierarchy has no level"),
            ("{hierarchy: {dates: [year, month]}}", "hierarchy: units must become coarser, but month follows year"),
            ("{hierarchy: {dates: [year], level: 1}}", "hierarchy: unknown key 'level'; available: dates"),
            ("{hierarchy: {prefixes: [1], origin: 3}}", "hierarchy: unknown key 'origin'"),
            ("{hierarchy: {tree: {A: x}}}", "hierarchy.tree.A: expected `name: value` pairs"),
            ("{hierarchy: {tree: {A: {}}}}", "hierarchy.tree.A: expected groups, `name: [value, ...]`"),
            ("{hierarchy: {tree: {A: [[x]]}}}", "hierarchy.tree.A.0: expected a text"),
            ("{hierarchy: {file: none.csv}}", "hierarchy: none.csv cannot be read in "),
            (
                "{hierarchy: {dates: [year]}, maskings: {a-1: {suppress: {}}}}",
                "maskings: 'a-1' is a level of the attribute's hierarchy; choose another id",
            ),
        ],
    )
    def test_a_faulty_one_is_refused_with_its_place(self, plan_of, attribute, message):
        with pytest.raises(PlanError) as raised:
            plan_of(f"{{a: {attribute}}}")
        assert str(raised.value).startswith(f"plan.yaml: attributes.a.{message}")

    def test_a_tree_nested_too_deep_is_refused(self, plan_of):
        with pytest.raises(PlanError, match="nested deeper than 50 groups"):
            plan_of(f"{{a: {{hierarchy: {{tree: {'{g: ' * 60}[x]{'}' * 60}}}}}}}")


def test_a_group_of_a_tree_may_stay_as_it_is_from_level_to_level():
    tree = {"A": {"A": {"A": ("x",)}}, "B": {"C": {"C": ("y",)}, "D": {"D": ("z",)}}}
    levels = [TreeHierarchy(tree, level).mask(Domain.of(["x", "y", "z"])) for level in (1, 2, 3)]
    assert levels == [["A", "C", "D"], ["A", "C", "D"], ["A", "B", "B"]]
