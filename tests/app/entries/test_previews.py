"""Previews: who gets rows from what, that they tell nothing more, and what is refused."""

import csv
import io
import json
from copy import deepcopy

import numpy as np

from aegis_sdk.reading import Packaged, entry_in_package
from aegis_sdk.wire.examples import EXAMPLE_GENERATED, EXAMPLE_HOLDOUT
from app.entries.api.previews import made_up
from app.entries.model import previews
from app.entries.model.documents import entry_in
from tests.answers import pointers
from tests.app.advice.test_views import guarded
from tests.pairs import paired_entry
from tests.service import example_entry, publication, publish


def made(entry, configuration, seed="s", *, counts=True):
    content = publication(entry).content
    table = Packaged("t", configuration, entry_in_package("e", None, None, None), is_made_up=True)
    return made_up(content.schema, content.configurations, content.count_tables if counts else (), table, seed)


def other_counts(entry):
    """The same schema, with each count table of the label's columns turned round."""
    changed = deepcopy(entry)
    changed["label"]["histogram"].reverse()
    for attribute in changed["attributes"]:
        for one in (attribute, *attribute["maskings"]):
            if one.get("joint") is not None:
                one["joint"] = [row[::-1] for row in one["joint"]]
    return changed


async def test_each_caller_gets_the_first_of_the_same_hundred_rows(database_url):
    async with guarded(database_url) as (api, _, keys):
        head = await publish(api, paired_entry(visibility="all"), **keys["owner"])

        async def preview(who, **asked):
            path = f"/v1/entries/{head['id']}/preview"
            answer = await api.get(path, params={"configuration": "c0"} | asked, headers=keys[who])
            assert answer.status_code == 200, answer.text
            return answer.json()

        whole = {who: await preview(who, rows=100) for who in keys}
        assert {who for who, one in whole.items() if one["made_from"] == "counts"} == {"owner", "operator"}
        for who, one in whole.items():
            assert [row["made_up"] for row in one["rows"]] == [True] * 100
            assert (await preview(who, rows=7))["rows"] == one["rows"][:7]
            assert (await preview(who))["rows"] == one["rows"][:20]
            described = one["data_package"]["resources"][0]["schema"]["fields"]
            assert ["made_up", *(field["name"] for field in described)] == one["columns"] == [*one["rows"][0]]
            values = {field["name"]: field["constraints"]["enum"] for field in described}
            assert all(row[name] in values[name] for row in one["rows"] for name in values)
            seen = (await api.get(f"/v1/entries/{head['id']}", headers=keys[who])).json()
            named = {name: seen[name] for name in ("name", "id", "version", "digest")}
            assert one["data_package"]["aegis:entry"] == named
            required = {field["name"] for field in described if field["constraints"].get("required")}
            assert bool(required) == (one["made_from"] == "counts")  # others do not read how many cells are suppressed
        assert whole["stranger"] == whole["consumer"] == whole["other provider"]
        assert head["digest"] not in json.dumps(whole["stranger"])
        key = keys["stranger"] | {"Accept": "text/csv"}
        path = f"/v1/entries/{head['id']}/preview"
        answer = await api.get(path, params={"configuration": "c0", "rows": 3}, headers=key)
    assert answer.headers["content-type"].startswith("text/csv")
    first = [row | {"made_up": "true"} for row in whole["stranger"]["rows"][:3]]
    assert list(csv.DictReader(io.StringIO(answer.text))) == first


async def test_what_cannot_be_previewed_is_refused_with_its_place(database_url):
    generated = example_entry(visibility="all", format=2, holdout=EXAMPLE_HOLDOUT)
    generated["configurations"].append(EXAMPLE_GENERATED)
    async with guarded(database_url) as (api, _, keys):
        head = await publish(api, generated, **keys["owner"])
        path, key = f"/v1/entries/{head['id']}/preview", keys["stranger"]
        cases = {
            "dropped": ({"configuration": "c99"}, "/configuration"),
            "generated": ({"configuration": "g01"}, "/configuration"),
            "none": ({}, "/configuration"),
            "a million": ({"configuration": "c01", "rows": 10**6}, "/rows"),
            "zero": ({"configuration": "c01", "rows": 0}, "/rows"),
        }
        refused = {name: await api.get(path, params=asked, headers=key) for name, (asked, _) in cases.items()}
    for name, (_, pointer) in cases.items():
        assert (refused[name].status_code, pointers(refused[name])) == (422, [pointer]), name


def test_a_stranger_s_previews_of_all_configurations_say_nothing_about_counts():
    entry = paired_entry()
    other = other_counts(entry)
    assert publication(entry).content.digest != publication(other).content.digest
    for one in entry["configurations"]:
        with_counts = made(entry, one["id"], counts=False)
        assert with_counts == made(other, one["id"], counts=False)
        assert made(entry, one["id"]).rows != made(other, one["id"]).rows


def test_rows_follow_the_published_counts_and_no_exact_count_below_five(monkeypatch):
    monkeypatch.setattr(previews, "ROWS", 40_000)
    entry = paired_entry()
    counted = next(one for one in entry["pairs"] if one["maskings"] == ["age-4", "zip-3"])
    counted["joint"][0][2] = 4
    together = np.array(counted["joint"])
    named = [("label", "identity", 2), ("age", "age-4", 4), ("zip", "zip-3", 3)]
    columns = [previews.ShownColumn(*one) for one in named]
    drawn = previews.drawn_from_counts(entry_in(entry), columns, previews.random_of("s"))
    seen = np.zeros(together.shape)
    np.add.at(seen, tuple(drawn[:, 1:].T), 1)
    kept = np.where(together < previews.LEAST, 0, together)
    rows = kept / kept.sum(axis=1, keepdims=True)
    assert (seen[together < previews.LEAST] == 0).all()
    assert np.abs(seen / seen.sum(axis=1, keepdims=True) - rows).max() < 0.02
    label = np.array(entry["label"]["histogram"]) / sum(entry["label"]["histogram"])
    assert np.abs(np.bincount(drawn[:, 0]) / len(drawn) - label).max() < 0.01
    rounded = entry | {"disclosure_control": {"rounded_to": 3, "rounding": "once"}}
    drawn = previews.drawn_from_counts(entry_in(rounded), columns, previews.random_of("s"))
    seen = set(map(tuple, drawn[:, 1:].tolist()))
    assert seen == set(zip(*np.nonzero(together), strict=True))


def test_a_column_of_the_marks_name_keeps_it():
    entry = paired_entry()
    text = json.dumps(entry).replace('"sex"', '"made_up"')
    row = made(json.loads(text), "c0").rows[0]
    assert row["made_up_"] is True
    assert row["made_up"] in {"0", "1"}
