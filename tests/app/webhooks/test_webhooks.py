"""Webhooks over HTTP: administrators for their own tenant, operators for all."""

import asyncio

import psycopg
import pytest
from structlog.testing import capture_logs

from tests.answers import pointers
from tests.service import create_key, running_app

URL = "https://hooks.example/aegis"
ASKED = {"url": URL, "events": ["entry.published"]}


@pytest.fixture(scope="module")
async def keys(_one_loop, shared_database_url):
    return {
        "administrator": await create_key(shared_database_url, "owner", "administrator"),
        "rival": await create_key(shared_database_url, "stranger", "administrator"),
        "operator": await create_key(shared_database_url, "elsewhere", "operator"),
    }


@pytest.fixture(scope="module")
async def guarded(shared_database_url, keys):  # noqa: ARG001 -- with keys, it is not in development mode
    async with running_app(shared_database_url) as api:
        yield api


async def created(api, caller, **asked):
    answer = await api.post("/v1/webhooks", json=ASKED | asked, headers=caller)
    assert answer.status_code == 201, answer.text
    return answer.json()


async def test_a_secret_is_shown_once(guarded, keys):
    webhook = await created(guarded, keys["administrator"], events=["advice.stale", "entry.published"] * 2)
    assert webhook["secret"].startswith("whsec_")
    assert (webhook["tenant"], webhook["events"], webhook["enabled"]) == (
        "owner", ["entry.published", "advice.stale"], True
    )  # fmt: skip
    assert webhook["created_by"] == keys["administrator"]["Authorization"].split()[1][:14]
    listed = await guarded.get("/v1/webhooks", headers=keys["administrator"])
    assert webhook["id"] in [each["id"] for each in listed.json()["items"]]
    assert "whsec_" not in listed.text
    replaced = await guarded.post(f"/v1/webhooks/{webhook['id']}/secret", json={}, headers=keys["administrator"])
    assert replaced.json()["secret"] not in (webhook["secret"], None)
    assert "secret" not in (await guarded.get(f"/v1/webhooks/{webhook['id']}", headers=keys["administrator"])).json()
    await guarded.delete(f"/v1/webhooks/{webhook['id']}", headers=keys["administrator"])


async def test_administrators_have_the_webhooks_of_their_own_tenant_alone(guarded, keys):
    webhook = await created(guarded, keys["operator"], tenant="owner")
    path, rival = f"/v1/webhooks/{webhook['id']}", keys["rival"]
    answers = [
        await guarded.get(path, headers=rival),
        await guarded.patch(path, json={"enabled": False}, headers=rival),
        await guarded.post(f"{path}/secret", json={}, headers=rival),
        await guarded.post(f"{path}/test", headers=rival),
        await guarded.get(f"{path}/deliveries", headers=rival),
        await guarded.delete(path, headers=rival),
        await guarded.post("/v1/webhooks", json=ASKED | {"tenant": "owner"}, headers=rival),
        await guarded.get("/v1/webhooks", params={"tenant": "owner"}, headers=rival),
    ]
    assert [answer.status_code for answer in answers] == [404] * 6 + [403] * 2
    assert (await guarded.get("/v1/webhooks", headers=rival)).json() == {"items": []}
    for who in ("administrator", "operator"):
        listed = await guarded.get("/v1/webhooks", params={"tenant": "owner"}, headers=keys[who])
        assert [each["id"] for each in listed.json()["items"]] == [webhook["id"]]
    assert (await guarded.delete(path, headers=keys["administrator"])).status_code == 204
    assert (await guarded.get(path, headers=keys["administrator"])).status_code == 404


