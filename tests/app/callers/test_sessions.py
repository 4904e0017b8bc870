"""Sessions of the console on real PostgreSQL: when they end, and what is stored of them."""

from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from app.callers.service import SessionRules
from app.factory import Factory
from app.platform.callers import DEVELOPER, MOST_SESSIONS, Caller, Role, draw_session_token, hash_secret
from app.platform.errors import UnknownKeyError
from app.platform.queue.queue import queue_app
from app.retention import PART, Retention
from app.worker.worker import sweep
from tests.service import create_key, prefix_of

ISSUER = "https://login.example"
ANN = Caller("acme", frozenset({Role.PROVIDER, Role.REVIEWER}), "ann")
HOUR = timedelta(hours=1)


class Console:
    """The services of one transaction at a time, as the console uses them."""

    def __init__(self, database, queue, url):
        self.database, self.queue, self.url = database, queue, url
        self.rules = SessionRules(8 * HOUR, ISSUER)

    @asynccontextmanager
    async def services(self):
        async with self.database.transaction() as session:
            yield Factory(session, self.queue)

    async def by_key(self, key):
        async with self.services() as services:
            return await services.sessions(self.rules).begin_by_key(key)

    async def by_token(self, caller=ANN, lasts=24 * HOUR):
        async with self.services() as services:
            return await services.sessions(self.rules).begin_by_token(caller, datetime.now(UTC) + lasts)

    async def find(self, token):
        async with self.services() as services:
            return await services.sessions(self.rules).find(token)

    async def end(self, token, *, everywhere=False):
        async with self.services() as services:
            sessions = services.sessions(self.rules)
            await (sessions.end_all if everywhere else sessions.end)(token)

    async def key(self, role="provider", lifetime=None):
        return (await create_key(self.url, "clinic", role, lifetime))["Authorization"].split()[1]

    def execute(self, statement, *values):
        with psycopg.connect(self.url, autocommit=True) as connection:
            rows = connection.execute(statement, values)
            return rows.fetchall() if rows.description else []


@pytest.fixture
async def console(database, database_url):
    return Console(database, queue_app(database_url), database_url)


async def test_a_session_begun_with_a_key_is_its_holder_s_as_in_the_api(console):
    key = await console.key()
    before = datetime.now(UTC)
    token, begun = await console.by_key(key)
    session = await console.find(token)
    assert session.caller == begun.caller == Caller("clinic", frozenset({Role.PROVIDER}), prefix_of(key))
    assert before + 8 * HOUR <= session.expires_at == begun.expires_at <= datetime.now(UTC) + 8 * HOUR


async def test_a_session_begun_with_a_token_is_its_holder_s(console):
    token, _ = await console.by_token()
    assert (await console.find(token)).caller == ANN


@pytest.mark.parametrize("key", ["", "aegis_00000000_x", "eyJhbGciOiJub25lIn0.e30.", "x" * 100_000])
async def test_a_wrong_key_begins_no_session(console, key):
    with pytest.raises(UnknownKeyError):
        await console.by_key(key)
    assert console.execute("SELECT * FROM console_session") == []


async def test_each_sign_in_has_a_token_of_its_own(console):
    key = await console.key()
    (first, _), (second, _) = await console.by_key(key), await console.by_key(key)
    assert first != second
    await console.end(first)
    assert await console.find(first) is None
    assert await console.find(second) is not None


async def test_the_table_tells_no_token_and_no_key(console):
    key = await console.key()
    tokens = [(await console.by_key(key))[0], (await console.by_token())[0]]
    stored = str(console.execute("SELECT s::text, encode(token_hash, 'escape') FROM console_session AS s"))
    assert prefix_of(key) in stored
    assert not any(secret in stored for secret in (*tokens, key, key[15:]))
    hashes = {row[0] for row in console.execute("SELECT token_hash FROM console_session")}
    assert hashes == set(map(hash_secret, tokens))
    for row in hashes:  # what is stored opens nothing
        assert await console.find(row.hex()) is None


@pytest.mark.parametrize("token", ["", "x", "x" * 43, "x" * 42 + "\n", "ä" * 43, "'; DROP TABLE console_session; --"])
async def test_invented_tokens_are_nobody_s(console, token):
    await console.by_token()
    assert await console.find(token) is None
    await console.end(token, everywhere=True)
    assert len(console.execute("SELECT * FROM console_session")) == 1


async def test_a_session_ends_in_time_used_or_not(console):
    token, _ = await console.by_key(await console.key())
    console.execute("UPDATE console_session SET expires_at = now() + interval '1 hour'")
    [before] = console.execute("SELECT expires_at FROM console_session")
    assert await console.find(token) is not None
    assert console.execute("SELECT expires_at FROM console_session") == [before]
    console.execute("UPDATE console_session SET expires_at = now()")
    assert await console.find(token) is None


