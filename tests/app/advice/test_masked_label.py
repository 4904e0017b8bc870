"""Questions about an entry whose configurations mask the label: by their own tables, and for a coarser label."""

import numpy as np
import pytest

from aegis_sdk import wire
from aegis_sdk.cli.advise import report
from tests.labels import some_records
from tests.service import Worker, create_key, publish, running_app

pytestmark = pytest.mark.usefixtures("_one_loop")

RECORDS = some_records(7, 600)
LABEL, MERGED = "charges", [0, 0, 1, 1]
MASKINGS = {"age": {"age-3": [0, 0, 1, 1, 2, 2], "age-2": [0, 0, 0, 1, 1, 1]}, "zip": {"zip-2": [0, 0, 1, 1]}}
SIZES = {"age": 6, "zip": 4, LABEL: 4}
CONFIGURATIONS = (
    ("fine", "age-3", "zip-2", "charges-2"),
    ("whole", "age-2", "zip-2", "identity"),
    ("coarse", "age-2", "drop", "charges-2"),
)
OWN = ("id", "entry", "request", "created_at", "elapsed_ms", "label", "names")


def masked(name, mapping=None):
    return RECORDS[name] if mapping is None else np.array(mapping)[RECORDS[name]]


def counted(one, other):
    table = np.zeros((one.max() + 1, other.max() + 1), dtype=int)
    np.add.at(table, (one, other), 1)
    return table.tolist()


def attribute(name, label, counted_with_label):
    """An attribute with the joint counts of some maskings with a label (records,)."""
    maskings = []
    for masking, mapping in MASKINGS[name].items():
        own = {"id": masking, "domain": [f"{name} {at}" for at in range(max(mapping) + 1)], "mapping": mapping}
        joint = {"joint": counted(masked(name, mapping), label)} if masking in counted_with_label else {}
        maskings.append(own | joint)
    domain = [f"{name} {at}" for at in range(SIZES[name])]
    histogram = np.bincount(RECORDS[name], minlength=SIZES[name]).tolist()
    return {"name": name, "type": "string", "domain": domain, "histogram": histogram, "maskings": maskings}


def entry(**changes):
    """An entry in which `age-3` is counted with the masked label only."""
    label = masked(LABEL)
    block = {"attributes": ["age", LABEL], "maskings": ["age-3", "charges-2"]}
    both = {"attributes": ["age", "zip"], "maskings": ["age-3", "zip-2"]}
    return {
        "format": 4,
        "name": "masked-label",
        "records": int(label.size),
        "label": {
            "name": LABEL,
            "domain": ["a", "b", "c", "d"],
            "histogram": np.bincount(label).tolist(),
            "maskings": [{"id": "charges-2", "domain": ["ab", "cd"], "mapping": MERGED}],
        },
        "attributes": [attribute("age", label, ("age-2",)), attribute("zip", label, ("zip-2",))],
        "pairs": [
            block | {"joint": counted(masked("age", MASKINGS["age"]["age-3"]), masked(LABEL, MERGED))},
            both | {"joint": counted(masked("age", MASKINGS["age"]["age-3"]), masked("zip", MASKINGS["zip"]["zip-2"]))},
            {
                "attributes": ["age", "zip"],
                "maskings": ["age-2", "zip-2"],
                "joint": counted(masked("age", MASKINGS["age"]["age-2"]), masked("zip", MASKINGS["zip"]["zip-2"])),
            },
        ],
        "configurations": [
            {"id": name, "maskings": {"age": age, "zip": zip_code, LABEL: shown}}
            for name, age, zip_code, shown in CONFIGURATIONS
        ],
        **changes,
    }


def entry_of_the_coarse_label():
    """The entry made with the masked label as its label."""
    label = masked(LABEL, MERGED)
    whole = entry()
    return whole | {
        "format": 1,
        "name": "coarse-label",
        "label": {"name": LABEL, "domain": ["ab", "cd"], "histogram": np.bincount(label).tolist()},
        "attributes": [attribute("age", label, ("age-3", "age-2")), attribute("zip", label, ("zip-2",))],
        "pairs": whole["pairs"][1:],
        "configurations": [
            {"id": one["id"], "maskings": {name: one["maskings"][name] for name in ("age", "zip")}}
            for one in whole["configurations"]
        ],
    }


async def answer(api, worker, entry_id, key, **question):
    asked = await api.post(f"/v1/entries/{entry_id}/advice", json=question, headers={"Prefer": "respond-async"} | key)
    assert asked.status_code in (200, 202), asked.text
    await worker.run()
    found = (await api.get(f"/v1/advice/{asked.json()['id']}", headers=key)).json()
    assert found["status"] == "succeeded", found["problem"]
    return found


def answer_in(found):
    """The answer as the SDK reads it."""
    return (wire.Advice if found["view"] == "full" else wire.CoarseAdvice).model_validate(found)


