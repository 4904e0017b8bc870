"""The audit log as operators read it, its signed heads, and the receipts of data requests."""

import json
from datetime import UTC, datetime, timedelta
from hashlib import sha256

import pytest
from pydantic import SecretStr

from aegis_sdk.receipts import HEAD, ReceiptError, check_receipt, checked_claims, keys_in
from app.catalog.queue import queue_app
from app.catalog.session import Database
from app.domain.audit import Place, moment
from app.factory import Factory
from app.jobs.audit_heads import sign_head
from app.jobs.retention import sweep
from app.services.audit_chain import check_chain
from app.services.retention import Retention
from app.services.signing import draw_key_text, signer_of
from tests.app.api.data_requests.asking import entry, requested, step, wanted
from tests.app.api.data_requests.test_deliveries import LINK, descriptor
from tests.app.jobs.database import rows
from tests.service import ACCEPTED, Worker, create_key, publish, running_app

KEY, SECOND_KEY = (SecretStr(draw_key_text()) for _ in range(2))
CONTACT, PURPOSE, REASON = "ada@insurer.example", "a purpose that nobody else has", "a reason that nobody else has"
COUNT = 987_654_321


@pytest.fixture(scope="module")
async def keys(_one_loop, shared_database_url):
    made = {"reviewer": ("hospital", "reviewer"), "own": ("hospital", "consumer"), "operator": ("desk", "operator")}
    made |= {"provider": ("hospital", "provider"), "consumer": ("insurer", "consumer"), "other": ("lab", "provider")}
    made |= {"administrator": ("hospital", "administrator")}
    return {name: await create_key(shared_database_url, *one) for name, one in made.items()}


@pytest.fixture(scope="module")
async def guarded(shared_database_url, keys):  # noqa: ARG001 -- with keys, it is not in development mode
    async with running_app(shared_database_url, audit_key=KEY) as api:
        yield api


@pytest.fixture(scope="module")
async def worker(_one_loop, shared_database_url):
    async with Worker.on(shared_database_url) as running:
        yield running


@pytest.fixture
async def log_database(_one_loop, shared_database_url):
    database = Database(shared_database_url, pool_size=1)
    yield database
    await database.close()


async def records(guarded, keys, **params):
    """The records that an operator finds, oldest first."""
    items, token = [], ""
    while token is not None:
        page = {"limit": 200} | ({"page_token": token} if token else {}) | params
        answer = await guarded.get("/v1/audit", params=page, headers=keys["operator"])
        assert answer.status_code == 200, answer.text
        items, token = items + answer.json()["items"], answer.json()["next_page_token"]
    return items[::-1]


async def public_keys(guarded):
    answer = await guarded.get("/.well-known/aegis-keys.json")
    assert answer.status_code == 200
    return keys_in(answer.content)


async def receipt(guarded, key, request_id):
    answer = await guarded.get(f"/v1/requests/{request_id}/receipt", headers=key)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def delivered(guarded, keys, head, worker):
    """The id of a request that was carried through to its delivery, and linked anew."""
    request_id = (await requested(guarded, keys, head, contact=CONTACT, purpose=PURPOSE)).json()["id"]
    await worker.run()
    await step(guarded, keys["provider"], request_id, "counter", configuration="c02", reason=REASON)
    await step(guarded, keys["consumer"], request_id, "accept", reason=REASON)
    told = descriptor(head, configuration="c02", privacy={"k": 50}, records=COUNT)
    for name, asked in (("deliver", told), ("relink", LINK)):
        answer = await step(guarded, keys["provider"], request_id, name, **asked)
        assert answer.status_code == 200, answer.text
    return request_id


async def test_every_change_of_a_request_is_recorded_with_who_when_and_which_digests(guarded, keys, worker):
    head = await publish(guarded, entry(), **keys["provider"])
    request_id = await delivered(guarded, keys, head, worker)
    await guarded.delete(f"/v1/requests/{request_id}/contact", headers=keys["consumer"])
    await guarded.delete(f"/v1/requests/{request_id}/contact", headers=keys["consumer"])  # nothing is left to erase
    log = await records(guarded, keys, request=request_id)
    *steps, erased = log
    request = (await guarded.get(f"/v1/requests/{request_id}", headers=keys["operator"])).json()
    assert [one["action"] for one in steps] == [f"request.{change['action']}" for change in request["changes"]]
    for one, change in zip(steps, request["changes"], strict=True):
        assert datetime.fromisoformat(one["at"]) == datetime.fromisoformat(change["at"])
        names = {"state": "state", "side": "side", "tenant": "tenant", "subject": "by"}
        assert {name: one.get(name) for name in names} == {name: change[as_] for name, as_ in names.items()}
        about = (one["entry"], one["version"], one["digest"], one["terms"])
        assert about == (head["id"], 1, head["digest"], head["terms"])
    files = [one.get("file_sha256") for one in steps]
    assert files == [None] * 4 + [descriptor(head)["sha256"]] * 2
    assert [one.get("configuration") for one in steps] == [None, "c01", "c02", "c02", "c02", "c02"]
    assert (erased["action"], erased["tenant"], erased["request"]) == ("request.erase_contact", "insurer", request_id)


