"""Connections to the database are handed out in order, and what would wait too long is refused at once."""

import asyncio

import pytest

from app.catalog import session
from app.catalog.session import Database
from app.domain.errors import OverloadedError
from tests.service import running_app


@pytest.fixture
async def narrow(database_url):
    """A database with one connection."""
    found = Database(database_url, pool_size=1)
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
