"""Requests for data over HTTP: what a consumer and a provider do with one, and what each of them sees."""

import asyncio
from uuid import uuid4

import psycopg
import pytest

from tests.app.requests.asking import advised, entry, read, requested, step, wanted
from tests.generated import mixed_entry
from tests.service import ACCEPTED, create_key, publish

ODRL = {"@context": "http://www.w3.org/ns/odrl.jsonld", "@type": "Offer", "permission": [{"action": "use"}]}


async def test_a_request_is_advised_and_approved_and_both_sides_read_who_did_what(guarded, keys, head, worker):
    made = await requested(guarded, keys, head)
    assert (made.status_code, made.json()["state"]) == (201, "requested")
    assert made.headers["Location"] == f"/v1/requests/{made.json()['id']}"
    await worker.run()
    answer = await step(guarded, keys["provider"], made.json()["id"], "approve", reason="The board has agreed")
    assert answer.status_code == 200
    consumer, provider = [
        (await read(guarded, keys[who], made.json()["id"])).json() for who in ("consumer", "provider")
    ]
    assert (consumer["state"], consumer["configuration"], consumer["cost"]["rank"]) == ("approved", "c01", 1)
    told = [(one["action"], one["side"], one["tenant"], one["state"]) for one in consumer["changes"]]
    assert told == [
        ("request", "consumer", "insurer", "requested"),
        ("advise", "service", None, "advised"),
        ("approve", "provider", "hospital", "approved"),
    ]
    assert consumer["changes"][-1]["reason"] == "The board has agreed"
    assert consumer["changes"] == provider["changes"]
    assert (consumer["possible"], provider["possible"]) == (["withdraw"], ["deliver", "decline"])
    assert provider["entry"]["digest"] == head["digest"]
    assert consumer["entry"]["digest"].startswith("hmac-sha256:")


async def test_the_advice_of_a_request_is_the_consumer_s(guarded, keys, head, worker):
    request_id = await advised(guarded, keys, head, worker)
    request = (await read(guarded, keys["consumer"], request_id)).json()
    advice = await guarded.get(f"/v1/advice/{request['advice']}", headers=keys["consumer"])
    assert (advice.json()["configuration"], advice.json()["view"]) == (request["configuration"], "coarse")
    assert (await guarded.get(f"/v1/advice/{request['advice']}", headers=keys["other"])).status_code == 404


async def test_a_question_that_is_answered_already_is_advised_at_once(guarded, keys, head, worker):
    await advised(guarded, keys, head, worker)
    again = await requested(guarded, keys, head)
    assert again.json()["state"] == "advised"
    assert [one["action"] for one in again.json()["changes"]] == ["request", "advise"]


async def test_a_provider_counters_with_a_configuration_and_its_cost_and_the_consumer_accepts(
    guarded, keys, head, worker
):
    request_id = await advised(guarded, keys, head, worker)
    countered = await step(guarded, keys["provider"], request_id, "counter", configuration="c02", reason="k = 50")
    assert countered.status_code == 200, countered.text
    seen = (await read(guarded, keys["consumer"], request_id)).json()
    assert (seen["state"], seen["configuration"], seen["cost"]["rank"]) == ("countered", "c02", 2)
    accepted = await step(guarded, keys["consumer"], request_id, "accept")
    assert (accepted.json()["state"], accepted.json()["configuration"]) == ("approved", "c02")


@pytest.mark.parametrize("configuration", ["c01", "c03", "c99"])  # the one advised, one below k = 5, one unknown
async def test_what_does_not_meet_the_requirements_is_no_counter_offer(guarded, keys, head, worker, configuration):
    request_id = await advised(guarded, keys, head, worker)
    refused = await step(guarded, keys["provider"], request_id, "counter", configuration=configuration)
    assert (refused.status_code, refused.json()["code"]) == (422, "no_counter_offer")
    assert (await read(guarded, keys["provider"], request_id)).json()["state"] == "advised"


async def test_the_terms_are_accepted_by_their_digest(guarded, keys):
    head = await publish(guarded, entry(terms=ODRL), **keys["provider"])
    plain = await publish(guarded, entry(), **keys["provider"])
    assert head["terms"] != plain["terms"]
    refused = await requested(guarded, keys, head, terms=plain["terms"])
    assert (refused.status_code, refused.json()["code"]) == (422, "other_terms")
    assert refused.json()["errors"][0]["pointer"] == "/terms"
    assert head["terms"] in refused.json()["errors"][0]["detail"]
    assert (await requested(guarded, keys, head)).status_code == 201
    shown = await guarded.get(f"/v1/entries/{head['id']}", headers=keys["consumer"])
    assert (shown.json()["terms"], shown.json()["schema"]["terms"]) == (head["terms"], ODRL)


