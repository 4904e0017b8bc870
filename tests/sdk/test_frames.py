"""Masked tables as data frames of pandas and Polars, by the package beside them."""

import datetime as dt
import json
from hashlib import sha256

import polars as pl
import pytest

import aegis_sdk
from aegis_sdk import PackageError
from aegis_sdk.reading import Packaged, entry_in_package, package_of, text_of
from tests.for_each import for_each

SCHEMA = {
    "label": {"name": "ill", "domain": ["no", "yes"]},
    "attributes": [
        {"name": "age", "type": "integer", "domain": ["10", "11", "20"],
         "maskings": [{"id": "tens", "domain": ["", "<10", "10-19", "20+"], "mapping": [1, 1, 2]}]},
        {"name": "day", "type": "date", "domain": ["2024-01-01"],
         "maskings": [{"id": "month", "mapping": [0],
                       "domain": ["[2024-01-01,2024-02-01)", "[2024-02-01,2024-03-01)"]}]},
        {"name": "visits", "type": "integer", "domain": ["", "0", "12"]},
        {"name": "weight", "type": "number", "domain": ["70.5", "1e2"]},
        {"name": "smoker", "type": "boolean", "domain": ["no", "yes"]},
        {"name": "born", "type": "date", "domain": ["1970-01-31", "1980-02-29"]},
        {"name": "note", "type": "string", "domain": ["others", "x"]},
    ],
    "configurations": [
        {"id": "c", "maskings": {"age": "tens", "day": "month"}
            | dict.fromkeys(["visits", "weight", "smoker", "born", "note"], "identity")},
    ],
}  # fmt: skip
HEADER = "ill;age;day;visits;weight;smoker;born;note"
ROWS = (
    "no;10-19;[2024-01-01,2024-02-01);0;70.5;yes;1970-01-31;007",
    "yes;;[2024-02-01,2024-03-01);;1e2;no;1980-02-29;*",
    "yes;20+;[2024-02-01,2024-03-01);12;1e2;no;1980-02-29;NA",
)
DAYS = [dt.date(1970, 1, 31), dt.date(1980, 2, 29), dt.date(1980, 2, 29)]
LIBRARIES = ("pandas", "polars")


def packaged(folder, *rows, name="masked.csv", package="datapackage.json"):
    """A table in a folder, with its package."""
    file = folder / name
    file.write_text("\n".join([HEADER, *rows]) + "\n", encoding="utf-8")
    table = Packaged("t", "c", entry_in_package("e", None, None, None), may_have_stars=False)
    described = package_of(file, name, sha256(file.read_bytes()).hexdigest(), SCHEMA, table, ";")
    (folder / package).write_text(text_of(described), encoding="utf-8")
    return folder / package


def lists(frame):
    """The columns of a frame as lists, with missing values as `None` and dates as dates."""
    if isinstance(frame, pl.DataFrame):
        return {name: frame[name].to_list() for name in frame.columns}
    days = {name for name in frame.columns if str(frame[name].dtype).startswith("datetime")}
    plain = {name: frame[name].dt.date if name in days else frame[name] for name in frame.columns}
    return {name: of.astype("object").where(of.notna(), None).tolist() for name, of in plain.items()}


@for_each("library", LIBRARIES)
def test_values_have_their_types_and_missing_ones_are_null(library, tmp_path):
    packaged(tmp_path, *ROWS)
    assert lists(aegis_sdk.read(tmp_path, frame=library)) == {
        "ill": ["no", "yes", "yes"],
        "age": ["10-19", None, "20+"],
        "day": ["[2024-01-01,2024-02-01)", "[2024-02-01,2024-03-01)", "[2024-02-01,2024-03-01)"],
        "visits": [0, None, 12],
        "weight": [70.5, 100.0, 100.0],
        "smoker": [True, False, False],
        "born": DAYS,
        "note": ["007", None, "NA"],  # the entry lists others together
    }


