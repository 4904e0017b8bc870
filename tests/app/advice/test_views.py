"""Who reads what of an answer, by the real routes: full or coarse, whose id it is, and how many may be asked."""

from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import pytest

from aegis_advisor.measures import MEASURES
from aegis_sdk.wire.examples import EXAMPLE_NOISY_MASKING
from tests.pairs import associated_entry, paired_entry
from tests.service import ACCEPTED, Worker, create_key, example_entry, publish, running_app

pytestmark = pytest.mark.usefixtures("_one_loop")

COARSE_FIELDS = {
    "id", "status", "view", "progress", "entry", "request", "configuration", "about", "tied", "considered",
    "ranking_basis", "indistinguishable", "indistinguishable_count", "ranking", "attributes", "unit", "better",
    "model_version", "created_at", "policy", "policy_unit", "stale", "label",
}  # fmt: skip
NAMES = {
    "c0": "age in 2 bands, sex in 2 groups",
    "c1": "age in 2 bands, 1 column left out",
    "c2": "sex in 2 groups, age left out",
    "c3": "2 columns left out",
}
FULL_FIELDS = COARSE_FIELDS | {"deviation", "joint", "expected", "elapsed_ms"}


def two_attributes(**changes: Any) -> dict[str, Any]:
    """The example with a second attribute beside it, which tells less, and four configurations."""
    entry = example_entry(visibility="all", **changes)
    age = entry["attributes"][0]
    joint = np.array(age["maskings"][0]["joint"])
    other = [[int(n) for n in joint.sum(axis=0) // 2], [int(n) for n in joint.sum(axis=0) - joint.sum(axis=0) // 2]]
    masking = {"id": "sex-2", "domain": ["f", "m"], "mapping": [0, 1], "joint": other}
    entry["attributes"].append({"name": "sex", "type": "string", "domain": ["f", "m"], "maskings": [masking]})
    choices = [(a, b) for a in ("age-2", "drop") for b in ("sex-2", "drop")]
    entry["configurations"] = [
        {"id": f"c{place}", "maskings": {"age": a, "sex": b}} for place, (a, b) in enumerate(choices)
    ]
    return entry


@asynccontextmanager
async def guarded(database_url: str, **settings: Any):
    """The API with keys of every kind of caller, by name, and a worker."""
    kinds = {
        "owner": ("owner", "provider"),
        "consumer": ("owner", "consumer"),
        "stranger": ("stranger", "consumer"),
        "other provider": ("stranger", "provider"),
        "operator": ("elsewhere", "operator"),
    }
    keys = {name: await create_key(database_url, *kind) for name, kind in kinds.items()}
    async with running_app(database_url, **settings) as api, Worker.on(database_url) as worker:
        yield api, worker, keys


async def asked(api, worker, key, entry_id, **question):
    """The answer to a question, as the holder of `key` reads it."""
    path, body = f"/v1/entries/{entry_id}/advice", {"measure": "mutual_information"} | question
    queued = await api.post(path, json=body, headers=key | {"Prefer": "respond-async"})
    await worker.run()
    if queued.status_code >= 400:
        return queued
    return await api.get(f"/v1/advice/{queued.json()['id']}", headers=key)


async def test_each_caller_has_the_fields_of_its_view_and_no_other(database_url):
    async with guarded(database_url) as (api, worker, keys):
        head = await publish(api, two_attributes(), **keys["owner"])
        seen = {name: (await asked(api, worker, key, head["id"])).json() for name, key in keys.items()}
    full = {name for name, answer in seen.items() if answer["view"] == "full"}
    assert full == {"owner", "operator"}
    for name, answer in seen.items():
        assert set(answer) == (FULL_FIELDS if name in full else COARSE_FIELDS), name
        assert {row["configuration"]: row["about"] for row in answer["ranking"]} == NAMES
        assert answer["about"] == NAMES[answer["configuration"]]
    for name in seen.keys() - full:
        rows = [set(row) for row in seen[name]["ranking"]]
        assert rows == [{"configuration", "about", "rank", "utility_share", "deviation_share", "expected"}] * 4
        for attribute in seen[name]["attributes"]:
            assert set(attribute) == {"name", "maskings"}
            assert {frozenset(score) for score in attribute["maskings"].values()} == {frozenset({"kept"})}
    first, best = seen["owner"], seen["stranger"]
    assert best["ranking"] == [
        {name: row[name] for name in ("configuration", "about", "rank", "utility_share", "deviation_share", "expected")}
        for row in first["ranking"]
    ]
    assert best["ranking"][0]["configuration"] == best["configuration"] == first["configuration"]


async def test_of_an_entry_with_one_attribute_others_read_the_order_only(database_url):
    async with guarded(database_url) as (api, worker, keys):
        head = await publish(api, example_entry(visibility="all"), **keys["owner"])
        answer = (await asked(api, worker, keys["stranger"], head["id"])).json()
    assert [row["rank"] for row in answer["ranking"]] == [1, 2]
    assert {row["utility_share"] for row in answer["ranking"]} == {None}
    assert answer["attributes"] == []


@pytest.mark.long
async def test_the_limit_does_not_tell_more_of_the_order_of_a_joint_measure(database_url):
    async with guarded(database_url) as (api, worker, keys):
        head = await publish(api, paired_entry(visibility="all"), **keys["owner"])
        answers = [
            (await asked(api, worker, keys["stranger"], head["id"], measure="joint", limit=limit)).json()
            for limit in (None, 0, 1, 2, 3)
        ]
    whole = answers[0]
    assert len(whole["ranking"]) == 4
    for answer, limit in zip(answers, (4, 0, 1, 2, 3), strict=True):
        assert (answer["configuration"], answer["tied"]) == (whole["configuration"], whole["tied"])
        assert answer["ranking"] == whole["ranking"][:limit]


@pytest.mark.long
async def test_what_pairs_tell_of_the_label_is_in_no_view_of_others(database_url):
    entry = associated_entry(visibility="all")
    secrets = ["with_label", 'chi_square":', *(str(one["with_label"]["chi_square"]) for one in entry["pairs"])]
    async with guarded(database_url) as (api, worker, keys):
        path = f"/v1/entries/{(await publish(api, entry, **keys['owner']))['id']}"
        published = (await api.get(f"{path}/summaries", headers=keys["owner"])).text
        assert all(secret in published for secret in secrets)
        for name in ("stranger", "other provider", "consumer"):
            key = keys[name]
            reads = [await api.get(where, headers=key) for where in (path, f"{path}/summaries", "/v1/entries")]
            assert [read.status_code for read in reads] == [200, 403, 200]
            for measure in ("joint", "joint_interactions"):
                reads.append(await asked(api, worker, key, path.rsplit("/", 1)[1], measure=measure))
                assert "joint" not in reads[-1].json()
            assert not [secret for secret in secrets for read in reads if secret in read.text], name
            assert all(set(one) == {"attributes", "maskings"} for one in reads[0].json()["schema"]["pairs"])


async def test_tenants_that_ask_the_same_share_the_computation_and_nothing_else(database_url):
    async with guarded(database_url) as (api, worker, keys):
        head = await publish(api, two_attributes(), **keys["owner"])
        owner, stranger = [(await asked(api, worker, keys[name], head["id"])).json() for name in ("owner", "stranger")]
        assert owner["id"] != stranger["id"]
        assert owner["created_at"] < stranger["created_at"]
        for name, status in (("owner", 404), ("operator", 200), ("stranger", 200)):
            answer = await api.get(f"/v1/advice/{stranger['id']}", headers=keys[name])
            assert answer.status_code == status, name
        again = (await asked(api, worker, keys["stranger"], head["id"])).json()
        assert again == stranger


@pytest.mark.parametrize(
    ("question", "pointer"),
    [
        ({"attributes": ["age"]}, "/attributes"),
        ({"weights": {"age": 0}}, "/weights"),
        ({"weights": {"age": 0.3}}, "/weights/age"),
        ({"reference": "own"}, "/reference"),
    ],
)
async def test_what_others_may_not_ask_is_refused_and_costs_them_nothing(database_url, question, pointer):
    async with guarded(database_url, question_budget=1) as (api, worker, keys):
        head = await publish(api, two_attributes(), **keys["owner"])
        for name in ("stranger", "consumer", "other provider"):
            refused = await asked(api, worker, keys[name], head["id"], **question)
            assert (refused.status_code, refused.json()["code"]) == (422, "beyond_view")
            assert [fault["pointer"] for fault in refused.json()["errors"]] == [pointer]
        assert (await asked(api, worker, keys["stranger"], head["id"])).status_code == 200
        assert (await asked(api, worker, keys["owner"], head["id"], **question)).status_code == 200


async def test_a_tenant_has_so_many_distinct_questions_and_no_more(database_url):
    async with guarded(database_url, question_budget=2) as (api, worker, keys):
        head = await publish(api, two_attributes(), **keys["owner"])
        stranger, other = keys["stranger"], keys["other provider"]
        for measure in ("g3", "g1", "g3", "g1"):
            assert (await asked(api, worker, stranger, head["id"], measure=measure)).status_code == 200
        spent = await asked(api, worker, other, head["id"], measure="chi_square")
        assert (spent.status_code, spent.json()["code"]) == (429, "budget_spent")
        assert "0 of 2 questions" in spent.json()["detail"]
        assert (await asked(api, worker, other, head["id"], measure="g1")).status_code == 200
        # Another tenant, and those who read everything, have their own; so has the next version.
        for name in ("consumer", "owner", "operator"):
            assert (await asked(api, worker, keys[name], head["id"], measure="chi_square")).status_code == 200
        changed = two_attributes(title="Another")
        headers = keys["owner"] | {"If-Match": "*"}
        put = await api.put(f"/v1/entries/{head['id']}", params=ACCEPTED, json=changed, headers=headers)
        assert put.json()["version"] == 2
        assert (await asked(api, worker, stranger, head["id"], measure="chi_square")).status_code == 200


async def test_what_was_asked_stays_readable_with_the_view_of_the_version_asked_about(database_url):
    async with guarded(database_url) as (api, worker, keys):
        head = await publish(api, noisy(two_attributes()), **keys["owner"])
        opened = (await asked(api, worker, keys["stranger"], head["id"])).json()
        assert (opened["view"], opened["elapsed_ms"]) == ("full", None)
        headers = keys["owner"] | {"If-Match": "*"}
        await api.put(f"/v1/entries/{head['id']}", params=ACCEPTED, json=two_attributes(), headers=headers)
        read = await api.get(f"/v1/advice/{opened['id']}", headers=keys["stranger"])
        assert read.json() == opened | {"stale": True}
        assert (await asked(api, worker, keys["stranger"], head["id"])).json()["view"] == "coarse"


def noisy(entry: dict[str, Any]) -> dict[str, Any]:
    """The entry, its counts declared to have noise that covers them all, and its answers open to everybody."""
    entry["disclosure_control"] = {"epsilon": 3.0, "open_answers": True}
    noise = EXAMPLE_NOISY_MASKING["noise"]
    entry["label"]["noise"] = noise
    for attribute in entry["attributes"]:
        attribute.pop("histogram", None)
        for masking in attribute["maskings"]:
            masking["noise"] = noise
    return entry


@pytest.mark.parametrize("control", [{}, {"rounded_to": 5}, {"min_cell": 2}, {"epsilon": 3.0, "min_cell": 2}])
async def test_answers_are_opened_by_noise_alone(database_url, control):
    async with guarded(database_url) as (api, _, keys):
        entry = two_attributes(disclosure_control=control | {"open_answers": True})
        refused = await api.post("/v1/entries", json=entry, headers=keys["owner"])
        assert refused.status_code == 422
        assert "/disclosure_control/open_answers" in [fault["pointer"] for fault in refused.json()["errors"]]


async def test_noise_that_changes_no_count_opens_nothing(database_url):
    async with guarded(database_url) as (api, _, keys):
        entry = noisy(two_attributes())
        entry["disclosure_control"]["epsilon"] = 5_000.0
        entry["label"]["noise"] = {"kind": "laplace", "scale": 0.001, "epsilon": 1_000.0}
        refused = await api.post("/v1/entries", json=entry, headers=keys["owner"])
        assert refused.status_code == 422
        assert [fault["pointer"] for fault in refused.json()["errors"]] == ["/label/noise/scale"]


async def test_others_cannot_confirm_a_guess_by_publishing_it(database_url):
    async with guarded(database_url) as (api, _, keys):
        secret = await publish(api, two_attributes(), **keys["owner"])
        guess = await publish(api, two_attributes(), **keys["other provider"])
        assert guess["digest"] == secret["digest"]
        for key in (keys["stranger"], keys["other provider"]):
            seen = await api.get(f"/v1/entries/{secret['id']}", headers=key)
            assert seen.json()["digest"].startswith("hmac-sha256:")
            assert seen.json()["digest"][-64:-48] in seen.headers["ETag"]
        mine = await api.get(f"/v1/entries/{guess['id']}", headers=keys["stranger"])
        assert mine.json()["digest"] != seen.json()["digest"]


async def test_a_question_of_the_provider_is_not_one_of_its_tenant_s_consumers(database_url):
    async with guarded(database_url) as (api, worker, keys):
        head = await publish(api, two_attributes(), **keys["owner"])
        alone = (await asked(api, worker, keys["owner"], head["id"], weights={"sex": 0})).json()
        assert (await api.get(f"/v1/advice/{alone['id']}", headers=keys["owner"])).status_code == 200
        assert (await api.get(f"/v1/advice/{alone['id']}", headers=keys["consumer"])).status_code == 404


async def test_by_other_measures_others_read_the_order_only(database_url):
    async with guarded(database_url) as (api, worker, keys):
        head = await publish(api, two_attributes(), **keys["owner"])
        for question in ({"measure": "g3"}, {"measure": "theils_u"}, {"bias_correction": True}):
            answer = (await asked(api, worker, keys["stranger"], head["id"], **question)).json()
            assert {row["utility_share"] for row in answer["ranking"]} == {None}
            assert answer["attributes"] == []
            assert min(row["rank"] for row in answer["ranking"]) == 1


@pytest.mark.long
async def test_of_the_papers_example_no_measure_tells_others_a_number(database_url):
    async with guarded(database_url) as (api, worker, keys):
        head = await publish(api, example_entry(visibility="all"), **keys["owner"])
        for measure in MEASURES:
            for correction in (None, *([True] if MEASURES[measure].correction else [])):
                question = {"measure": measure, "bias_correction": correction}
                answer = (await asked(api, worker, keys["stranger"], head["id"], **question)).json()
                assert numbers_in({name: answer[name] for name in COARSE_FIELDS - {"request", "entry"}}) <= {1, 2}


def numbers_in(value):
    """Every number in a JSON value."""
    if isinstance(value, dict | list):
        return set().union(*map(numbers_in, value.values() if isinstance(value, dict) else value))
    return {value} if isinstance(value, int | float) and not isinstance(value, bool) else set()


async def test_others_read_a_share_of_what_was_measured(database_url):
    measured = {"model": "gradient boosting", "auc": 0.634, "low": 0.627, "high": 0.64, "raw_auc": 0.75}
    entry = two_attributes()
    entry["configurations"][0]["measured"] = measured
    entry["configurations"][1]["measured"] = measured | {"low": 0.3, "auc": 0.4}
    entry["configurations"][2]["measured"] = measured | {"raw_auc": 0.5}
    async with guarded(database_url) as (api, _, keys):
        path = f"/v1/entries/{(await publish(api, entry, **keys['owner']))['id']}"
        seen = {name: (await api.get(path, headers=key)).json()["schema"] for name, key in keys.items()}
        published = (await api.get(f"{path}/summaries", headers=keys["owner"])).json()
    assert published["configurations"] == entry["configurations"]
    for name, schema in seen.items():
        read = [each.get("measured") for each in schema["configurations"]]
        if name in {"owner", "operator"}:
            assert read == [each.get("measured") for each in entry["configurations"]], name
        else:
            shares = [{"model": "gradient boosting", "share": share} for share in (0.54, 0.0, None)]
            assert read == [*shares, None], name


async def test_others_read_the_share_of_a_numbers_r_squared(database_url):
    entry = two_attributes() | {"format": 4}
    entry["label"]["scores"] = {"values": [1, 2, 3, 4, 5]}
    entry["configurations"][0]["measured"] = {"model": "m", "r2": 0.3, "low": 0.2, "high": 0.4, "raw_r2": 0.4}
    async with guarded(database_url) as (api, _, keys):
        path = f"/v1/entries/{(await publish(api, entry, **keys['owner']))['id']}"
        seen = (await api.get(path, headers=keys["stranger"])).json()["schema"]
    assert seen["configurations"][0]["measured"] == {"model": "m", "share": 0.75}


async def test_what_was_measured_never_ranks(database_url):
    low, high = ({"model": "m", "auc": auc, "low": auc, "high": auc, "raw_auc": 0.9} for auc in (0.5, 0.9))
    plain, measured = two_attributes(name="plain"), two_attributes(name="measured")
    for each, figures in zip(measured["configurations"], (low, low, low, high), strict=True):
        each["measured"] = figures
    answers = {}
    async with guarded(database_url) as (api, worker, keys):
        for entry in (plain, measured):
            head = await publish(api, entry, **keys["owner"])
            for name in ("owner", "stranger"):
                answer = (await asked(api, worker, keys[name], head["id"])).json()
                told = {field: answer[field] for field in ("configuration", "tied", "ranking", "attributes")}
                assert answers.setdefault(name, told) == told