async def test_a_question_without_an_answer_fails_the_request_or_is_refused_at_once(guarded, keys, head):
    refused = await requested(guarded, keys, head, require={"k": 1000})
    assert (refused.status_code, refused.json()["code"]) == (422, "no_configuration_left")
    unknown = await requested(guarded, keys, head, attributes=["height"])
    assert unknown.status_code == 422
    page = await guarded.get("/v1/requests", params={"entry": head["id"]}, headers=keys["consumer"])
    assert page.json()["items"] == []


async def test_a_request_fails_with_its_advice(guarded, keys, head, worker, monkeypatch):
    made = (await requested(guarded, keys, head)).json()
    monkeypatch.setattr("app.worker.tasks.ATTEMPTS", 0)  # every job is given up
    await worker.run()
    failed = (await read(guarded, keys["consumer"], made["id"])).json()
    assert (failed["state"], failed["problem"]["code"], failed["possible"]) == ("failed", "internal", [])


async def test_of_two_decisions_at_once_one_wins(guarded, keys, head, worker):
    for _ in range(5):
        request_id = await advised(guarded, keys, head, worker)
        both = await asyncio.gather(
            step(guarded, keys["provider"], request_id, "approve"),
            step(guarded, keys["provider"], request_id, "decline", reason="no"),
            step(guarded, keys["consumer"], request_id, "withdraw"),
        )
        statuses = [one.status_code for one in both]
        # A consumer may also withdraw what has just been approved.
        assert sorted(statuses) in ([200, 409, 409], [200, 200, 409])
        changes = (await read(guarded, keys["provider"], request_id)).json()["changes"]
        assert len(changes) == 2 + statuses.count(200)
        refused = next(one.json() for one in both if one.status_code == 409)
        assert refused["code"] == "not_possible"
        assert refused["possible"] in ([], ["withdraw"], ["deliver", "decline"])


async def test_others_do_not_learn_of_a_request(guarded, keys, head, worker):
    request_id = await advised(guarded, keys, head, worker)
    assert (await read(guarded, keys["other"], request_id)).status_code == 404
    for action, asked in {"approve": {}, "withdraw": {}, "end": {"reason": "x"}}.items():
        assert (await step(guarded, keys["other"], request_id, action, **asked)).status_code == 404
    listed = await guarded.get("/v1/requests", headers=keys["other"])
    assert request_id not in {one["id"] for one in listed.json()["items"]}
    for who in ("own", "reviewer", "operator"):
        assert (await read(guarded, keys[who], request_id)).status_code == 200


async def test_each_side_may_do_its_own_only(guarded, keys, head, worker):
    request_id = await advised(guarded, keys, head, worker)
    for who, action in [("consumer", "approve"), ("own", "approve"), ("reviewer", "approve"), ("provider", "withdraw")]:
        assert (await step(guarded, keys[who], request_id, action)).status_code == 403
    assert (await step(guarded, keys["provider"], request_id, "end", reason="x")).status_code == 403
    ended = await step(guarded, keys["operator"], request_id, "end", reason="The project is over")
    assert (ended.json()["state"], ended.json()["changes"][-1]["side"]) == ("ended", "operator")


async def test_a_step_twice_with_one_key_is_taken_once(guarded, keys, head, worker):
    request_id = await advised(guarded, keys, head, worker)
    repeated = keys["provider"] | {"Idempotency-Key": str(uuid4())}
    first, second = [await step(guarded, repeated, request_id, "approve") for _ in range(2)]
    assert (first.status_code, second.status_code) == (200, 200)
    assert first.content == second.content
    assert (await step(guarded, keys["provider"], request_id, "approve")).status_code == 409


async def test_a_new_version_makes_a_request_stale_and_deletion_ends_it(guarded, keys, head, worker):
    request_id = await advised(guarded, keys, head, worker)
    document = entry(name=head["name"], title="second")
    put = {"If-Match": "*"} | keys["provider"]
    answer = await guarded.put(f"/v1/entries/{head['id']}", json=document, headers=put, params=ACCEPTED)
    assert answer.status_code == 200
    stale = (await read(guarded, keys["consumer"], request_id)).json()
    assert (stale["stale"], stale["state"], stale["entry"]["version"]) == (True, "advised", 1)
    assert (await guarded.delete(f"/v1/entries/{head['id']}", headers=put)).status_code == 204
    ended = (await read(guarded, keys["consumer"], request_id)).json()
    assert (ended["state"], ended["changes"][-1]["reason"]) == ("ended", "The entry was deleted.")
    assert (ended["entry"], ended["advice"]) == (stale["entry"], None)


