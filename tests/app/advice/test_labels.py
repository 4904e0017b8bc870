"""Questions about each label of an entry are answered as by an entry with that label alone, in both views."""

from types import SimpleNamespace

import psycopg
import pytest

from app.cli.environment import with_services
from app.cli.replay import _computed
from app.settings import Settings
from tests.answers import pointers
from tests.labels import LABELS, VALUES, entry_of, some_records
from tests.service import Worker, create_key, publish, running_app

RECORDS = some_records(5)
#: What an answer says about itself, and not about the configurations.
OWN = ("id", "entry", "request", "created_at", "elapsed_ms", "label", "names")
BUDGET = 4
SCORES = {"values": [620, 3_000, 8_500, 20_000], "variance": 1e8}


@pytest.fixture(name="market", scope="module")
async def _market(_one_loop, shared_database_url):
    """The service with an entry of several labels, one of each of them, one with pairs only, and keys by role."""
    roles = {"provider": ("owner", "provider"), "consumer": ("reader", "consumer"), "other": ("third", "consumer")}
    keys = {name: await create_key(shared_database_url, *role) for name, role in roles.items()}
    settings = {"question_budget": BUDGET}
    async with running_app(shared_database_url, **settings) as api, Worker.on(shared_database_url) as worker:
        entries = {label: entry_of(RECORDS, [label], name=label, visibility="all") for label in LABELS}
        for label, entry in entries.items():  # with the default label at the place of this one, as in its task
            names = [LABELS[0] if name == label else name for name in VALUES if name != LABELS[0]]
            own = {attribute["name"]: attribute for attribute in entry["attributes"]}
            entry["attributes"] = [own[name] for name in (names if label != LABELS[0] else own)]
        told = {"joint_traces": {"smoker": {"value": 0.713}}, "joint_trace": {"value": 0.911}}
        entries["plain"] = {name: part for name, part in entries["health"].items() if name != "pairs"} | {
            "name": "plain"
        }
        entries["several"] = entry_of(RECORDS, LABELS, name="several", visibility="all", **told)
        with_label = [pair for pair in entries["several"]["pairs"] if set(pair["attributes"]) & set(LABELS)]
        entries["only labels"] = entries["several"] | {"name": "only-labels", "pairs": with_label}
        entries["charges"] = entries["charges"] | {"format": 4}
        entries["charges"]["label"]["scores"] = SCORES
        next(one for one in entries["several"]["attributes"] if one["name"] == "charges")["scores"] = SCORES
        heads = {name: await publish(api, entry, **keys["provider"]) for name, entry in entries.items()}
        yield SimpleNamespace(api=api, worker=worker, keys=keys, heads=heads, url=shared_database_url, entries=entries)


async def asked(market, entry, key="provider", **question):
    path, headers = f"/v1/entries/{market.heads[entry]['id']}/advice", market.keys[key] | {"Prefer": "respond-async"}
    return await market.api.post(path, json={"measure": "mutual_information"} | question, headers=headers)


async def answer(market, entry, key="provider", **question):
    """The answer to a question, once the worker is done."""
    queued = await asked(market, entry, key, **question)
    assert queued.status_code in (200, 202), queued.text
    await market.worker.run()
    found = (await market.api.get(f"/v1/advice/{queued.json()['id']}", headers=market.keys[key])).json()
    assert found["status"] == "succeeded", found["problem"]
    return found


def told(found):
    """What an answer says about configurations and attributes, in an order of its own."""
    kept = {name: value for name, value in found.items() if name not in OWN}
    rows = [{name: value for name, value in row.items() if name != "about"} for row in kept.pop("ranking")]
    attributes = sorted(kept.pop("attributes"), key=lambda one: one["name"])
    kept.pop("about")
    return kept, rows, attributes


