import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from typing import Any

import pytest
from playwright.async_api import Browser

from app.platform.process.embedded.server import EmbeddedPostgres
from tests.browser.chromium import chromium_path, running_browser
from tests.browser.services import RunningService, all_keys
from tests.browser.summary import MISSING
from tests.browser.visits import Visit, visiting
from tests.in_thread import own_database, serving
from tests.service import AUDIT_KEY

NewVisit = Callable[..., Awaitable[Visit]]


@pytest.fixture(scope="session")
def _chromium() -> str:
    """The browser's path. All fixtures depend on it, so that nothing starts without a browser."""
    path = chromium_path()
    if path is None and os.environ.get("CI") == "true":
        pytest.fail(MISSING)
    return path or pytest.skip(MISSING)


@pytest.fixture(scope="session")
async def browser(_chromium: str, _one_loop: None) -> AsyncIterator[Browser]:
    """One browser per test process."""
    async with running_browser(_chromium) as running:
        yield running


@pytest.fixture(scope="session")
def development(_chromium: str, postgres: EmbeddedPostgres, migrated: str) -> Iterator[RunningService]:
    """The service in development mode. All tests share it, so a test reads only what it made."""
    with own_database(postgres, migrated) as database_url, serving(database_url) as url:
        yield RunningService(url, database_url)


@pytest.fixture(scope="session")
async def guarded(
    _chromium: str, _one_loop: None, postgres: EmbeddedPostgres, migrated: str
) -> AsyncIterator[RunningService]:
    """The service with keys of all roles. All tests share it, so a test reads only what it made."""
    with own_database(postgres, migrated) as database_url:
        keys = await all_keys(database_url)
        # Delivered files are on this machine.
        with serving(database_url, links_allow_private="true", audit_key=AUDIT_KEY) as url:
            yield RunningService(url, database_url, keys)


@pytest.fixture
def untouched(_chromium: str, postgres: EmbeddedPostgres, migrated: str) -> Iterator[RunningService]:
    """An empty service in development mode, without a worker, for one test; it starts in seconds."""
    with own_database(postgres, migrated) as database_url, serving(database_url, worker=False) as url:
        yield RunningService(url, database_url)


@pytest.fixture
async def visit(browser: Browser) -> AsyncIterator[NewVisit]:
    """A function that begins a visit: `await visit(service, width=360, scheme="dark", scripts=False)`.

    At the end, its pages must be without faults.
    """
    async with AsyncExitStack() as ended:
        begun = []

        async def begin(service: RunningService, **how: Any) -> Visit:
            begun.append(await ended.enter_async_context(visiting(browser, service.url, **how)))
            return begun[-1]

        yield begin
        for opened in begun:
            opened.watch.check()