async def test_what_is_done_with_an_entry_is_recorded(guarded, keys, worker):
    document = entry()
    head = await publish(guarded, document, **keys["provider"])
    path = f"/v1/entries/{head['id']}"
    document["description"] = "better described"
    await guarded.put(path, json=document, headers=keys["provider"] | {"If-Match": "*"}, params=ACCEPTED)
    await guarded.put(path, json=document, headers=keys["provider"] | {"If-Match": "*"})  # nothing is new
    for seen_by in (["insurer", "lab", "insurer"], [f"tenant-{number}" for number in range(200)], ["insurer"]):
        await guarded.patch(path, json={"visibility": {"tenants": seen_by}}, headers=keys["provider"])
    await worker.run()
    request_id = (await requested(guarded, keys, head)).json()["id"]
    await guarded.delete(path, headers=keys["operator"])
    log = await records(guarded, keys, entry=head["id"])
    judged = [one for one in log if one["action"] == "entry.judge"]
    others = [one for one in log if one not in judged]
    many = json.dumps(sorted(f"tenant-{number}" for number in range(200)), separators=(",", ":"))
    assert [(one["action"], one["version"], one.get("tenant"), one.get("value")) for one in others] == [
        ("entry.publish", 1, "hospital", "all"),
        ("entry.publish", 2, "hospital", "all"),
        ("entry.set_visibility", 2, "hospital", 'tenants ["insurer","lab"]'),
        ("entry.set_visibility", 2, "hospital", f"tenants 200 names, sha256:{sha256(many.encode()).hexdigest()}"),
        ("entry.set_visibility", 2, "hospital", 'tenants ["insurer"]'),
        ("request.request", 2, "insurer", None),
        ("request.end", 2, None, None),
        ("entry.delete", 2, "desk", None),
    ]
    assert sorted((one["version"], one.get("tenant"), one["value"]) for one in judged) == [
        (1, None, "failed"),
        (2, None, "failed"),
    ]
    assert log[0]["digest"] == head["digest"]
    assert log[-2]["request"] == request_id


async def test_a_sign_off_is_recorded_once(guarded, keys):
    await guarded.put("/v1/policy", json={"sign_off": True}, headers=keys["administrator"])
    head = await publish(guarded, entry(), **keys["provider"])
    path = f"/v1/entries/{head['id']}"
    tag = (await guarded.get(path, headers=keys["reviewer"])).headers["ETag"]
    for _ in range(2):
        answer = await guarded.put(f"{path}/sign-off", headers=keys["reviewer"] | {"If-Match": tag})
        assert answer.status_code == 200, answer.text
        tag = answer.headers["ETag"]
    await guarded.put("/v1/policy", json={}, headers=keys["administrator"])
    log = await records(guarded, keys, entry=head["id"])
    signed = [one for one in log if one["action"] == "entry.sign_off"]
    reviewer = keys["reviewer"]["Authorization"].split()[1]
    assert [(one["subject"], one["digest"]) for one in signed] == [(reviewer[:14], head["digest"])]


