"""The published trace of the unmasked table, by the real service: what deviations are of, and who sees it."""

import numpy as np
import pyarrow as pa
import pytest

from aegis_provider import document_of, load_plan, prepare_entry
from tests.answers import pointers
from tests.app.advice.test_joint_advice import answer_to
from tests.app.advice.test_views import asked, guarded
from tests.pairs import associated_entry, paired_entry
from tests.service import ACCEPTED, ask, publish, running_app

PLAN = """label: default
attributes:
  PAY_2: {maskings: {gone: {suppress: {}}}}
  LIMIT: {maskings: {tens: {bucketize: {width: 10}}, gone: {suppress: {}}}}
  AGE: {maskings: {tens: {bucketize: {width: 10}}, gone: {suppress: {}}}}
configurations:
  released: {PAY_2: gone, LIMIT: tens, AGE: tens}
  worse: {PAY_2: gone, LIMIT: gone, AGE: tens}
%s"""
MORE = "  more: {PAY_2: gone, LIMIT: identity, AGE: tens}\n"


def credit_cards(number=2000):
    """Payments are late by up to five months, which says most about default."""
    random = np.random.default_rng(18)
    late, limit, age = random.integers(0, 6, number), random.integers(0, 40, number), random.integers(20, 60, number)
    default = random.random(number) < 0.05 + 0.1 * late + 0.004 * (40 - limit)
    return pa.table({"PAY_2": late, "LIMIT": limit, "AGE": age, "default": np.where(default, "yes", "no")})


def entry_of(tmp_path, name, more="", **how):
    """An entry of the credit cards; `more`: configurations besides the two."""
    (tmp_path / f"{name}.yaml").write_text(PLAN % more, encoding="utf-8")
    plan = load_plan(tmp_path / f"{name}.yaml")
    return document_of(prepare_entry(credit_cards(), plan, name=name, pairs=True, **how).entry)


def rows(answer):
    return {row["configuration"]: row for row in answer["ranking"]}


@pytest.mark.parametrize("exact", [True, False])
async def test_a_release_without_the_best_attribute_does_not_read_as_if_nothing_was_lost(api, worker, tmp_path, exact):
    entry = entry_of(tmp_path, "cards", exact=exact)
    answer = await answer_to(api, worker, entry, bias_correction=None)
    assert answer["configuration"] == "released"
    joint, best = answer["joint"], rows(answer)["released"]
    assert (joint["reference_source"], joint["reference_utility"]) == ("published", entry["joint_trace"]["value"])
    assert best["deviation"] == pytest.approx(joint["reference_utility"] - best["utility"], abs=1e-12)
    assert best["deviation"] > 0.8 * joint["reference_utility"]  # PAY_2 tells nearly all
    del entry["joint_trace"]
    without = await answer_to(api, worker, entry | {"name": "without"}, bias_correction=None)
    assert without["joint"]["reference_source"] == "known"
    assert rows(without)["released"]["deviation"] < 0.01  # as it read before
    assert without["joint"]["known_utility"] == joint["known_utility"] == without["joint"]["reference_utility"]


async def test_the_same_release_loses_the_same_in_two_entries(api, worker, tmp_path):
    answers = [
        await answer_to(api, worker, entry_of(tmp_path, name, more, exact=True), bias_correction=None)
        for name, more in (("few", ""), ("many", MORE))
    ]
    assert answers[1]["joint"]["known_utility"] > answers[0]["joint"]["known_utility"] + 0.001
    for configuration in ("released", "worse"):
        first, second = (rows(answer)[configuration] for answer in answers)
        assert first["deviation"] == pytest.approx(second["deviation"], abs=1e-12)


QUESTIONS = {
    "another measure of the same": {"measure": "joint", "bias_correction": False},
    "some of the attributes": {"measure": "joint", "attributes": ["age", "zip"], "bias_correction": None},
    "a weight of 0": {"measure": "joint", "weights": {"age": 0}, "bias_correction": None},
    "interactions": {"measure": "joint_interactions", "bias_correction": None},
}


