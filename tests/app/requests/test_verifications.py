"""Deliveries that are received or disputed: the verdict, the evidence, and who may do and read what."""

import asyncio
from uuid import uuid4

import psycopg
import pytest

from aegis_sdk.wire import EXAMPLE_ENTRY, MOST_DIFFERENCES
from tests.app.requests.asking import advised, entry, read, step
from tests.service import ACCEPTED, publish

SHA256 = "9c56cc51b374c3ba189210d5b6d4bf57790d351c96c47c02190ecf1e430635ab"
FILE = {"sha256": SHA256, "size": 481_230, "records": 100}
DELIVERED = FILE | {
    "url": "https://store.hospital.example/c01.csv",
    "media_type": "text/csv",
    "configuration": "c01",
    "privacy": {"k": 5, "t": 0.2},
}
AGREES = FILE | {"privacy": {"k": 6, "l": 2, "t": 0.2}, "cells_compared": 12}
AGES = next(each for each in EXAMPLE_ENTRY["attributes"][0]["maskings"] if each["id"] == "age-2")["domain"]
DIFFERENCE = {
    "attributes": ["age"],
    "maskings": ["age-2"],
    "values": [AGES[0]],
    "label": EXAMPLE_ENTRY["label"]["domain"][0],
    "published": 4,
    "delivered": 5,
    "rule": "equal",
}
DIFFERS = AGREES | {"cells_differing": 1, "differences": [DIFFERENCE]}


async def delivered(guarded, keys, head, worker):
    request_id = await advised(guarded, keys, head, worker)
    await step(guarded, keys["provider"], request_id, "approve")
    said = DELIVERED | {"entry_digest": head["digest"]}
    answer = await step(guarded, keys["provider"], request_id, "deliver", **said)
    assert answer.status_code == 200, answer.text
    return request_id


@pytest.fixture
async def request_id(guarded, keys, head, worker):
    return await delivered(guarded, keys, head, worker)


@pytest.fixture(scope="module")
async def untouched(guarded, keys, worker):
    """A delivered request that no test may change."""
    return await delivered(guarded, keys, await publish(guarded, entry(), **keys["provider"]), worker)


async def evidence(guarded, key, request_id):
    return await guarded.get(f"/v1/requests/{request_id}/evidence", headers=key)


async def test_a_delivery_is_received_and_both_sides_read_what_was_found_out(guarded, keys, request_id):
    answer = await step(guarded, keys["consumer"], request_id, "receive", **AGREES)
    assert answer.status_code == 200, answer.text
    for who in ("consumer", "provider", "operator", "own"):
        seen = (await read(guarded, keys[who], request_id)).json()
        told = seen["verification"]
        assert (seen["state"], seen["possible"], seen["expires_at"]) == ("received", [], None)
        assert told.pop("verified_at") is not None
        shown = None if who == "own" else []
        assert told == AGREES | {"cells_differing": 0, "differences": shown}
        assert (seen["changes"][-1]["action"], seen["changes"][-1]["side"]) == ("receive", "consumer")
    assert (await read(guarded, keys["other"], request_id)).status_code == 404


async def test_a_dispute_has_the_counts_that_differ_for_those_who_may_read_counts(guarded, keys, request_id):
    answer = await step(guarded, keys["consumer"], request_id, "dispute", **DIFFERS, reason="One record more")
    assert answer.json()["state"] == "disputed"
    for who, shown in {"consumer": True, "provider": True, "reviewer": True, "operator": True, "own": False}.items():
        seen = (await read(guarded, keys[who], request_id)).json()
        assert seen["verification"]["differences"] == ([DIFFERENCE] if shown else None)
        assert (seen["verification"]["cells_differing"], seen["changes"][-1]["reason"]) == (1, "One record more")


