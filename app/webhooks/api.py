"""Webhooks, for administrators of their tenant and for operators."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Any, Final

import structlog
from fastapi import APIRouter, Query, Response
from pydantic import BaseModel

from aegis_sdk import wire
from app.edge.dependencies import (
    AdministratorDependency,
    CallerDependency,
    FactoryDependency,
    OwnTenant,
    PatchDependency,
    SmallBodyDependency,
)
from app.edge.idempotency import OnceDependency, nothing
from app.edge.state import StateDependency
from app.factory import Factory
from app.platform.http.bodies import validated
from app.platform.http.operations import JsonResponse, answers, body
from app.platform.members import answer_of
from app.webhooks.model import (
    ADVICE_FAILED,
    ADVICE_STALE,
    ADVICE_SUCCEEDED,
    ENTRY_CHANGED,
    ENTRY_FOUND,
    ENTRY_PUBLISHED,
    ENTRY_WITHDRAWN,
    EVENT_TYPES,
    PING,
    REQUEST_CHANGED,
    Webhook,
)

router = APIRouter(prefix="/v1/webhooks", tags=["webhooks"])

_log = structlog.get_logger(__name__)


@router.post(
    "",
    summary="Create a webhook",
    status_code=201,
    openapi_extra=body(wire.WebhookRequest),
    responses=answers(
        201,
        wire.NewWebhook,
        "The webhook; its secret is shown only this once",
        400,
        409,
        413,
        415,
        422,
        headers=("Location",),
    ),
)
async def create_webhook(
    caller: AdministratorDependency, document: SmallBodyDependency, state: StateDependency, once: OnceDependency
) -> Response:
    """Sends the chosen events of the caller's tenant to a URL from now on. Operators may name another tenant."""

    async def create(factory: Factory, asked: wire.WebhookRequest) -> Response:
        secret, webhook = await factory.webhooks().create(
            caller, asked.tenant, asked.url, asked.events, allow_private=state.webhooks_allow_private
        )
        _log.info("webhook created", webhook=webhook.id, by=caller.subject)
        headers = {"Location": f"/v1/webhooks/{webhook.id}"}
        return JsonResponse(wire.NewWebhook(**dict(_answer(webhook)), secret=secret), 201, headers)

    return await once.answer(document, lambda: validated(wire.WebhookRequest, document), create)


@router.get(
    "",
    summary="List webhooks",
    responses=answers(200, wire.WebhookList, "The webhooks of a tenant, oldest first", 422),
)
async def list_webhooks(caller: CallerDependency, factory: FactoryDependency, tenant: OwnTenant = None) -> Response:
    """Lists the webhooks of the caller's tenant with the outcome of their last attempts."""
    webhooks = await factory.webhooks().of_tenant(caller, tenant)
    return JsonResponse(wire.WebhookList(items=list(map(_answer, webhooks))))


@router.get("/{webhook_id}", summary="Read a webhook", responses=answers(200, wire.Webhook, "The webhook", 404))
async def read_webhook(webhook_id: str, caller: CallerDependency, factory: FactoryDependency) -> Response:
    """Returns a webhook without its secret."""
    return JsonResponse(_answer(await factory.webhooks().find(caller, webhook_id)))


@router.patch(
    "/{webhook_id}",
    summary="Enable or disable a webhook",
    openapi_extra=body(wire.WebhookPatch),
    responses=answers(200, wire.Webhook, "The webhook", 400, 404, 413, 415, 422),
)
async def set_webhook(
    webhook_id: str, caller: CallerDependency, document: PatchDependency, factory: FactoryDependency
) -> Response:
    """Enables a webhook and resets its failures, or disables it and gives up its pending events."""
    asked = await validated(wire.WebhookPatch, document)
    webhook = await factory.webhooks().set_enabled(caller, webhook_id, enabled=asked.enabled)
    _log.info("webhook enabled" if asked.enabled else "webhook disabled", webhook=webhook.id, by=caller.subject)
    return JsonResponse(_answer(webhook))


@router.delete(
    "/{webhook_id}",
    summary="Delete a webhook",
    status_code=204,
    responses=answers(204, None, "The webhook and its deliveries are deleted", 404),
)
async def delete_webhook(webhook_id: str, caller: CallerDependency, factory: FactoryDependency) -> Response:
    """Deletes a webhook and its pending events."""
    await factory.webhooks().delete(caller, webhook_id)
    _log.info("webhook deleted", webhook=webhook_id, by=caller.subject)
    return Response(status_code=204)


