"""No statement reads a table that grows from its beginning to its end, whoever asks.

The statements are those that the service sends, and the statistics those of `ANALYZE`.
"""

import re
from functools import partial

import httpx
import psycopg
import pytest

from app.dataspace.store import NegotiationStore, TransferStore
from app.factory import Factory
from app.platform.database.session import Database
from app.platform.queue.model import Lane
from app.platform.queue.queue import queue_app
from app.retention import Retention, Swept
from app.webhooks.store.webhooks import DeliveryStore
from tests.app.platform.database.plans import SMALL, Statement, captured, growing, scans
from tests.app.requests.asking import advised, entry, step
from tests.app.requests.test_verifications import AGREES, DELIVERED
from tests.copied_catalogue import fill
from tests.postgres import OWNER, as_role
from tests.service import ACCEPTED, Worker, ask, create_key, example_entry, publish, running_app

ENTRIES = 2_000
MEASURES = ("mutual_information", "chi_square", "g3")

#: Copies of the rows that the service has made itself, and of those that nobody has made here.
MORE = """
INSERT INTO data_request SELECT (jsonb_populate_record(one, jsonb_build_object('id', gen_random_uuid(),
    'created_at', now() - n * interval '1 minute', 'changed_at', now() - n * interval '1 minute',
    'entry_id', e.id, 'version_id', v.id, 'state', (ARRAY['advised', 'declined', 'withdrawn', 'ended', 'requested'])[
        CASE WHEN n < 20 THEN 5 ELSE 1 + n % 4 END]))).*
FROM data_request AS one, entry AS e JOIN entry_version AS v ON v.entry_id = e.id,
    LATERAL (SELECT split_part(e.name, '-', 2)::int) AS numbered (n) WHERE e.name LIKE 'table-%';
INSERT INTO data_request_change (request_id, action, state, side)
SELECT id, 'request', state, 'consumer' FROM data_request, generate_series(1, 2);
INSERT INTO handover (request_id, url, media_type, size, sha256, records, configuration, reached)
SELECT id, 'https://example.org', 'text/csv', 1, 'x', 1, 'c01', '{}' FROM data_request;
INSERT INTO verification (request_id, measured, cells_compared, cells_differing, differences)
SELECT id, '{}', 1, 0, '[]' FROM data_request;
INSERT INTO lease (request_id, id, expires_at) SELECT id, gen_random_uuid(), now() FROM data_request;
INSERT INTO negotiation (id, consumer_id, consumer_pid, callback, state, request_id)
SELECT gen_random_uuid(), 1, id::text, 'https://example.org',
    CASE WHEN n < 20 THEN 'REQUESTED' ELSE 'TERMINATED' END, id
FROM (SELECT id, row_number() OVER () AS n FROM data_request) AS one;
INSERT INTO transfer (id, consumer_id, consumer_pid, callback, state, negotiation_id)
SELECT gen_random_uuid(), 1, id::text, 'https://example.org', CASE WHEN state = 'REQUESTED' THEN 'STARTED' ELSE
    'COMPLETED' END, id FROM negotiation;
INSERT INTO audit_head (sequence, key_id, signed_at, jws)
SELECT n, 'x', now() - n * interval '1 day', 'x' FROM generate_series(1, 2000) AS n;
INSERT INTO procrastinate_jobs (queue_name, task_name, status, args, queueing_lock)
SELECT 'heavy', 'reference', 'failed', '{"tenant": "other-1", "version_id": 1, "attributes": [0]}',
    CASE WHEN n < 50 THEN n::text END FROM generate_series(1, 3000) AS n;
INSERT INTO procrastinate_events (job_id, type, at)
SELECT id, 'started', now() - id % 14 * interval '1 day' FROM procrastinate_jobs, generate_series(1, 3);
INSERT INTO waiting_job (tenant, lane, task, claim, rank, arguments)
SELECT 'other-' || n % 50, 'light', 'advice', n::text, 1, '{}' FROM generate_series(1, 3000) AS n;
INSERT INTO console_session (token_hash, key_prefix, expires_at)
SELECT sha256(n::text::bytea), (SELECT min(prefix) FROM api_key), now() + (n - 50) * interval '1 minute'
FROM generate_series(1, 2000) AS n;
INSERT INTO idempotency_key (name, fingerprint, claim, created_at)
SELECT sha256(n::text::bytea), 'x', gen_random_uuid(), now() - n * interval '1 minute'
FROM generate_series(1, 3000) AS n;
INSERT INTO webhook (id, tenant_id, url, event_types, secret)
SELECT gen_random_uuid(), 1, 'https://example.org', '{}', 'x';
INSERT INTO delivery (webhook_id, type, data, status, created_at)
SELECT webhook.id, 'x', '{}', CASE WHEN n < 50 THEN 'pending' ELSE 'delivered' END, now() - n * interval '20 minutes'
FROM webhook, generate_series(1, 3000) AS n;
INSERT INTO saved_search (id, tenant_id, asked, words, facets, required)
SELECT gen_random_uuid(), 1, '{}', '{}', '{}', '{"at_least": {}, "at_most": {}}';
INSERT INTO alert (search_id, version_id) SELECT saved_search.id, entry_version.id FROM saved_search, entry_version;
INSERT INTO audit_record (action, tenant, entry_id) SELECT 'entry.publish', 'other-1', id FROM entry;
INSERT INTO api_key (tenant_id, role, prefix, key_hash)
SELECT 1, 'consumer', 'aegis_' || substr(md5(n::text), 1, 8), sha256(n::text::bytea) FROM generate_series(1, 1000) AS n
"""

