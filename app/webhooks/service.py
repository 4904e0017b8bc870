"""Webhooks, administered by tenants' administrators and by operators, and the outcome of deliveries."""

import base64
import random
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http import HTTPStatus

import structlog

from aegis_sdk._links import link_faults
from app.audit.model import AuditAction, AuditRecord
from app.audit.store import AuditStore
from app.platform.callers import Caller, administered_tenant
from app.platform.errors import Fault, InvalidDocumentError
from app.tenants.service import OwnedService
from app.webhooks.model import (
    EVENT_TYPES,
    LONGEST_PAUSE,
    MOST_WEBHOOKS,
    PATIENCE,
    SCHEDULE,
    Delivery,
    DueDelivery,
    Outcome,
    Webhook,
)
from app.webhooks.store.events import EventStore
from app.webhooks.store.webhooks import DeliveryStore, WebhookStore

_SECRET_BYTES = 32


@dataclass(frozen=True, slots=True)
class WebhookService(OwnedService[Webhook]):
    """Webhooks of tenants, for callers.

    Raises:
        RoleNotAllowedError: by all: the caller is not an administrator, or of another tenant than the one named.
        NotFoundError: by those with the id of a webhook: there is none, or its tenant is not the caller's.
    """

    _store: WebhookStore
    _events: EventStore
    _audit: AuditStore
    _noun = "webhook"

    async def create(
        self, caller: Caller, tenant: str | None, url: str, event_types: Sequence[str], *, allow_private: bool
    ) -> tuple[str, Webhook]:
        """Create a webhook of a tenant (the caller's own if None); return its secret and the webhook.

        Raises:
            InvalidDocumentError: the URL or an event is invalid, or the tenant has too many webhooks.
        """
        owner = administered_tenant(caller, tenant)
        if faults := tuple(Fault("/url", detail) for detail in link_faults(url, allow_private=allow_private)):
            raise InvalidDocumentError("A webhook cannot have this URL.", faults)
        known = ", ".join(EVENT_TYPES)
        unknown = tuple(
            Fault(f"/events/{place}", f"Unknown event {name!r}; use any of {known}.")
            for place, name in enumerate(event_types)
            if name not in EVENT_TYPES
        )
        if unknown:
            raise InvalidDocumentError("A webhook cannot subscribe to this.", unknown)
        if await self._store.count(owner) >= MOST_WEBHOOKS:
            raise InvalidDocumentError(f"A tenant has at most {MOST_WEBHOOKS} webhooks. Delete one first.")
        secret = secrets.token_bytes(_SECRET_BYTES)
        asked = [name for name in EVENT_TYPES if name in event_types]
        webhook_id = await self._store.add(owner, url, asked, secret, caller.subject)
        await self._record(caller, AuditAction.CREATE_WEBHOOK, webhook_id)
        return _shown(secret), await self.find(caller, webhook_id)

    async def set_enabled(self, caller: Caller, webhook_id: str, *, enabled: bool) -> Webhook:
        """Enable a webhook and reset its failures, or disable it."""
        webhook = await self.find(caller, webhook_id)
        if enabled:
            await self._store.enable(webhook.id)
            await self._record(caller, AuditAction.ENABLE_WEBHOOK, webhook.id)
        elif await self._store.disable(webhook.id, "administrator"):
            await self._record(caller, AuditAction.DISABLE_WEBHOOK, webhook.id)
        return await self.find(caller, webhook_id)

    async def rotate(self, caller: Caller, webhook_id: str, overlap: timedelta) -> tuple[str, Webhook]:
        """Draw a new secret and return it. During the overlap, the old one also signs."""
        webhook, secret = await self.find(caller, webhook_id), secrets.token_bytes(_SECRET_BYTES)
        await self._store.set_secret(webhook.id, secret, datetime.now(UTC) + overlap)
        await self._record(caller, AuditAction.ROTATE_WEBHOOK, webhook.id)
        return _shown(secret), webhook

    async def delete(self, caller: Caller, webhook_id: str) -> None:
        """Delete a webhook and its deliveries."""
        webhook = await self.find(caller, webhook_id)
        await self._store.delete(webhook.id)
        await self._record(caller, AuditAction.DELETE_WEBHOOK, webhook.id)

    async def test(self, caller: Caller, webhook_id: str) -> Delivery:
        """Send an event without data, and return its delivery.

        Raises:
            InvalidDocumentError: the webhook is disabled.
        """
        webhook = await self.find(caller, webhook_id)
        if webhook.disabled_at is not None:
            raise InvalidDocumentError("This webhook is disabled. Enable it first.")
        return await self._store.delivery(await self._events.ping(webhook.id))

    async def deliveries(self, caller: Caller, webhook_id: str, limit: int) -> list[Delivery]:
        """The last deliveries of a webhook, sent or pending, newest first."""
        return await self._store.deliveries((await self.find(caller, webhook_id)).id, limit)

    async def _record(self, caller: Caller, action: AuditAction, webhook_id: str) -> None:
        await self._audit.add(AuditRecord(action, target=webhook_id), caller)


def _shown(secret: bytes) -> str:
    """A secret in the form of Standard Webhooks, for its holder."""
    return "whsec_" + base64.b64encode(secret).decode()


_log = structlog.get_logger(__name__)

#: Waits are randomly longer by up to this share, so that simultaneous failures are not retried simultaneously.
_JITTER = 0.2


@dataclass(frozen=True, slots=True)
class DeliveryService:
    """The outcome of deliveries, for workers."""

    _deliveries: DeliveryStore
    _webhooks: WebhookStore
    _audit: AuditStore

    async def record(self, due: DueDelivery, outcome: Outcome) -> None:
        """Store the outcome of an attempt and the time of the next one, if any.

        A failing webhook is paused with all its pending events, which would otherwise fail one by one. A webhook that
        has failed for a week or responds 410 is disabled.
        """
        if outcome.is_success:
            await self._deliveries.succeeded(due, outcome)
            return
        wait, pause = waits(due, outcome)
        await self._deliveries.failed(due, outcome, wait, pause)
        is_hopeless = due.failing_since is not None and datetime.now(UTC) - due.failing_since >= PATIENCE
        is_gone = outcome.status == HTTPStatus.GONE
        if is_gone or is_hopeless:
            reason = "gone" if is_gone else "failing"
            if await self._webhooks.disable(due.webhook_id, reason):
                record = AuditRecord(AuditAction.DISABLE_WEBHOOK, target=due.webhook_id, value=reason)
                await self._audit.add(record, None)
                _log.warning("webhook disabled", webhook=due.webhook_id, reason=reason)


def waits(due: DueDelivery, outcome: Outcome) -> tuple[timedelta | None, timedelta]:
    """How long an event waits after a failure (None: it is given up), and how long its webhook is paused."""
    asked = min(outcome.retry_after or timedelta(), SCHEDULE[-1])
    factor = random.uniform(1, 1 + _JITTER)  # noqa: S311 -- no secret
    pause = min(SCHEDULE[min(due.failures, len(SCHEDULE) - 1)], LONGEST_PAUSE)
    wait = None if due.attempts >= len(SCHEDULE) else max(SCHEDULE[due.attempts] * factor, asked)
    return wait, max(pause * factor, asked)
