"""Croissant of tables: types, ids that mean nothing else, and what is refused."""

import json

import pytest

from aegis_sdk.reading import CroissantTable, TableFile, columns_of, croissant_of
from aegis_sdk.wire import Head
from aegis_sdk.wire.examples import EXAMPLE_HEAD
from tests.sdk.reading.test_columns import SCHEMA

FILE = TableFile("a b/#.csv", 12, "ab" * 32, starred=frozenset({"day"}))


def document(configuration="c", **head):
    table = CroissantTable(configuration, "It is masked.", columns_of(SCHEMA, configuration), FILE)
    return croissant_of(Head(**EXAMPLE_HEAD | head), [table], url="https://x.example/", description="d")


def types(configuration):
    [table] = document(configuration)["recordSet"]
    return {field["name"]: field["dataType"] for field in table["field"]}


def test_a_field_has_the_type_of_all_of_its_values():
    assert types("c") == dict.fromkeys(["age", "weight", "day", "zip", "town", "sum", "bins", "y"], "sc:Text") | {
        "weight": "sc:Float",
    }
    assert types("raw") == {"age": "sc:Integer", "zip": "sc:Text", "y": "sc:Text"}


def test_values_that_stand_together_under_a_word_are_texts():
    schema = json.loads(json.dumps(SCHEMA))
    weight = schema["attributes"][1]
    weight["domain"] = ["1", "2 or others"]
    table = CroissantTable("c", "", columns_of(schema, "c"), FILE)
    [described] = croissant_of(Head(**EXAMPLE_HEAD), [table], url="u", description="d")["recordSet"]
    assert described["field"][1]["dataType"] == "sc:Text"


def test_names_are_quoted_where_they_are_ids_and_only_there():
    [file] = document()["distribution"]
    assert (file["@id"], file["name"], file["contentUrl"]) == ("a%20b%2F%23.csv", FILE.name, FILE.name)
    [table] = document()["recordSet"]
    assert table["field"][0]["source"] == {"fileObject": {"@id": file["@id"]}, "extract": {"column": "age"}}


def test_the_context_refers_to_no_other_document():
    assert isinstance(document()["@context"], dict)
    assert document()["conformsTo"] == "http://mlcommons.org/croissant/1.1"


def test_a_licence_must_be_stated_and_a_name_is_always_there():
    for licence in ("", " \u202e\n"):
        with pytest.raises(ValueError, match="states no licence"):
            document(license=licence)
    assert document(title="\u200b")["name"] == EXAMPLE_HEAD["name"]