def assert_nearly(one, other):
    """Two JSON values agree, numbers except for rounding."""
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for name in one:
            assert_nearly(one[name], other[name])
    elif isinstance(one, list | tuple):
        assert len(one) == len(other)
        for each, expected in zip(one, other, strict=True):
            assert_nearly(each, expected)
    elif isinstance(one, float):
        assert one == pytest.approx(other, rel=1e-9, abs=1e-12)
    else:
        assert one == other


@pytest.mark.parametrize(
    ("label", "measure", "key", "target"),
    [
        ("charges", "joint", "provider", None),
        ("charges", "mutual_information", "other", None),
        ("charges", "g3", "other", "charges-2"),
        ("charges", "joint_interactions", "provider", "identity"),  # it needs the label as it is
        ("health", "g3", "provider", None),
    ],
)
async def test_each_label_is_answered_as_by_an_entry_of_its_own(market, label, measure, key, target):
    asked_of = {} if target is None else {"target": target}
    one = await answer(market, "several", key, measure=measure, label=label, **asked_of)
    other = await answer(market, label, key, measure=measure, **asked_of)
    assert_nearly(told(one), told(other))
    assert (other["label"] is None) == (target is None)
    assert "label" not in other["request"]
    if label == LABELS[0]:
        assert one["label"] is None
        assert one == await answer(market, "several", key, measure=measure)
    else:
        left_out = len(market.entries["several"]["configurations"]) - len(market.entries[label]["configurations"])
        left_out += 0 if other["label"] is None else other["label"]["left_out"]
        assert one["label"] == {"name": label, "listed": True, "left_out": left_out} | asked_of
        assert one["request"]["label"] == label


async def test_without_a_measure_the_usual_one_of_the_version_answers(market):
    for entry, question, measure in (
        ("several", {}, "joint"),
        ("several", {"label": "smoker"}, "joint"),
        ("several", {"label": "smoker", "bias_correction": False}, "joint"),
        ("several", {"weights": {"age": 2}}, "mutual_information"),
        ("several", {"reference": "own", "target": "identity"}, "mutual_information"),
        ("plain", {}, "mutual_information"),
        ("only labels", {"label": "smoker"}, "mutual_information"),
        ("only labels", {"label": "smoker", "attributes": ["age", "charges"]}, "joint"),
        ("only labels", {"attributes": ["age", "smoker"]}, "joint"),
    ):
        found = await answer(market, entry, measure=None, **question)
        assert found == await answer(market, entry, measure=measure, **question)
        assert found["request"]["measure"] == measure
        assert found["request"]["bias_correction"] is question.get("bias_correction", measure == "joint")


async def test_attributes_whose_counts_are_missing_are_not_asked_about_together(market):
    for question in ({}, {"label": "smoker"}):
        refused = await asked(market, "only labels", measure="joint", **question)
        assert (refused.status_code, refused.json()["code"], pointers(refused)) == (422, "no_pairs", ["/measure"])
        assert "none of 'age' and 'zip'" in refused.json()["detail"]
        detail = refused.json()["errors"][0]["detail"]
        assert "mutual_information" in detail
        assert "joint" not in detail


async def test_a_column_that_is_no_label_is_answered_from_pairs_as_an_estimate(market):
    found = await answer(market, "health", label="smoker")
    assert found["label"] == {"name": "smoker", "listed": False, "left_out": 1}
    assert found["ranking_basis"] == "estimated"
    listed = await answer(market, "several", label="smoker")
    assert_nearly(told(found)[1:], told(listed)[1:])


@pytest.mark.parametrize(
    ("entry", "question", "pointer"),
    [
        ("several", {"label": "income"}, "/label"),
        ("plain", {"label": "smoker"}, "/label"),
        ("several", {"label": "smoker", "kinds": ["masked", "generated"]}, "/label"),
        ("several", {"label": "smoker", "attributes": ["age", "smoker"]}, "/attributes/1"),
        ("several", {"label": "smoker", "weights": {"smoker": 2.0}}, "/weights/smoker"),
        ("several", {"label": 3}, "/label"),
    ],
)
async def test_what_cannot_be_asked_is_refused_at_its_place(market, entry, question, pointer):
    refused = await asked(market, entry, **question)
    assert refused.status_code == 422, refused.text
    assert pointers(refused) == [pointer]
    said = {
        ("several", "income"): "has no column 'income'. It can be asked about health, smoker, charges, ",
        (
            "plain",
            "smoker",
        ): "has no counts of 'smoker' with 'charges' (charges-2), 'charges' (identity), 'age'",
    }
    assert said.get((entry, question["label"]), "") in refused.json()["errors"][0]["detail"]


