"""The daily signature of the audit log's head."""

import asyncio
from typing import Final

import structlog
from procrastinate import App

from app.audit.service import Signer
from app.factory import Factory
from app.platform.database.session import Database

_log = structlog.get_logger(__name__)

#: Seconds between two checks whether a head is due.
PAUSE: Final = 600.0


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
