"""The service reports an unavailable database, and recovers when the database is back."""

import pytest

from app.platform.errors import DatabaseUnavailableError
from tests.postgres import create_database, drop_database
from tests.service import create_key, example_entry, running_app

NAME = "away_for_a_while"


@pytest.fixture
def database_that_leaves(postgres, migrated):
    yield create_database(postgres.url, NAME, template=migrated)
    drop_database(postgres.url, NAME)


async def test_whatever_needs_the_database_is_503_until_it_is_back(postgres, migrated, database_that_leaves):
    key = await create_key(database_that_leaves, "owner", "provider")
    async with running_app(database_that_leaves) as guarded:
        assert (await guarded.get("/readyz")).status_code == 200
        drop_database(postgres.url, NAME)
        for method, path, body in (
            ("GET", "/readyz", None),
            ("GET", "/v1/measures", None),
            ("GET", "/v1/entries", None),
            ("GET", "/v1/entries/00000000-0000-0000-0000-000000000000", None),
            ("POST", "/v1/entries", example_entry()),
            ("PUT", "/v1/entries/x", example_entry()),
            ("POST", "/v1/entries/x/advice", {"measure": "g3"}),
        ):
            answer = await guarded.request(method, path, json=body, headers=key | {"If-Match": "*"})
            assert (answer.status_code, answer.json()["code"]) == (503, "database_unavailable"), path
            assert int(answer.headers["Retry-After"]) > 0
        assert (await guarded.get("/healthz")).status_code == 200
        create_database(postgres.url, NAME, template=migrated)
        assert (await guarded.get("/readyz")).status_code == 200


async def test_in_development_mode_too(postgres, migrated, database_that_leaves):
    async with running_app(database_that_leaves) as api:
        drop_database(postgres.url, NAME)
        for answer in (
            await api.post("/v1/entries", json=example_entry()),
            await api.get("/v1/entries"),
            await api.get("/v1/advice/00000000-0000-0000-0000-000000000000"),
        ):
            assert answer.status_code == 503
            assert int(answer.headers["Retry-After"]) > 0
        create_database(postgres.url, NAME, template=migrated)


async def test_a_database_that_cannot_be_reached_stops_the_start():
    with pytest.raises(DatabaseUnavailableError):
        async with running_app("postgresql://postgres@127.0.0.1:1/aegis"):
            pass
