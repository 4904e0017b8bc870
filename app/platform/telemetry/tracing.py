"""Traces by OpenTelemetry, if the settings say where to send them.

A span never carries the text of an exception: it could quote a count.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from opentelemetry.context import Context
from opentelemetry.trace import NoOpTracerProvider, Span, SpanKind, Status, StatusCode, Tracer
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from app.platform.build import build_version

_NAME = "aegis"

#: Makes spans that nobody sees.
UNTRACED: Tracer = NoOpTracerProvider().get_tracer(_NAME)

#: Seconds after which sending a batch of spans has failed. At its end, a process waits for four batches at most.
_SENDING = 2.0


def refuse_missing_exporter(endpoint: str | None) -> None:
    """Refuse to send traces without the libraries for it.

    Raises:
        ValueError: an endpoint is set, and the extra `telemetry` is not installed.
    """
    if endpoint is not None and (find_spec("opentelemetry.sdk") is None or find_spec("opentelemetry.exporter") is None):
        how = "run make install or pip install '.[telemetry]' in the repository"
        message = f"AEGIS_TRACES_ENDPOINT needs more libraries: {how}"
        raise ValueError(message)


@contextmanager
def tracer_for(endpoint: str | None, service: str) -> Iterator[Tracer]:
    """A tracer that sends spans to `endpoint` during the block, as a service of this name; `UNTRACED` without one."""
    if endpoint is None:
        yield UNTRACED
        return
    # These import a client for HTTP and all of protobuf, which a service without traces does not need.
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415
    from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415

    provider = TracerProvider(
        resource=Resource.create({"service.name": service, "service.version": build_version()}), shutdown_on_exit=False
    )
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint, timeout=_SENDING)))
    try:
        yield provider.get_tracer(_NAME)
    finally:
        provider.shutdown()


def context_of(traceparent: str | None) -> Context | None:
    """The context that a W3C `traceparent` names; None if there is none, or it is malformed."""
    carrier = {} if traceparent is None else {"traceparent": traceparent}
    return TraceContextTextMapPropagator().extract(carrier, Context()) or None


@contextmanager
def span(
    tracer: Tracer, name: str, kind: SpanKind = SpanKind.INTERNAL, parent: Context | None = None
) -> Iterator[Span]:
    """A span during the block, in the current one or in that of `parent`. An exception only marks it as failed."""
    with tracer.start_as_current_span(
        name, parent, kind, record_exception=False, set_status_on_exception=False
    ) as current:
        try:
            yield current
        except Exception as error:
            current.set_status(Status(StatusCode.ERROR, type(error).__name__))
            raise
