"""Workers claim webhooks at the same time, and record attempts while administrators change webhooks."""

import asyncio

import psycopg
import pytest

from app.catalog.queue import queue_app
from app.catalog.session import Database
from app.catalog.stores.deliveries import DeliveryStore
from app.domain.webhooks import Outcome
from app.factory import Factory
from tests.app.jobs.database import rows, until

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

    waiting = "SELECT 1 FROM pg_locks WHERE NOT granted AND locktype = 'transactionid'"
    with psycopg.connect(database_url) as changing:
        changing.execute("UPDATE webhook SET disabled_at = now()")
        recording = asyncio.create_task(record())
        await until(lambda: rows(database_url, waiting))
        changing.execute("SELECT 1 FROM delivery FOR UPDATE NOWAIT")
    await recording
    assert rows(database_url, "SELECT attempts, last_status FROM delivery") == [(1, status)]
