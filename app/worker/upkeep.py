"""What workers do beside the queue: the sweep of expired data, and the daily signature of the audit log's head."""

import asyncio
from typing import Final

import structlog
from procrastinate import App

from app.audit.service import Signer
from app.factory import Factory
from app.platform.database.session import Database
from app.platform.queue.queue import CEILING
from app.retention import Retention, Swept

_log = structlog.get_logger(__name__)

#: Seconds between two sweeps, and between two checks whether a head is due.
PAUSE: Final = 600.0


async def keep_retention(database: Database, queue: App, retention: Retention, ceiling: int = CEILING) -> None:
    """Sweep until cancelled. Every worker runs this, but one at a time deletes. `ceiling` limits a tenant's jobs."""
    while True:
        await sweep(database, queue, retention, ceiling)
        await asyncio.sleep(PAUSE)


async def sweep(database: Database, queue: App, retention: Retention, ceiling: int = CEILING) -> int:
    """Delete expired data and finish abandoned work, in short transactions; return the number of rows."""
    total = 0
    for what in Swept:
        try:
            while done := await _sweep_part(database, queue, retention, ceiling, what):
                total += done
        except Exception as error:  # noqa: BLE001 -- one fault must not stop the rest, and the database may be unreachable
            _log.warning("retention interrupted", what=what.value, error=type(error).__name__)
    if total:
        _log.info("swept", rows=total)
    return total


async def _sweep_part(database: Database, queue: App, retention: Retention, ceiling: int, what: Swept) -> int:
    async with database.transaction() as session:
        return await Factory(session, queue, ceiling).retention().sweep(what, retention)


async def keep_heads_signed(database: Database, queue: App, signer: Signer | None) -> None:
    """Sign a head once a day. Every worker runs this, but only one signs; without a key it does nothing."""
    while signer is not None:
        try:
            if await sign_head(database, queue, signer):
                _log.info("audit head signed", kid=signer.key_id)
        except Exception as error:  # noqa: BLE001 -- it must go on after the database was unavailable
            _log.warning("audit head not signed", error=type(error).__name__)
        await asyncio.sleep(PAUSE)


async def sign_head(database: Database, queue: App, signer: Signer) -> bool:
    """Sign the head if it is due; return whether it was."""
    async with database.transaction() as session:
        await Factory(session, queue).audit().use(signer)
    # In another transaction: a record gets its place at commit.
    async with database.transaction() as session:
        return await Factory(session, queue).audit().sign_head(signer)