@pytest.mark.long
@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
async def test_of_other_questions_it_is_not_the_whole(api, worker, question):
    answer = await answer_to(api, worker, associated_entry(joint_trace={"value": 0.9}), **question)
    assert answer["joint"]["reference_source"] == "known"
    seen = question["measure"] == "joint_interactions"  # the trace is known to be there, interactions come on top
    assert (answer["joint"]["reference_utility"] == 0.9) == seen


@pytest.mark.long
@pytest.mark.parametrize("measure", ["joint", "joint_interactions"])
async def test_it_changes_neither_the_order_nor_what_others_read(database_url, measure):
    async with guarded(database_url) as (api, worker, keys):
        seen = {}
        for name, more in (("plain", {}), ("told", {"joint_trace": {"value": 0.875}})):
            head = await publish(api, associated_entry(name=name, visibility="all") | more, **keys["owner"])
            for key in ("owner", "stranger"):
                seen[name, key] = (await asked(api, worker, keys[key], head["id"], measure=measure)).json()
            entry = await api.get(f"/v1/entries/{head['id']}", headers=keys["stranger"])
            summaries = await api.get(f"/v1/entries/{head['id']}/summaries", headers=keys["owner"])
            assert ("joint_trace" in summaries.json()) == (name == "told")
            assert "joint_trace" not in entry.text
            assert "0.875" not in entry.text + str(seen[name, "stranger"])
    plain, told = (list(rows(seen[name, "owner"])) for name in ("plain", "told"))
    assert plain == told
    for field in ("configuration", "tied", "ranking", "ranking_basis", "attributes"):
        assert seen["plain", "stranger"][field] == seen["told", "stranger"][field]
    assert seen["told", "owner"]["tied"] == seen["plain", "owner"]["tied"]


REFUSED = {
    "less than an attribute tells": ({"value": 0.0001}, "/joint_trace/value"),
    "more than there is to tell": ({"value": 1.01}, "/joint_trace/value"),
    "no multiple of its base": ({"value": 0.5003, "rounded_to": 0.001}, "/joint_trace/value"),
    "a base that is almost 0": ({"value": 0.5, "rounded_to": 5e-324}, "/joint_trace/value"),
    "not a number": ({"value": "0.5"}, "/joint_trace/value"),
    "below zero": ({"value": -0.1}, "/joint_trace/value"),
    "a base of 0": ({"value": 0.5, "rounded_to": 0}, "/joint_trace/rounded_to"),
    "an unknown field": ({"value": 0.5, "records": 3}, "/joint_trace/records"),
}


async def test_what_cannot_be_true_is_refused(shared_api):
    told = {}
    for name, (trace, _) in REFUSED.items():
        entry = paired_entry(name="refused", joint_trace=trace)
        answer = await shared_api.post("/v1/entries", json=entry, params=ACCEPTED)
        told[name] = answer.status_code, *pointers(answer)
    assert told == {name: (422, pointer) for name, (_, pointer) in REFUSED.items()}


async def test_a_service_that_requires_noise_refuses_it(shared_database_url):
    entry = paired_entry(name="exact", joint_trace={"value": 0.5})
    for settings, rounded, refused in (
        ({"require_noise": True}, {"rounded_to": 0.1}, True),
        ({"min_cell": 2}, {}, True),
        ({"min_cell": 2}, {"rounded_to": 0.1}, False),
    ):
        async with running_app(shared_database_url, **settings) as api:
            trace = {"joint_trace": entry["joint_trace"] | rounded}
            answer = await api.post("/v1/entries", json=entry | trace, params=ACCEPTED)
        places = pointers(answer) if answer.status_code == 422 else []
        assert ("/joint_trace" in places) == refused


@pytest.mark.long
async def test_a_base_that_is_null_is_none(api, worker):
    head = await publish(api, paired_entry(joint_trace={"value": 0.9, "rounded_to": None}))
    await ask(api, head["id"], measure="joint")
    await worker.run()
    answer = (await ask(api, head["id"], measure="joint")).json()
    assert answer["joint"]["reference_utility"] == 0.9