@for_each("library", LIBRARIES)
def test_midpoints_are_numbers_and_dates(library, tmp_path):
    packaged(tmp_path, *ROWS)
    columns = lists(aegis_sdk.read(tmp_path, frame=library, midpoints=True))
    assert columns["age"] == [14.5, None, None]  # nothing is halfway from 20 upwards
    assert columns["day"] == [dt.date(2024, 1, 16), dt.date(2024, 2, 15), dt.date(2024, 2, 15)]
    assert columns["visits"] == [0, None, 12]


def test_categories_are_all_and_in_order(tmp_path):
    packaged(tmp_path, *ROWS)
    table = aegis_sdk.read(tmp_path)
    assert [*table["age"].cat.categories] == ["<10", "10-19", "20+"]  # also those that no record has
    assert (table["age"].cat.ordered, table["ill"].cat.ordered) == (True, False)
    assert table.sort_values("age")["age"].tolist()[:2] == ["10-19", "20+"]
    other = aegis_sdk.read(tmp_path, frame="polars")
    assert (other.schema["age"], other.schema["ill"]) == (pl.Enum(["<10", "10-19", "20+"]), pl.Categorical())


def test_a_table_is_found_by_its_folder_its_name_and_its_package(tmp_path):
    alone = packaged(tmp_path, *ROWS)
    packaged(tmp_path, ROWS[0], name="other.csv", package="other.csv.datapackage.json")
    assert [len(aegis_sdk.read(path)) for path in (tmp_path, alone, tmp_path / "masked.csv")] == [3, 3, 3]
    assert [len(aegis_sdk.read(str(tmp_path / name))) for name in ("other.csv", "other.csv.datapackage.json")] == [1, 1]


def changed(row, name, value):
    """The row with another value in one column."""
    cells = row.split(";")
    cells[HEADER.split(";").index(name)] = value
    return ";".join(cells)


@for_each("library", LIBRARIES)
def test_a_value_that_the_package_does_not_state_is_refused(library, tmp_path):
    cases = {
        ("age", "30-39"): "'30-39', which its package does not list", ("smoker", "maybe"): "'maybe', which its package",
        ("visits", "1.5"): "'1.5', which is no integer", ("born", "2024-02-30"): "'2024-02-30', which is no date",
        ("visits", "99"): "'99', which its package", ("weight", "99.5"): "'99.5', which its package",
        ("born", "2000-01-01"): "'2000-01-01', which its package", ("ill", ""): "a missing", ("born", "*"): "a missing",
    }  # fmt: skip
    for (name, value), said in cases.items():
        packaged(tmp_path, changed(ROWS[0], name, value))
        with pytest.raises(PackageError, match=said):
            aegis_sdk.read(tmp_path, frame=library)


def test_another_file_than_the_packages_is_refused(tmp_path):
    package = packaged(tmp_path, *ROWS)
    table, described = tmp_path / "masked.csv", json.loads(package.read_text())

    def refused(said, path=tmp_path):
        with pytest.raises(PackageError, match=said):
            aegis_sdk.read(path)

    whole = table.read_bytes()
    table.write_bytes(whole.replace(b"007", b"008"))
    refused("is sha256:")
    table.write_bytes(whole + b"\n")
    refused(f"has {len(whole) + 1} bytes, not {len(whole)}")
    table.write_bytes(whole)
    (tmp_path / "another.csv").write_bytes(whole)
    refused("is of masked.csv, not of another.csv", tmp_path / "another.csv")
    for elsewhere in ("../masked.csv", "/etc/passwd", "a\\b.csv", "https://x.example/t.csv"):
        described["resources"][0]["path"] = elsewhere
        package.write_text(json.dumps(described))
        refused("its table is elsewhere")
    for broken in ("", "[]", "{}", json.dumps(described | {"resources": []}), "[" * 100_000):
        package.write_text(broken)
        refused("is no Data Package")
    package.unlink()
    refused("there is no such package")


def test_the_library_must_be_there(tmp_path, monkeypatch):
    packaged(tmp_path, *ROWS)
    monkeypatch.setattr("aegis_sdk.frames.find_spec", lambda name: name == "polars")
    assert isinstance(aegis_sdk.read(tmp_path), pl.DataFrame)
    with pytest.raises(aegis_sdk.SettingsError, match="pip install pandas"):
        aegis_sdk.read(tmp_path, frame="pandas")
