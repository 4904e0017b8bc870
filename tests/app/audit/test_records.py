"""What is recorded in the audit log, and what is not."""

import json
from datetime import datetime
from hashlib import sha256

from app.audit.model import Place, check_chain, moment
from app.factory import Factory
from app.platform.queue.queue import queue_app
from app.retention import Retention
from app.worker.worker import sweep
from tests.app.audit.reading import CONTACT, COUNT, PURPOSE, REASON, delivered, records
from tests.app.requests.asking import entry, requested, step, wanted
from tests.app.requests.test_deliveries import LINK, descriptor
from tests.service import ACCEPTED, publish


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
