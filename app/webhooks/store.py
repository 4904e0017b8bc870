"""The stores of webhooks, their deliveries and their events. An event is stored in the transaction of its cause.

A webhook receives only what the consumers of its tenant may read: nothing about versions that await their sign-off, and
nothing about entries that the tenant does not see. Both tenants of a data request receive its events to its end.
"""

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import Exists, Select, and_, bindparam, case, delete, func, select, text, true, update
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import InstrumentedAttribute, aliased
from sqlalchemy.types import Boolean, Integer, Text, Uuid

from app.platform.database.base import Store
from app.platform.members import model_of
from app.tenants.store import tenant_id
from app.tenants.tables import TenantRow
from app.webhooks.model import (
    ADVICE_STALE,
    ENTRY_CHANGED,
    ENTRY_PUBLISHED,
    ENTRY_WITHDRAWN,
    PING,
    REQUEST_CHANGED,
    Delivery,
    DueDelivery,
    Outcome,
    Seen,
    Webhook,
)
from app.webhooks.tables import DeliveryRow, WebhookRow


class WebhookStore(Store):
    """Webhooks by id or tenant, and their deliveries."""

    async def count(self, tenant: str) -> int:
        """The number of a tenant's webhooks, locked against growth until the transaction ends."""
        owner = await tenant_id(self._session, tenant)
        # Entries refer to the tenant, so a stronger lock would wait for their insertion.
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
        return next((model_of(Webhook, row, tenant=tenant) for row, tenant in rows), None)

    async def of_tenant(self, tenant: str) -> list[Webhook]:
        """A tenant's webhooks, oldest first."""
        statement = _WEBHOOKS.where(TenantRow.name == tenant).order_by(WebhookRow.created_at, WebhookRow.id)
        return [model_of(Webhook, row, tenant=name) for row, name in await self._session.execute(statement)]

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

    async def delete(self, webhook_id: str) -> None:
        """Delete the webhook and its deliveries."""
        await self._session.execute(delete(WebhookRow).where(WebhookRow.id == uuid.UUID(webhook_id)))

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


_WEBHOOKS = select(WebhookRow, TenantRow.name).join(TenantRow, TenantRow.id == WebhookRow.tenant_id)


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


_ADD = "INSERT INTO delivery (webhook_id, type, data) "

_RECIPIENTS = (
    "FROM webhook JOIN tenant ON tenant.id = webhook.tenant_id "
    "CROSS JOIN entry_version AS version JOIN entry ON entry.id = version.entry_id "
    "JOIN tenant AS owner ON owner.id = entry.tenant_id "
)

_IS_TOLD = "webhook.disabled_at IS NULL AND NOT version.awaits_sign_off "

_IN_AUDIENCE = (
    "(entry.tenant_id = webhook.tenant_id OR entry.audience = 'all' "
    "OR (entry.audience = 'tenants' AND tenant.name = ANY(entry.audience_tenants))) "
)

_SEES = f"{_IS_TOLD} AND {_IN_AUDIENCE}"

#: The same before a change of visibility; nobody saw a new version before.
_SAW = (
    "(:before = 'all' OR (:before <> 'nobody' AND entry.tenant_id = webhook.tenant_id) "
    "OR (:before = 'tenants' AND tenant.name = ANY(:named_before))) "
)

#: The version, or the latest that others see.
_NEW = (
    "AND entry.id = :entry_id AND version.version = coalesce(:version, entry.released_version, entry.latest_version) "
)

_ENTRY = (
    "jsonb_build_object('id', entry.id, 'name', entry.name, 'tenant', owner.name, 'version', version.version, "
    "'digest', version.keyed_digest)"
)

_WHAT = (
    bindparam("entry_id", type_=Uuid),
    bindparam("version", type_=Integer),
    bindparam("before", type_=Text),
    bindparam("named_before", type_=ARRAY(Text)),
)


_PUBLISHED = text(
    f"{_ADD} SELECT webhook.id, '{ENTRY_PUBLISHED}', jsonb_build_object('entry', {_ENTRY}) {_RECIPIENTS} "
    f"WHERE '{ENTRY_PUBLISHED}' = ANY(webhook.event_types) AND {_SEES} AND NOT {_SAW} {_NEW}"
).bindparams(*_WHAT)
_CHANGED = text(
    f"{_ADD} SELECT webhook.id, '{ENTRY_CHANGED}', jsonb_build_object('entry', {_ENTRY}) {_RECIPIENTS} "
    f"WHERE '{ENTRY_CHANGED}' = ANY(webhook.event_types) AND {_SEES} AND {_SAW} {_NEW}"
).bindparams(*_WHAT)
_WITHDRAWN = text(
    f"{_ADD} SELECT webhook.id, '{ENTRY_WITHDRAWN}', jsonb_build_object('entry', {_ENTRY}) {_RECIPIENTS} "
    f"WHERE '{ENTRY_WITHDRAWN}' = ANY(webhook.event_types) AND {_IS_TOLD} AND {_SAW} "
    f"AND (:deleted OR NOT {_IN_AUDIENCE}) {_NEW}"
).bindparams(*_WHAT, bindparam("deleted", type_=Boolean))

