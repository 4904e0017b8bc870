"""Webhooks, which receive a tenant's events."""

from collections.abc import Callable, Sequence
from urllib.parse import quote

import httpx

from aegis_sdk._answers import read_answer, read_nothing
from aegis_sdk._flows import Awaiting, Blocking, Flow, method
from aegis_sdk._requests import json_bytes, without_none
from aegis_sdk.wire import NewWebhook, Webhook, WebhookDelivery, WebhookDeliveryList, WebhookList

_WEBHOOKS = "/v1/webhooks"


class WebhooksFlows:
    """Webhooks: administrators manage those of their own tenant, operators those of all tenants.

    `ForbiddenError` if the caller is neither, `NotFoundError` for a webhook of another tenant.
    """

    _send: Callable[..., Flow[httpx.Response]]

    @method
    def create(self, url: str, events: Sequence[str], tenant: str | None = None) -> Flow[NewWebhook]:
        """Post the named events to a URL from now on; only this response has the webhook's `secret`.

        Only operators can name another tenant than their own. `InvalidError` unless the URL is HTTPS on the internet.
        """
        asked = {"url": url, "events": list(events), "tenant": tenant}
        return read_answer(NewWebhook, (yield from self._send("POST", _WEBHOOKS, content=json_bytes(asked))))

    @method
    def list(self, tenant: str | None = None) -> Flow[Sequence[Webhook]]:
        """The webhooks of a tenant, by default the caller's own, oldest first."""
        answer = yield from self._send("GET", _WEBHOOKS, params=without_none({"tenant": tenant}))
        return read_answer(WebhookList, answer).items

    @method
    def get(self, webhook_id: str) -> Flow[Webhook]:
        """A webhook, without its secret."""
        return read_answer(Webhook, (yield from self._send("GET", _path(webhook_id))))

    @method
    def enable(self, webhook_id: str) -> Flow[Webhook]:
        """Enable a webhook, and clear earlier failures."""
        return (yield from self._set(webhook_id, enabled=True))

    @method
    def disable(self, webhook_id: str) -> Flow[Webhook]:
        """Disable a webhook, and drop its pending events."""
        return (yield from self._set(webhook_id, enabled=False))

    def _set(self, webhook_id: str, *, enabled: bool) -> Flow[Webhook]:
        asked = json_bytes({"enabled": enabled})
        return read_answer(Webhook, (yield from self._send("PATCH", _path(webhook_id), content=asked)))

    @method
    def delete(self, webhook_id: str) -> Flow[None]:
        """Delete a webhook and its pending events."""
        read_nothing((yield from self._send("DELETE", _path(webhook_id))))

    @method
    def replace_secret(self, webhook_id: str, overlap_hours: int = 24) -> Flow[NewWebhook]:
        """Replace the secret. During the overlap, events are signed with both."""
        asked = json_bytes({"overlap_hours": overlap_hours})
        return read_answer(NewWebhook, (yield from self._send("POST", _path(webhook_id, "secret"), content=asked)))

    @method
    def test(self, webhook_id: str) -> Flow[WebhookDelivery]:
        """Send the event `ping`, even if the webhook is not for it. A worker sends it; `deliveries` shows the
        result.
        """
        return read_answer(WebhookDelivery, (yield from self._send("POST", _path(webhook_id, "test"))))

    @method
    def deliveries(self, webhook_id: str, limit: int = 50) -> Flow[Sequence[WebhookDelivery]]:
        """Recent and pending events of a webhook, newest first; `limit` is at most 200."""
        answer = yield from self._send("GET", _path(webhook_id, "deliveries"), params={"limit": str(limit)})
        return read_answer(WebhookDeliveryList, answer).items


class Webhooks(WebhooksFlows, Blocking):
    """Webhooks. `Client.webhooks` is one; `WebhooksFlows` says more."""


class AsyncWebhooks(WebhooksFlows, Awaiting):
    """The same as `Webhooks`, each to be awaited. `AsyncClient.webhooks` is one."""


def _path(webhook_id: str, *parts: str) -> str:
    return "/".join([_WEBHOOKS, quote(webhook_id, safe=""), *parts])
