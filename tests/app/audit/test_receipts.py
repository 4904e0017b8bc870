"""The receipts of data requests."""

import json
from hashlib import sha256

import pytest

from aegis_sdk.receipts import ReceiptError, check_receipt
from tests.app.audit.reading import (
    CONTACT,
    COUNT,
    KEY,
    PURPOSE,
    REASON,
    SECOND_KEY,
    delivered,
    public_keys,
    receipt,
    records,
)
from tests.app.requests.asking import entry, requested, step, wanted
from tests.app.requests.test_deliveries import LINK, descriptor
from tests.app.worker.database import rows
from tests.service import create_key, publish, running_app


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


async def test_the_record_of_a_receipt_can_be_hashed_by_whoever_has_it(guarded, keys, worker):
    head = await publish(guarded, entry(), **keys["provider"])
    request_id = (await requested(guarded, keys, head)).json()["id"]
    await worker.run()
    answer = await guarded.get("/v1/audit", params={"request": request_id, "limit": 1}, headers=keys["operator"])
    text = answer.text[answer.text.index("[{") + 1 : answer.text.rindex("]")]
    hashed = text.replace(f'"hash":"{json.loads(text)["hash"]}",', "")
    claims = (await receipt(guarded, keys["consumer"], request_id))["claims"]
    assert sha256(hashed.encode()).hexdigest() == claims["audit"]["hash"]
