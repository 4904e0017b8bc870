"""Events reach webhooks: signed, again after failures, and without holding others up."""

import asyncio
import json
import threading
from datetime import UTC, datetime, timedelta

import psycopg
import pytest
from standardwebhooks.webhooks import Webhook as Verifier
from standardwebhooks.webhooks import WebhookVerificationError

from app.platform.database.session import Database
from app.platform.queue.queue import queue_app
from app.retention import Retention
from app.webhooks.jobs import BATCH, Deliverer, EventSender
from app.webhooks.model import SCHEDULE, DueDelivery, Outcome
from app.webhooks.service import DeliveryService, waits
from app.worker.worker import sweep
from tests.answers import hold_event
from tests.app.worker.database import rows
from tests.receiver import receiving
from tests.running import process
from tests.service import running_app
from tests.waiting import PATIENCE, until

EVENTS = ["entry.published", "advice.succeeded", "advice.failed", "advice.stale"]


def execute(database_url, statement, *parameters):
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(statement, parameters)


@pytest.fixture
def database_url(shared_database_url):
    """One database for all tests of this file, without the webhooks of the one before."""
    yield shared_database_url
    execute(shared_database_url, "DELETE FROM webhook")


@pytest.fixture
def receiver():
    with receiving() as found:
        yield found
        for received in found.received:
            hold_event(json.loads(received.body))


@pytest.fixture
async def deliverer(_one_loop, database_url):
    database = Database(database_url, pool_size=1)
    yield Deliverer(database, queue_app(database_url), EventSender(allow_private=True, seconds=1))
    await database.close()


@pytest.fixture(scope="module")
async def api(_one_loop, shared_database_url):
    async with running_app(shared_database_url, webhooks_allow_private=True) as client:
        yield client


async def created(api, url, headers=None, **asked):
    answer = await api.post("/v1/webhooks", json={"url": url, "events": EVENTS} | asked, headers=headers)
    assert answer.status_code == 201, answer.text
    return answer.json()


async def pinged(api, webhook):
    answer = await api.post(f"/v1/webhooks/{webhook['id']}/test")
    assert answer.status_code == 202, answer.text
    return answer.json()["id"]


async def read(api, webhook):
    return (await api.get(f"/v1/webhooks/{webhook['id']}")).json()


async def delivery_of(api, webhook, delivery_id):
    listed = (await api.get(f"/v1/webhooks/{webhook['id']}/deliveries")).json()["items"]
    return next(each for each in listed if each["id"] == delivery_id)


def let_time_pass(database_url):
    """Everything that waits is due now."""
    execute(database_url, "UPDATE delivery SET next_attempt_at = now() - interval '1 s'")
    execute(database_url, "UPDATE webhook SET retry_at = NULL, claimed_until = NULL")


async def test_an_event_is_signed_as_standard_webhooks_has_it(api, deliverer, receiver):
    webhook = await created(api, receiver.url)
    sent = await pinged(api, webhook)
    await deliverer.run_once()
    (received,) = receiver.received
    event = Verifier(webhook["secret"]).verify(received.body, received.headers)
    assert set(event) == {"type", "timestamp", "data"}
    assert (event["type"], event["data"], received.id) == ("ping", {}, sent)
    assert abs(datetime.fromisoformat(event["timestamp"]) - datetime.now(UTC)) < timedelta(minutes=5)
    with pytest.raises(WebhookVerificationError):
        Verifier(webhook["secret"]).verify(received.body + b" ", received.headers)
    delivery = await delivery_of(api, webhook, sent)
    assert (delivery["status"], delivery["attempts"], delivery["last_status"]) == ("delivered", 1, 204)
    assert ((await read(api, webhook))["last_status"], "secret" in await read(api, webhook)) == (204, False)
    await deliverer.run_once()
    assert len(receiver.received) == 1


async def test_while_a_secret_is_replaced_both_sign(api, deliverer, receiver, database_url):
    old = await created(api, receiver.url)
    new = (await api.post(f"/v1/webhooks/{old['id']}/secret", json={"overlap_hours": 1})).json()
    await pinged(api, old)
    await deliverer.run_once()
    for webhook in (old, new):
        Verifier(webhook["secret"]).verify(receiver.received[0].body, receiver.received[0].headers)
    execute(database_url, "UPDATE webhook SET previous_secret_until = now() - interval '1 s'")
    await pinged(api, old)
    await deliverer.run_once()
    Verifier(new["secret"]).verify(receiver.received[1].body, receiver.received[1].headers)
    with pytest.raises(WebhookVerificationError):
        Verifier(old["secret"]).verify(receiver.received[1].body, receiver.received[1].headers)


