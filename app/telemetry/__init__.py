"""What operators see of a running process: metrics for Prometheus, and traces."""

from app.telemetry.api_metrics import ApiMetrics
from app.telemetry.collectors import BuildCollector, ChildrenCollector, DatabaseCollector, PoolCollector
from app.telemetry.job_metrics import JobMetrics
from app.telemetry.tracing import UNTRACED, refuse_missing_exporter, tracer_for
from app.telemetry.webhook_metrics import WebhookMetrics

__all__ = [
    "UNTRACED",
    "ApiMetrics",
    "BuildCollector",
    "ChildrenCollector",
    "DatabaseCollector",
    "JobMetrics",
    "PoolCollector",
    "WebhookMetrics",
    "refuse_missing_exporter",
    "tracer_for",
]
