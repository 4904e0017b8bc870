"""The audit log in the database: its chain, and what the service's own role can do to it."""

import asyncio
import json
from hashlib import sha256

import psycopg
import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from app.audit.model import AuditAction, AuditRecord, WantedRecords, check_chain
from app.audit.store import AuditLogStore, AuditStore
from app.platform.callers import Caller
from app.platform.database.session import Database
from tests.app.worker.database import rows

SOMEBODY = Caller("hospital", frozenset(), "aegis_30a4a6be")
WRITERS, EACH = 20, 10
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=20)


def added(target):
    return AuditRecord(AuditAction.SET_POLICY, target=target)


async def add(database, *records):
    async with database.transaction() as session:
        for record in records:
            await AuditStore(session).add(record, SOMEBODY)


async def log_of(database):
    """The records of the log as it is exported, oldest first."""
    async with database.transaction() as session:
        return [form.encode() async for form in AuditLogStore(session).all()]


async def test_records_have_numbers_without_gaps_and_each_the_hash_of_the_one_before(database):
    await add(database, added("first"), added("second"))
    await add(database, added("third"))
    records = [json.loads(line) for line in await log_of(database)]
    assert [(one["sequence"], one["target"]) for one in records] == [(1, "first"), (2, "second"), (3, "third")]
    before = "0" * 64
    for one in records:
        own = one.pop("hash")
        assert (one["previous"], own) == (before, sha256(rfc8785.dumps(one)).hexdigest())
        before = own


async def test_what_is_rolled_back_leaves_no_record_and_no_gap(database):
    await add(database, added("first"))
    async with database.transaction() as session:
        await AuditStore(session).add(added("undone"), SOMEBODY)
        await session.rollback()
    await add(database, added("second"))
    assert [(one["sequence"], one["target"]) for one in map(json.loads, await log_of(database))] == [
        (1, "first"),
        (2, "second"),
    ]


async def test_of_many_who_write_at_once_no_record_is_lost_and_the_chain_holds(database_url):
    database = Database(database_url, pool_size=WRITERS)

    async def write(writer):
        for number in range(EACH):
            await add(database, added(f"{writer} a{number}"), added(f"{writer} b{number}"))

    await asyncio.gather(*map(write, range(WRITERS)))
    log = await log_of(database)
    await database.close()
    assert check_chain(log, ()).sequence == WRITERS * EACH * 2
    targets = [json.loads(line)["target"] for line in log]
    assert sorted(targets) == sorted(f"{w} {x}{n}" for w in range(WRITERS) for n in range(EACH) for x in "ab")
    for writer in range(WRITERS):  # each in the order in which it has committed
        own = [target for target in targets if target.split()[0] == str(writer)]
        assert own == [f"{writer} {x}{n}" for n in range(EACH) for x in "ab"]


async def test_who_is_slow_to_commit_holds_nobody_up(database):
    """The chain is locked while a transaction commits, not while it works."""
    async with database.transaction() as slow:
        await AuditStore(slow).add(added("slow"), SOMEBODY)
        await asyncio.wait_for(add(database, added("quick")), 5)
    assert [json.loads(line)["target"] for line in await log_of(database)] == ["quick", "slow"]


@given(target=TEXTS, value=TEXTS, subject=TEXTS, version=st.integers(1, 2**31 - 1))
async def test_any_record_is_written_as_rfc_8785_has_it(database, target, value, subject, version):
    async with database.transaction() as session:
        record = AuditRecord(AuditAction.SET_POLICY, target=target, value=value, version=version)
        await AuditStore(session).add(record, Caller("größte", frozenset(), subject))
    async with database.transaction() as session:
        [(_, form)] = await AuditLogStore(session).page(WantedRecords(), 1, None)
    read = json.loads(form)
    assert form.encode() == rfc8785.dumps(read)
    own = read.pop("hash")
    assert sha256(rfc8785.dumps(read)).hexdigest() == own
    told = (read["target"], read["value"], read["subject"], read["version"], read["tenant"])
    assert told == (target, value, subject, version, "größte")