CONTRADICTIONS = [
    ("receive", AGREES | {"sha256": "0" * 64}, "/sha256"),
    ("receive", AGREES | {"size": 481_231}, "/size"),
    ("receive", AGREES | {"records": 99}, "/records"),
    ("receive", AGREES | {"records": None}, "/records"),
    ("receive", DIFFERS, "/cells_differing"),
    ("receive", AGREES | {"privacy": {"k": 4}}, "/privacy/k"),
    ("receive", AGREES | {"privacy": {"t": 0.21}}, "/privacy/t"),
    ("receive", AGREES | {"privacy": {"kk": 5}}, "/privacy/kk"),
    ("receive", AGREES | {"cells_compared": -1}, "/cells_compared"),
    ("receive", AGREES | {"sha256": "9C56"}, "/sha256"),
    ("receive", {"reason": "fine"}, "/records /sha256 /size"),
    ("dispute", {}, "/reason"),
    ("dispute", {"sha256": SHA256, "reason": "no size"}, "/size"),
    ("dispute", {"records": 100, "reason": "of which file?"}, "/sha256"),
    ("dispute", {"privacy": {"k": 5}, "reason": "of which file?"}, "/sha256"),
    ("dispute", DIFFERS | {"sha256": None, "size": None, "records": None, "privacy": {}}, "/sha256"),
    ("dispute", AGREES, ""),
    ("dispute", AGREES | {"records": None}, ""),
    ("dispute", AGREES | {"size": 481_231}, "/size"),
    ("dispute", DIFFERS | {"size": 481_231, "reason": "another size"}, "/size"),
    ("dispute", DIFFERS | {"cells_differing": 13}, "/cells_differing"),
    ("dispute", DIFFERS | {"cells_differing": 0}, "/differences"),
    ("dispute", DIFFERS | {"differences": []}, "/differences"),
    (
        "dispute",
        DIFFERS | {"cells_compared": 900, "cells_differing": 101, "differences": [DIFFERENCE] * 101},
        "/differences",
    ),
    ("dispute", DIFFERS | {"differences": [DIFFERENCE | {"values": ["x" * 70_000]}]}, "/differences"),
    ("dispute", DIFFERS | {"differences": [DIFFERENCE | {"delivered": 4.5}]}, "/differences/0/delivered"),
    ("dispute", AGREES | {"reason": "x" * 2_001}, "/reason"),
    ("dispute", AGREES | {"reason": "nul \0"}, "/reason"),
]


async def test_a_verdict_that_contradicts_itself_is_refused_and_changes_nothing(guarded, keys, untouched):
    for action, verdict, pointers in CONTRADICTIONS:
        refused = await step(guarded, keys["consumer"], untouched, action, **verdict)
        assert refused.status_code == 422, (action, verdict)
        assert {one["pointer"] for one in refused.json()["errors"]} == set(pointers.split(" ")), (action, verdict)
    seen = (await read(guarded, keys["consumer"], untouched)).json()
    assert (seen["state"], seen["verification"]) == ("delivered", None)


@pytest.mark.parametrize(
    "verdict",
    [
        FILE | {"sha256": "0" * 64},
        AGREES | {"records": 99},
        {"sha256": "0" * 64, "size": 7, "reason": "It is no table"},
        AGREES | {"reason": "The columns are others"},
        {"reason": "The link does not answer"},
        DIFFERS | {"cells_compared": 900, "cells_differing": 300, "differences": [DIFFERENCE] * MOST_DIFFERENCES},
    ],
    ids=["another file", "other records", "no table", "a reason", "no file", "many"],
)
async def test_what_is_evidence_enough_for_a_dispute(guarded, keys, request_id, verdict):
    answer = await step(guarded, keys["consumer"], request_id, "dispute", **verdict)
    assert (answer.status_code, answer.json()["state"]) == (200, "disputed")
    assert answer.json()["verification"]["sha256"] == verdict.get("sha256")


UNKNOWN = DIFFERENCE | {"values": [], "label": None, "published": None, "delivered": 3, "rule": "unknown"}


UNPUBLISHED = [
    ({"values": ["Elm Street"]}, "values"),
    ({"values": [AGES[0] + " | Elm Street"]}, "values"),
    ({"values": ["x" * 200 + "..."]}, "values"),
    ({"values": [AGES[0]] * 2}, "values"),
    ({"attributes": [], "maskings": [], "values": [AGES[0]]}, "values"),
    ({"values": ["*"]}, "values"),
    ({"label": "Jane Doe"}, "label"),
    ({"attributes": ["name of the patient"]}, "attributes"),
    ({"maskings": ["age-1"]}, "maskings"),
    ({"maskings": []}, "maskings"),
    ({"rule": "unknown", "label": None}, "values"),
    ({"rule": "unknown", "values": []}, "label"),
]


async def test_what_was_never_published_gets_into_no_verdict(guarded, keys, untouched):
    told = []
    for difference, _ in UNPUBLISHED:
        verdict = DIFFERS | {"differences": [DIFFERENCE | difference]}
        refused = await step(guarded, keys["consumer"], untouched, "dispute", **verdict)
        assert (refused.status_code, refused.json()["code"]) == (422, "inconsistent_verdict"), difference
        assert not any(text in refused.text for text in ("Elm", "xxx", "Jane", "patient")), difference
        told.append((difference, *(one["pointer"].removeprefix("/differences/0/") for one in refused.json()["errors"])))
    assert told == UNPUBLISHED
    assert (await read(guarded, keys["consumer"], untouched)).json()["verification"] is None


