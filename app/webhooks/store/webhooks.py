"""The stores of webhooks and their deliveries."""

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Exists, Select, and_, case, func, select, true, update
from sqlalchemy.orm import InstrumentedAttribute, aliased

from app.platform.database.base import Store
from app.platform.members import model_of
from app.tenants.store import OwnedStore, tenant_id
from app.tenants.tables import TenantRow
from app.webhooks.model import Delivery, DueDelivery, Outcome, Webhook
from app.webhooks.tables import DeliveryRow, WebhookRow


class WebhookStore(OwnedStore[Webhook]):
    """Webhooks by id or tenant, and their deliveries."""

    _row, _model = WebhookRow, Webhook

    async def count(self, tenant: str) -> int:
        """The number of a tenant's webhooks, locked against growth until the transaction ends."""
        owner = await tenant_id(self._session, tenant)
        # Entries refer to the tenant, so a stronger lock would wait for their insertion.
        await self._session.execute(select(TenantRow.id).where(TenantRow.id == owner).with_for_update(key_share=True))
        return await self._number(owner)

    async def add(
        self, tenant: str, url: str, event_types: Sequence[str], secret: bytes, created_by: str | None
    ) -> str:
        """Add a webhook and return its id."""
        row = WebhookRow(
            id=uuid.uuid4(),
            tenant_id=await tenant_id(self._session, tenant),
            url=url,
            event_types=list(event_types),
            secret=secret,
            created_by=created_by,
        )
        self._session.add(row)
        await self._session.flush()
        return str(row.id)

    async def enable(self, webhook_id: str) -> None:
        """Enable the webhook and reset its failures."""
        await self._change(
            webhook_id, disabled_at=None, disabled_reason=None, failing_since=None, failures=0, retry_at=None
        )

    async def disable(self, webhook_id: str, reason: str) -> bool:
        """Disable the webhook and give up its pending events; False if it was disabled before, or is deleted."""
        disabled = await self._session.execute(
            update(WebhookRow)
            .where(WebhookRow.id == uuid.UUID(webhook_id), WebhookRow.disabled_at.is_(None))
            .values(disabled_at=func.clock_timestamp(), disabled_reason=reason)
            .returning(WebhookRow.id)
        )
        if disabled.first() is None:
            return False
        await self._session.execute(
            update(DeliveryRow)
            .where(DeliveryRow.webhook_id == uuid.UUID(webhook_id), DeliveryRow.status == "pending")
            .values(status="failed")
        )
        return True

    async def set_secret(self, webhook_id: str, secret: bytes, previous_until: datetime) -> None:
        """Sign with this secret from now on, and also with the previous one until `previous_until`."""
        await self._change(
            webhook_id, secret=secret, previous_secret=WebhookRow.secret, previous_secret_until=previous_until
        )

    async def deliveries(self, webhook_id: str, limit: int) -> list[Delivery]:
        """The last deliveries of the webhook, sent or pending, newest first."""
        statement = (
            select(DeliveryRow)
            .where(DeliveryRow.webhook_id == uuid.UUID(webhook_id))
            .order_by(DeliveryRow.created_at.desc(), DeliveryRow.id)
            .limit(limit)
        )
        return [_to_delivery(row) for row in (await self._session.execute(statement)).scalars()]

    async def delivery(self, delivery_id: str) -> Delivery:
        """The delivery with this id, which must exist."""
        statement = select(DeliveryRow).where(DeliveryRow.id == uuid.UUID(delivery_id))
        return _to_delivery((await self._session.execute(statement)).scalar_one())

    async def _change(self, webhook_id: str, **values: object) -> None:
        await self._session.execute(update(WebhookRow).where(WebhookRow.id == uuid.UUID(webhook_id)).values(**values))


def _to_delivery(row: DeliveryRow) -> Delivery:
    return model_of(Delivery, row, next_attempt_at=row.next_attempt_at if row.status == "pending" else None)


#: A worker counts as dead after this time without a report. An attempt takes at most a third of it.
CLAIM = timedelta(seconds=30)


