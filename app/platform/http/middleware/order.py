"""The middlewares of the application, and the reason for their order."""

from opentelemetry.trace import Tracer
from prometheus_client import CollectorRegistry
from starlette.middleware import Middleware

from app.platform.http.middleware.access_log import AccessLog
from app.platform.http.middleware.answer_headers import AnswerHeaders
from app.platform.http.middleware.compression import Compression
from app.platform.http.middleware.cross_origin import CrossOrigin
from app.platform.http.middleware.failures import Failures
from app.platform.http.middleware.head_method import HeadMethod
from app.platform.http.middleware.metrics import Metrics
from app.platform.http.middleware.metrics_port import MetricsPort
from app.platform.http.middleware.request_ids import RequestIds
from app.platform.http.middleware.request_span import RequestSpan
from app.platform.http.middleware.safe_headers import SafeHeaders
from app.settings import Settings


def middlewares(settings: Settings, registry: CollectorRegistry, tracer: Tracer) -> list[Middleware]:
    """All of them, the outermost first.

    * `AnswerHeaders` is outside of all that append to them.
    * `RequestIds` is outside of all that log.
    * `RequestSpan` covers all that is done for a request.
    * `AccessLog` logs what the client is sent, with the request's id.
    * `SafeHeaders` sees every answer as it is sent, but for what `AnswerHeaders` adds.
    * `HeadMethod` is outside of `Metrics`, which needs the route that was found for the request as GET.
    * `Metrics` counts every answer, problems included.
    * `CrossOrigin` lets a page read problems, too. Without origins it is left out, and a preflight is answered as any
      other OPTIONS.
    * `Failures` is inside of all of these, so that its problems have their headers and are counted.
    * `MetricsPort`, for metrics that have a port of their own, is inside of `Metrics`, which counts what it refuses.
    * `Compression` is inside of `Failures`, as all that may fail or take long.
    """
    origins = settings.cors_origins
    return [
        Middleware(AnswerHeaders),
        Middleware(RequestIds),
        Middleware(RequestSpan, tracer=tracer),
        Middleware(AccessLog),
        Middleware(SafeHeaders, hsts_seconds=settings.hsts_seconds),
        Middleware(HeadMethod),
        Middleware(Metrics, registry=registry),
        *([Middleware(CrossOrigin, origins=origins)] if origins else []),
        Middleware(Failures),
        *([Middleware(MetricsPort)] if settings.metrics_port is not None else []),
        Middleware(Compression),
    ]
