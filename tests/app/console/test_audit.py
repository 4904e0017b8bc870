"""The audit log in the console: its records, and whether they are as they were written."""

import psycopg
import pytest
from pydantic import SecretStr

from app.audit.model import START
from app.audit.service import signer_of
from app.platform.database.session import Database
from app.platform.queue.queue import queue_app
from app.worker.worker import sign_head
from tests.app.console.html import look, send
from tests.postgres import OWNER, as_role
from tests.service import AUDIT_KEY, publish, running_app

LOG, CHECK = "/operator/audit", "/operator/audit/check"
REACHED = {"after": "0", "hash": START.hash, "signed": "0"}


async def fill(api, keys=3):
    for _ in range(keys):
        assert (await api.post("/v1/keys", json={"tenant": "a <b>", "role": "provider"})).status_code == 201


def change(database_url, statement):
    with psycopg.connect(as_role(database_url, OWNER), autocommit=True) as connection:
        connection.execute(statement)


async def sign(database_url):
    database = Database(database_url)
    assert await sign_head(database, queue_app(database_url), signer_of(SecretStr(AUDIT_KEY)))
    await database.close()


async def test_records_say_who_did_what_to_what_and_are_paged_and_narrowed(api, monkeypatch):
    monkeypatch.setattr("app.console.audit.PER_PAGE", 2)
    head = await publish(api)
    await fill(api)
    first = await look(api, LOG)
    assert "developer of default key.create" in first.text
    assert "provider of a <b>" in first.text
    (following,) = [link for link in first.links if link and "page_token=" in link]
    assert f"/entries/{head['id']}" in (await look(api, following)).links
    about = await look(api, f"{LOG}?entry={head['id']}")
    assert "entry.publish" in about.text
    assert ", version 1, visible to its own tenant only" in about.text
    assert "key.create" not in about.text
    assert f"aegis audit --entry {head['id']}" in about.text
    assert "No record matches" in (await look(api, f"{LOG}?since=2999-01-01&until=")).text


@pytest.mark.parametrize("asked", ["since=soon", "entry=x", "page_token=x"])
async def test_filters_that_cannot_be_read_are_refused(api, asked):
    assert asked.split("=")[0] in (await look(api, f"{LOG}?{asked}", 422)).text


async def test_the_log_is_checked_part_by_part_up_to_its_end(api, monkeypatch):
    await fill(api)
    assert "The log is intact, but nothing is signed" in (await look(api, CHECK)).text
    monkeypatch.setattr("app.audit.api.PART", 2)
    page = await look(api, CHECK)
    assert "2 of 3 records checked, all intact so far" in page.text
    (part,) = [named["hx-post"] for _, named in page.tags if "hx-post" in named]
    for path in (part, CHECK):  # with scripts, and without
        last = await send(api, path, REACHED | {one["name"]: one["value"] for one in page.all("input")})
        assert "3 records: none was changed, removed or moved" in last.text
        assert "hx-post" not in last.text


@pytest.mark.parametrize("wrong", [{"after": "-1"}, {"after": "1e9"}, {"hash": "x"}, {"signed": "²"}, {"signed": ""}])
async def test_a_check_goes_on_only_from_where_it_was(api, wrong):
    assert (await send(api, CHECK, REACHED | wrong)).status_code == 400


async def test_a_check_that_is_said_to_be_beyond_the_end_is_not_believed(api):
    await fill(api)
    answer = await send(api, CHECK, REACHED | {"after": "999", "signed": "999"})
    assert "record 999 is missing" in answer.text
    assert "in order" not in answer.text


async def test_no_link_begins_a_check_behind_a_changed_record(api, database_url):
    await fill(api)
    change(database_url, "UPDATE audit_record SET value = 'other' WHERE id = 2")
    assert "record 2 was changed" in (await look(api, f"{CHECK}?after=2&signed=3")).text


async def test_signed_heads_say_up_to_where_the_log_is_covered_and_that_it_was_cut(database_url):
    async with running_app(database_url, audit_key=AUDIT_KEY) as api:
        await fill(api)
        await sign(database_url)
        await fill(api, 1)
        covered = "Record 5 is not signed yet; a worker signs them once a day."  # the first one added the public key
        assert covered in (await look(api, CHECK)).text
        change(database_url, "DELETE FROM audit_link WHERE sequence > 3")
        assert "the log is truncated: it ends with record 3" in (await look(api, CHECK)).text


@pytest.mark.parametrize(
    ("statement", "fault"),
    [
        ("UPDATE audit_record SET value = 'operator of a <b>' WHERE id = 2", "record 2 was changed"),
        ("DELETE FROM audit_link WHERE sequence = 2", "record 2 was removed"),
    ],
)
async def test_what_was_done_to_the_log_is_said_in_words(api, database_url, statement, fault):
    await fill(api)
    change(database_url, statement)
    text = (await look(api, CHECK)).text
    assert "The log was altered" in text
    assert fault in text


async def test_nothing_done_is_nothing_to_check(api):
    assert "There are no records yet" in (await look(api, CHECK)).text
    assert "Nothing has been done yet" in (await look(api, LOG)).text