async def test_what_is_done_with_keys_policies_quotas_and_webhooks_is_recorded(guarded, keys):
    before = len(await records(guarded, keys))
    by = keys["administrator"]
    created = (await guarded.post("/v1/keys", json={"role": "consumer"}, headers=by)).json()["prefix"]
    new = (await guarded.post(f"/v1/keys/{created}/successor", json={}, headers=by)).json()["prefix"]
    listed = (await guarded.get("/v1/keys", headers=by)).json()["items"]
    [end] = [datetime.fromisoformat(one["expires_at"]) for one in listed if one["prefix"] == created]
    await guarded.delete(f"/v1/keys/{new}", headers=by)
    await guarded.put("/v1/policy", json={"require": {"k": 5}, "sign_off": True}, headers=by)
    await guarded.put("/v1/policy", json={}, headers=by)
    await guarded.put("/v1/quota", json={"advice": 50}, params={"tenant": "lab"}, headers=keys["operator"])
    asked = {"url": "https://hooks.example/", "events": ["entry.published"]}
    hook = (await guarded.post("/v1/webhooks", json=asked, headers=by)).json()["id"]
    for enabled in (False, True):
        await guarded.patch(f"/v1/webhooks/{hook}", json={"enabled": enabled}, headers=by)
    await guarded.post(f"/v1/webhooks/{hook}/secret", json={}, headers=by)
    await guarded.delete(f"/v1/webhooks/{hook}", headers=by)
    done = [(one["action"], one["target"], one.get("value")) for one in (await records(guarded, keys))[before:]]
    assert done == [
        ("key.create", created, "consumer of hospital"),
        ("key.create", new, "consumer of hospital"),
        ("key.replace", created, f"by {new}, ends {moment(end)}"),
        ("key.revoke", new, None),
        ("policy.set", "hospital", "k=5, sign-off"),
        ("policy.set", "hospital", "nothing"),
        ("quota.set", "lab", "advice=50"),
        *((f"webhook.{action}", hook, None) for action in ("create", "disable", "enable", "rotate", "delete")),
    ]
    subjects = {one["subject"] for one in (await records(guarded, keys))[before:] if one["tenant"] == "hospital"}
    assert subjects == {by["Authorization"].split()[1][:14]}


async def test_a_refused_step_leaves_no_record(guarded, keys, worker):
    head = await publish(guarded, entry(), **keys["provider"])
    request_id = (await requested(guarded, keys, head)).json()["id"]
    await worker.run()
    before = len(await records(guarded, keys))
    assert (await step(guarded, keys["consumer"], request_id, "approve")).status_code == 403
    assert (await step(guarded, keys["provider"], request_id, "relink", **LINK)).status_code == 409
    assert (await guarded.post("/v1/keys", json={"role": "operator"}, headers=keys["administrator"])).status_code == 403
    assert (await guarded.delete(f"/v1/entries/{head['id']}", headers=keys["other"])).status_code == 403
    assert len(await records(guarded, keys)) == before


async def test_a_step_that_is_sent_twice_is_recorded_once(guarded, keys, worker):
    head = await publish(guarded, entry(), **keys["provider"])
    once = keys["consumer"] | {"Idempotency-Key": "only-once-please"}
    made = [await guarded.post(f"/v1/entries/{head['id']}/requests", json=wanted(head), headers=once) for _ in "ab"]
    assert made[0].json()["id"] == made[1].json()["id"]
    assert len(await records(guarded, keys, request=made[0].json()["id"])) == 1
    await worker.run()


async def test_versions_that_are_not_kept_are_recorded(guarded, keys, worker, log_database, shared_database_url):
    document = entry()
    head = await publish(guarded, document, **keys["provider"])
    path, match = f"/v1/entries/{head['id']}", keys["provider"] | {"If-Match": "*"}
    for text in ("second", "third"):
        await guarded.put(path, json=document | {"title": text}, headers=match, params=ACCEPTED)
    await worker.run()
    await sweep(log_database, queue_app(shared_database_url), Retention(versions=1))
    log = await records(guarded, keys, entry=head["id"])
    deleted = [one for one in log if one["action"] == "version.delete"]
    assert sorted(one["version"] for one in deleted) == [1, 2]
    assert head["digest"] in {one["digest"] for one in deleted}
    assert all("tenant" not in one for one in deleted)


async def test_no_contact_purpose_reason_text_or_count_is_in_the_log(guarded, keys, worker):
    document = entry(description="a description that nobody else has", records=100)
    head = await publish(guarded, document, **keys["provider"])
    request_id = await delivered(guarded, keys, head, worker)
    log = await records(guarded, keys)
    assert {one.get("request") for one in log} >= {request_id}
    text = json.dumps(log)
    for secret in (
        CONTACT,
        PURPOSE,
        REASON,
        document["description"],
        document["name"],
        str(COUNT),
        LINK["url"],
        "store.",
    ):
        assert secret not in text
    known = {"sequence", "at", "action", "tenant", "subject", "side", "entry", "version", "digest", "terms", "request"}
    known |= {"state", "configuration", "file_sha256", "target", "value", "salt", "previous", "hash"}
    assert set().union(*log) <= known
    numbers = {name for one in log for name, value in one.items() if not isinstance(value, str)}
    assert numbers == {"sequence", "version"}


async def test_the_whole_log_is_one_chain(guarded, keys, log_database):
    log = await records(guarded, keys)
    async with log_database.transaction() as session:
        exported = [one async for one in Factory(session, queue_app("")).audit().export()]
    lines = [one.encode() for one in exported if isinstance(one, str)]
    assert check_chain(lines, ()) == Place(log[-1]["sequence"], log[-1]["hash"])
    assert list(map(json.loads, lines)) == log


