"""The sweep of what is kept only for some time."""

import asyncio
from typing import Final

import structlog
from procrastinate import App

from app.catalog.session import Database
from app.factory import Factory
from app.services.retention import Retention

_log = structlog.get_logger(__name__)

#: Seconds between two sweeps.
PAUSE: Final = 600.0


async def keep_retention(database: Database, queue: App, retention: Retention) -> None:
    """Sweep for ever. Every worker does this; one at a time deletes."""
    while True:
        try:
            await sweep(database, queue, retention)
        except Exception as error:  # noqa: BLE001 -- the sweep must go on after the database was unavailable
            _log.warning("retention interrupted", error=type(error).__name__)
        await asyncio.sleep(PAUSE)


async def sweep(database: Database, queue: App, retention: Retention) -> int:
    """Delete all that is too old, in short transactions; how many rows it was."""
    total = 0
    while True:
        async with database.transaction() as session:
            deleted = await Factory(session, queue).retention().sweep(retention)
        if not deleted:
            break
        total += deleted
    if total:
        _log.info("swept", rows=total)
    return total