async def test_several_values_together_and_the_number_of_unknown_texts_are_taken(guarded, keys, request_id):
    together = DIFFERENCE | {"values": [f"{AGES[0]} | {AGES[1]} | ..."], "label": None}
    stars = DIFFERENCE | {"attributes": [], "maskings": [], "values": ["*"], "label": None, "rule": "stars"}
    label = UNKNOWN | {"attributes": [], "maskings": []}
    given = [together, stars, UNKNOWN, label]
    answer = await step(
        guarded, keys["consumer"], request_id, "dispute", **(DIFFERS | {"cells_differing": 8, "differences": given})
    )
    assert (answer.status_code, answer.json()["verification"]["differences"]) == (200, given)


async def test_nothing_is_received_before_it_is_delivered_nor_twice_nor_by_others(guarded, keys, head, worker):
    request_id = await advised(guarded, keys, head, worker)
    early = await step(guarded, keys["consumer"], request_id, "receive", **AGREES)
    assert (early.status_code, early.json()["possible"]) == (409, ["withdraw"])
    await step(guarded, keys["provider"], request_id, "approve")
    await step(guarded, keys["provider"], request_id, "deliver", **DELIVERED, entry_digest=head["digest"])
    for who, status in {"provider": 403, "reviewer": 403, "own": 403, "other": 404}.items():
        for action, verdict in {"receive": AGREES, "dispute": DIFFERS}.items():
            assert (await step(guarded, keys[who], request_id, action, **verdict)).status_code == status
    assert (await read(guarded, keys["consumer"], request_id)).json()["possible"] == ["receive", "dispute"]
    assert (await step(guarded, keys["operator"], request_id, "receive", **AGREES)).status_code == 200
    for action, verdict in {"receive": AGREES, "dispute": DIFFERS}.items():
        again = await step(guarded, keys["consumer"], request_id, action, **verdict)
        assert (again.status_code, again.json()["possible"]) == (409, [])
    relinked = await step(guarded, keys["provider"], request_id, "relink", url="https://mirror.example/c01.csv")
    assert relinked.status_code == 409


async def test_of_two_verdicts_at_once_one_is_taken(guarded, keys, head, worker):
    for _ in range(3):
        request_id = await delivered(guarded, keys, head, worker)
        both = await asyncio.gather(
            step(guarded, keys["consumer"], request_id, "receive", **AGREES),
            step(guarded, keys["consumer"], request_id, "dispute", **DIFFERS),
            step(guarded, keys["operator"], request_id, "end", reason="over"),
        )
        assert sorted(one.status_code for one in both) == [200, 409, 409]
        seen = (await read(guarded, keys["consumer"], request_id)).json()
        won = next(one.json() for one in both if one.status_code == 200)
        assert (seen["state"], seen["verification"]) == (won["state"], won["verification"])
        assert (seen["verification"] is None) == (seen["state"] == "ended")


async def test_a_verdict_that_is_sent_twice_is_given_once(guarded, keys, request_id):
    repeated = keys["consumer"] | {"Idempotency-Key": str(uuid4())}
    first, second = [await step(guarded, repeated, request_id, "receive", **AGREES) for _ in range(2)]
    assert (first.status_code, second.headers["Idempotency-Replayed"]) == (200, "true")
    assert first.json() == second.json()


async def test_requests_are_listed_by_how_they_ended(guarded, keys, request_id):
    listed = await guarded.get("/v1/requests", params={"state": "received"}, headers=keys["provider"])
    assert request_id not in {one["id"] for one in listed.json()["items"]}
    await step(guarded, keys["consumer"], request_id, "receive", **AGREES)
    listed = await guarded.get("/v1/requests", params={"state": "received"}, headers=keys["provider"])
    assert request_id in {one["id"] for one in listed.json()["items"]}


