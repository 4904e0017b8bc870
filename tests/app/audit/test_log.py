"""The audit log as operators read it, its signed heads, and the public keys."""

from datetime import UTC, datetime, timedelta

import pytest

from aegis_sdk.receipts import HEAD, ReceiptError, checked_claims, keys_in
from app.audit.service import signer_of
from app.platform.queue.queue import queue_app
from app.worker.worker import sign_head
from tests.app.audit.reading import KEY, SECOND_KEY, public_keys, records
from tests.app.worker.database import rows
from tests.service import create_key, running_app


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


INVALID = [
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
]


async def test_an_invalid_listing_is_refused(guarded, keys):
    for params in INVALID:
        answer = await guarded.get("/v1/audit", params=params, headers=keys["operator"])
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid"), params


@pytest.mark.parametrize("path", ["/v1/audit", "/v1/audit/heads"])
async def test_only_operators_read_the_log(guarded, keys, path):
    for who, key in keys.items():
        answer = await guarded.get(path, headers=key)
        assert answer.status_code == (200 if who == "operator" else 403)
    assert (await guarded.get(path)).status_code == 401


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


async def test_the_keys_are_public_and_can_be_kept(guarded):
    answer = await guarded.get("/.well-known/aegis-keys.json")
    again = await guarded.get("/.well-known/aegis-keys.json", headers={"If-None-Match": answer.headers["ETag"]})
    assert (answer.headers["Cache-Control"], again.status_code) == ("public, no-cache", 304)
    assert "PRIVATE" not in answer.text
    now = datetime.now(UTC)
    assert all(one.valid_from < now for one in keys_in(answer.content).keys)