async def test_a_webhook_is_disabled_and_enabled(guarded, keys):
    webhook = await created(guarded, keys["rival"])
    path = f"/v1/webhooks/{webhook['id']}"
    ping = (await guarded.post(f"{path}/test", headers=keys["rival"])).json()
    assert (ping["event"], ping["status"], ping["attempts"]) == ("ping", "pending", 0)
    off = (await guarded.patch(path, json={"enabled": False}, headers=keys["rival"])).json()
    assert (off["enabled"], off["disabled_reason"]) == (False, "administrator")
    (given_up,) = (await guarded.get(f"{path}/deliveries", headers=keys["rival"])).json()["items"]
    assert (given_up["id"], given_up["status"]) == (ping["id"], "failed")
    assert (await guarded.patch(path, json={"enabled": True}, headers=keys["rival"])).json()["enabled"]
    await guarded.delete(path, headers=keys["rival"])


async def test_the_log_says_who_changes_a_webhook(guarded, keys):
    webhook = await created(guarded, keys["rival"])
    path = f"/v1/webhooks/{webhook['id']}"
    with capture_logs() as logged:
        for enabled in (False, True):
            await guarded.patch(path, json={"enabled": enabled}, headers=keys["rival"])
        replaced = await guarded.post(f"{path}/secret", json={}, headers=keys["rival"])
        await guarded.delete(path, headers=keys["rival"])
    said = [line for line in logged if line["event"].startswith("webhook")]
    changes = ("webhook disabled", "webhook enabled", "webhook secret replaced", "webhook deleted")
    who = {"webhook": webhook["id"], "by": webhook["created_by"], "log_level": "info"}
    assert said == [{"event": change} | who for change in changes]
    assert not any(private in str(logged) for private in (URL, webhook["secret"], replaced.json()["secret"]))


async def test_a_ping_is_answered_even_if_another_event_comes_later(guarded, keys, shared_database_url):
    webhook = await created(guarded, keys["rival"])
    with psycopg.connect(shared_database_url, autocommit=True) as connection:
        connection.execute(
            "INSERT INTO delivery (webhook_id, type, data, created_at) "
            "VALUES (%s, 'entry.published', '{}', now() + interval '1 hour')",
            (webhook["id"],),
        )
    ping = await guarded.post(f"/v1/webhooks/{webhook['id']}/test", headers=keys["rival"])
    assert (ping.status_code, ping.json()["event"]) == (202, "ping")
    await guarded.delete(f"/v1/webhooks/{webhook['id']}", headers=keys["rival"])


async def test_a_webhook_is_created_while_an_entry_is_published(guarded, keys, shared_database_url):
    """The entry refers to the tenant, so its transaction holds the tenant's row."""
    with psycopg.connect(shared_database_url) as publishing:
        publishing.execute("SELECT 1 FROM tenant WHERE name = 'stranger' FOR KEY SHARE")
        webhook = await asyncio.wait_for(created(guarded, keys["rival"]), 10)
    await guarded.delete(f"/v1/webhooks/{webhook['id']}", headers=keys["rival"])


async def test_a_request_that_is_sent_twice_is_carried_out_once(guarded, keys):
    headers = keys["rival"] | {"Idempotency-Key": "0123456789abcdef"}
    first, second = [await guarded.post("/v1/webhooks", json=ASKED, headers=headers) for _ in range(2)]
    assert (first.json(), second.headers["Idempotency-Replayed"]) == (second.json(), "true")
    path = f"/v1/webhooks/{first.json()['id']}"
    for place, post in enumerate((f"{path}/secret", f"{path}/test")):
        headers = keys["rival"] | {"Idempotency-Key": f"0123456789abcdef{place}"}
        answers = [await guarded.post(post, json={}, headers=headers) for _ in range(2)]
        assert (answers[0].content, answers[0].is_success) == (answers[1].content, True)
    assert len((await guarded.get(f"{path}/deliveries", headers=keys["rival"])).json()["items"]) == 1
    await guarded.delete(path, headers=keys["rival"])


async def test_a_tenant_has_ten_webhooks_even_if_it_asks_for_more_at_once(guarded, keys):
    asked = ASKED | {"tenant": "many"}
    answers = await asyncio.gather(
        *(guarded.post("/v1/webhooks", json=asked, headers=keys["operator"]) for _ in range(14))
    )
    assert sorted(answer.status_code for answer in answers) == [201] * 10 + [422] * 4


