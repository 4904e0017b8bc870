"""A backup is taken while the service runs, restored into an empty database, and the service goes on there."""

import asyncio
import subprocess

import pytest

from aegis_sdk.receipts import check_receipt, keys_in
from app.audit.service import draw_key_text, signer_of
from app.platform.process.embedded.cluster import binaries_for, server_account
from app.platform.queue.queue import queue_app
from app.worker.worker import sign_head
from tests.app.audit.reading import delivered, receipt, records
from tests.app.requests.asking import entry
from tests.app.requests.test_deliveries import descriptor
from tests.postgres import OWNER, SERVICE, as_role, create_database, drop_database
from tests.running import COMMAND, environment
from tests.service import Worker, ask, create_key, publish, running_app

pytestmark = pytest.mark.processes

CALLERS = {
    "provider": ("hospital", "provider"),
    "consumer": ("insurer", "consumer"),
    "operator": ("desk", "operator"),
}


@pytest.fixture
def restored(postgres):
    """An empty database."""
    yield create_database(postgres.url, "restored")
    drop_database(postgres.url, "restored")


@pytest.fixture
def audit_key(tmp_path):
    """The file with the key that signs, of which the database has nothing."""
    path = tmp_path / "audit-key.pem"
    path.write_text(draw_key_text())
    return path


async def ran(*command, **settings):
    """Run a program to its end without stopping the service of this process."""
    run = subprocess.run
    ended = await asyncio.to_thread(run, command, env=environment(**settings), capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


async def copied(source, target, file):
    """Back up a database with PostgreSQL's own programs, and restore it into an empty one."""
    programs = binaries_for(server_account()).root / "bin"
    await ran(f"{programs}/pg_dump", "--format", "custom", "--file", str(file), "--dbname", source)
    await ran(f"{programs}/pg_restore", "--exit-on-error", "--single-transaction", "--dbname", target, str(file))


async def seen(api, keys, head, request_id, *advice):
    """All that people see of an entry, a request, its advice and the log."""
    paths = (f"/v1/entries/{head['id']}", f"/v1/requests/{request_id}", *advice, "/v1/questions", "/v1/keys")
    answers = [(await api.get(path, headers=keys["operator"])) for path in paths]
    assert {answer.status_code for answer in answers} == {200}
    return [answer.json() for answer in answers], await records(api, keys)


async def verified(settings, log, keys):
    """Export the log, and check it with the public keys from before the backup."""
    await ran(*COMMAND, "audit", "export", "--output", str(log), **settings)
    return await ran(*COMMAND, "audit", "verify", str(log), "--keys", str(keys))


@pytest.mark.long
async def test_the_service_goes_on_with_a_backup_as_if_nothing_had_happened(
    database_url, owner_url, database, restored, audit_key, tmp_path
):
    keys = {name: await create_key(database_url, *one) for name, one in CALLERS.items()}
    public, copy = tmp_path / "keys.json", as_role(restored, SERVICE)
    async with running_app(database_url, audit_key_file=audit_key) as api, Worker.on(database_url) as worker:
        api.headers.update(keys["consumer"])
        head = await publish(api, entry(), **keys["provider"])
        request_id = await delivered(api, keys, head, worker)
        answered = (await ask(api, head["id"], prefer="wait=0", require={"k": 5})).headers["Location"]
        waiting = (await ask(api, head["id"], measure="g3")).headers["Location"]
        assert await sign_head(database, queue_app(database_url), signer_of(None, audit_key))
        public.write_bytes((await api.get("/.well-known/aegis-keys.json")).content)
        before = await seen(api, keys, head, request_id)
        asked = [(await api.get(place)).json() for place in (answered, waiting)]
        await copied(as_role(owner_url, OWNER), restored, tmp_path / "aegis.dump")
    async with running_app(copy, audit_key_file=audit_key) as api, Worker.on(copy) as worker:
        api.headers.update(keys["consumer"])
        assert await seen(api, keys, head, request_id) == before
        assert [(await api.get(place)).json() for place in (answered, waiting)] == asked
        assert asked[1]["status"] == "queued"
        await worker.run()
        assert (await api.get(waiting)).json()["status"] == "succeeded"
        signed = await receipt(api, keys["consumer"], request_id)
        check_receipt(signed["jws"], keys_in(public.read_bytes()), descriptor(head)["sha256"])
        await publish(api, entry(), **keys["provider"])
        intact = await verified({"database_url": copy}, tmp_path / "log.jsonl", public)
    assert "none changed, removed or moved" in intact


@pytest.mark.long
async def test_without_the_key_that_signs_nobody_is_told_that_the_old_one_still_signs(
    database_url, owner_url, restored, audit_key, tmp_path
):
    """It is not in the dump. With a new one, what the old one has signed can still be checked."""
    async with running_app(database_url, audit_key_file=audit_key) as api:
        [old] = (await api.get("/.well-known/aegis-keys.json")).json()["keys"]
        await copied(as_role(owner_url, OWNER), restored, tmp_path / "aegis.dump")
    assert audit_key.read_text().strip().encode() not in (tmp_path / "aegis.dump").read_bytes()
    new = tmp_path / "new.pem"
    new.write_text(draw_key_text())
    async with running_app(as_role(restored, SERVICE), audit_key_file=new) as api:
        known = (await api.get("/.well-known/aegis-keys.json")).json()["keys"]
    assert len(known) == 2
    assert old["kid"] in {one["kid"] for one in known}
