"""Metrics of a worker's jobs."""

import math
from bisect import bisect_left
from collections.abc import Iterator
from itertools import accumulate

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

_JOB_SECONDS = (0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 30.0, 120.0, 600.0, 3600.0)


class JobMetrics:
    """What a worker counts while it runs jobs."""

    def __init__(self, registry: CollectorRegistry) -> None:
        labels = ("task", "lane")
        self._ended = Counter("aegis_jobs", "Tries of jobs that ended", (*labels, "outcome"), registry=registry)
        self._ran = Histogram(
            "aegis_job_seconds", "Time that a try ran", labels, buckets=_JOB_SECONDS, registry=registry
        )
        self._waited = Histogram(
            "aegis_job_wait_seconds",
            "Time from the request for a job to its first try",
            labels,
            buckets=_JOB_SECONDS,
            registry=registry,
        )
        self.residuals = Residuals()
        registry.register(self.residuals)

    def waited(self, task: str, lane: str, seconds: float) -> None:
        """Record how many seconds a job has waited."""
        self._waited.labels(task, lane).observe(seconds)

    def ended(self, task: str, lane: str, outcome: str, ran: float) -> None:
        """Record how a try ended, and how many seconds it ran."""
        self._ended.labels(task, lane, outcome).inc()
        self._ran.labels(task, lane).observe(ran)


class Residuals(Collector):
    """A histogram of the residuals of reconstructions, without their sum.

    Two scrapes around one reconstruction would show its residual to all digits as the difference of the sums. A bucket
    shows its power of ten or less.
    """

    _BOUNDS = (1e-12, 1e-9, 1e-6, 1e-3, 1e-2, 1e-1, 1.0, math.inf)

    def __init__(self) -> None:
        self._numbers = [0] * len(self._BOUNDS)

    def observe(self, residual: float) -> None:
        """Count a residual; one that is not a number is above all bounds."""
        place = len(self._BOUNDS) - 1 if math.isnan(residual) else bisect_left(self._BOUNDS, residual)
        self._numbers[place] += 1

    def collect(self) -> Iterator[Metric]:
        """The histogram."""
        names = ("+Inf" if math.isinf(bound) else str(bound) for bound in self._BOUNDS)
        yield HistogramMetricFamily(
            "aegis_reconstruction_residual_ratio",
            "Largest residual of a margin, over the number of records",
            buckets=list(zip(names, map(float, accumulate(self._numbers)), strict=True)),
        )
