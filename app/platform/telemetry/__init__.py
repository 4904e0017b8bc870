"""What operators see of a running process: metrics for Prometheus, and traces."""

from app.platform.telemetry.api_metrics import ApiMetrics
from app.platform.telemetry.collectors import BuildCollector, ChildrenCollector, DatabaseCollector, PoolCollector
from app.platform.telemetry.job_metrics import JobMetrics
from app.platform.telemetry.tracing import UNTRACED, refuse_missing_exporter, tracer_for
from app.platform.telemetry.webhook_metrics import WebhookMetrics

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
