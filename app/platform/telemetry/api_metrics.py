"""Metrics of the API besides those of its requests. No label names a tenant, an entry or anything in it."""

from prometheus_client import CollectorRegistry, Counter, Histogram

#: Seconds. The client may wait for 60; most answers take tens of milliseconds.
_ADVICE_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


class ApiMetrics:
    """What the API counts while it answers."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._problems = Counter("aegis_problems", "Problems answered, by their code", ("code",), registry=registry)
        self._published = Counter("aegis_published", "Versions accepted", ("kind",), registry=registry)
        self._advice = Histogram(
            "aegis_advice_seconds",
            "Time from a question to its answer in the same request",
            ("answer",),
            buckets=_ADVICE_SECONDS,
            registry=registry,
        )
        for kind in ("entry", "version"):
            self._published.labels(kind)

    def refused(self, code: str) -> None:
        """Count a problem that is answered."""
        self._problems.labels(code).inc()

    def published(self, *, is_first: bool) -> None:
        """Count a version: the first one of a new entry, or a further one."""
        self._published.labels("entry" if is_first else "version").inc()

    def advised(self, seconds: float, *, is_final: bool, is_new: bool) -> None:
        """Record how long a question took: a new one, a known one, or one that is answered later."""
        answer = "later" if not is_final else "new" if is_new else "known"
        self._advice.labels(answer).observe(seconds)