async def test_nothing_is_requested_of_what_is_deleted_or_not_seen(guarded, keys, head):
    private = await publish(guarded, entry(visibility="private"), **keys["provider"])
    assert (await requested(guarded, keys, private)).status_code == 404
    await guarded.delete(f"/v1/entries/{head['id']}", headers={"If-Match": "*"} | keys["provider"])
    assert (await requested(guarded, keys, head)).status_code == 404


async def test_no_key_of_a_tenant_reads_more_of_a_request_than_of_advice(guarded, keys, head, worker):
    ids = {}
    for asking in ("provider", "reviewer", "operator", "own"):
        made = await guarded.post(f"/v1/entries/{head['id']}/requests", json=wanted(head), headers=keys[asking])
        ids[asking] = made.json()["id"]
    await worker.run()
    own = await guarded.get("/v1/requests", params={"entry": head["id"]}, headers=keys["own"])
    assert [one["id"] for one in own.json()["items"]] == [ids["own"]]
    for asking, request_id in ids.items():
        paths = [f"/v1/requests/{request_id}{part}" for part in ("", "/evidence")]
        seen = {(await guarded.get(path, headers=keys["own"])).status_code for path in paths}
        assert seen == ({200, 409} if asking == "own" else {404})
        known = (await read(guarded, keys["reviewer"], request_id)).json()
        assert (known["cost"]["deviation"] is None) == (asking == "own")
        assert known["full_rank"] == {"rank": 1, "considered": 2, "best": "c01", "about": "age in 2 bands"}
    assert (await read(guarded, keys["own"], ids["own"])).json()["full_rank"] is None


async def test_a_configuration_is_asked_for_by_its_id(guarded, keys, head, worker):
    made = await requested(guarded, keys, head, configuration="c02")
    assert (made.json()["state"], made.json()["configuration"]) == ("requested", "c02")
    await worker.run()
    seen = (await read(guarded, keys["consumer"], made.json()["id"])).json()
    assert (seen["state"], seen["configuration"], seen["cost"]["rank"]) == ("advised", "c02", 2)
    assert [one["configuration"] for one in seen["changes"]] == ["c02", "c02"]
    known = (await read(guarded, keys["provider"], made.json()["id"])).json()
    assert known["full_rank"] == {"rank": 2, "considered": 2, "best": "c01", "about": "age in 2 bands"}
    offered = await step(guarded, keys["provider"], made.json()["id"], "counter", configuration="c01")
    assert (offered.json()["configuration"], offered.json()["full_rank"]["rank"]) == ("c01", 1)


async def test_what_does_not_meet_the_requirements_is_not_asked_for(guarded, keys):
    head = await publish(guarded, mixed_entry(visibility="all"), **keys["provider"])
    said = {
        ("m1", 6): ["'m1' does not promise k >= 6."],
        ("g1", 5): ["'g1' does not promise k >= 5.", "'g1' is not masked. Ask with `kinds` that include its own."],
        ("m9", 5): ["Version 1 has no configuration 'm9'."],
    }
    for (configuration, k), details in said.items():
        refused = await requested(guarded, keys, head, configuration=configuration, require={"k": k})
        assert (refused.status_code, refused.json()["code"]) == (422, "unsuitable_configuration")
        assert [(one["pointer"], one["detail"]) for one in refused.json()["errors"]] == [
            ("/configuration", detail) for detail in details
        ]
    page = await guarded.get("/v1/requests", params={"entry": head["id"]}, headers=keys["consumer"])
    assert page.json()["items"] == []


async def test_an_operator_asks_for_its_own_tenant(guarded, keys):
    private = await publish(guarded, entry(visibility="private"), **keys["provider"])
    path = f"/v1/entries/{private['id']}/requests"
    assert (await guarded.post(path, json=wanted(private), headers=keys["operator"])).status_code == 404


async def test_who_does_not_see_the_entry_any_more_gets_no_answer(guarded, keys, head, worker):
    made = (await requested(guarded, keys, head)).json()
    await guarded.patch(f"/v1/entries/{head['id']}", json={"visibility": "private"}, headers=keys["provider"])
    put = {"If-Match": "*"} | keys["provider"]
    document = entry(name=head["name"], title="second")
    await guarded.put(f"/v1/entries/{head['id']}", json=document, headers=put, params=ACCEPTED)
    await worker.run()
    seen = (await read(guarded, keys["consumer"], made["id"])).json()
    assert (seen["state"], seen["problem"]["code"], seen["configuration"]) == ("failed", "not_found", None)
    assert seen["stale"] is False  # it would tell of the second version