#: The versions that a webhook's tenant has asked about and may know.
_ASKED = (
    "CROSS JOIN LATERAL (SELECT jsonb_agg(DISTINCT older.version) AS versions FROM question "
    "JOIN advice ON advice.id = question.advice_id JOIN entry_version AS older ON older.id = advice.version_id "
    "WHERE question.tenant_id = webhook.tenant_id AND older.entry_id = entry.id AND older.version < version.version "
    "AND NOT older.awaits_sign_off) AS asked "
)
_STALE = text(
    f"{_ADD} SELECT webhook.id, '{ADVICE_STALE}', "
    f"jsonb_build_object('entry', {_ENTRY}, 'versions', asked.versions) {_RECIPIENTS} {_ASKED} "
    f"WHERE '{ADVICE_STALE}' = ANY(webhook.event_types) AND asked.versions IS NOT NULL "
    f"AND {_SEES} AND NOT {_SAW} {_NEW} "
    "AND version.version = coalesce(entry.released_version, entry.latest_version)"
).bindparams(*_WHAT)

_ENDED = text(
    f"{_ADD} SELECT webhook.id, 'advice.' || advice.status, "
    "jsonb_build_object('advice', jsonb_build_object('id', question.id), 'entry', "
    f"{_ENTRY}) {_RECIPIENTS} JOIN advice ON advice.version_id = version.id "
    "JOIN question ON question.advice_id = advice.id AND question.tenant_id = webhook.tenant_id "
    f"WHERE advice.id = :advice_id AND 'advice.' || advice.status = ANY(webhook.event_types) AND {_SEES}"
).bindparams(bindparam("advice_id", type_=Uuid))

_REQUESTS = (
    "FROM webhook JOIN data_request AS request ON webhook.tenant_id IN (request.provider_id, request.consumer_id) "
    "JOIN tenant AS owner ON owner.id = request.provider_id"
)
_REQUEST = text(
    f"{_ADD} SELECT webhook.id, '{REQUEST_CHANGED}', jsonb_build_object('request', jsonb_build_object("
    "'id', request.id, 'state', request.state), 'entry', jsonb_build_object('id', request.entry_id, "
    "'name', request.entry_name, 'tenant', owner.name, 'version', request.version, "
    f"'digest', request.keyed_digest)) {_REQUESTS} "
    f"WHERE request.id = ANY(:request_ids) AND '{REQUEST_CHANGED}' = ANY(webhook.event_types) "
    "AND webhook.disabled_at IS NULL"
).bindparams(bindparam("request_ids", type_=ARRAY(Uuid)))

_PING = text(f"{_ADD} VALUES (:webhook_id, '{PING}', '{{}}') RETURNING id").bindparams(
    bindparam("webhook_id", type_=Uuid)
)


class EventStore(Store):
    """Adds events for all webhooks that subscribe to them."""

    async def version_shown(self, entry_id: str, version: int) -> None:
        """Notify the tenants to which a version has become visible, and those that have asked about older versions."""
        parameters = _seen_before(entry_id, None) | {"version": version}
        await self._session.execute(_PUBLISHED, parameters)
        await self._session.execute(_STALE, parameters)

    async def visibility_changed(self, entry_id: str, before: Seen) -> None:
        """Notify the tenants that see an entry after a change of visibility, and those that saw it `before`."""
        parameters = _seen_before(entry_id, before)
        for statement in (_PUBLISHED, _STALE, _CHANGED):
            await self._session.execute(statement, parameters)
        await self._session.execute(_WITHDRAWN, parameters | {"deleted": False})

    async def entry_deleted(self, entry_id: str, before: Seen) -> None:
        """Notify the tenants that see an entry of its deletion; call this before deleting it."""
        await self._session.execute(_WITHDRAWN, _seen_before(entry_id, before) | {"deleted": True})

    async def advice_ended(self, advice_id: str) -> None:
        """Notify the tenants that asked of the success or failure of an advice."""
        await self._session.execute(_ENDED, {"advice_id": UUID(advice_id)})

    async def requests_changed(self, request_ids: Sequence[str]) -> None:
        """Notify both tenants of new or changed data requests."""
        await self._session.execute(_REQUEST, {"request_ids": list(map(UUID, request_ids))})

    async def ping(self, webhook_id: str) -> str:
        """Send a webhook an event without data, and return its id."""
        return str((await self._session.execute(_PING, {"webhook_id": UUID(webhook_id)})).scalar_one())


def _seen_before(entry_id: str, before: Seen | None) -> dict[str, Any]:
    """The parameters of a statement about the latest version that others see; None: nobody saw it before."""
    return {
        "entry_id": UUID(entry_id),
        "version": None,
        "before": "nobody" if before is None else before.audience.value,
        "named_before": [] if before is None else list(before.tenants),
    }
