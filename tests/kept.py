"""What tests hand on to each other, because to begin anew costs more than what most of them do: connections and routes.

It remembers nothing of a test. All that a service remembers, it begins with at its start (`running_app`).
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from starlette.routing import BaseRoute

from app.main import create_app
from app.platform.database.session import Database
from app.settings import Settings

#: The application name of connections that stay open when a lent database is emptied.
APPLICATION = "kept by tests"


class KeptConnections:
    """Connections of one event loop to the databases that tests use in turn.

    SQLAlchemy compiles each statement once for each pool, and PostgreSQL reads its catalogue once for each connection.
    """

    def __init__(self) -> None:
        self._lent: set[str] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._open: dict[str, Database] = {}

    def lend(self, url: str) -> None:
        """Keep connections to this database from now on."""
        self._lent.add(url)

    def begin(self) -> None:
        """Keep connections of the running event loop."""
        self._loop = asyncio.get_running_loop()

    async def end(self) -> None:
        """Close them."""
        for database in self._open.values():
            await database.close()
        self._open.clear()
        self._loop = None

    def to(self, url: str) -> Database | None:
        """The connections to a database; None if they are not to be kept."""
        if url not in self._lent or asyncio.get_running_loop() is not self._loop:
            return None
        if url not in self._open:
            self._open[url] = Database(f"{url}&application_name={APPLICATION}")
        return self._open[url]


KEPT = KeptConnections()


@asynccontextmanager
async def database_at(url: str, pool_size: int = 10) -> AsyncIterator[Database]:
    """Connections to a database: those that are kept, or else new ones for the duration of the block."""
    if (kept := KEPT.to(url)) is not None:
        yield kept
        return
    database = Database(url, pool_size=pool_size)
    try:
        yield database
    finally:
        await database.close()


_ROUTES: dict[tuple[int, ...], list[BaseRoute]] = {}


def application(settings: Settings, **given: Any) -> FastAPI:
    """An application with connections and routes that are kept.

    FastAPI looks for what each route needs when the first request comes, and remembers it with the routes.
    """
    is_usual = settings.pool_size == Settings.model_fields["pool_size"].default
    shared = KEPT.to(settings.database_url) if is_usual and settings.database_url is not None else None
    app = create_app(settings, database=shared, **given)
    routers = tuple(id(route.original_router) for route in app.router.routes)  # type: ignore[attr-defined]
    app.router.routes = _ROUTES.setdefault(routers, app.router.routes)
    return app