async def test_an_erased_contact_is_not_told_again_to_who_repeats_a_step(guarded, keys, head, worker):
    own = keys["consumer"] | {"Idempotency-Key": str(uuid4())}
    path, asked = f"/v1/entries/{head['id']}/requests", wanted(head)
    made = await guarded.post(path, json=asked, headers=own)
    await worker.run()
    approving = keys["provider"] | {"Idempotency-Key": str(uuid4())}
    assert (await step(guarded, approving, made.json()["id"], "approve")).json()["contact"] is not None
    await guarded.delete(f"/v1/requests/{made.json()['id']}/contact", headers=keys["consumer"])
    again = await guarded.post(path, json=asked, headers=own)
    assert (again.status_code, again.headers["Location"]) == (201, made.headers["Location"])
    approved = await step(guarded, approving, made.json()["id"], "approve")
    for answer in (again, approved):
        assert (answer.headers["Idempotency-Replayed"], answer.json()["contact"]) == ("true", None)


async def test_a_contact_can_be_erased_and_the_rest_stays(guarded, keys, head, shared_database_url):
    made = (await requested(guarded, keys, head)).json()
    path = f"/v1/requests/{made['id']}/contact"
    assert (await guarded.delete(path, headers=keys["provider"])).status_code == 403
    erased = await guarded.delete(path, headers=keys["consumer"])
    assert erased.status_code == 200
    assert erased.json() == made | {"contact": None}
    with psycopg.connect(shared_database_url) as connection:
        stored = connection.execute(
            "SELECT data_request::text FROM data_request WHERE id = %s", [made["id"]]
        ).fetchone()
    assert "data@insurer.example" not in stored[0]


async def test_requests_are_listed_by_side_state_and_entry_in_pages(guarded, keys, head, worker):
    made = [(await requested(guarded, keys, head, require={"k": k})).json()["id"] for k in (2, 5, 50)]

    async def listed(who, **params):
        page = await guarded.get("/v1/requests", params={"entry": head["id"]} | params, headers=keys[who])
        assert page.status_code == 200, page.text
        return page.json()

    first = await listed("provider", limit=2)
    rest = await listed("provider", limit=2, page_token=first["next_page_token"])
    assert [one["id"] for one in first["items"] + rest["items"]] == made[::-1]
    assert rest["next_page_token"] is None
    assert "changes" not in first["items"][0]
    assert len((await listed("consumer", side="consumer"))["items"]) == 3
    assert (await listed("consumer", side="provider"))["items"] == []
    assert (await listed("operator", state="approved"))["items"] == []
    await worker.run()
    assert len((await listed("operator", state="advised"))["items"]) == 3


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"purpose": ""}, "/purpose"),
        ({"purpose": "x" * 2001}, "/purpose"),
        ({"purpose": "nul \0"}, "/purpose"),
        ({"contact": "x" * 301}, "/contact"),
        ({"contact": "two\nlines"}, "/contact"),
        ({"terms": "yes"}, "/terms"),
        ({"reference": "own"}, "/reference"),
        ({"weights": {"age": -1}}, "/weights/age"),
        ({"measure": 3}, "/measure"),
    ],
)
async def test_a_bad_request_is_refused_with_its_place(guarded, keys, head, changes, pointer):
    refused = await requested(guarded, keys, head, **changes)
    assert refused.status_code == 422
    assert pointer in [fault["pointer"] for fault in refused.json()["errors"]]


async def test_ten_megabytes_of_purpose_are_too_large(guarded, keys, head):
    assert (await requested(guarded, keys, head, purpose="x" * 10_000_000)).status_code == 413


async def test_a_tenant_has_so_many_open_requests_and_no_more(guarded, head, shared_database_url, monkeypatch):
    headers = await create_key(shared_database_url, f"tenant-{uuid4().hex}", "consumer")
    monkeypatch.setattr("app.requests.service.data_requests.MOST_OPEN", 3)
    path = f"/v1/entries/{head['id']}/requests"
    made = await asyncio.gather(*(guarded.post(path, json=wanted(head), headers=headers) for _ in range(8)))
    assert sorted(one.status_code for one in made) == [201] * 3 + [403] * 5
    assert {one.json()["code"] for one in made if one.status_code == 403} == {"quota_exceeded"}
