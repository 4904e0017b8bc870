"""The middlewares of the application, and the reason for their order."""

from prometheus_client import CollectorRegistry
from starlette.middleware import Middleware

from app.api.middleware.answer_headers import AnswerHeaders
from app.api.middleware.failures import Failures
from app.api.middleware.head_method import HeadMethod
from app.api.middleware.metrics import Metrics
from app.api.middleware.request_ids import RequestIds


def middlewares(registry: CollectorRegistry) -> list[Middleware]:
    """All of them, the outermost first.

    * `AnswerHeaders` is outside of all that append to them.
    * `RequestIds` is outside of all that log.
    * `HeadMethod` is outside of `Metrics`, which needs the route that was found for the request as GET.
    * `Metrics` counts every answer, problems included.
    * `Failures` is inside of all of these, so that its problems have their headers and are counted.
    """
    return [
        Middleware(AnswerHeaders),
        Middleware(RequestIds),
        Middleware(HeadMethod),
        Middleware(Metrics, registry=registry),
        Middleware(Failures),
    ]