GOOD = [
    "https://hooks.example",
    "https://hooks.example:443/a/b?c=d&e=%20",
    "https://hooks.example:1024/",
    "https://8.8.8.8:65535/",
    "https://[2606:4700::1111]/",
    "https://xn--bcher-kva.example/",
    "https://hooks.example/" + "x" * 1978,
]


async def test_good_urls(guarded, keys):
    told = []
    for url in GOOD:
        webhook = await created(guarded, keys["administrator"], url=url)
        told.append(webhook["url"])
        await guarded.delete(f"/v1/webhooks/{webhook['id']}", headers=keys["administrator"])
    assert told == GOOD


BAD = [
    "", "nonsense", "hooks.example", "//hooks.example/", "https://", "https:///a", "https://:443/",
    "http://hooks.example/", "ftp://hooks.example/", "file:///etc/passwd", "gopher://hooks.example/",
    "HTTP://hooks.example/", "https://user@hooks.example/", "https://user:word@hooks.example/", "https://@hooks.example",
    "https://hooks.example/#part", "https://hooks.example/#", "https://hooks.example:22/", "https://hooks.example:80/",
    "https://hooks.example:0/", "https://hooks.example:1023/", "https://hooks.example:65536/",
    "https://hooks.example:-1/", "https://hooks.example:x/", "https://bücher.example/", "https://hooks。example/",
    "https://ⓗooks.example/", "https://127.0.0.1/", "https://10.0.0.1/", "https://169.254.169.254/latest/",
    "https://2130706433/", "https://0x7f000001/", "https://0177.0.0.1/", "https://127.1/", "https://0/",
    "https://0x7f.1/", "https://127.0.0.1./", "https://[::1]/", "https://[::]/", "https://[::ffff:127.0.0.1]/",
    "https://[fe80::1%25eth0]/", "https://[fd00::1]/", "https://[64:ff9b::7f00:1]/", "https://[2002:7f00:1::]/",
    "https://hooks.example\\@127.0.0.1/", "https://hooks.example/ a", " https://hooks.example/",
    "https://hooks.example/\n", "https://hooks.example/\r\nX: y", "https://hooks.example/\t", "https://a..example/",
    "https://-a.example/", "https://a_b.example/", "https://%31%32%37.0.0.1/", "https://hooks.example%00.x/",
    "https://" + "a" * 64 + ".example/", "https://hooks.example/" + "x" * 1979, "https://[::1/", "https://a.example:443:80/",
]  # fmt: skip


async def test_bad_urls(guarded, keys):
    told = {}
    for url in BAD:
        answer = await guarded.post("/v1/webhooks", json=ASKED | {"url": url}, headers=keys["administrator"])
        told[url] = answer.status_code, {*pointers(answer)} if answer.is_client_error else None
    assert told == {url: (422, {"/url"}) for url in BAD}


BAD_FIELDS = [
    ({"url": None}, "/url"),
    ({"events": []}, "/events"),
    ({"events": ["ping"]}, "/events/0"),
    ({"events": ["entry.published", "entry.read"]}, "/events/1"),
    ({"events": "entry.published"}, "/events"),
    ({"events": ["entry.published"] * 101}, "/events"),
    ({"secret": "whsec_mine"}, "/secret"),
    ({"tenant": ""}, "/tenant"),
]


async def test_bad_input(guarded, keys):
    told = []
    for asked, _ in BAD_FIELDS:
        answer = await guarded.post("/v1/webhooks", json=ASKED | asked, headers=keys["operator"])
        assert answer.status_code == 422, asked
        told.append((asked, *pointers(answer)))
    assert told == BAD_FIELDS


async def test_unknown_webhooks_are_not_found(guarded, keys):
    for webhook_id in ("x", "0" * 3000, "00000000-0000-0000-0000-000000000000", "%00"):
        path = f"/v1/webhooks/{webhook_id}"
        assert (await guarded.get(path, headers=keys["operator"])).status_code == 404
        assert (await guarded.delete(path, headers=keys["operator"])).status_code == 404