async def test_a_listing_has_pages_and_is_narrowed_by_time(guarded, keys):
    log = await records(guarded, keys)
    assert await records(guarded, keys, limit=3) == log
    middle = log[len(log) // 2]
    since = await records(guarded, keys, since=middle["at"])
    until = await records(guarded, keys, until=middle["at"])
    assert since == [one for one in log if one["at"] >= middle["at"]]
    assert until == [one for one in log if one["at"] < middle["at"]]
    first = await guarded.get("/v1/audit", params={"limit": 1}, headers=keys["operator"])
    assert 'rel="next"' in first.headers["Link"]
    assert first.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    "params",
    [
        {"page_token": "x"},
        {"page_token": "9" * 30},
        {"page_token": "-1"},
        {"page_token": "٣"},
        {"since": "yesterday"},
        {"since": "2026-03-01"},
        {"since": "1772366400"},
        {"until": "2026-03-01T12:00:00"},
        {"until": "9999-12-31T23:59:59-12:00"},
        {"entry": "1"},
        {"request": "x"},
        {"limit": "0"},
    ],
)
async def test_an_invalid_listing_is_refused(guarded, keys, params):
    answer = await guarded.get("/v1/audit", params=params, headers=keys["operator"])
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid")


@pytest.mark.parametrize("path", ["/v1/audit", "/v1/audit/heads"])
async def test_only_operators_read_the_log(guarded, keys, path):
    for who, key in keys.items():
        answer = await guarded.get(path, headers=key)
        assert answer.status_code == (200 if who == "operator" else 403)
    assert (await guarded.get(path)).status_code == 401


async def test_receipts_of_both_sides_can_be_checked_without_the_service(guarded, keys, worker):
    head = await publish(guarded, entry(), **keys["provider"])
    request_id = await delivered(guarded, keys, head, worker)
    known = await public_keys(guarded)
    keyed = (await guarded.get(f"/v1/entries/{head['id']}", headers=keys["consumer"])).json()["digest"]
    last = (await records(guarded, keys, request=request_id))[-1]
    sha = descriptor(head)["sha256"]
    for who, digest in (("provider", head["digest"]), ("operator", head["digest"]), ("consumer", keyed)):
        answer = await receipt(guarded, keys[who], request_id)
        claims = check_receipt(answer["jws"], known, sha)
        assert claims.model_dump() == type(claims).model_validate(answer["claims"]).model_dump()
        assert (claims.entry.digest, claims.configuration, claims.file_sha256) == (digest, "c02", sha)
        assert (claims.provider, claims.consumer, claims.terms) == ("hospital", "insurer", head["terms"])
        assert (claims.audit.sequence, claims.audit.hash) == (last["sequence"], last["hash"])
        actions = ["request", "advise", "counter", "accept", "deliver", "relink"]
        assert [change.action for change in claims.changes] == actions
        text = json.dumps(answer["claims"])
        for private in (CONTACT, PURPOSE, REASON, LINK["url"], str(COUNT)):
            assert private not in text
        if who == "consumer":
            assert keyed.startswith("hmac-sha256:")
            assert head["digest"] not in text
    assert (await guarded.get(f"/v1/requests/{request_id}/receipt", headers=keys["other"])).status_code == 404
    assert (await guarded.get("/v1/requests/none/receipt", headers=keys["operator"])).status_code == 404
    with pytest.raises(ReceiptError, match="this is not the delivered file"):
        check_receipt(answer["jws"], known, "0" * 64)


async def test_there_is_a_receipt_in_every_state(guarded, keys, worker):
    head = await publish(guarded, entry(), **keys["provider"])
    known = await public_keys(guarded)
    request_id = (await requested(guarded, keys, head)).json()["id"]

    async def state():
        return check_receipt((await receipt(guarded, keys["consumer"], request_id))["jws"], known).state

    seen = [await state()]
    await worker.run()
    seen.append(await state())
    for who, action in (("provider", "approve"), ("consumer", "withdraw")):
        await step(guarded, keys[who], request_id, action)
        seen.append(await state())
    assert seen == ["requested", "advised", "approved", "withdrawn"]
    await guarded.delete(f"/v1/entries/{head['id']}", headers=keys["provider"])
    assert await state() == "withdrawn"


