"""Metrics of what a worker sends to webhooks."""

from prometheus_client import CollectorRegistry, Counter

#: How an attempt ends: taken, answered with another status, or without an answer.
OUTCOMES = ("delivered", "refused", "timeout", "unreachable", "address_refused")


class WebhookMetrics:
    """What a worker counts while it delivers events. No tenant and no URL is named."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._attempts = Counter(
            "aegis_webhook_attempts", "Attempts to deliver an event", ("outcome",), registry=registry
        )
        for outcome in OUTCOMES:
            self._attempts.labels(outcome)

    def attempted(self, outcome: str) -> None:
        """Count an attempt."""
        self._attempts.labels(outcome).inc()
