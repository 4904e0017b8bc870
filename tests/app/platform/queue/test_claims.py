"""Workers claim webhooks at the same time, and record attempts while administrators change webhooks."""

import asyncio
from itertools import chain

import psycopg
import pytest

from app.factory import Factory
from app.platform.database.session import Database
from app.platform.queue.queue import queue_app
from app.webhooks.model import Outcome
from app.webhooks.store.webhooks import DeliveryStore
from tests.app.worker.database import LOCK_AWAITED, rows
from tests.waiting import until

WORKERS = 8

ADDED = (
    "WITH owner AS (INSERT INTO tenant (name) SELECT unnest(%s::text[]) RETURNING id), "
    "added AS (INSERT INTO webhook (id, tenant_id, url, event_types, secret) "
    "SELECT gen_random_uuid(), owner.id, 'https://hooks.example/', '{}', '' FROM owner, generate_series(1, %s) "
    "RETURNING id) INSERT INTO delivery (webhook_id, type, data) SELECT id, 'ping', '{}' FROM added"
)


def add_webhooks(database_url, *tenants, each=1):
    """Add webhooks of these new tenants, and an event that waits for each."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(ADDED, (list(tenants), each))


@pytest.fixture
async def database(_one_loop, database_url):
    found = Database(database_url, pool_size=WORKERS)
    yield found
    await found.close()


async def claim(database):
    async with database.transaction() as session:
        return await DeliveryStore(session).claim()


async def claim_all(database):
    claims = []
    while (claimed := await claim(database)) is not None:
        claims.append(claimed)
    return claims


async def test_one_webhook_of_each_tenant_is_claimed_however_many_workers_claim_at_once(database, database_url):
    add_webhooks(database_url, *map(str, range(60)), each=2)
    claimed = chain.from_iterable(await asyncio.gather(*(claim_all(database) for _ in range(WORKERS))))
    tenants = dict(rows(database_url, "SELECT id::text, tenant_id FROM webhook"))
    served = [tenants[webhook_id] for webhook_id in claimed]
    assert sorted(served) == sorted(set(tenants.values()))


async def test_a_tenant_whose_webhook_is_being_claimed_is_passed_over(database, database_url):
    add_webhooks(database_url, "busy", each=2)
    async with database.transaction() as claiming:
        assert await DeliveryStore(claiming).claim() is not None
        assert await asyncio.wait_for(claim(database), 10) is None
        add_webhooks(database_url, "other")
        assert await asyncio.wait_for(claim(database), 10) is not None


async def test_a_webhook_is_claimed_while_an_event_for_it_is_added(database, database_url):
    add_webhooks(database_url, "owner")
    with psycopg.connect(database_url) as adding:
        adding.execute("INSERT INTO delivery (webhook_id, type, data) SELECT id, 'ping', '{}' FROM webhook")
        assert await asyncio.wait_for(claim(database), 10) is not None


@pytest.mark.parametrize("status", [200, 500])
async def test_an_attempt_is_recorded_without_a_deadlock_with_who_changes_the_webhook(database, database_url, status):
    """Both lock the webhook first, and its deliveries after that."""
    add_webhooks(database_url, "owner")
    async with database.transaction() as session:
        store = DeliveryStore(session)
        due = await store.next_due(await store.claim())

    async def record():
        async with database.transaction() as session:
            await Factory(session, queue_app(database_url)).deliveries().record(due, Outcome(status))

    with psycopg.connect(database_url) as changing:
        changing.execute("UPDATE webhook SET disabled_at = now()")
        recording = asyncio.create_task(record())
        await until(lambda: rows(database_url, LOCK_AWAITED))
        changing.execute("SELECT 1 FROM delivery FOR UPDATE NOWAIT")
    await recording
    assert rows(database_url, "SELECT attempts, last_status FROM delivery") == [(1, status)]
