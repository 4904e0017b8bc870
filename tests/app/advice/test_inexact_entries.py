"""Entries with counts that are declared to be inexact or drawn at random: from publication to the answer."""

import numpy as np
import pytest

from aegis_sdk.wire import EXAMPLE_DRAWN_MASKING, EXAMPLE_NOISY_MASKING
from app.entries.service import checks
from tests.service import ask, example_entry, publish

NOISE = {"kind": "laplace", "scale": 2.0}


def with_masking(**fields):
    """The example with a changed masking; fields that are None are left out."""
    entry = example_entry()
    masking = entry["attributes"][0]["maskings"][0] | fields
    entry["attributes"][0]["maskings"][0] = {name: value for name, value in masking.items() if value is not None}
    return entry


def with_masking_of(masking):
    """The example with another masking instead of its own."""
    entry = example_entry()
    entry["attributes"][0]["maskings"] = [masking]
    entry["configurations"][0]["maskings"] = {"age": masking["id"]}
    return entry


NOISY, DRAWN = with_masking_of(EXAMPLE_NOISY_MASKING), with_masking_of(EXAMPLE_DRAWN_MASKING)
ROUNDED = with_masking(rounded_to=5, joint=[[0, 0, 0, 5, 10], [15, 25, 30, 10, 0]])
LACKING = with_masking(records=98, joint=[[0, 0, 1, 7, 12], [13, 25, 29, 9, 2]])
ALL = with_masking(
    noise=NOISE | {"scale": 0.5}, rounded_to=2, records=98, joint=[[0, -2, 1, 8, 12], [12, 25, 29, 9, 2]]
)

NEXT_TO_NO_NOISE = with_masking(noise=NOISE | {"scale": 0.01}, joint=[[0, 0, 1, 7, 13], [15, 25, 29, 9, 2]])


async def answer_to(api, worker, entry, **question):
    head = await publish(api, entry)
    asked = await ask(api, head["id"], **question)
    await worker.run()
    answer = (await api.get(asked.headers["Location"])).json()
    assert answer["status"] == "succeeded"
    return answer


@pytest.mark.parametrize(
    "entry", [NOISY, ROUNDED, LACKING, ALL, DRAWN], ids=["noise", "base", "records", "all", "drawn"]
)
async def test_what_was_published_comes_back_and_is_the_same_entry(api, entry):
    head = await publish(api, entry)
    summaries = (await api.get(f"/v1/entries/{head['id']}/summaries")).json()
    assert summaries == entry
    again = await api.put(f"/v1/entries/{head['id']}", json=summaries, headers={"If-Match": "*"})
    assert (again.json()["version"], again.json()["digest"]) == (1, head["digest"])
    schema = (await api.get(f"/v1/entries/{head['id']}")).json()["schema"]
    masking = entry["attributes"][0]["maskings"][0]
    assert schema["attributes"][0]["maskings"] == [{name: masking[name] for name in masking if name != "joint"}]


@pytest.mark.parametrize("entry", [NOISY, ROUNDED, LACKING, ALL], ids=["noise", "base", "records", "all"])
async def test_inexact_counts_are_measured_through_their_fit_and_say_how_far_off_they_are(api, worker, entry):
    answer = await answer_to(api, worker, entry)
    (age,) = answer["attributes"]
    assert answer["configuration"] == "c01"
    assert answer["ranking_basis"] == "estimated"
    assert age["maskings"]["age-2"]["source"] == "fitted"
    assert age["maskings"]["age-2"]["utility"] == pytest.approx(0.4176, abs=0.15)
    assert age["bound"] is None
    assert age["reconstruction"]["converged"]
    (misfit,) = age["reconstruction"]["misfits"].values()
    assert 0 <= misfit["standardised"] < 3
    assert 0 < misfit["largest"] < 0.1


