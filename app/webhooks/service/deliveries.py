"""What becomes of an attempt to deliver an event: done, tried again later, or given up."""

import random
from datetime import UTC, datetime, timedelta

import structlog

from app.audit.model import AuditAction, AuditRecord
from app.audit.store import AuditStore
from app.webhooks.model.webhooks import LONGEST_PAUSE, PATIENCE, SCHEDULE, DueDelivery, Outcome
from app.webhooks.store.deliveries import DeliveryStore
from app.webhooks.store.webhooks import WebhookStore

_log = structlog.get_logger(__name__)

#: Waits are longer by up to this share, so that what has failed together does not come back together.
_JITTER = 0.2


class DeliveryService:
    """Deliveries, for workers. Each call belongs in a short transaction; nothing is sent during one."""

    def __init__(self, deliveries: DeliveryStore, webhooks: WebhookStore, audit: AuditStore) -> None:
        self._audit = audit
        self._deliveries = deliveries
        self._webhooks = webhooks

    async def claim(self) -> str | None:
        """Claim a webhook that something is due for and return its id; None if there is none."""
        return await self._deliveries.claim()

    async def next_due(self, webhook_id: str) -> DueDelivery | None:
        """What is to be sent to a webhook next; None if nothing is due."""
        return await self._deliveries.next_due(webhook_id)

    async def record(self, due: DueDelivery, outcome: Outcome) -> None:
        """Store how an attempt has ended, and when the next one is, if any.

        A webhook that fails is left alone for a while with everything that waits for it: otherwise each of its events
        would have to fail by itself. One that has failed for a week, or that answers 410, is disabled.
        """
        if outcome.is_success:
            await self._deliveries.succeeded(due, outcome)
            return
        wait, pause = waits(due, outcome)
        await self._deliveries.failed(due, outcome, wait, pause)
        if outcome.is_gone or _is_hopeless(due):
            reason = "gone" if outcome.is_gone else "failing"
            if await self._webhooks.disable(due.webhook_id, reason):
                record = AuditRecord(AuditAction.DISABLE_WEBHOOK, target=due.webhook_id, value=reason)
                await self._audit.add(record, None)
                _log.warning("webhook disabled", webhook=due.webhook_id, reason=reason)

    async def release(self, webhook_id: str) -> None:
        """Let another worker claim a webhook."""
        await self._deliveries.release(webhook_id)


def waits(due: DueDelivery, outcome: Outcome) -> tuple[timedelta | None, timedelta]:
    """How long an event waits after a failure (None: for ever), and how long its webhook is left alone."""
    asked = min(outcome.retry_after or timedelta(), SCHEDULE[-1])
    factor = random.uniform(1, 1 + _JITTER)  # noqa: S311 -- no secret
    pause = min(SCHEDULE[min(due.failures, len(SCHEDULE) - 1)], LONGEST_PAUSE)
    wait = None if due.attempts >= len(SCHEDULE) else max(SCHEDULE[due.attempts] * factor, asked)
    return wait, max(pause * factor, asked)


def _is_hopeless(due: DueDelivery) -> bool:
    return due.failing_since is not None and datetime.now(UTC) - due.failing_since >= PATIENCE
