"""What the tests of the audit log read of it, and a request that they carry through."""

from pydantic import SecretStr

from aegis_sdk.receipts import keys_in
from app.audit.service import draw_key_text
from tests.app.requests.asking import requested, step
from tests.app.requests.test_deliveries import LINK, descriptor

KEY, SECOND_KEY = (SecretStr(draw_key_text()) for _ in range(2))
CONTACT, PURPOSE, REASON = "ada@insurer.example", "a purpose that nobody else has", "a reason that nobody else has"
COUNT = 987_654_321


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
