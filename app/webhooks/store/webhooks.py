"""The store of webhooks, for those who administer them."""

import uuid
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.tenants.store.tenants import tenant_id
from app.tenants.tables import TenantRow
from app.webhooks.model.webhooks import Delivery, Webhook
from app.webhooks.tables.delivery import DeliveryRow
from app.webhooks.tables.webhook import WebhookRow


class WebhookStore:
    """Webhooks by id or tenant, and what was sent to them."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def count(self, tenant: str) -> int:
        """The number of a tenant's webhooks, which cannot grow until the transaction ends."""
        owner = await tenant_id(self._session, tenant)
        # Entries refer to the tenant, so a stronger lock would wait for whoever adds one.
        await self._session.execute(select(TenantRow.id).where(TenantRow.id == owner).with_for_update(key_share=True))
        counted = select(func.count()).select_from(WebhookRow).where(WebhookRow.tenant_id == owner)
        return (await self._session.execute(counted)).scalar_one()

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

    async def find(self, webhook_id: str) -> Webhook | None:
        """The webhook with this id."""
        try:
            wanted = uuid.UUID(webhook_id)
        except ValueError:
            return None
        rows = await self._session.execute(
            _WEBHOOKS.where(WebhookRow.id == wanted), execution_options={"populate_existing": True}
        )
        return next((_to_webhook(*row) for row in rows), None)

    async def of_tenant(self, tenant: str) -> list[Webhook]:
        """A tenant's webhooks, oldest first."""
        statement = _WEBHOOKS.where(TenantRow.name == tenant).order_by(WebhookRow.created_at, WebhookRow.id)
        return [_to_webhook(*row) for row in await self._session.execute(statement)]

    async def enable(self, webhook_id: str) -> None:
        """Send to the webhook again, as if it had never failed."""
        await self._change(
            webhook_id, disabled_at=None, disabled_reason=None, failing_since=None, failures=0, retry_at=None
        )

    async def disable(self, webhook_id: str, reason: str) -> bool:
        """Send nothing more to the webhook, and give up what waits for it; False if that was so, or it is deleted."""
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
        """Sign with this secret from now on, and until then with the one before, too."""
        await self._change(
            webhook_id, secret=secret, previous_secret=WebhookRow.secret, previous_secret_until=previous_until
        )

    async def delete(self, webhook_id: str) -> None:
        """Delete the webhook with its deliveries."""
        await self._session.execute(delete(WebhookRow).where(WebhookRow.id == uuid.UUID(webhook_id)))

    async def deliveries(self, webhook_id: str, limit: int) -> list[Delivery]:
        """What was last sent to the webhook, or waits for that, newest first."""
        statement = (
            select(DeliveryRow)
            .where(DeliveryRow.webhook_id == uuid.UUID(webhook_id))
            .order_by(DeliveryRow.created_at.desc(), DeliveryRow.id)
            .limit(limit)
        )
        return [_to_delivery(row) for row in (await self._session.execute(statement)).scalars()]

    async def delivery(self, delivery_id: str) -> Delivery:
        """The delivery with this id, which has to exist."""
        statement = select(DeliveryRow).where(DeliveryRow.id == uuid.UUID(delivery_id))
        return _to_delivery((await self._session.execute(statement)).scalar_one())

    async def _change(self, webhook_id: str, **values: object) -> None:
        await self._session.execute(update(WebhookRow).where(WebhookRow.id == uuid.UUID(webhook_id)).values(**values))


_WEBHOOKS = select(WebhookRow, TenantRow.name).join(TenantRow, TenantRow.id == WebhookRow.tenant_id)


def _to_webhook(row: WebhookRow, tenant: str) -> Webhook:
    return Webhook(
        id=str(row.id),
        tenant=tenant,
        url=row.url,
        event_types=tuple(row.event_types),
        created_at=row.created_at,
        created_by=row.created_by,
        disabled_at=row.disabled_at,
        disabled_reason=row.disabled_reason,
        failing_since=row.failing_since,
        last_attempt_at=row.last_attempt_at,
        last_status=row.last_status,
        last_error=row.last_error,
    )


def _to_delivery(row: DeliveryRow) -> Delivery:
    return Delivery(
        id=str(row.id),
        type=row.type,
        status=row.status,
        attempts=row.attempts,
        created_at=row.created_at,
        next_attempt_at=row.next_attempt_at if row.status == "pending" else None,
        last_attempt_at=row.last_attempt_at,
        last_status=row.last_status,
        last_error=row.last_error,
    )