#: What there is of each version.
OF_VERSIONS = ("count_table", "reference", "reference_array", "verdict")


def copy_to_versions(connection, table):
    """Copy the rows of the version that was published to those that were copied of it."""
    columns = connection.execute(f"SELECT * FROM {table} LIMIT 0").description or ()
    rest = [column.name for column in columns if column.name not in {"id", "version_id"}]
    copied = ", ".join(f"one.{name}" for name in rest)
    connection.execute(
        f"INSERT INTO {table} (version_id, {', '.join(rest)}) SELECT version.id, {copied} "
        f"FROM {table} AS one, entry_version AS version "
        "WHERE one.version_id = (SELECT min(version_id) FROM advice) AND version.id <> one.version_id"
    )


def fill_all(url):
    """Make a catalogue of the entry that is there, on as many pages as ten times as many rows would have."""
    with psycopg.connect(url, autocommit=True) as connection:
        for name in growing(connection):
            connection.execute(f"ALTER TABLE {name} SET (fillfactor = 10)")
        fill(url, ENTRIES, "lab")
        connection.execute(MORE)
        for name in OF_VERSIONS:
            copy_to_versions(connection, name)
        connection.execute("ANALYZE")


@pytest.fixture(scope="module")
async def catalogue(_one_loop, shared_database_url):
    """The API on a filled catalogue, the headers of each caller, an entry that has answers, and the database."""
    headers = {
        role: await create_key(shared_database_url, tenant, role)
        for role, tenant in (("operator", "operations"), ("provider", "hospital"), ("consumer", "lab"))
    }
    async with running_app(shared_database_url) as api:
        head = await publish(api, **headers["provider"])
        path, change = f"/v1/entries/{head['id']}", {"If-Match": "*"} | headers["provider"]
        await api.patch(path, json={"visibility": "all"}, headers=change)
        api.headers = httpx.Headers(headers["consumer"])
        for measure in MEASURES:
            await ask(api, head["id"], measure=measure)
        asked = {"measure": "g3", "purpose": "a study", "contact": "me@lab.example", "terms": head["terms"]}
        made = await api.post(f"{path}/requests", json=asked)
        assert made.is_success, made.text
        async with Worker.on(shared_database_url) as worker:
            await worker.run()
        fill_all(as_role(shared_database_url, OWNER))
        yield api, headers, head["id"], shared_database_url


@pytest.fixture
def scans_in(catalogue):
    """A function that returns statements that scan a table that grows."""
    *_, url = catalogue
    with psycopg.connect(url, autocommit=True) as connection:
        yield partial(scans, connection)


LISTS = (
    "/v1/entries",
    "/v1/questions",
    "/v1/questions?tenant=lab",
    "/v1/requests",
    "/v1/audit",
    "/v1/keys",
    "/v1/quota",
    "/catalog.jsonld",
    "/catalog.jsonld?page_token=80000000-0000-0000-0000-000000000000",
)
WORTH = "sort=worth&label=health"
SEARCHES = (
    *("query=half", "query=single", "query=nowhere", "attribute=attribute77", "license=none", "require=k=500"),
    *(WORTH, f"{WORTH}&query=nowhere", f"{WORTH}&needs=attribute77", f"{WORTH}&require=t=0.5"),
)


async def pages(api, path, headers):
    """The first two pages of a list, if the caller may see it."""
    page = await api.get(path, headers=headers)
    if page.is_success and (token := page.json().get("next_page_token")):
        following = await api.get(path, params={"page_token": token}, headers=headers)
        assert following.is_success, following.text


