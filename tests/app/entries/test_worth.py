"""Searches by worth: what a model should reach on the best table, for whom, in which order, and what it gives away."""

import asyncio
import copy
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import psycopg
import pyarrow as pa
import pytest

from aegis_advisor.expected import Expected, beyond_table
from aegis_provider import document_of, load_plan, prepare_entry
from aegis_sdk.reading import worth_in_words
from aegis_sdk.wire import Worth
from app.entries.store import worth as store
from tests.answers import pointers
from tests.app.advice.test_views import asked, guarded
from tests.app.console.html import look
from tests.service import Worker, create_key, publish, running_app

PLAN = """labels: [default, married]
attributes:
  PAY: {maskings: {two: {bucketize: {width: 3}}}}
  AGE: {maskings: {tens: {bucketize: {width: 10}}, twenties: {bucketize: {width: 20}}}}
configurations:
  fine: {PAY: identity, AGE: tens}
  coarse: {PAY: two, AGE: tens}
  coarser: {PAY: two, AGE: twenties}
"""
PROMISED = {"fine": 2, "coarse": 5, "coarser": 20}


def table(records, strength, seed=1):
    random = np.random.default_rng(seed)
    late, age = random.integers(0, 6, records), random.integers(20, 60, records)
    default = random.random(records) < 0.2 + strength * (late - 2) / 6
    married = random.random(records) < (age - 10) / 60
    yes = {name: np.where(column, "yes", "no") for name, column in (("default", default), ("married", married))}
    return pa.table({"PAY": late, "AGE": age, **yes})


@cache
def made(records, strength):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "plan.yaml")
        path.write_text(PLAN, encoding="utf-8")
        document = document_of(prepare_entry(table(records, strength), load_plan(path), name="made", pairs=True).entry)
    for configuration in document["configurations"]:
        configuration["privacy"] = {"k": PROMISED[configuration["id"]]}
    return document


def entry(name, records=2000, strength=0.4, **changes):
    """An entry with these promises, of a table whose labels depend on its attributes."""
    return copy.deepcopy(made(records, strength)) | {"name": name, "visibility": "all"} | changes


async def valued(api, worker, key, *heads):
    """Run the jobs until the worth of these entries is known, or never will be: a busy machine tries some again."""
    for _ in range(20):
        await worker.run()
        every = [(await api.get(f"/v1/entries/{head['id']}/worth", headers=key)).json()["items"] for head in heads]
        if all(one["state"] != "pending" for items in every for one in items):
            return
        await asyncio.sleep(0.5)


async def found(api, key=None, **search):
    answer = await api.get("/v1/entries", params={"sort": "worth", **search}, headers=key)
    assert answer.status_code == 200, answer.text
    return answer.json()["items"]


async def test_each_k_has_what_a_coarse_answer_says_of_its_best_table(database_url):
    async with guarded(database_url) as (api, worker, keys):
        head = await publish(api, entry("cards"), **keys["owner"])
        [waiting] = await found(api, keys["stranger"], label="default")
        await valued(api, worker, keys["owner"], head)
        for label in ("default", "married"):
            for asked_k, promised in ((2, "fine"), (3, "coarse"), (20, "coarser")):
                [said] = await found(api, keys["stranger"], label=label, require=f"k={asked_k}")
                question = {"measure": "joint", "label": label, "require": {"k": asked_k}}
                answer = (await asked(api, worker, keys["stranger"], head["id"], **question)).json()
                assert said["worth"]["configuration"] == answer["configuration"]
                told = answer["ranking"][0]["expected"]
                wider = beyond_table(Expected(**told), head["records"], 2)
                assert said["worth"]["expected"] == told | {"low": round(wider.low, 2), "high": round(wider.high, 2)}
                assert said["worth"]["configuration"] == promised or label == "married"
        listed = (await api.get(f"/v1/entries/{head['id']}/worth", headers=keys["stranger"])).json()["items"]
    assert (waiting["worth"]["state"], waiting["worth"]["expected"]) == ("pending", None)
    assert [(one["label"], one["k"]) for one in listed if one["label"] == "default"] == [
        ("default", k) for k in (2, 5, 10, 20)
    ]


async def test_command_and_console_put_the_best_first_where_a_label_and_a_k_are_asked_for(database_url):
    async with running_app(database_url) as api, Worker.on(database_url) as worker:
        for name, strength in (("strong", 0.4), ("weak", 0.1)):
            await publish(api, entry(name, 2000, strength))
        await worker.run()
        page = await look(api, "/?label=default&criterion=k&limit=3")
        unknown = await look(api, "/?label=defualt&criterion=k&limit=3", 422)
        worth = [head["worth"] for head in await found(api, label="default", require="k=3")]
    said = [worth_in_words(Worth(**one)) for one in worth]
    assert "(k of at least 5): a model of default should reach AUC" in said[0]
    assert page.text.index(said[0]) < page.text.index(said[1])
    assert "aegis search --label default --require k=3" in page.text
    assert "No entry that you may see has a label 'defualt'" in unknown.text