async def test_drawn_counts_are_measured_as_they_are_and_tell_of_the_attribute(api, worker):
    answer = await answer_to(api, worker, DRAWN)
    (age,) = answer["attributes"]
    assert answer["ranking_basis"] == "estimated"
    assert age["maskings"]["age-rr"]["source"] == "counts"
    assert age["maskings"]["age-rr"]["utility"] == pytest.approx(0.08866, abs=1e-5)
    assert age["reference_utility"] > 2 * age["maskings"]["age-rr"]["utility"]
    assert age["reconstruction"]["atoms"] == 2
    assert list(age["reconstruction"]["misfits"]) == ["age-rr"]


async def test_all_records_counted_is_nothing_left_out(api, worker):
    answer = await answer_to(api, worker, with_masking(records=100))
    (age,) = answer["attributes"]
    assert (answer["ranking_basis"], age["maskings"]["age-2"]["source"]) == ("exact", "counts")
    assert age["reconstruction"]["misfits"] == {}


@pytest.mark.parametrize("entry", [NOISY, DRAWN], ids=["noise", "drawn"])
async def test_the_own_reference_is_refused(api, entry):
    head = await publish(api, entry)
    answer = await ask(api, head["id"], reference="own")
    assert (answer.status_code, answer.json()["code"]) == (422, "no_own_reference")


@pytest.mark.parametrize(
    ("entry", "evidence"),
    [
        (with_masking(mapping=None, deterministic=True, noise=NOISE), False),
        (with_masking(mapping=None, transition=[[0.5, 0.5]] * 8), False),
        (NOISY, True),
        (DRAWN, True),
    ],
    ids=["noisy, unmapped", "drawn alike", "noisy", "drawn"],
)
async def test_only_counts_that_speak_of_values_are_evidence(api, entry, evidence):
    head = await publish(api, entry)
    answer = await ask(api, head["id"])
    assert answer.status_code == (202 if evidence else 422)
    assert evidence or answer.json()["code"] == "no_evidence"


UNDECLARED = [
    (with_masking(joint=[[0, 0, 1, 7, 13], [15, 25, 29, 9, 2]]), "/joint", ("1 too many", "noise")),
    (with_masking(joint=[[0, 0, 1, 7, 11], [15, 25, 29, 9, 2]]), "/joint", ("1 too few", "records")),
    (with_masking(joint=[[0, 0, 1, 7, -2], [15, 25, 29, 9, 2]]), "/joint/0/4", ("cannot be negative", "noise")),
    (with_masking(rounded_to=5), "/joint/0/2", ("1 is not a multiple of 5",)),
    (with_masking(records=99), "/joint", ("100", "99", "1 too many")),
    (NEXT_TO_NO_NOISE, "/joint", ("1 too many",)),
    (with_masking(mapping=None, transition=[[0.75, 0.2]] * 8), "/transition/0", ("0.95",)),
]


async def test_what_is_not_declared_is_refused_with_the_difference(api):
    for entry, place, words in UNDECLARED:
        refused = await api.post("/v1/entries", json=entry)
        assert refused.status_code == 422, (place, words)
        fault = refused.json()["errors"][0]
        assert fault["pointer"] == "/attributes/0/maskings/0" + place
        assert [word for word in words if word not in fault["detail"]] == [], fault


async def test_transition_matrices_are_limited(api):
    entry = example_entry()
    values, groups = 501, 500
    texts = [str(value) for value in range(values)]
    joint = np.zeros((groups, 5), dtype=int)
    joint[0] = entry["label"]["histogram"]
    masking = {"id": "rr", "domain": texts[:groups], "joint": joint.tolist()}
    masking["transition"] = [[1] + [0] * (groups - 1)] * values
    entry["attributes"] = [{"name": "age", "type": "integer", "domain": texts, "maskings": [masking]}]
    entry["configurations"] = [{"id": "c", "maskings": {"age": "rr"}}]
    refused = await api.post("/v1/entries", json=entry)
    assert refused.status_code == 422
    assert [fault["pointer"] for fault in refused.json()["errors"]] == ["/attributes"]
    assert values * groups > checks.PROBABILITIES