class DeliveryStore(Store):
    """Webhooks with due events, claimed by one worker at a time, and the outcomes of attempts.

    Like `WebhookStore`, it locks a webhook before its deliveries, to avoid deadlocks.
    """

    async def claim(self) -> str | None:
        """Claim a webhook with a due event and return its id; None if there is none.

        The longest waiting comes first. Only one webhook of a tenant is served at a time, so that no tenant takes all
        places.
        """
        passed_over: list[int] = []
        while (row := (await self._session.execute(_longest_waiting(passed_over))).first()) is not None:
            webhook_id, tenant = row
            if await self._try_claim(webhook_id, tenant):
                return str(webhook_id)
            passed_over.append(tenant)
        return None

    async def next_due(self, webhook_id: str) -> DueDelivery | None:
        """The next delivery of a webhook; None if nothing is due, or it has been disabled or deleted."""
        previous = case((WebhookRow.previous_secret_until > func.now(), WebhookRow.previous_secret))
        statement = (
            select(DeliveryRow, WebhookRow, previous)
            .join(WebhookRow, WebhookRow.id == DeliveryRow.webhook_id)
            .where(WebhookRow.id == uuid.UUID(webhook_id), WebhookRow.disabled_at.is_(None), _IS_DUE)
            .order_by(DeliveryRow.next_attempt_at, DeliveryRow.created_at)
            .limit(1)
        )
        row = (await self._session.execute(statement)).first()
        if row is None:
            return None
        delivery, webhook, former = row
        return model_of(
            DueDelivery,
            delivery,
            url=webhook.url,
            secrets=(webhook.secret,) if former is None else (webhook.secret, former),
            failures=webhook.failures,
            failing_since=webhook.failing_since,
        )

    async def succeeded(self, due: DueDelivery, outcome: Outcome) -> None:
        """Store that the receiver has accepted an event. The webhook stays claimed."""
        healthy = {"failures": 0, "failing_since": None, "retry_at": None}
        await self._attempted(due, outcome, healthy, {"status": "delivered"})

    async def failed(self, due: DueDelivery, outcome: Outcome, wait: timedelta | None, pause: timedelta) -> None:
        """Store a failed attempt.

        Args:
            wait: the time until the next attempt; None if the event is given up.
            pause: the time in which nothing is sent to the webhook.
        """
        now = func.clock_timestamp()
        failing = {
            "failures": WebhookRow.failures + 1,
            "failing_since": func.coalesce(WebhookRow.failing_since, now),
            "retry_at": now + pause,
        }
        then = {"status": "failed"} if wait is None else {"status": "pending", "next_attempt_at": now + wait}
        await self._attempted(due, outcome, failing, then)

    async def release(self, webhook_id: str) -> None:
        """End the claim on a webhook."""
        await self._session.execute(
            update(WebhookRow)
            .where(WebhookRow.id == uuid.UUID(webhook_id))
            .values(claimed_until=func.clock_timestamp())
        )

    async def _try_claim(self, webhook_id: uuid.UUID, tenant: int) -> bool:
        """Claim a locked webhook unless another of its tenant is claimed or being claimed."""
        lock = func.pg_try_advisory_xact_lock(func.hashtextextended(f"webhooks of {tenant}", 0))
        if not (await self._session.execute(select(lock))).scalar_one():
            return False
        # In a separate statement: one that began before the lock would not see claims made in between.
        claimed = (
            update(WebhookRow)
            .where(WebhookRow.id == webhook_id, ~_is_served(tenant))
            .values(claimed_until=func.clock_timestamp() + CLAIM)
            .returning(WebhookRow.id)
        )
        return (await self._session.execute(claimed)).first() is not None

    async def _attempted(
        self, due: DueDelivery, outcome: Outcome, webhook: Mapping[str, Any], delivery: Mapping[str, Any]
    ) -> None:
        """Store an attempt, with these values of the webhook and of the delivery."""
        now = func.clock_timestamp()
        told = {"last_attempt_at": now, "last_status": outcome.status, "last_error": outcome.error}
        await self._session.execute(
            update(WebhookRow)
            .where(WebhookRow.id == uuid.UUID(due.webhook_id))
            .values(claimed_until=now + CLAIM, **told, **webhook)
        )
        await self._session.execute(
            update(DeliveryRow)
            .where(DeliveryRow.id == uuid.UUID(due.id), DeliveryRow.status == "pending")
            .values(attempts=DeliveryRow.attempts + 1, **told, **delivery)
        )


_IS_DUE = and_(DeliveryRow.status == "pending", DeliveryRow.next_attempt_at <= func.now())


def _longest_waiting(passed_over: Sequence[int]) -> Select[uuid.UUID, int]:
    """Lock the longest waiting webhook of any other tenant than these, and select it with its tenant."""
    return (
        select(WebhookRow.id, WebhookRow.tenant_id)
        .where(
            WebhookRow.disabled_at.is_(None),
            func.coalesce(WebhookRow.retry_at <= func.now(), true()),
            # After locking, PostgreSQL checks this row again if it has changed, but not the tenant's other rows.
            func.coalesce(WebhookRow.claimed_until <= func.now(), true()),
            ~_is_served(WebhookRow.tenant_id),
            WebhookRow.tenant_id.not_in(passed_over),
            select(DeliveryRow.id).where(DeliveryRow.webhook_id == WebhookRow.id, _IS_DUE).exists(),
        )
        .order_by(WebhookRow.claimed_until.nulls_first())
        .limit(1)
        .with_for_update(of=WebhookRow, skip_locked=True, key_share=True)
    )


def _is_served(tenant: int | InstrumentedAttribute[int]) -> Exists:
    sibling = aliased(WebhookRow)
    return select(sibling.id).where(sibling.tenant_id == tenant, sibling.claimed_until > func.now()).exists()
