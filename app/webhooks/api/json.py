"""Webhooks as the API and the console show them."""

from typing import Any

from app.platform.timestamps import timestamp
from app.webhooks.model.webhooks import Webhook


def webhook_body(webhook: Webhook) -> dict[str, Any]:
    """A webhook as `wire.Webhook`."""
    return {
        "id": webhook.id,
        "tenant": webhook.tenant,
        "url": webhook.url,
        "events": webhook.event_types,
        "created_at": timestamp(webhook.created_at),
        "created_by": webhook.created_by,
        "enabled": webhook.disabled_at is None,
        "disabled_reason": webhook.disabled_reason,
        "failing_since": None if webhook.failing_since is None else timestamp(webhook.failing_since),
        "last_attempt_at": None if webhook.last_attempt_at is None else timestamp(webhook.last_attempt_at),
        "last_status": webhook.last_status,
        "last_error": webhook.last_error,
    }