async def test_a_failure_is_tried_again_with_the_same_id(api, deliverer, receiver, database_url):
    webhook, receiver.status = await created(api, receiver.url), 503
    sent = await pinged(api, webhook)
    await deliverer.run_once()
    delivery = await delivery_of(api, webhook, sent)
    assert (delivery["status"], delivery["attempts"], delivery["last_status"]) == ("pending", 1, 503)
    wait = datetime.fromisoformat(delivery["next_attempt_at"]) - datetime.fromisoformat(delivery["last_attempt_at"])
    assert SCHEDULE[0] <= wait < SCHEDULE[0] * 1.3
    await deliverer.run_once()
    assert len(receiver.received) == 1  # not before that
    assert (await read(api, webhook))["failing_since"] is not None
    receiver.status = 200
    let_time_pass(database_url)
    await deliverer.run_once()
    assert [received.id for received in receiver.received] == [sent, sent]
    assert (await delivery_of(api, webhook, sent))["status"] == "delivered"
    assert (await read(api, webhook))["failing_since"] is None


async def test_an_event_is_given_up_when_the_schedule_ends(api, deliverer, receiver, database_url):
    webhook, receiver.status = await created(api, receiver.url), 500
    sent = await pinged(api, webhook)
    execute(database_url, "UPDATE delivery SET attempts = %s", len(SCHEDULE) - 1)
    await deliverer.run_once()
    assert (await delivery_of(api, webhook, sent))["status"] == "pending"
    let_time_pass(database_url)
    await deliverer.run_once()
    delivery = await delivery_of(api, webhook, sent)
    assert (delivery["status"], delivery["attempts"], delivery["next_attempt_at"]) == ("failed", 10, None)
    let_time_pass(database_url)
    await deliverer.run_once()
    assert len(receiver.received) == 2


def due(attempts=0, failures=0):
    moment = datetime.now(UTC)
    return DueDelivery("id", "id", "https://a.example", (b"",), "ping", {}, moment, attempts, failures, None)


def test_the_waits_add_up_to_three_days():
    waited = [waits(due(attempts), Outcome(500))[0] for attempts in range(len(SCHEDULE) + 1)]
    assert waited.pop() is None
    assert timedelta(days=3) < sum(SCHEDULE, timedelta()) < timedelta(days=3.5)
    assert all(wait <= waited <= wait * 1.2 for wait, waited in zip(SCHEDULE, waited, strict=True))
    assert waits(due(3, failures=100), Outcome(500))[1] <= timedelta(minutes=36)


@pytest.mark.parametrize(("asked", "wait"), [(1, 5), (600, 600), (10**8, 86_400)])
def test_retry_after_is_honoured(asked, wait):
    for each in waits(due(), Outcome(503, retry_after=timedelta(seconds=asked))):
        assert timedelta(seconds=wait) <= each <= timedelta(seconds=wait * 1.2)


def disabled_in_log(database_url, webhook):
    """Who has disabled a webhook by the audit log, and why."""
    query = "SELECT tenant, subject, value FROM audit_record WHERE action = 'webhook.disable' AND target = %s"
    return rows(database_url, query, webhook["id"])


async def test_gone_ends_a_webhook_at_once(api, deliverer, receiver, database_url):
    webhook, receiver.status = await created(api, receiver.url), 410
    sent = [await pinged(api, webhook) for _ in range(3)]
    await deliverer.run_once()
    found = await read(api, webhook)
    assert (found["enabled"], found["disabled_reason"], len(receiver.received)) == (False, "gone", 1)
    assert disabled_in_log(database_url, webhook) == [(None, None, "gone")]
    assert {(await delivery_of(api, webhook, one))["status"] for one in sent} == {"failed"}
    assert (await api.post(f"/v1/webhooks/{webhook['id']}/test")).status_code == 422
    receiver.status = 200
    enabled = await api.patch(f"/v1/webhooks/{webhook['id']}", json={"enabled": True})
    assert (enabled.json()["enabled"], enabled.json()["failing_since"]) == (True, None)
    await pinged(api, webhook)
    await deliverer.run_once()
    assert len(receiver.received) == 2


async def test_a_week_of_failures_ends_a_webhook(api, deliverer, receiver, database_url, caplog):
    webhook, receiver.status = await created(api, receiver.url), 500
    await pinged(api, webhook)
    execute(database_url, "UPDATE webhook SET failing_since = now() - interval '6 days'")
    await deliverer.run_once()
    assert (await read(api, webhook))["enabled"]
    assert disabled_in_log(database_url, webhook) == []
    execute(database_url, "UPDATE webhook SET failing_since = now() - interval '8 days'")
    let_time_pass(database_url)
    await deliverer.run_once()
    assert (await read(api, webhook))["disabled_reason"] == "failing"
    assert disabled_in_log(database_url, webhook) == [(None, None, "failing")]
    assert [record.message for record in caplog.records if "disabled" in record.message] == ["webhook disabled"]


MANY = "INSERT INTO delivery (webhook_id, type, data) SELECT %s::uuid, 'ping', '{}' FROM generate_series(1, %s)"