class TestEvidence:
    async def test_it_has_the_counts_of_the_delivered_configuration_and_no_others(self, guarded, keys, untouched):
        told = (await evidence(guarded, keys["consumer"], untouched)).json()
        published = next(each for each in EXAMPLE_ENTRY["attributes"][0]["maskings"] if each["id"] == "age-2")
        assert told["request"] == untouched
        assert (told["configuration"], told["privacy"], told["require"]) == ("c01", {"k": 5}, {"k": 5})
        assert (told["records"], told["label"]["joint"]) == (100, [EXAMPLE_ENTRY["label"]["histogram"]])
        [table] = told["attributes"]
        assert (table["attribute"], table["masking"], table["joint"]) == ("age", "age-2", published["joint"])
        assert (table["domain"], table["off_by"], table["noise"]) == (published["domain"], 0, None)
        assert told["entry"]["digest"].startswith("hmac-sha256:")

    async def test_a_child_makes_that_of_large_entries_alike(self, guarded, keys, untouched, monkeypatch):
        before = (await evidence(guarded, keys["consumer"], untouched)).content
        monkeypatch.setattr("app.requests.api.routes._SMALL", 0)
        assert (await evidence(guarded, keys["consumer"], untouched)).content == before

    async def test_of_another_configuration_it_has_the_other_counts(self, guarded, keys, head, worker):
        request_id = await advised(guarded, keys, head, worker)
        await step(guarded, keys["provider"], request_id, "counter", configuration="c02")
        await step(guarded, keys["consumer"], request_id, "accept")
        said = DELIVERED | {"configuration": "c02", "entry_digest": head["digest"], "privacy": {"k": 50}}
        await step(guarded, keys["provider"], request_id, "deliver", **said)
        told = (await evidence(guarded, keys["consumer"], request_id)).json()
        assert (told["configuration"], told["attributes"], told["pairs"]) == ("c02", [], [])

    async def test_there_is_none_before_a_delivery_and_there_still_is_after_it(self, guarded, keys, head, worker):
        request_id = await advised(guarded, keys, head, worker)
        early = await evidence(guarded, keys["consumer"], request_id)
        assert (early.status_code, early.json()["code"], early.json()["possible"]) == (
            409,
            "not_possible",
            ["withdraw"],
        )
        await step(guarded, keys["provider"], request_id, "approve")
        early = await evidence(guarded, keys["provider"], request_id)
        assert (early.status_code, early.json()["possible"]) == (409, ["deliver", "decline"])
        await step(guarded, keys["provider"], request_id, "deliver", **DELIVERED, entry_digest=head["digest"])
        before = (await evidence(guarded, keys["consumer"], request_id)).content
        await step(guarded, keys["consumer"], request_id, "dispute", **DIFFERS)
        assert (await evidence(guarded, keys["consumer"], request_id)).content == before

    async def test_who_may_read_it(self, guarded, keys, untouched):
        expected = {"consumer": 200, "provider": 200, "reviewer": 200, "operator": 200, "own": 403, "other": 404}
        for who, status in expected.items():
            assert (await evidence(guarded, keys[who], untouched)).status_code == status, who

    async def test_it_is_that_of_the_version_which_was_requested(self, guarded, keys, head, request_id):
        before = (await evidence(guarded, keys["consumer"], request_id)).content
        other = [{"id": "c01", "maskings": {"age": "identity"}, "privacy": {"k": 5}}]
        document = entry(name=head["name"], configurations=other)
        put = {"If-Match": "*"} | keys["provider"]
        answer = await guarded.put(f"/v1/entries/{head['id']}", json=document, headers=put, params=ACCEPTED)
        assert answer.status_code == 200, answer.text
        assert (await evidence(guarded, keys["consumer"], request_id)).content == before

    async def test_it_is_gone_with_the_entry_and_the_problem_says_so(self, guarded, keys, head, request_id):
        await step(guarded, keys["consumer"], request_id, "receive", **AGREES)
        await guarded.delete(f"/v1/entries/{head['id']}", headers={"If-Match": "*"} | keys["provider"])
        gone = await evidence(guarded, keys["consumer"], request_id)
        assert (gone.status_code, gone.json()["code"]) == (404, "not_found")
        assert "Version 1 of the entry was deleted" in gone.json()["detail"]
        assert (await read(guarded, keys["consumer"], request_id)).json()["state"] == "received"

    async def test_counts_of_a_verdict_go_with_the_entry_and_their_number_stays(self, guarded, keys, head, request_id):
        await step(guarded, keys["consumer"], request_id, "dispute", **DIFFERS)
        await guarded.delete(f"/v1/entries/{head['id']}", headers={"If-Match": "*"} | keys["provider"])
        for who in ("consumer", "provider"):
            told = (await read(guarded, keys[who], request_id)).json()["verification"]
            assert (told["differences"], told["cells_differing"], told["cells_compared"]) == ([], 1, 12)

    async def test_they_go_with_the_version_too(self, guarded, keys, head, request_id, shared_database_url):
        await step(guarded, keys["consumer"], request_id, "dispute", **DIFFERS)
        put = {"If-Match": "*"} | keys["provider"]
        document = entry(name=head["name"])
        await guarded.put(f"/v1/entries/{head['id']}", json=document, headers=put, params=ACCEPTED)
        with psycopg.connect(shared_database_url) as connection:
            gone = "DELETE FROM entry_version WHERE version = 1 AND entry_id = %s"
            assert connection.execute(gone, [head["id"]]).rowcount == 1
        told = (await read(guarded, keys["consumer"], request_id)).json()["verification"]
        assert (told["differences"], told["cells_differing"]) == ([], 1)

    async def test_who_does_not_see_the_entry_any_more_still_has_what_was_delivered(
        self, guarded, keys, head, request_id
    ):
        await guarded.patch(f"/v1/entries/{head['id']}", json={"visibility": "private"}, headers=keys["provider"])
        assert (await guarded.get(f"/v1/entries/{head['id']}", headers=keys["consumer"])).status_code == 404
        assert (await evidence(guarded, keys["consumer"], request_id)).status_code == 200
