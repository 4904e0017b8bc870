"""What hiding must leave unchanged, what it treats as ordered, and what it reveals of the clusters by default."""

import pyarrow.parquet as pq
import pytest

from aegis_provider import ProviderError, TableError, load_plan
from aegis_provider.independence import hide
from tests.for_each import for_each
from tests.provider import oracle

PLAN = """
label: y
quasi_identifiers: [a, code, income]
attributes:
  a: {}
  code: {type: string}
  income: {type: integer}
  weight: {}
  left: {default: drop}
configurations: {c: {}}
"""
INCOMES = [1042, 1043, 1044, 1045, 1046, 1047, 2051, 2052, 2054, 2055, 2056, 2058]
CODES = [1, 2, 3] * 4


@pytest.fixture
def table(write):
    rows = [f"{n % 2},{code},{income},w,x,{n % 3}" for n, (code, income) in enumerate(zip(CODES, INCOMES, strict=True))]
    return write("t.csv", "a,code,income,weight,left,y\n" + "\n".join(rows) + "\n")


@pytest.fixture
def plan(write):
    return load_plan(write("plan.yaml", PLAN))


@pytest.fixture
def hidden(table, tmp_path):
    def hide_in(**asked):
        return hide(table, **{"hide": ["a"], "clusters": 2, "output": tmp_path / "m.csv", **asked})

    return hide_in


class TestWhatStays:
    @for_each("side", ["hide", "from_"])
    @for_each(
        ("name", "message"),
        [
            ("y", "'y' is the label of plan.yaml; it cannot be hidden, and nothing can be hidden from it"),
            (
                "weight",
                "'weight' is shared unmasked by plan.yaml; it cannot be hidden, and nothing can be hidden from it",
            ),
        ],
    )
    def test_the_plan_says_what_can_not_be_hidden(self, hidden, plan, tmp_path, side, name, message):
        other = {"hide": {"from_": ["income"]}, "from_": {"hide": ["a"]}}[side]
        with pytest.raises(ProviderError) as raised:
            hidden(plan=plan, **{side: [name]}, **other)
        assert str(raised.value) == message
        assert sorted(path.name for path in tmp_path.iterdir()) == ["plan.yaml", "t.csv"]

    @for_each("asked", [{"from_": ["y"]}, {"from_": ["income", "y"]}, {"hide": ["y"], "from_": ["a"]}])
    def test_so_can_who_asks(self, hidden, asked):
        with pytest.raises(ProviderError, match="'y' is to be kept; it cannot be hidden, and nothing"):
            hidden(keep=["y"], **asked)

    def test_a_name_to_keep_that_the_table_lacks_is_found(self, hidden):
        with pytest.raises(TableError, match="no column 'Y'"):
            hidden(keep=["Y"], from_=["income"])

    def test_what_may_be_masked_may_be_hidden(self, hidden, plan):
        assert hidden(plan=plan, hide=["a", "left"], from_=["code"]).records == 12


class TestWhatHasAnOrder:
    def test_numbers_are_codes_unless_something_else_is_said(self, hidden, plan):
        assert [each.is_ordered for asked in ({}, {"plan": plan}) for each in of(hidden(from_=["code"], **asked))] == [
            False
        ] * 4

    def test_the_plans_type_says_what_is_a_number(self, hidden, plan):
        assert all(each.is_ordered for each in of(hidden(from_=["income"], plan=plan)))
        assert not any(each.is_ordered for each in of(hidden(from_=["income"])))

    def test_so_can_who_asks(self, hidden):
        assert [each.values for each in of(hidden(from_=["income"], ordered=["income"]))] == [
            ("1042", "1047"),
            ("2051", "2058"),
        ]

    def test_a_number_without_a_type_is_one_if_it_is_discretised(self, hidden, write):
        rule = "{discretize: {rule: equal_width, width: 10}}"
        plan = load_plan(write("p.yaml", f"label: y\nattributes: {{income: {rule}}}\nconfigurations: {{c: {{}}}}\n"))
        assert all(each.is_ordered for each in of(hidden(from_=["income"], plan=plan)))

    @for_each(
        ("asked", "message"),
        [
            (
                {"from_": ["left"], "ordered": ["left"]},
                "column 'left': only numbers and dates have an order, but 'x' is",
            ),
            (
                {"from_": ["income"], "ordered": ["code"]},
                "'code' is named as ordered, but nothing is hidden from it",
            ),
        ],
    )
    def test_what_has_no_order_is_not_given_one(self, hidden, asked, message):
        with pytest.raises(ProviderError) as raised:
            hidden(**asked)
        assert str(raised.value).startswith(message)

    def test_a_value_that_is_not_of_the_plans_type_is_named(self, hidden, write):
        plan = load_plan(write("p.yaml", "label: y\nattributes: {left: {type: integer}}\nconfigurations: {c: {}}\n"))
        with pytest.raises(TableError, match="column 'left': 'x' is not a number, as its type requires"):
            hidden(from_=["left"], plan=plan)