@pytest.mark.parametrize("role", ["operator", "provider", "consumer"])
async def test_lists_and_searches_are_by_index(catalogue, scans_in, role):
    api, headers, *_ = catalogue
    with captured() as statements:
        for path in (*LISTS, *(f"/v1/entries?{search}" for search in SEARCHES)):
            await pages(api, path, headers[role])
    assert len(statements) >= 10
    assert scans_in(statements) == []


@pytest.mark.parametrize("role", ["operator", "provider", "consumer"])
async def test_an_entry_and_its_stored_advice_are_found_by_index(catalogue, scans_in, role):
    api, headers, entry, _ = catalogue
    with captured() as statements:
        for path in (f"/v1/entries/{entry}", f"/v1/questions?entry={entry}", f"/v1/requests?entry={entry}"):
            await api.get(path, headers=headers[role])
        for measure in MEASURES:
            answer = await api.post(f"/v1/entries/{entry}/advice", json={"measure": measure}, headers=headers[role])
            assert answer.status_code == 200
            await api.get(f"/v1/advice/{answer.json()['id']}", headers=headers[role])
    assert len(statements) >= 8
    assert scans_in(statements) == []


async def test_what_is_published_asked_computed_and_deleted_is_by_index(catalogue, scans_in):
    api, headers, _, url = catalogue
    with captured() as statements:
        head = await publish(api, example_entry(name="new"), **headers["provider"])
        await ask(api, head["id"], measure="g1")
        async with Worker.on(url) as worker:
            await worker.run()
        path = f"/v1/entries/{head['id']}"
        change = {"If-Match": "*"} | headers["provider"]
        again = await api.put(path, json=example_entry(name="new", title="again"), params=ACCEPTED, headers=change)
        assert again.status_code == 200, again.text
        deleted = await api.delete(path, headers=change)
        assert deleted.is_success, deleted.text
    assert len(statements) >= 40
    assert scans_in(statements) == []


async def test_what_is_leased_delivered_and_received_is_by_index(catalogue, scans_in):
    api, headers, _, url = catalogue
    head = await publish(api, entry(), **headers["provider"])
    with captured() as statements:
        async with Worker.on(url) as worker:
            request_id = await advised(api, headers, head, worker)
        assert (await step(api, headers["provider"], request_id, "approve")).is_success
        leased = await api.post(f"/v1/requests/{request_id}/lease", headers=headers["provider"])
        said = DELIVERED | {"entry_digest": head["digest"], "lease": leased.json()["lease"]}
        delivered = await step(api, headers["provider"], request_id, "deliver", **said)
        assert delivered.is_success, delivered.text
        for name in ("consumer", "provider"):
            assert (await api.get(f"/v1/requests/{request_id}", headers=headers[name])).is_success
        assert (await api.get(f"/v1/requests/{request_id}/evidence", headers=headers["consumer"])).is_success
        assert (await step(api, headers["consumer"], request_id, "receive", **AGREES)).is_success
    assert len(statements) >= 20
    assert scans_in(statements) == []


async def test_lines_of_jobs_and_what_is_swept_are_by_index(catalogue, scans_in):
    *_, url = catalogue
    database, queue = Database(url), queue_app(url)
    with captured() as statements:
        async with database.transaction() as session:
            factory = Factory(session, queue)
            await factory.jobs().go_on("other-3", Lane.LIGHT)
            kept = Retention(advice_days=30, versions=1, request_days=1)
            assert sum([await factory.retention().sweep(what, kept) for what in Swept]) > 500
            for store in (DeliveryStore, NegotiationStore, TransferStore):
                await store(session).claim()
            await session.rollback()
    await database.close()
    assert len(statements) >= 15
    # Only defects make jobs fail, so there are few of them, and no index leads to them.
    of_failed_jobs = [one for one in statements if re.search("FROM procrastinate_jobs .*SKIP LOCKED", one.text)]
    assert len(of_failed_jobs) == 2
    assert scans_in([one for one in statements if one not in of_failed_jobs]) == []


def test_all_tables_are_filled_but_those_that_stay_small(catalogue):
    *_, url = catalogue
    with psycopg.connect(as_role(url, OWNER)) as connection:
        sizes = dict(connection.execute("SELECT relname, reltuples FROM pg_class WHERE relkind = 'r'").fetchall())
        few = {name for name in growing(connection) if sizes[name] < 100}
    assert sizes.keys() >= SMALL.keys()
    assert few == set()


def test_a_scan_would_be_found(scans_in):
    text = "SELECT id FROM entry WHERE audience = %(audience)s"
    assert len(scans_in([Statement(text, {"audience": "all"}, is_planned_each_time=True)])) == 1