async def test_without_a_key_there_are_no_receipts(shared_database_url, guarded, keys, worker):
    head = await publish(guarded, entry(), **keys["provider"])
    request_id = (await requested(guarded, keys, head)).json()["id"]
    await worker.run()
    path = f"/v1/requests/{request_id}/receipt"
    async with running_app(shared_database_url) as keyless:
        answer = await keyless.get(path, headers=keys["consumer"])
        assert (answer.status_code, answer.json()["code"]) == (501, "nothing_signed")
        assert (await keyless.get(path, headers=keys["other"])).status_code == 404


async def test_the_head_is_signed_once_a_day_and_after_a_rotation(database_url, database):
    queue, first, second = queue_app(database_url), signer_of(KEY), signer_of(SECOND_KEY)
    key = await create_key(database_url, "desk", "operator")
    assert await sign_head(database, queue, first) is True
    assert await sign_head(database, queue, first) is False
    async with running_app(database_url, audit_key=SECOND_KEY) as api:
        assert await sign_head(database, queue, first) is False  # it is not in use any more
        assert await sign_head(database, queue, second) is True
        heads = (await api.get("/v1/audit/heads", headers=key)).json()["items"]
        known, log = await public_keys(api), await records(api, {"operator": key})
    assert [head["kid"] for head in heads] == [second.key_id, first.key_id]
    assert [one.kid for one in known.keys] == [first.key_id, second.key_id]
    assert known.keys[0].valid_until == known.keys[1].valid_from + timedelta(days=1)
    assert known.keys[1].valid_until is None
    places = [checked_claims(head["jws"], known, HEAD) for head in heads]
    for claims in places:
        [record] = [one for one in log if one["sequence"] == claims["sequence"]]
        assert record["hash"] == claims["hash"]
    added = [one["target"] for one in log if one["action"] == "audit_key.add"]
    assert added == [first.key_id, second.key_id]
    with pytest.raises(ReceiptError, match="not among the given ones"):
        checked_claims(heads[0]["jws"], known.keys[:1], HEAD)


async def test_a_head_is_signed_again_on_the_next_day(database_url, owner_url, database):
    queue, signer = queue_app(database_url), signer_of(KEY)
    assert await sign_head(database, queue, signer) is True
    rows(owner_url, "UPDATE audit_head SET signed_at = now() - interval '1 day' RETURNING 1")
    assert await sign_head(database, queue, signer) is True
    assert rows(database_url, "SELECT sequence FROM audit_head ORDER BY id") == [(1,), (1,)]


async def test_a_replaced_key_signs_receipts_for_a_day_and_no_longer(database_url, owner_url):
    key = await create_key(database_url, "hospital", "provider")
    async with running_app(database_url, audit_key=KEY) as old, running_app(database_url, audit_key=SECOND_KEY) as new:
        head = await publish(old, entry(), **key)
        made = await old.post(f"/v1/entries/{head['id']}/requests", json=wanted(head), headers=key)
        path = f"/v1/requests/{made.json()['id']}/receipt"
        for api in (old, new):
            jws = (await api.get(path, headers=key)).json()["jws"]
            assert check_receipt(jws, await public_keys(new)).state == "requested"
        rows(owner_url, "UPDATE audit_key SET valid_from = valid_from - interval '2 days' RETURNING 1")
        refused = await old.get(path, headers=key)
        assert (refused.status_code, refused.json()["code"]) == (501, "nothing_signed")
        assert (await new.get(path, headers=key)).status_code == 200


async def test_the_keys_are_public_and_can_be_kept(guarded):
    answer = await guarded.get("/.well-known/aegis-keys.json")
    again = await guarded.get("/.well-known/aegis-keys.json", headers={"If-None-Match": answer.headers["ETag"]})
    assert (answer.headers["Cache-Control"], again.status_code) == ("public, no-cache", 304)
    assert "PRIVATE" not in answer.text
    now = datetime.now(UTC)
    assert all(one.valid_from < now for one in keys_in(answer.content).keys)


async def test_the_record_of_a_receipt_can_be_hashed_by_whoever_has_it(guarded, keys, worker):
    head = await publish(guarded, entry(), **keys["provider"])
    request_id = (await requested(guarded, keys, head)).json()["id"]
    await worker.run()
    answer = await guarded.get("/v1/audit", params={"request": request_id, "limit": 1}, headers=keys["operator"])
    text = answer.text[answer.text.index("[{") + 1 : answer.text.rindex("]")]
    hashed = text.replace(f'"hash":"{json.loads(text)["hash"]}",', "")
    claims = (await receipt(guarded, keys["consumer"], request_id))["claims"]
    assert sha256(hashed.encode()).hexdigest() == claims["audit"]["hash"]