@pytest.mark.parametrize("first", [0, 1_000], ids=["by index", "among the first"])
async def test_the_lower_end_decides_and_what_is_not_known_comes_last(database_url, owner_url, monkeypatch, first):
    monkeypatch.setattr(store, "FIRST", first)
    shown = {
        "large": entry("large", 4000, 0.35),
        "small": entry("small", 150, 0.38),
        "weak": entry("weak", 4000, 0.05),
        "failed": entry("failed", 4000, 0.4),
        "hidden": entry("hidden", 4000, 0.5, visibility="private"),
    }
    bare = entry("bare")
    del bare["joint_trace"], bare["joint_traces"], bare["labels"]
    shown["bare"] = bare | {"format": 1, "pairs": []}
    async with guarded(database_url) as (api, worker, keys):
        heads = {name: await publish(api, one, **keys["owner"]) for name, one in shown.items()}
        await valued(api, worker, keys["owner"], *heads.values())
        async with await psycopg.AsyncConnection.connect(owner_url, autocommit=True) as connection:
            lost = "UPDATE worth SET state = 'failed', kind = 0, low = '-Infinity', expected = NULL WHERE entry_id = %s"
            await connection.execute(lost, [heads["failed"]["id"]])
        listed = await found(api, keys["stranger"], label="default", require="k=5")
        own = await found(api, keys["owner"], label="default", require="k=5")
        pages, token = [], None
        while token is not None or not pages:
            more = {} if token is None else {"page_token": token}
            page = await api.get(
                "/v1/entries",
                params={"sort": "worth", "label": "default", "require": "k=5", "limit": 1, **more},
                headers=keys["stranger"],
            )
            pages += page.json()["items"]
            token = page.json()["next_page_token"]
        needed = await found(api, keys["stranger"], label="default", needs="AGE,married", query="large")
    names = [head["name"] for head in listed]
    known, rest = names[:3], names[3:]
    assert {*known} == {"large", "small", "weak"}
    assert known.index("large") < known.index("small")  # though more is expected of the small one
    expected = {head["name"]: head["worth"]["expected"] for head in listed}
    lows = [expected[name]["low"] for name in known]
    assert lows == sorted(lows, reverse=True)
    assert {name: head["worth"]["state"] for name, head in zip(rest, listed[3:], strict=True)} == {
        "failed": "failed",
        "bare": "unknown",
    }
    assert own[0]["name"] == "hidden"
    assert [head["name"] for head in pages] == names
    assert [head["name"] for head in needed] == ["large"]


async def test_a_concept_finds_a_label_and_an_attribute_under_any_name(database_url):
    about = {"uri": "https://example.org/late", "values": {"yes": "https://example.org/late#yes"}}
    owner = await create_key(database_url, "owner", "provider")
    plain, other = entry("plain"), entry("other")
    other["format"] = 5
    other["label"] |= {"concept": about}
    next(one for one in other["attributes"] if one["name"] == "AGE")["concept"] = {"uri": "urn:age"}
    async with running_app(database_url) as api, Worker.on(database_url) as worker:
        await valued(api, worker, owner, *[await publish(api, one, **owner) for one in (plain, other)])
        by_concept = await found(api, owner, label=about["uri"], needs="urn:age")
        by_name = await found(api, owner, label="default")
    assert [(head["name"], head["worth"]["label"]) for head in by_concept] == [("other", about["uri"])]
    assert {head["name"] for head in by_name} == {"plain", "other"}
    [its] = [head for head in by_name if head["name"] == "other"]
    assert its["worth"]["expected"] == by_concept[0]["worth"]["expected"]


async def test_a_new_version_takes_the_place_of_the_one_before(database_url):
    owner = await create_key(database_url, "owner", "provider")
    async with running_app(database_url) as api, Worker.on(database_url) as worker:
        head = await publish(api, entry("cards", 4000, 0.4), **owner)
        await worker.run()
        [before] = await found(api, owner, label="default")
        path = f"/v1/entries/{head['id']}"
        headers = owner | {"If-Match": "*"}
        params = {"accept_small_counts": "true"}
        await api.put(path, json=entry("cards", 4000, 0.1), headers=headers, params=params)
        await worker.run()
        [after] = await found(api, owner, label="default")
    assert after["version"] == 2
    assert after["worth"]["expected"]["auc"] < before["worth"]["expected"]["auc"]


REFUSED = {
    "/sort": {"sort": "worth"},
    "/require": {"sort": "worth", "label": "default", "require": "k=1000000000"},
    "/label": {"sort": "worth", "label": "defualt"},
}


async def test_what_nobody_can_be_told_is_refused(shared_api):
    told = {}
    for place, search in REFUSED.items():
        answer = await shared_api.get("/v1/entries", params=search)
        told[place] = answer.status_code, pointers(answer)
    assert told == {place: (422, [place]) for place in REFUSED}
    answer = await shared_api.get("/v1/entries", params={"sort": "worth", "label": "x", "page_token": "bmFuLDEsMnx4"})
    assert (answer.status_code, pointers(answer)) == (422, ["/page_token"])
