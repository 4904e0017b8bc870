"""Announcements of finished advice: one connection listens for the whole process."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress

import psycopg
import structlog
from psycopg import sql

from app.advice.store.advice import CHANNEL
from app.platform.database.session import REACHABLE

_log = structlog.get_logger(__name__)

#: Seconds between attempts to reach an unavailable database.
_PAUSE = 1.0


class Announcements:
    """Wakes calls that wait for an advice. Wake-ups may be spurious, so each caller checks the advice itself."""

    def __init__(self, database_url: str) -> None:
        self._url = database_url
        self._attentive: set[Attention] = set()
        self._are_over = False

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[None]:
        """Listen during the block."""
        task = asyncio.create_task(self._listen())
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    @contextmanager
    def attention(self) -> Iterator["Attention"]:
        """The attention of a waiting call, registered during the block."""
        attention = Attention()
        if self._are_over:
            attention.end()
        self._attentive.add(attention)
        try:
            yield attention
        finally:
            self._attentive.discard(attention)

    def end(self) -> None:
        """End all waits, also later ones, when the service stops."""
        self._are_over = True
        for attention in self._attentive:
            attention.end()

    async def _listen(self) -> None:
        while True:
            try:
                await self._hear()
            except (psycopg.Error, OSError) as error:
                _log.warning("listening interrupted", error=type(error).__name__)
                await asyncio.sleep(_PAUSE)

    async def _hear(self) -> None:
        async with await psycopg.AsyncConnection.connect(self._url, autocommit=True, **REACHABLE) as connection:
            await connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(CHANNEL)))
            # Announcements before this point are lost, so every waiting call checks once.
            for attention in self._attentive:
                attention.call()
            async for notification in connection.notifies():
                for attention in self._attentive:
                    if attention.advice_id == notification.payload:
                        attention.call()


class Attention:
    """Waits for wake-ups about one advice. They may be spurious, so the caller checks the advice itself."""

    def __init__(self) -> None:
        self.advice_id: str | None = None  # the one to wait for
        self.is_over = False
        self._called = asyncio.Event()

    def call(self) -> None:
        """End the wait."""
        self._called.set()

    def end(self) -> None:
        """End the wait, and all later ones at once."""
        self.is_over = True
        self._called.set()

    async def wait(self, seconds: float) -> None:
        """Wait for a wake-up, at most this many seconds."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._called.wait(), seconds)
        if not self.is_over:
            self._called.clear()
