"""Delivers events to webhooks, beside the jobs of the lanes and with connections of its own."""

import asyncio
from datetime import UTC, datetime

import structlog
from procrastinate import App
from prometheus_client import CollectorRegistry

from app.factory import Factory
from app.platform.database.session import Database
from app.platform.telemetry import WebhookMetrics
from app.webhooks.jobs.sending import Sender
from app.webhooks.model.webhooks import DueDelivery, Outcome, signed_headers

_log = structlog.get_logger(__name__)

#: Webhooks that a worker serves at the same time.
CONCURRENCY = 8

#: Events that a webhook gets before others have their turn.
BATCH = 50

#: Seconds between two looks for what is due.
POLLING = 0.5


class Deliverer:
    """Serves the webhooks that something is due for.

    A webhook is claimed while it is served. Nothing is lost if this process dies: the claim ends by itself, and what
    was sent but not recorded is sent again, with the same id.
    """

    def __init__(
        self,
        database: Database,
        queue: App,
        sender: Sender,
        concurrency: int = CONCURRENCY,
        metrics: WebhookMetrics | None = None,
    ) -> None:
        self._metrics = metrics or WebhookMetrics(CollectorRegistry())
        self._database = database
        self._queue = queue
        self._sender = sender
        self._concurrency = concurrency
        self._served = 0

    async def run(self) -> None:
        """Deliver until this is cancelled."""
        async with asyncio.TaskGroup() as group:
            while True:
                try:
                    await self._start(group)
                except Exception as error:  # noqa: BLE001 -- it must go on after the database was unavailable
                    _log.warning("deliveries interrupted", error=type(error).__name__)
                await asyncio.sleep(POLLING)

    async def run_once(self) -> None:
        """Serve each webhook that something is due for now, up to as many as are served at the same time."""
        async with asyncio.TaskGroup() as group:
            await self._start(group)

    async def _start(self, group: asyncio.TaskGroup) -> None:
        while self._served < self._concurrency and (webhook_id := await self._claim()) is not None:
            self._served += 1
            group.create_task(self._serve(webhook_id))

    async def _serve(self, webhook_id: str) -> None:
        """Send a webhook what is due, until an attempt fails or others have waited for long enough."""
        try:
            for _ in range(BATCH):
                due = await self._next(webhook_id)
                if due is None or not await self._deliver(due):
                    break
            await self._release(webhook_id)
        except Exception as error:  # noqa: BLE001 -- the claim ends by itself
            _log.warning("delivery interrupted", webhook=webhook_id, error=type(error).__name__)
        finally:
            self._served -= 1

    async def _deliver(self, due: DueDelivery) -> bool:
        body = due.body()
        headers = {"Content-Type": "application/json", "User-Agent": "Aegis"}
        headers |= signed_headers(due.id, datetime.now(UTC), body, due.secrets)
        outcome = await self._sender.post(due.url, headers, body)
        self._metrics.attempted("delivered" if outcome.is_success else outcome.error or "refused")
        await self._record(due, outcome)
        return outcome.is_success

    async def _claim(self) -> str | None:
        async with self._database.transaction() as session:
            return await Factory(session, self._queue).deliveries().claim()

    async def _next(self, webhook_id: str) -> DueDelivery | None:
        async with self._database.transaction() as session:
            return await Factory(session, self._queue).deliveries().next_due(webhook_id)

    async def _record(self, due: DueDelivery, outcome: Outcome) -> None:
        async with self._database.transaction() as session:
            await Factory(session, self._queue).deliveries().record(due, outcome)

    async def _release(self, webhook_id: str) -> None:
        async with self._database.transaction() as session:
            await Factory(session, self._queue).deliveries().release(webhook_id)
