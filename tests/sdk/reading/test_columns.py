"""The columns of a masked table and their Data Package: types, values, and what intervals stand for."""

from decimal import Decimal

from aegis_sdk.reading import Packaged, columns_of, data_package, entry_in_package, value_within
from aegis_sdk.reading.columns import TableColumn, written_names
from aegis_sdk.texts import ValueType
from tests.for_each import for_each


def column(name, kind, domain, *maskings, **more):
    return {"name": name, "type": kind, "domain": domain, "maskings": list(maskings), **more}


def masking(id_, domain, mapping, function, **parameters):
    return {"id": id_, "domain": domain, "mapping": mapping, "function": {"name": function, "parameters": parameters}}


AGES = ["", "18", "19", "20", "31"]
MERGED = {"discretization": {"rule": "merged", "parameters": {}}}
SCHEMA = {
    "label": {"name": "y", "domain": ["[0,10)", "[10,inf)"]},
    "attributes": [
        column("age", "integer", AGES, masking("tens", ["", "10-19", "20+"], [0, 1, 1, 2, 2], "bucketize", width=10)),
        column("weight", "number", ["(-inf,50.5)", "[50.5,60)", "61"], **MERGED),
        column("day", "date", ["[2024-01-01,2024-02-01)", "2024-02-03"], **MERGED),
        column("zip", "string", ["12-34", "50-60"], masking("gone", ["*"], [0, 0], "suppress")),
        column("town", "string", ["Oslo", "Bergen or others"]),
        column("sum", "number", ["1", "9"], masking("r", ["0", "[5,15)"], [0, 1], "round", to=5)),
        column("bins", "number", ["[0,5)", "[5,9)"], discretization={"rule": "equal_width", "parameters": {}}),
        column("left", "string", ["a", "b"]),
    ],
    "configurations": [
        {
            "id": "c",
            "maskings": {
                "age": "tens", "weight": "identity", "day": "identity", "zip": "gone", "town": "identity", "sum": "r",
                "bins": "identity", "left": "drop",
            },
        },
        {"id": "raw", "maskings": dict.fromkeys(["weight", "day", "town", "sum", "bins", "left"], "drop")
            | {"age": "identity", "zip": "identity"}},
        {"id": "g", "kind": "generated"},
    ],
}  # fmt: skip


def fields(configuration):
    table = Packaged("t", configuration, entry_in_package("e", None, None, None))
    package = data_package(columns_of(SCHEMA, configuration), table, "t.csv")
    return {each["name"]: each for each in package.model_dump(exclude_unset=True)["resources"][0]["schema"]["fields"]}


def test_a_field_has_the_type_the_values_and_the_order_of_its_column():
    said = fields("c")
    assert list(said) == ["age", "weight", "day", "zip", "town", "sum", "bins", "y"]
    assert {name: field["type"] for name, field in said.items()} == dict.fromkeys(said, "string") | {
        "weight": "number", "day": "date",
    }  # fmt: skip
    listed = {name: field["constraints"]["enum"] for name, field in said.items() if "constraints" in field}
    assert listed == {
        "age": ["10-19", "20+"],
        "zip": ["*"],
        "bins": ["[0,5)", "[5,9)"],
        "y": ["[0,10)", "[10,inf)"],
    }
    assert {name: said[name]["categoriesOrdered"] for name in listed} == dict.fromkeys(listed, True) | {"zip": False}
    assert {name for name, field in said.items() if "missingValues" in field} == {"zip"}
    raw = fields("raw")
    assert (raw["age"]["categories"], raw["age"]["categoriesOrdered"]) == ([18, 19, 20, 31], True)
    assert (raw["zip"]["categories"], "aegis:intervals" in raw["zip"]) == (["12-34", "50-60"], False)
    assert columns_of(SCHEMA, "g") == columns_of(SCHEMA, "unknown") == []


def test_intervals_have_limits_and_midpoints():
    said = fields("c")
    assert said["age"]["aegis:intervals"] == [
        {"value": "10-19", "low": 10, "high": 19, "midpoint": 14.5, "closed": "both"},
        {"value": "20+", "low": 20, "high": None, "midpoint": None, "closed": "left"},
    ]
    assert said["y"]["aegis:intervals"][0] == {"value": "[0,10)", "low": 0, "high": 10, "midpoint": 5, "closed": "left"}


@for_each(
    ("name", "place", "least", "most"),
    [
        ("weight", 0, "45.45", "50.5"),
        ("weight", 1, "50.5", "60"),
        ("day", 0, "2024-01-01", "2024-02-01"),
        ("sum", 1, "5", "15"),
    ],
)
def test_made_up_values_lie_in_what_is_listed_together(name, place, least, most):
    column = next(each for each in columns_of(SCHEMA, "c") if each.name == name)
    values = {value_within(column, place, share) for share in (0.0, 0.3, 0.999)}
    read = str if name == "day" else Decimal
    assert len(values) == 3
    assert all(read(least) <= read(value) < read(most) for value in values)


def test_other_values_are_as_listed():
    columns = {each.name: each for each in columns_of(SCHEMA, "c")}
    assert (value_within(columns["age"], 0, 0.5), value_within(columns["age"], 1, 0.5)) == (None, "10-19")
    assert value_within(columns["town"], 1, 0.5) == "Bergen or others"
    assert columns["sum"].together == {"[5,15)"}


def test_a_column_of_dates_has_intervals_of_days_only_and_days_that_a_date_can_be():
    decades = masking("decades", ["2010-2019", "2020-2029"], [0, 1], "mapping")
    ends = column("far", "date", ["[-inf,0001-01-01)", "[9900-01-01,inf)"], **MERGED)
    numbered = column("numbered", "date", ["[4000000,5000000)", "2024-01-01"], **MERGED)
    shown = {"born": "decades", "far": "identity", "numbered": "identity"}
    schema = {
        "label": {"name": "y", "domain": ["0", "1"]},
        "attributes": [column("born", "date", ["2012-01-01", "2025-01-01"], decades), ends, numbered],
        "configurations": [{"id": "c", "maskings": shown}],
    }
    born, far, numbers, _ = columns = columns_of(schema, "c")
    assert born.spans == numbers.spans == {}
    assert [value_within(far, place, 0.99) for place in range(2)] == ["0001-01-01", "9999-12-31"]
    assert value_within(numbers, 0, 0.5) == "[4000000,5000000)"
    assert data_package(columns, Packaged("t", "c", entry_in_package("e", None, None, None)), "t.csv")


@for_each("header", [["=sum", "'=sum", "ill"], ["'=sum", "=sum", "ill"]])
def test_the_name_of_a_column_goes_before_the_escaped_one_and_keeps_its_place(header):
    columns = [TableColumn(name, ValueType.STRING, "m", (), ValueType.STRING) for name in ("ill", "=sum")]
    assert list(written_names(header, columns).items()) == [("=sum", "=sum"), ("ill", "ill")]
    assert written_names(["'=sum", "'=other"], columns) == {"=sum": "'=sum", "=other": "'=other"}
