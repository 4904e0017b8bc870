"""Deliveries of data requests: what a descriptor must say, and that the service believes no other."""

from datetime import UTC, datetime, timedelta
from typing import Any

from tests.app.requests.asking import advised, entry, read, step
from tests.service import publish, running_app

DEEP: dict[str, Any] = {}
for _ in range(40):
    DEEP = {"deeper": DEEP}
LINK = {"url": "https://store.hospital.example/c01.csv?signature=4f1c"}


def descriptor(head, **changes):
    return {
        **LINK,
        "media_type": "text/csv",
        "size": 481_230,
        "sha256": "9c56cc51b374c3ba189210d5b6d4bf57790d351c96c47c02190ecf1e430635ab",
        "records": 100,
        "configuration": "c01",
        "entry_digest": head["digest"],
        "privacy": {"k": 5, "t": 0.2},
        "card": {"suppressed": 0},
    } | changes


async def delivered(guarded, keys, head, request_id, **changes):
    return await step(guarded, keys["provider"], request_id, "deliver", **descriptor(head, **changes))


async def test_what_is_delivered_is_read_by_both_sides(guarded, keys, head, approved):
    until = datetime.now(UTC) + timedelta(days=7)
    answer = await delivered(guarded, keys, head, approved, expires_at=until.isoformat())
    assert (answer.status_code, answer.json()["state"]) == (200, "delivered"), answer.text
    expected = {name: value for name, value in descriptor(head).items() if name != "entry_digest"}
    for who in ("consumer", "provider"):
        seen = (await read(guarded, keys[who], approved)).json()
        told = dict(seen["delivery"])
        assert datetime.fromisoformat(told.pop("expires_at")) == until
        assert told.pop("delivered_at") is not None
        assert told == expected
        assert seen["changes"][-1]["action"] == "deliver"
    assert (await read(guarded, keys["other"], approved)).status_code == 404
    assert "withdraw" not in (await read(guarded, keys["consumer"], approved)).json()["possible"]


NOT_AS_AGREED = [
    ({"configuration": "c02"}, "/configuration"),
    ({"entry_digest": "sha256:" + "0" * 64}, "/entry_digest"),
    ({"privacy": {"k": 4}}, "/privacy/k"),
    ({"privacy": {"t": 0.2}}, "/privacy/k"),
    ({"url": "http://store.hospital.example/c01.csv"}, "/url"),
    ({"url": "https://10.0.0.7/c01.csv"}, "/url"),
    ({"url": "https://[::1]/c01.csv"}, "/url"),
    ({"url": "https://user:password@store.example/c01.csv"}, "/url"),
    ({"url": "file:///etc/passwd"}, "/url"),
    ({"expires_at": "2020-01-01T00:00:00Z"}, "/expires_at"),
    ({"expires_at": "2040-01-01T00:00:00"}, "/expires_at"),
    ({"expires_at": "9999-12-31T23:59:59-12:00"}, "/expires_at"),
    ({"expires_at": 4102444800}, "/expires_at"),
    ({"expires_at": "4102444800"}, "/expires_at"),
    ({"url": "https://localhost/c01.csv"}, "/url"),
    ({"url": "https://db/c01.csv"}, "/url"),
    ({"url": "https://metadata.google.internal/c01.csv"}, "/url"),
    ({"url": "https://store.example/<script>"}, "/url"),
    ({"url": "https://store.example/%zz"}, "/url"),
    ({"sha256": "9C56"}, "/sha256"),
    ({"size": 0}, "/size"),
    ({"records": 0}, "/records"),
    ({"media_type": "application/zip"}, "/media_type"),
    ({"card": {"text": "x" * 140_000}}, "/card"),
    ({"card": DEEP}, "/card"),
    ({"card": {"nul \0": 1}}, "/card"),
    ({"privacy": {"kk": 5}}, "/privacy/kk"),
]


async def test_what_is_not_as_agreed_is_refused_with_its_place(guarded, keys, head, approved):
    for changes, pointer in NOT_AS_AGREED:
        refused = await delivered(guarded, keys, head, approved, **changes)
        assert refused.status_code == 422, changes
        assert {one["pointer"] for one in refused.json()["errors"]} == {pointer}, changes
    seen = (await read(guarded, keys["provider"], approved)).json()
    assert (seen["state"], seen["delivery"]) == ("approved", None)


async def test_what_the_configuration_vouches_for_must_be_reached(guarded, keys, worker):
    configurations = [{"id": "c01", "maskings": {"age": "age-2"}, "privacy": {"k": 5, "t": 0.3}}]
    head = await publish(guarded, entry(configurations=configurations), **keys["provider"])
    request_id = await advised(guarded, keys, head, worker, require={"k": 3})
    await step(guarded, keys["provider"], request_id, "approve")
    for privacy in ({"k": 4, "t": 0.3}, {"k": 5, "t": 0.31}, {"k": 5}):
        assert (await delivered(guarded, keys, head, request_id, privacy=privacy)).json()["code"] == "not_as_agreed"
    assert (await delivered(guarded, keys, head, request_id, privacy={"k": 5, "t": 0.3})).status_code == 200


async def test_nothing_is_delivered_before_it_is_approved_nor_twice(guarded, keys, head, worker):
    request_id = await advised(guarded, keys, head, worker)
    early = await delivered(guarded, keys, head, request_id)
    assert (early.status_code, early.json()["possible"]) == (409, ["approve", "decline", "counter"])
    assert (await step(guarded, keys["consumer"], request_id, "deliver", **descriptor(head))).status_code == 403
    await step(guarded, keys["provider"], request_id, "approve")
    assert (await delivered(guarded, keys, head, request_id)).status_code == 200
    again = await delivered(guarded, keys, head, request_id)
    assert (again.status_code, again.json()["possible"]) == (409, ["relink"])


async def test_a_new_link_leads_to_the_same_file(guarded, keys, head, approved):
    early = await step(guarded, keys["provider"], approved, "relink", **LINK)
    assert early.status_code == 409
    first = (await delivered(guarded, keys, head, approved)).json()["delivery"]
    other = "https://mirror.hospital.example/c01.csv"
    assert (await step(guarded, keys["provider"], approved, "relink", url="http://other.example/")).status_code == 422
    relinked = await step(guarded, keys["provider"], approved, "relink", url=other)
    assert relinked.json()["delivery"] == first | {"url": other}
    assert relinked.json()["changes"][-1]["action"] == "relink"


async def test_links_into_private_networks_are_a_setting(shared_database_url, keys, head, approved):
    async with running_app(shared_database_url, links_allow_private=True) as api:
        assert (await delivered(api, keys, head, approved, url="http://127.0.0.1:9000/c01.csv")).status_code == 200