def trace(*columns):
    """Pillai's trace of the last column given the others, by its definition."""
    *values, label = [np.eye(column.max() + 1)[column] for column in columns]
    x, y = np.hstack(values) - np.hstack(values).mean(axis=0), label - label.mean(axis=0)
    fitted = x @ np.linalg.pinv(x, rcond=1e-9) @ y
    return float(np.trace(np.linalg.pinv(y.T @ y, rcond=1e-9) @ (fitted.T @ fitted)))


async def test_both_questions_about_a_masked_label_are_answered(database_url):
    consumer = await create_key(database_url, "reader", "consumer")
    provider = await create_key(database_url, "owner", "provider")
    async with running_app(database_url) as api, Worker.on(database_url) as worker:
        own = await publish(api, entry(visibility="all"), **provider)
        coarse = await publish(api, entry_of_the_coarse_label() | {"visibility": "all"}, **provider)

        schema = (await api.get(f"/v1/entries/{own['id']}", headers=provider)).json()["schema"]
        joint = await answer(api, worker, own["id"], provider, measure="joint", bias_correction=False)
        zip_code, age = masked("zip", MASKINGS["zip"]["zip-2"]), MASKINGS["age"]
        expected = {
            "fine": trace(masked("age", age["age-3"]), zip_code, masked(LABEL, MERGED)),
            "whole": trace(masked("age", age["age-2"]), zip_code, masked(LABEL)),
            "coarse": trace(masked("age", age["age-2"]), masked(LABEL, MERGED)),
        }
        assert {row["configuration"]: row["utility"] for row in joint["ranking"]} == pytest.approx(expected)
        assert joint["ranking_basis"] == "exact"
        assert joint["label"] is None
        assert next(report(answer_in(joint), schema)).startswith(
            "fine: a model of charges as charges-2 shows it should reach AUC 0."
        )

        told = {row["configuration"]: row["expected"] for row in joint["ranking"]}
        for measure, key in (
            ("joint", provider),
            ("joint", consumer),
            ("mutual_information", provider),
            ("mutual_information", consumer),
        ):
            one = await answer(api, worker, own["id"], key, measure=measure, target="charges-2")
            other = await answer(api, worker, coarse["id"], key, measure=measure)
            for name in ("configuration", "considered", "ranking_basis", "tied"):
                assert one[name] == other[name], (measure, name)
            for row, row_of_other in zip(one["ranking"], other["ranking"], strict=True):
                assert row.keys() == row_of_other.keys()
                for name in row.keys() - {"difference_error"}:
                    assert row[name] == pytest.approx(row_of_other[name]), (measure, name)
                if measure == "joint" and key is provider and row["configuration"] != "whole":
                    assert row["expected"] == pytest.approx(told[row["configuration"]])
            assert one["label"] == {"name": LABEL, "listed": True, "target": "charges-2", "left_out": 0}
            assert one["request"]["target"] == "charges-2"
            lines = list(report(answer_in(one), schema))
            said = "a model of charges as charges-2 shows it should reach AUC 0." in lines[0]
            assert said == (one["ranking"][0].get("expected") is not None)
            assert "about charges as charges-2 shows it" in lines

        seen = await answer(api, worker, own["id"], consumer, measure="mutual_information")
        assert seen["ranking"][0]["configuration"] == seen["configuration"]
        assert seen["view"] == "coarse"
        whole = await answer(api, worker, own["id"], provider, measure="mutual_information", target="identity")
        assert [row["configuration"] for row in whole["ranking"]] == ["whole"]
        assert whole["label"]["left_out"] == 2


def faults(response):
    assert response.status_code == 422, response.text
    return {fault["pointer"]: fault["detail"] for fault in response.json()["errors"]}


async def test_what_cannot_be_asked_or_published_is_refused_with_its_place(database_url):
    provider = await create_key(database_url, "owner", "provider")
    async with running_app(database_url) as api:
        own = await publish(api, entry(), **provider)

        async def refused(**question):
            return faults(await api.post(f"/v1/entries/{own['id']}/advice", json=question, headers=provider))

        assert "it has identity, charges-2" in (await refused(measure="joint", target="charges-9"))["/target"]
        assert "/reference" in await refused(measure="mutual_information", reference="own")
        assert "/measure" in await refused(measure="joint_interactions")

        async def not_published(document):
            return faults(await api.post("/v1/entries", json=document, headers=provider))

        label = entry()["label"]
        one_class = label | {"maskings": [{"id": "all", "domain": ["abcd"], "mapping": [0, 0, 0, 0]}]}
        assert "/label/maskings/0/domain" in await not_published(entry(label=one_class))
        assert "/label/maskings" in await not_published(entry(format=3))
        wrong = entry()
        wrong["pairs"][0]["joint"][0][0] += 1
        assert "/pairs/0/joint" in await not_published(wrong)
        silent = entry()
        del silent["configurations"][0]["maskings"][LABEL]
        assert "/configurations/0/maskings/charges" in await not_published(silent)
        only = entry(configurations=entry()["configurations"][::2], name="only-masked")
        masked_only = await publish(api, only, **provider)
        asked = {"measure": "mutual_information", "target": "identity"}
        response = await api.post(f"/v1/entries/{masked_only['id']}/advice", json=asked, headers=provider)
        assert "charges-2" in faults(response)["/target"]
