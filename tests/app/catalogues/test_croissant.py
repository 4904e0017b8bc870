"""Croissant of entries: the same for everyone, from no count, with a licence, and of bounded size."""

import json

import pytest

from aegis_sdk.reading import CROISSANT
from app.catalogues.api import croissant
from tests.answers import pointers
from tests.app.advice.test_views import guarded
from tests.app.entries.test_previews import other_counts
from tests.pairs import paired_entry
from tests.service import example_entry, publish

PROFILE = f'application/ld+json; profile="{CROISSANT}"'


async def read(api, key, head, **asked):
    return await api.get(f"/datasets/{head['id']}.croissant.json", params=asked, headers=key)


async def test_everyone_reads_the_same_with_the_rows_that_a_stranger_previews(database_url):
    async with guarded(database_url) as (api, _, keys):
        head = await publish(api, paired_entry(visibility="all", license="CC0-1.0"), **keys["owner"])
        texts = {who: (await read(api, key, head)).content for who, key in keys.items()}
        path = f"/v1/entries/{head['id']}/preview"
        preview = await api.get(path, params={"configuration": "c0", "rows": 10}, headers=keys["stranger"])
    assert len(set(texts.values())) == 1
    document = json.loads(texts["stranger"])
    [table] = [one for one in document["recordSet"] if one["name"] == "c0"]
    names = {field["@id"]: field["name"] for field in table["field"]}
    rows = [{names[key]: value for key, value in row.items()} for row in table["data"]]
    assert [{name: str(value) for name, value in row.items()} for row in rows] == [
        {name: str(value) for name, value in row.items()} for row in preview.json()["rows"]
    ]
    assert {"name", "description", "license", "url", "creator", "datePublished"} <= document.keys()


async def test_nothing_depends_on_counts(database_url):
    async with guarded(database_url) as (api, _, keys):
        entry, texts = paired_entry(visibility="all", license="CC0-1.0"), []
        for counted in (entry, other_counts(entry)):
            head = await publish(api, counted | {"name": f"n{len(texts)}"}, **keys["owner"])
            text = (await read(api, keys["stranger"], head)).text
            described = json.loads(text.replace(head["id"], "ID").replace(head["name"], "NAME"))
            for table in described["recordSet"]:
                del table["data"]  # their seed is the id
            texts.append(described)
    assert texts[0] == texts[1]


async def test_an_entry_without_a_licence_is_refused_and_one_without_a_title_has_its_name(database_url):
    async with guarded(database_url) as (api, _, keys):
        for number, licence in enumerate(("", " \u202e\t")):
            entry = example_entry(name=f"n{number}", visibility="all", license=licence)
            answer = await read(api, keys["stranger"], await publish(api, entry, **keys["owner"]))
            assert (answer.status_code, pointers(answer)) == (422, ["/license"])
        entry = example_entry(name="named", visibility="all", title="\u200b ", license="CC0-1.0")
        answer = await read(api, keys["stranger"], await publish(api, entry, **keys["owner"]))
    assert answer.json()["name"] == "named"


async def test_the_route_of_the_entry_leads_to_it_by_its_profile_only(database_url):
    accepted = {
        PROFILE: 303,
        "application/ld+json": 303,
        f"application/json;q=0.5, {PROFILE}": 303,
        f"application/json, {PROFILE};q=0.5": 200,
        'application/ld+json; profile="http://www.w3.org/ns/dcat#"': 200,
        "*/*": 200,
        ", ".join([f"text/x{number}" for number in range(200)]): 200,
        PROFILE + "; x=" + "y" * 10_000: 200,
    }
    async with guarded(database_url) as (api, _, keys):
        head = await publish(api, example_entry(visibility="all", license="CC0-1.0"), **keys["owner"])
        path, key = f"/v1/entries/{head['id']}", keys["stranger"]
        for accept, status in accepted.items():
            answer = await api.get(path, headers=key | {"Accept": accept})
            assert (answer.status_code, answer.headers["Vary"].partition(",")[0]) == (status, "Accept"), accept[:80]
        led = await api.get(path, params={"version": 1}, headers=key | {"Accept": PROFILE})
        found = await api.get(led.headers["Location"], headers=key)
        hidden = await publish(api, example_entry(name="hidden", license="CC0-1.0"), **keys["owner"])
        assert (await read(api, key, hidden)).status_code == 404
        assert (await read(api, key, head, version=2)).status_code == 404
    assert found.json()["@type"] == "sc:Dataset"
    assert found.headers["content-type"] == PROFILE


@pytest.mark.parametrize(
    ("limit", "most", "left"), [("MOST_TABLES", 1, 1), ("MOST_COLUMNS", 5, 2), ("MOST_COLUMNS", 1, 0)]
)
async def test_a_document_describes_a_bounded_number_of_tables(database_url, monkeypatch, limit, most, left):
    monkeypatch.setattr(croissant, limit, most)
    async with guarded(database_url) as (api, _, keys):
        entry = example_entry(visibility="all", license="CC0-1.0")
        entry["configurations"] = [
            {"id": f"c{number}", "maskings": {"age": "age-2"}, "privacy": {"k": 5}} for number in range(4)
        ]
        answer = await read(api, keys["stranger"], await publish(api, entry, **keys["owner"]))
    assert len(answer.json()["recordSet"]) == left


async def test_a_column_with_a_value_of_another_type_than_it_states_is_a_text(database_url):
    cases = {
        "integer": ("abc", "1e9999999", "Infinity", "1.5", "9" * 20), "number": ("abc", "NaN", "1e400"),
        "date": ("2020-13-40",),
    }  # fmt: skip
    async with guarded(database_url) as (api, _, keys):
        for number, (kind, value) in enumerate((kind, value) for kind, values in cases.items() for value in values):
            entry = example_entry(name=f"n{number}", visibility="all", license="CC0-1.0")
            age = entry["attributes"][0]
            entry["configurations"] = [{"id": "c", "maskings": {"age": "identity"}}]
            age |= {"type": kind, "domain": [value, *map(str, range(50, 49 + len(age["domain"])))]}
            answer = await read(api, keys["stranger"], await publish(api, entry, **keys["owner"]))
            assert answer.status_code == 200, (kind, value)
            [table] = answer.json()["recordSet"]
            assert {field["name"]: field["dataType"] for field in table["field"]}["age"] == "sc:Text", (kind, value)
            assert {row["c/age"] for row in table["data"]} <= {*age["domain"]}