async def test_ten_thousand_events_for_a_dead_webhook_hold_nobody_up(api, deliverer, receiver, database_url):
    dead = [await created(api, f"http://127.0.0.1:1025/{number}") for number in range(9)]
    execute(database_url, MANY, dead[0]["id"], 10_000)
    for webhook in dead[1:]:
        await pinged(api, webhook)
    other = await created(api, receiver.url, tenant="other")
    sent = await pinged(api, other)
    await asyncio.wait_for(deliverer.run_once(), 10)
    assert [received.id for received in receiver.received] == [sent]
    attempts = rows(database_url, "SELECT sum(attempts) FROM delivery WHERE webhook_id = %s", dead[0]["id"])
    assert attempts in ([(0,)], [(1,)])


async def test_slow_webhooks_of_a_tenant_take_one_place(api, deliverer, receiver, database_url):
    with receiving() as slow:
        slow.speak = slow.dribble
        for number in range(10):
            await pinged(api, await created(api, f"{slow.url}/{number}"))
        other = await created(api, receiver.url, tenant="other")
        sent = await pinged(api, other)
        await deliverer.run_once()
        assert [received.id for received in receiver.received] == [sent]
        assert len(slow.received) == 1
    errors = rows(database_url, "SELECT last_error FROM webhook WHERE last_error IS NOT NULL")
    assert errors == [("timeout",)]


async def test_webhooks_take_turns(api, deliverer, receiver, database_url):
    webhook = await created(api, receiver.url)
    execute(database_url, MANY, webhook["id"], BATCH + 1)
    await deliverer.run_once()
    assert len(receiver.received) == BATCH


async def test_what_was_sent_by_a_worker_that_died_is_sent_again(api, deliverer, receiver, database_url, monkeypatch):
    """It died after the answer and before the commit: the claim is there, and nothing is recorded."""
    webhook = await created(api, receiver.url)
    sent = await pinged(api, webhook)

    async def die(*_):
        raise ConnectionError

    with monkeypatch.context() as dying:
        dying.setattr(DeliveryService, "record", die)
        await deliverer.run_once()
    await deliverer.run_once()
    assert len(receiver.received) == 1  # it may still be at work
    execute(database_url, "UPDATE webhook SET claimed_until = now() - interval '1 s'")
    await deliverer.run_once()
    assert [received.id for received in receiver.received] == [sent, sent]
    assert (await delivery_of(api, webhook, sent))["status"] == "delivered"


async def test_two_workers_send_an_event_once(api, deliverer, receiver, database_url):
    second = Database(database_url, pool_size=1)
    other = Deliverer(second, queue_app(database_url), EventSender(allow_private=True))
    webhooks = [await created(api, receiver.url, tenant=f"tenant-{number}") for number in range(5)]
    sent = {await pinged(api, webhook) for webhook in webhooks}
    await asyncio.gather(deliverer.run_once(), other.run_once())
    await second.close()
    assert sorted(received.id for received in receiver.received) == sorted(sent)


async def test_a_private_address_is_told_to_the_administrator(api, receiver, database_url):
    webhook = await created(api, receiver.url)
    await pinged(api, webhook)
    database = Database(database_url, pool_size=1)
    await Deliverer(database, queue_app(database_url), EventSender(allow_private=False)).run_once()
    await database.close()
    assert ((await read(api, webhook))["last_error"], receiver.received) == ("address_refused", [])


async def test_old_deliveries_are_deleted(api, database_url):
    webhook = await created(api, "https://hooks.example/")
    old, new = await pinged(api, webhook), await pinged(api, webhook)
    execute(database_url, "UPDATE delivery SET created_at = now() - interval '31 days' WHERE id = %s", old)
    database = Database(database_url, pool_size=1)
    assert await sweep(database, queue_app(database_url), Retention()) == 1
    await database.close()
    assert rows(database_url, "SELECT id::text FROM delivery") == [(new,)]


async def test_a_deleted_webhook_gets_nothing(api, deliverer, receiver, database_url):
    webhook = await created(api, receiver.url)
    await pinged(api, webhook)
    assert (await api.delete(f"/v1/webhooks/{webhook['id']}")).status_code == 204
    await deliverer.run_once()
    assert (receiver.received, rows(database_url, "SELECT 1 FROM delivery")) == ([], [])


@pytest.mark.processes
@pytest.mark.long
async def test_what_a_killed_worker_was_sending_is_sent_by_another(api, receiver, database_url):
    settings = {"database_url": database_url, "webhooks_allow_private": "true"}
    answering = threading.Event()
    receiver.speak = lambda _: answering.wait(30)
    webhook = await created(api, receiver.url)
    sent = await pinged(api, webhook)
    with process("worker", **settings) as killed:
        await until(lambda: receiver.received)
        killed.kill()
        killed.wait()
    receiver.speak = None
    answering.set()
    assert (await delivery_of(api, webhook, sent))["attempts"] == 0
    execute(database_url, "UPDATE webhook SET claimed_until = now()")  # it would end by itself after 30 s
    with process("worker", **settings) as other:
        await until(lambda: rows(database_url, "SELECT 1 FROM delivery WHERE status = 'delivered'"))
        other.terminate()
        other.communicate(timeout=PATIENCE)
    assert other.returncode == 0
    assert [received.id for received in receiver.received] == [sent, sent]
