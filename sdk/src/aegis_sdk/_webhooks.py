"""Webhooks: where a tenant is told of events."""

from collections.abc import Callable, Sequence
from urllib.parse import quote

import httpx

from aegis_sdk._answers import read_answer, read_nothing
from aegis_sdk._requests import json_bytes, without_none
from aegis_sdk.wire import NewWebhook, Webhook, WebhookDelivery, WebhookDeliveryList, WebhookList

_WEBHOOKS = "/v1/webhooks"


class Webhooks:
    """Webhooks: an administrator has those of its own tenant, an operator those of all. `Client.webhooks` is one.

    `ForbiddenError` if the caller is neither, `NotFoundError` for a webhook of another tenant.
    """

    def __init__(self, send: Callable[..., httpx.Response]) -> None:
        self._send = send

    def create(self, url: str, events: Sequence[str], tenant: str | None = None) -> NewWebhook:
        """Post the named events to a URL from now on; the webhook's `secret` is shown only now.

        Only operators name another tenant than their own. `InvalidError` if the URL is no HTTPS on the internet.
        """
        asked = {"url": url, "events": list(events), "tenant": tenant}
        return read_answer(NewWebhook, self._send("POST", _WEBHOOKS, content=json_bytes(asked)))

    def list(self, tenant: str | None = None) -> Sequence[Webhook]:
        """The webhooks of a tenant, oldest first; of the caller's own by default."""
        return read_answer(WebhookList, self._send("GET", _WEBHOOKS, params=without_none({"tenant": tenant}))).items

    def get(self, webhook_id: str) -> Webhook:
        """A webhook, without its secret."""
        return read_answer(Webhook, self._send("GET", _path(webhook_id)))

    def enable(self, webhook_id: str) -> Webhook:
        """Send events again, and forget that the webhook has failed."""
        return self._set(webhook_id, enabled=True)

    def disable(self, webhook_id: str) -> Webhook:
        """Send no events any more, and give up what waits to be sent."""
        return self._set(webhook_id, enabled=False)

    def _set(self, webhook_id: str, *, enabled: bool) -> Webhook:
        return read_answer(Webhook, self._send("PATCH", _path(webhook_id), content=json_bytes({"enabled": enabled})))

    def delete(self, webhook_id: str) -> None:
        """Delete a webhook with what waits to be sent."""
        read_nothing(self._send("DELETE", _path(webhook_id)))

    def replace_secret(self, webhook_id: str, overlap_hours: int = 24) -> NewWebhook:
        """Draw a new secret. For the overlap, events are signed by both."""
        asked = json_bytes({"overlap_hours": overlap_hours})
        return read_answer(NewWebhook, self._send("POST", _path(webhook_id, "secret"), content=asked))

    def test(self, webhook_id: str) -> WebhookDelivery:
        """Send the event `ping`, whatever the webhook asks for. A worker does it: `deliveries` says what came of it."""
        return read_answer(WebhookDelivery, self._send("POST", _path(webhook_id, "test")))

    def deliveries(self, webhook_id: str, limit: int = 50) -> Sequence[WebhookDelivery]:
        """What was last sent to a webhook, or waits for that, newest first; `limit` is at most 200."""
        answer = self._send("GET", _path(webhook_id, "deliveries"), params={"limit": str(limit)})
        return read_answer(WebhookDeliveryList, answer).items


def _path(webhook_id: str, *parts: str) -> str:
    return "/".join([_WEBHOOKS, quote(webhook_id, safe=""), *parts])
