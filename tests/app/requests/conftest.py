import pytest

from tests.app.requests.asking import advised, entry, step
from tests.service import Worker, create_key, publish, running_app


@pytest.fixture(scope="module")
async def keys(_one_loop, shared_database_url):
    made = {"reviewer": ("hospital", "reviewer"), "own": ("hospital", "consumer"), "operator": ("desk", "operator")}
    made |= {"provider": ("hospital", "provider"), "consumer": ("insurer", "consumer"), "other": ("lab", "provider")}
    return {name: await create_key(shared_database_url, *one) for name, one in made.items()}


@pytest.fixture(scope="module")
async def guarded(shared_database_url, keys):  # noqa: ARG001 -- with keys, it is not in development mode
    async with running_app(shared_database_url) as api:
        yield api


@pytest.fixture(scope="module")
async def worker(_one_loop, shared_database_url):
    async with Worker.on(shared_database_url) as running:
        yield running


@pytest.fixture
async def head(guarded, keys):
    """An entry that everybody sees."""
    return await publish(guarded, entry(), **keys["provider"])


@pytest.fixture
async def approved(guarded, keys, head, worker):
    request_id = await advised(guarded, keys, head, worker)
    assert (await step(guarded, keys["provider"], request_id, "approve")).status_code == 200
    return request_id