async def test_a_session_ends_at_once_when_its_key_is_revoked(console):
    key = await console.key()
    token, _ = await console.by_key(key)
    async with console.services() as services:
        await services.keyring().revoke(prefix_of(key))
    assert await console.find(token) is None


async def test_a_session_lasts_no_longer_than_its_key(console):
    token, begun = await console.by_key(await console.key(lifetime=HOUR))
    assert begun.expires_at < datetime.now(UTC) + HOUR
    console.execute("UPDATE api_key SET expires_at = now()")
    assert await console.find(token) is None


async def test_a_session_of_a_key_that_is_replaced_ends_with_the_overlap(console):
    key = await console.key()
    token, _ = await console.by_key(key)
    async with console.services() as services:
        new, _ = await services.key_administration().rotate(DEVELOPER, prefix_of(key), HOUR, None)
    assert await console.find(token) is not None
    console.execute("UPDATE api_key SET expires_at = now() WHERE prefix = %s", prefix_of(key))
    assert await console.find(token) is None
    assert await console.find((await console.by_key(new))[0]) is not None


async def test_a_session_lasts_no_longer_than_its_token_of_an_issuer(console):
    _, begun = await console.by_token(lasts=timedelta(minutes=5))
    assert begun.expires_at < datetime.now(UTC) + timedelta(minutes=5)
    with pytest.raises(UnknownKeyError):
        await console.by_token(lasts=-timedelta(seconds=1))


async def test_a_session_ends_when_its_issuer_is_not_trusted_any_more(console):
    token, _ = await console.by_token()
    key_token, _ = await console.by_key(await console.key())
    for issuer in ("https://other.example", None):
        console.rules = SessionRules(8 * HOUR, issuer)
        assert await console.find(token) is None
        assert await console.find(key_token) is not None


async def test_signing_out_everywhere_ends_the_sessions_of_this_holder_only(console):
    key, other = await console.key(), await console.key()
    mine = [(await console.by_key(key))[0] for _ in range(2)]
    anns = [(await console.by_token())[0] for _ in range(2)]
    others = [(await console.by_key(other))[0], (await console.by_token(Caller("b", ANN.roles, "ann")))[0]]
    for token in (mine[0], anns[0]):
        await console.end(token, everywhere=True)
    assert [await console.find(token) is None for token in (*mine, *anns, *others)] == [True] * 4 + [False] * 2


async def test_with_too_many_sessions_the_oldest_ends(console):
    other, _ = await console.by_key(await console.key())
    tokens = [(await console.by_token())[0] for _ in range(MOST_SESSIONS + 1)]
    assert [await console.find(token) is None for token in (other, *tokens[:2])] == [False, True, False]


async def test_the_use_of_a_key_is_noted_while_somebody_is_signed_in_with_it(console):
    token, _ = await console.by_key(await console.key())
    [(signed_in,)] = console.execute("SELECT last_used_at FROM api_key")
    assert datetime.now(UTC) - signed_in < HOUR
    console.execute("UPDATE api_key SET last_used_at = now() - interval '2 hours'")
    await console.find(token)
    [(used,)] = console.execute("SELECT last_used_at FROM api_key")
    assert used >= signed_in


async def test_the_audit_log_tells_who_signed_in_and_out(console):
    key = await console.key()
    token, begun = await console.by_key(key)
    await console.by_token()
    await console.end(token)
    await console.end(token)
    told = console.execute(
        "SELECT action, tenant, subject, value FROM audit_record WHERE action LIKE 'session.%%' ORDER BY id"
    )
    ends = begun.expires_at.isoformat(timespec="microseconds").replace("+00:00", "Z")
    assert told[0] == ("session.begin", "clinic", prefix_of(key), f"by key, ends {ends}")
    assert told[1][:3] == ("session.begin", "acme", "ann")
    assert told[2:] == [("session.end", "clinic", prefix_of(key), None)]


async def test_ended_sessions_are_swept(console):
    live, _ = await console.by_token()
    console.execute(
        "INSERT INTO console_session (token_hash, issuer, tenant, roles, subject, expires_at) SELECT "
        "sha256(n::text::bytea), 'i', 't', '{}', 's', now() - interval '1 s' FROM generate_series(1, %s) AS n",
        PART + 1,
    )
    assert await sweep(console.database, console.queue, Retention()) == PART + 1
    assert await console.find(live) is not None


async def test_a_row_says_who_it_is_by_a_key_or_by_a_token_never_both(console):
    prefix = prefix_of(await console.key())
    for columns, values in (
        ("key_prefix, tenant", f"'{prefix}', 'acme'"),
        ("issuer, tenant, subject", "'i', 'acme', 'ann'"),
        ("issuer", "NULL"),
    ):
        with pytest.raises(psycopg.errors.CheckViolation):
            console.execute(
                f"INSERT INTO console_session (token_hash, expires_at, {columns}) VALUES ('a', now(), {values})"
            )


def test_tokens_have_256_bits():
    assert len({draw_session_token() for _ in range(100)}) == 100
    assert len(draw_session_token()) == 43