async def test_others_read_no_count_of_any_label_and_have_one_budget_for_all(market):
    path = f"/v1/entries/{market.heads['several']['id']}"
    read = await market.api.get(path, headers=market.keys["consumer"])
    secrets = ["with_label", "chi_square", "joint_trace", "0.713", "0.911", '"joint"']
    answers = [await answer(market, "several", "consumer", label=label) for label in LABELS]
    assert not [secret for secret in secrets if secret in read.text]
    owner = await market.api.get(f"{path}/summaries", headers=market.keys["provider"])
    assert all(secret in owner.text for secret in secrets)
    for found in answers:
        assert "utility" not in str(found).replace("utility_share", "").replace("mutual_information", "")
    assert (await asked(market, "several", "consumer", measure="g3", label="smoker")).status_code == 202
    spent = await asked(market, "several", "consumer", measure="g1", label="charges")
    assert (spent.status_code, spent.json()["code"]) == (429, "budget_spent")


async def test_an_answer_about_a_label_is_computed_again_bit_for_bit(market):
    found = await answer(market, "several", measure="joint", label="charges", attributes=["age", "health"])
    loaded = await with_services(market.url, lambda services: services.replays().load(found["id"]))
    assert list(loaded.differences(*await _computed(loaded, Settings(database_url=market.url)))) == []


async def test_a_request_is_for_a_label(market):
    wanted = {"label": "charges", "purpose": "Predict charges", "contact": "a@b.example"}
    body = wanted | {"terms": market.heads["several"]["terms"]}
    path = f"/v1/entries/{market.heads['several']['id']}/requests"
    made = await market.api.post(path, json=body, headers=market.keys["other"])
    assert made.status_code == 201, made.text
    await market.worker.run()
    request = (await market.api.get(f"/v1/requests/{made.json()['id']}", headers=market.keys["other"])).json()
    advice = await answer(market, "several", "other", measure="joint", label="charges")
    assert (request["state"], request["configuration"]) == ("advised", advice["configuration"])
    assert (request["request"]["label"], request["request"]["measure"]) == ("charges", "joint")
    hidden = next(
        one["id"] for one in market.entries["several"]["configurations"] if one["maskings"]["charges"] == "drop"
    )
    refused = await market.api.post(path, json=body | {"configuration": hidden}, headers=market.keys["other"])
    assert (refused.status_code, pointers(refused)) == (422, ["/configuration"])


async def test_entries_are_found_by_each_label(market):
    for label, expected in (
        ("smoker", {"several", "smoker", "only-labels"}),
        ("age", set()),
        ("health", {"several", "health", "plain", "only-labels"}),
    ):
        page = (await market.api.get("/v1/entries", params={"label": label}, headers=market.keys["consumer"])).json()
        assert {head["name"] for head in page["items"]} == expected
    assert market.heads["several"]["labels"] == list(LABELS)
    assert market.heads["smoker"]["labels"] == ["smoker"]


async def test_a_version_that_knows_no_labels_reads_a_measure_that_there_is_not(market):
    """It would answer for the default label otherwise, and its answer would be given again."""
    await answer(market, "several", measure="theils_u", label="smoker")
    with psycopg.connect(market.url) as connection:
        stored = [row[0] for row in connection.execute("SELECT question FROM advice WHERE question ? 'first'")]
    assert "theils_u about smoker" in {question["measure"] for question in stored}
    assert all(" about " in question["measure"] for question in stored)