TABLES = ("audit_record", "audit_link", "audit_head", "audit_key")
PAST = [
    "UPDATE audit_record SET value = ''",
    "UPDATE audit_link SET hash = ''",
    "UPDATE audit_head SET jws = ''",
    "UPDATE audit_key SET public_key = ''",
    *(f"DELETE FROM {table}" for table in TABLES),
    *(f"TRUNCATE {table} CASCADE" for table in TABLES),
    *(f"DROP TABLE {table} CASCADE" for table in TABLES),
    *(f"ALTER TABLE {table} ADD COLUMN more text" for table in TABLES),
    "INSERT INTO audit_record (action, at) VALUES ('entry.delete', '2020-01-01')",
    "INSERT INTO audit_record (action, salt) VALUES ('entry.delete', gen_random_uuid())",
    "INSERT INTO audit_record (id, action) OVERRIDING SYSTEM VALUE VALUES (1, 'entry.delete')",
    "INSERT INTO audit_link VALUES (1000, 1, '', '')",
    "INSERT INTO audit_key (id, public_key, valid_from) VALUES ('k', 'x', '2020-01-01')",
    "ALTER TABLE audit_record DISABLE TRIGGER chain",
    "DROP TRIGGER chain ON audit_record",
    "CREATE OR REPLACE FUNCTION chain_audit_record() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
    "DROP FUNCTION chain_audit_record() CASCADE",
    "SET session_replication_role = replica",
    "SET ROLE postgres",
    "UPDATE alembic_version SET version_num = ''",
    "SELECT setval('audit_record_id_seq', 1)",
    "SELECT setval('audit_head_id_seq', 1)",
    "SELECT setval('procrastinate_jobs_id_seq', 1)",
    "DROP TRIGGER record ON audit_key",
    "DROP FUNCTION record_audit_key() CASCADE",
]


async def test_the_service_s_role_cannot_change_the_past(database, database_url):
    await add(database, added("first"))
    before = await log_of(database)
    with psycopg.connect(database_url, autocommit=True) as connection:
        for statement in PAST:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement)
    assert await log_of(database) == before


async def test_a_temporary_table_of_the_same_name_does_not_stand_in_for_the_chain(database, database_url):
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("CREATE TEMPORARY TABLE audit_link (LIKE audit_link)")
        connection.execute("INSERT INTO audit_record (action) VALUES ('entry.delete')")
        assert connection.execute("SELECT count(*) FROM pg_temp.audit_link").fetchone() == (0,)
    assert check_chain(await log_of(database), ()).sequence == 1


async def test_a_key_that_is_added_to_the_database_past_the_service_is_recorded(database, database_url):
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("CREATE TEMPORARY TABLE audit_record (LIKE audit_record)")
        connection.execute("INSERT INTO audit_key (id, public_key) VALUES ('forged', 'x')")
    [record] = map(json.loads, await log_of(database))
    assert (record["action"], record["target"], record["value"]) == ("audit_key.add", "forged", "x")
    assert rows(database_url, "SELECT id FROM audit_key") == [("forged",)]
    async with database.transaction() as session:
        await AuditLogStore(session).add_key("forged", "x")  # it is known
    assert len(await log_of(database)) == 1


async def test_what_is_audited_waits_for_the_disk_whatever_the_session_says(database, database_url):
    """Its hash may be in a receipt as soon as it is committed."""
    with psycopg.connect(database_url) as connection:
        connection.execute("SET synchronous_commit TO off")
        connection.execute("INSERT INTO audit_record (action) VALUES ('entry.delete')")
        connection.execute("SET CONSTRAINTS ALL IMMEDIATE")  # as the commit does
        assert connection.execute("SHOW synchronous_commit").fetchone() == ("on",)
        connection.commit()
        assert connection.execute("SHOW synchronous_commit").fetchone() == ("off",)
    assert len(await log_of(database)) == 1


@pytest.mark.parametrize(("who", "can"), [("database_url", False), ("owner_url", True)])
@pytest.mark.usefixtures("_one_loop")
async def test_the_service_knows_whether_its_role_could_change_the_log(request, who, can):
    database = Database(request.getfixturevalue(who), pool_size=1)
    async with database.transaction() as session:
        assert await AuditLogStore(session).is_changeable() is can
    await database.close()
