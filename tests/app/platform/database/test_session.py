"""Connections to the database are handed out in order, and what would wait too long is refused at once."""

import asyncio

import psycopg
import pytest
from sqlalchemy import text

from app.platform.database import session
from app.platform.database.session import REACHABLE, Database, driver_connection
from app.platform.errors import OverloadedError
from app.platform.queue.queue import queue_app
from tests.service import running_app


@pytest.fixture
async def narrow(database_url):
    """A database with one connection, which has a name."""
    found = Database(f"{database_url}&application_name=narrow", pool_size=1)
    yield found
    await found.close()


async def waiting(database, number, done):
    async def work(place):
        async with database.transaction():
            done.append(place)

    tasks = [asyncio.create_task(work(place)) for place in range(number)]
    await asyncio.sleep(0)
    return tasks


async def test_who_comes_first_gets_the_connection_first(narrow):
    done = []
    async with narrow.transaction():
        tasks = await waiting(narrow, 20, done)
        assert done == []
    await asyncio.gather(*tasks)
    assert done == list(range(20))


async def test_when_too_many_wait_the_next_one_is_refused_at_once(narrow, monkeypatch):
    monkeypatch.setattr(session, "MOST_WAITING", 3)
    done = []
    async with narrow.transaction():
        tasks = await waiting(narrow, 3, done)
        with pytest.raises(OverloadedError):
            await narrow.ping()
    await asyncio.gather(*tasks)
    await narrow.ping()


async def test_who_has_waited_long_is_refused_and_holds_up_nobody(narrow, monkeypatch):
    monkeypatch.setattr(session, "LONGEST_WAIT", 0.05)
    async with narrow.transaction():
        with pytest.raises(OverloadedError):
            await narrow.ping()
    await narrow.ping()


async def test_a_connection_that_the_server_has_closed_is_replaced(narrow, database_url):
    await narrow.ping()
    with psycopg.connect(database_url, autocommit=True) as other:
        ended = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'narrow'"
        closed = other.execute(ended).fetchall()
    assert closed == [(True,)]
    await narrow.ping()


async def test_a_connection_that_was_closed_here_is_replaced(narrow):
    async with narrow.transaction() as found:
        connection = await driver_connection(found)
    await connection.close()
    await narrow.ping()


@pytest.mark.parametrize(("can_lose_commits", "expected"), [(False, "on"), (True, "off")])
async def test_only_commits_that_may_be_lost_do_not_wait_for_the_disk(database_url, can_lose_commits, expected):
    waits = f"{database_url}{'&' if '?' in database_url else '?'}options=-csynchronous_commit%3Don"
    database = Database(waits, can_lose_commits=can_lose_commits)
    async with database.transaction() as found:
        assert (await found.execute(text("SHOW synchronous_commit"))).scalar() == expected
    await database.close()


async def test_an_overloaded_service_says_so_and_when_to_come_again(database_url, monkeypatch):
    async with running_app(database_url, pool_size=1) as api:
        database = api._transport.app.state.aegis.database
        monkeypatch.setattr(session, "MOST_WAITING", 0)
        async with database.transaction():
            answer = await api.get("/v1/entries")
            assert (answer.status_code, answer.json()["code"]) == (503, "overloaded")
            assert int(answer.headers["Retry-After"]) > 0
            assert (await api.get("/healthz")).status_code == 200
        assert (await api.get("/v1/entries")).status_code == 200


async def test_every_connection_notices_a_host_that_is_cut_off(database_url):
    database = Database(database_url, pool_size=1)
    async with database.transaction() as session, queue_app(database_url).open_async() as app:
        of_session = (await driver_connection(session)).info.get_parameters()
        async with app.connector.pool.connection() as connection:
            of_queue = connection.info.get_parameters()
    await database.close()
    for parameters in (of_session, of_queue):
        assert {name: parameters.get(name) for name in REACHABLE} == {n: str(v) for n, v in REACHABLE.items()}