class TestWhatIsToldOfTheClusters:
    @for_each("suffix", ["csv", "parquet"])
    def test_it_is_no_value_of_the_table(self, hidden, tmp_path, suffix):
        result = hidden(from_=["income"], ordered=["income"], output=tmp_path / f"m.{suffix}")
        told = rows_of(result.clusters_output)
        assert told == [
            {"cluster": "1", "income": "below 1549"},
            {"cluster": "2", "income": "above 1549"},
        ]
        assert not result.exact_values

    def test_of_categories_and_of_several_attributes_it_is_how_many_values_there_are(self, hidden):
        several = rows_of(hidden(from_=["income", "code"], ordered=["income"]).clusters_output)
        assert [list(each) for each in several] == [["cluster", "income", "code"]] * 2
        assert {each["income"] for each in several} == {"6 values"}
        alone = rows_of(hidden(from_=["code"]).clusters_output)
        assert [each["code"] for each in alone] == ["2 values", "2 values"]

    def test_of_few_records_it_is_no_interval(self, hidden):
        told = rows_of(hidden(from_=["income"], ordered=["income"], clusters=4).clusters_output)
        assert {each["income"] for each in told} == {"3 values"}

    def test_an_interval_ends_between_two_values_of_the_table(self, hidden):
        told = rows_of(hidden(from_=["code"], ordered=["code"]).clusters_output)
        assert [each["code"] for each in told] == ["below 2.5", "above 1.5"]

    def test_of_dates_it_ends_at_an_hour(self, write, tmp_path):
        days = ["2024-02-28"] * 5 + ["2024-02-29"] * 5 + ["2024-03-02"] * 5
        table = write("d.csv", "a,day\n" + "".join(f"x,{day}\n" for day in days))
        result = hide(table, hide=["a"], from_=["day"], clusters=3, output=tmp_path / "m.csv", ordered=["day"])
        assert [each["day"] for each in rows_of(result.clusters_output)] == [
            "below 2024-02-28 13:00",
            "2024-02-28 13:00 to 2024-03-01 01:00",
            "above 2024-03-01 01:00",
        ]

    def test_what_is_missing_is_counted(self, write, tmp_path):
        table = write("d.csv", "a,n\n" + "x,\n" * 2 + "".join(f"x,{n}\n" for n in range(10)))
        result = hide(table, hide=["a"], from_=["n"], clusters=2, output=tmp_path / "m.csv", ordered=["n"])
        assert [each["n"] for each in rows_of(result.clusters_output)] == ["4 values; 2 missing", "above 3.5"]

    def test_the_exact_values_are_written_where_they_are_asked_for(self, hidden):
        result = hidden(from_=["income"], ordered=["income"], exact_values=True)
        assert result.exact_values
        assert [int(each["income"]) for each in rows_of(result.clusters_output)] == INCOMES


def of(hidden):
    return [extent for each in hidden.clusters for extent in each.extents]


def rows_of(path):
    if path.suffix == ".csv":
        return oracle.records_of(path, ",")
    return [{name: str(value) for name, value in row.items()} for row in pq.read_table(path).to_pylist()]
