"""Entries as `aegis summarize` makes them by default: from the table to the answers, by every measure."""

import copy
from pathlib import Path

import pytest

from aegis_provider import document_of, load_plan, prepare_entry
from tests.answers import pointers
from tests.service import ask, publish

EXAMPLE = Path(__file__).parents[3] / "examples" / "health"


@pytest.fixture(scope="module")
def rounded():
    """The example's entry, rounded, with pairs."""
    plan = load_plan(EXAMPLE / "plan.yaml")
    return document_of(prepare_entry(EXAMPLE / "health.csv", plan, name="rounded", pairs=True).entry)


@pytest.mark.long
@pytest.mark.parametrize("measure", ["mutual_information", "chi_square", "g3", "joint", "joint_interactions"])
async def test_every_measure_ranks_it_and_claims_no_certainty(api, worker, rounded, measure):
    head = await publish(api, rounded)
    asked = await ask(api, head["id"], measure=measure, require={"k": 5})
    await worker.run()
    answer = (await api.get(asked.headers["Location"])).json()
    assert answer["status"] == "succeeded", answer
    assert answer["ranking_basis"] == "estimated"
    assert answer["considered"] == 42
    for attribute in answer["attributes"]:
        assert [attribute[name] for name in ("bound", "bound_value", "lower_bound", "upper_bound")] == [None] * 4
    if measure == "mutual_information":
        assert answer["configuration"] == "c32"  # as by exact counts; the next one keeps a tenth less
    if not measure.startswith(("g3", "chi")):
        assert all(row["standard_error"] > 0 for row in answer["ranking"][:5])


async def test_what_was_published_comes_back_and_is_the_same_entry(api, rounded):
    head = await publish(api, rounded)
    summaries = (await api.get(f"/v1/entries/{head['id']}/summaries")).json()
    assert summaries == rounded
    again = await api.put(f"/v1/entries/{head['id']}", json=summaries, headers={"If-Match": "*"})
    assert again.json()["digest"] == head["digest"]
    schema = (await api.get(f"/v1/entries/{head['id']}")).json()["schema"]
    assert schema["disclosure_control"] == {"rounded_to": 5, "rounding": "once"}


def spoilt(entry, place, change):
    """The entry with the value at a place changed."""
    spoilt = copy.deepcopy(entry)
    *path, last = place
    holder = spoilt
    for step in path:
        holder = holder[step]
    holder[last] = change(holder[last])
    return spoilt


UNEXPLAINED = [
    (("attributes", 0, "histogram", 0), lambda count: count + 1, "/attributes/0/histogram"),
    (("attributes", 0, "maskings", 0, "joint", 0, 0), lambda count: count + 5, "/attributes/0/maskings/0/joint"),
    (("pairs", 0, "rounded_to"), lambda _: 7, "/pairs/0"),
    (("pairs", 0, "rounded_to"), lambda _: None, "/pairs/0"),
    (("pairs", 0, "joint", 0, 0), lambda count: count + 1, "/pairs/0/joint/0/0"),
    (("pairs", 0, "joint", 0, 0), lambda count: count + 10**6, "/pairs/0/joint"),
    (("pairs", 0, "joint", 0, 0), lambda _: -5, "/pairs/0/joint/0/0"),
    (("pairs", 0, "with_label", "rounded_to"), lambda _: None, "/pairs/0/with_label"),
    (("pairs", 0, "with_label", "combinations"), lambda _: 10**4, "/pairs/0/with_label/combinations"),
    (("pairs", 0, "with_label", "digits"), lambda _: 0, "/pairs/0/with_label/digits"),
    (("pairs", 0, "with_label", "chi_square"), lambda _: 1e9, "/pairs/0/with_label/chi_square"),
    (("disclosure_control", "rounded_to"), lambda _: None, "/disclosure_control/rounding"),
    (("disclosure_control", "rounding"), lambda _: "twice", "/disclosure_control/rounding"),
]


async def test_what_rounding_cannot_explain_is_refused_where_it_is(api, rounded):
    for place, change, pointer in UNEXPLAINED:
        answer = await api.post("/v1/entries", json=spoilt(rounded, place, change))
        assert answer.status_code == 422, place
        assert any(found.startswith(pointer) for found in pointers(answer)), (pointer, pointers(answer))


async def test_a_number_of_suppressed_records_is_rounded_too(api, rounded):
    entry = copy.deepcopy(rounded)
    entry["configurations"][0]["suppressed"] = 7
    answer = await api.post("/v1/entries", json=entry)
    assert pointers(answer) == ["/configurations/0/suppressed"]
    entry["configurations"][0]["suppressed"] = 10
    assert (await api.post("/v1/entries", json=entry)).status_code == 201
