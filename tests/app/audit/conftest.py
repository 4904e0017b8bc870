"""A service whose key signs, and its callers."""

import pytest

from app.platform.database.session import Database
from tests.app.audit.reading import KEY
from tests.service import Worker, create_key, running_app


@pytest.fixture(scope="module")
async def keys(_one_loop, shared_database_url):
    made = {"reviewer": ("hospital", "reviewer"), "own": ("hospital", "consumer"), "operator": ("desk", "operator")}
    made |= {"provider": ("hospital", "provider"), "consumer": ("insurer", "consumer"), "other": ("lab", "provider")}
    made |= {"administrator": ("hospital", "administrator")}
    return {name: await create_key(shared_database_url, *one) for name, one in made.items()}


@pytest.fixture(scope="module")
async def guarded(shared_database_url, keys):  # noqa: ARG001 -- with keys, it is not in development mode
    async with running_app(shared_database_url, audit_key=KEY) as api:
        yield api


@pytest.fixture(scope="module")
async def worker(_one_loop, shared_database_url):
    async with Worker.on(shared_database_url) as running:
        yield running


@pytest.fixture
async def log_database(_one_loop, shared_database_url):
    database = Database(shared_database_url, pool_size=1)
    yield database
    await database.close()