@router.post(
    "/{webhook_id}/secret",
    summary="Replace a webhook's secret",
    openapi_extra=body(wire.SecretRotation),
    responses=answers(
        200, wire.NewWebhook, "The webhook; its new secret is shown only this once", 400, 404, 409, 413, 415, 422
    ),
)
async def replace_secret(
    webhook_id: str, caller: AdministratorDependency, document: SmallBodyDependency, once: OnceDependency
) -> Response:
    """Draws a new secret. During the overlap, events are signed with both, so that the receiver can switch."""

    async def replace(factory: Factory, asked: wire.SecretRotation) -> Response:
        overlap = timedelta(hours=asked.overlap_hours)
        secret, webhook = await factory.webhooks().rotate(caller, webhook_id, overlap)
        _log.info("webhook secret replaced", webhook=webhook.id, by=caller.subject)
        return JsonResponse(wire.NewWebhook(**dict(_answer(webhook)), secret=secret))

    return await once.answer(document, lambda: validated(wire.SecretRotation, document), replace)


@router.post(
    "/{webhook_id}/test",
    summary="Test a webhook",
    status_code=202,
    responses=answers(202, wire.WebhookDelivery, "The delivery of the ping, sent by a worker", 400, 404, 409, 422),
)
async def test_webhook(webhook_id: str, caller: AdministratorDependency, once: OnceDependency) -> Response:
    """Sends the event `ping`, whatever events the webhook subscribes to."""

    async def test(factory: Factory, _: None) -> Response:
        delivery = await factory.webhooks().test(caller, webhook_id)
        return JsonResponse(answer_of(wire.WebhookDelivery, delivery, event=delivery.type), 202)

    return await once.answer(b"", nothing, test)


@router.get(
    "/{webhook_id}/deliveries",
    summary="List a webhook's deliveries",
    responses=answers(200, wire.WebhookDeliveryList, "The last deliveries, newest first", 404, 422),
)
async def list_deliveries(
    webhook_id: str,
    caller: CallerDependency,
    factory: FactoryDependency,
    limit: Annotated[int, Query(ge=1, le=200, description="Most deliveries to list")] = 50,
) -> Response:
    """Lists the last deliveries, sent or pending, without their data."""
    deliveries = await factory.webhooks().deliveries(caller, webhook_id, limit)
    items = [answer_of(wire.WebhookDelivery, one, event=one.type) for one in deliveries]
    return JsonResponse(wire.WebhookDeliveryList(items=items))


def _answer(webhook: Webhook) -> wire.Webhook:
    return answer_of(wire.Webhook, webhook, events=webhook.event_types, enabled=webhook.disabled_at is None)


_MODELS: Final[Mapping[str, type[BaseModel]]] = {
    ENTRY_PUBLISHED: wire.EntryEvent,
    ENTRY_CHANGED: wire.EntryEvent,
    ENTRY_WITHDRAWN: wire.EntryEvent,
    ENTRY_FOUND: wire.FoundEvent,
    ADVICE_SUCCEEDED: wire.AdviceEvent,
    ADVICE_FAILED: wire.AdviceEvent,
    ADVICE_STALE: wire.StaleAdviceEvent,
    REQUEST_CHANGED: wire.RequestEvent,
    PING: wire.PingEvent,
}

_TESTED: Final = {PING: "somebody tests the webhook"}

EVENTS: Final[Mapping[str, tuple[str, type[BaseModel]]]] = {
    type_: (when, _MODELS[type_]) for type_, when in {**EVENT_TYPES, **_TESTED}.items()
}
"""By event type: the occasion, and the model of the body."""

HEADERS: Final[list[dict[str, Any]]] = [
    {"name": name, "in": "header", "required": True, "description": description, "schema": schema}
    for name, description, schema in (
        ("webhook-id", "Id of the delivery, the same for every attempt", {"type": "string", "format": "uuid"}),
        (
            "webhook-timestamp",
            "Time of this attempt in seconds since 1970",
            {"type": "string", "pattern": "^[0-9]+$"},
        ),
        ("webhook-signature", "`v1,` and a signature, one for each secret, separated by blanks", {"type": "string"}),
    )
]
"""The headers that receivers check by Standard Webhooks 1.0."""
