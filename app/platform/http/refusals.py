"""The only table from errors to statuses, the responses as `application/problem+json` (RFC 9457), and `Allow`."""

from collections.abc import Mapping, Sequence
from http import HTTPMethod
from http.client import INTERNAL_SERVER_ERROR, METHOD_NOT_ALLOWED
from typing import Any, Final

import structlog
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.routing import Match
from starlette.types import Scope

from aegis_sdk.wire import FAULTS_SHOWN, pointer_of
from app.platform import errors as reasons
from app.platform.errors import Fault, InvalidDocumentError, RefusalError, UnknownKeyError, pointer
from app.platform.http.request_scope import request_id

_log = structlog.get_logger(__name__)

#: The title and the code of a defect.
INTERNAL: Final = ("Internal error", "internal")


class MalformedRequestError(RefusalError):
    """The body is not JSON, or a header cannot be read."""

    code = "malformed"


class UnknownParameterError(InvalidDocumentError):
    """The query has an unknown parameter, such as a mistyped filter, which must not be ignored silently."""

    def __init__(self, unknown: Sequence[str], known: Sequence[str]) -> None:
        there = f"It has: {', '.join(known)}." if known else "It has none."
        faults = tuple(Fault(pointer(name[:100]), "There is no such parameter.") for name in unknown)
        super().__init__(f"This path has no parameter {unknown[0][:100]!r}. {there}", faults, code="unknown_parameter")


class PreconditionRequiredError(RefusalError):
    """A change does not say which version it changes."""

    code = "precondition_required"


class BodyTooLargeError(RefusalError):
    """The body is larger than the limit."""

    code = "too_large"


class SlowBodyError(RefusalError):
    """The body arrives too slowly."""

    code = "too_slow"


class MediaTypeError(RefusalError):
    """The body is not declared as JSON."""

    code = "unsupported_media_type"


class ContentCodingError(MediaTypeError):
    """The body has an unsupported content coding."""


#: Status and title by error. The last title of a status is the one in the OpenAPI document.
STATUS: Mapping[type[RefusalError], tuple[int, str]] = {
    MalformedRequestError: (400, "Malformed request"),
    UnknownKeyError: (401, "Not authenticated"),
    reasons.QuotaExceededError: (403, "Quota exceeded"),
    reasons.RoleNotAllowedError: (403, "Not allowed"),
    reasons.NotFoundError: (404, "Not found"),
    SlowBodyError: (408, "Too slow"),
    reasons.ActionNotPossibleError: (409, "Not possible now"),
    reasons.EnoughGrantedError: (409, "Enough granted"),
    reasons.InFlightError: (409, "In flight"),
    reasons.LeasedError: (409, "Leased"),
    reasons.NameTakenError: (409, "Name taken"),
    reasons.NotComposedError: (409, "Not allowed together"),
    reasons.StaleVersionError: (412, "Stale version"),
    BodyTooLargeError: (413, "Body too large"),
    MediaTypeError: (415, "Unsupported media type"),
    reasons.KeyReusedError: (422, "Idempotency key reused"),
    InvalidDocumentError: (422, "Invalid"),
    PreconditionRequiredError: (428, "Precondition required"),
    reasons.BudgetSpentError: (429, "No questions left"),
    reasons.QuotaSpentError: (429, "No questions left today"),
    reasons.TooManyGuessesError: (429, "Too many wrong keys"),
    reasons.RateExceededError: (429, "Too many requests"),
    reasons.NothingSignedError: (501, "Nothing is signed"),
    reasons.NoWorkerError: (503, "No worker"),
    reasons.InterruptedWorkError: (503, "Interrupted"),
    reasons.OverloadedError: (503, "Overloaded"),
    reasons.IssuerUnavailableError: (503, "Issuer unavailable"),
    reasons.SchemaMismatchError: (503, "Schema mismatch"),
    reasons.DatabaseUnavailableError: (503, "Database unavailable"),
    reasons.StorageFullError: (507, "Storage full"),
}


def status_and_title(error: RefusalError) -> tuple[int, str]:
    """The status and the title of a refusal."""
    return next(STATUS[kind] for kind in type(error).__mro__ if kind in STATUS)


def note_defect(request: Request, error: Exception) -> None:
    """Log a defect by its class and route, without the message, which could contain a count."""
    _log.error("unexpected error", error=type(error).__name__, path=request.url.path, exc_info=error)


#: The headers of problems by status.
_HEADERS: Mapping[int, Mapping[str, str]] = {401: {"WWW-Authenticate": "Bearer"}, 503: {"Retry-After": "1"}}

#: The challenge for an invalid key or token; RFC 6750 (section 3.1) omits the error only if none was sent.
_WRONG_KEY = 'Bearer error="invalid_token"'

#: The codes of the framework's refusals by status.
_FRAMEWORK_CODES = {404: "not_found", 405: "method_not_allowed"}


def problem(
    request: Request,
    status: int,
    title: str,
    code: str,
    detail: str,
    *,
    faults: Sequence[Fault] = (),
    **members: Any,  # noqa: ANN401 -- extension members
) -> JSONResponse:
    """Count a problem and return its response, with at most the first hundred faults."""
    request.app.state.metrics.refused(code)
    errors = [{"pointer": fault.pointer, "detail": fault.detail} for fault in faults[:FAULTS_SHOWN]]
    body = {"type": "about:blank", "title": title, "status": status, "detail": detail}
    body |= {"instance": request.url.path, "code": code, "errors": errors, **members}
    if status >= INTERNAL_SERVER_ERROR:  # so that reports of a failure can quote it from the body
        body["request_id"] = request_id(request)
    return JSONResponse(body, status, _HEADERS.get(status), media_type="application/problem+json")


def _refused(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RefusalError)  # noqa: S101 -- registered for this class only
    status, title = status_and_title(error)
    faults = error.faults if isinstance(error, InvalidDocumentError) else ()
    members: dict[str, Any] = {}
    if isinstance(error, reasons.NameTakenError):
        members["entry"] = error.entry_id
    elif isinstance(error, reasons.ActionNotPossibleError):
        members["possible"] = error.possible
    elif isinstance(error, reasons.NotComposedError):
        members["allowed"] = error.allowed
    answer = problem(request, status, title, error.code, error.detail, faults=faults, **members)
    if isinstance(error, UnknownKeyError) and request.headers.get("authorization", "").lower().startswith("bearer "):
        answer.headers["WWW-Authenticate"] = _WRONG_KEY
    if isinstance(error, reasons.WaitError):
        answer.headers["Retry-After"] = str(error.seconds)
    if isinstance(error, MediaTypeError) and request.method == "PATCH":
        answer.headers["Accept-Patch"] = ", ".join(PATCH_TYPES)
    if isinstance(error, ContentCodingError):  # RFC 9110, section 15.5.16
        answer.headers["Accept-Encoding"] = "gzip"
    return answer


def _invalid_parameter(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)  # noqa: S101 -- registered for this class only
    faults = [Fault(pointer_of(line["loc"][1:]), line["msg"]) for line in error.errors()]
    return problem(request, 422, "Invalid", "invalid", "A parameter of the request is invalid.", faults=faults)


def refused_by_framework(request: Request, error: Exception) -> Response:
    """The response to an unknown path or method."""
    assert isinstance(error, HTTPException)  # noqa: S101 -- registered for this class only
    methods: list[str] = []
    if error.status_code == METHOD_NOT_ALLOWED:
        matching = [one for one in request.app.state.routes if one.matches(request.scope)[0] is not Match.NONE]
        own = {method for route in matching for method in getattr(route, "methods", None) or ()}
        methods = sorted(own | {"OPTIONS"} | ({"HEAD"} if "GET" in own else set())) if own else []
    allowed = {"Allow": ", ".join(methods)}
    if "PATCH" in methods:
        allowed["Accept-Patch"] = ", ".join(PATCH_TYPES)  # RFC 5789
    if methods and request.method == "OPTIONS":
        return Response(status_code=204, headers=allowed)
    code = _FRAMEWORK_CODES.get(error.status_code, "refused")
    answer = problem(
        request, error.status_code, error.detail, code, f"{request.method} {request.url.path}: {error.detail}"
    )
    # The framework lists the methods of one route; a path can have several.
    answer.headers.update(allowed if methods else error.headers or {})
    return answer


def interrupted(request: Request) -> JSONResponse:
    """The response to a request that the stopping server cancels."""
    detail = "The service is stopping. Try again after Retry-After."
    return problem(request, *STATUS[reasons.InterruptedWorkError], reasons.InterruptedWorkError.code, detail)


def failed(request: Request, error: Exception) -> JSONResponse:
    """The response to a request that meets a defect, which is logged."""
    note_defect(request, error)
    return problem(request, 500, *INTERNAL, "The service failed; see its log.")


def register(app: FastAPI) -> None:
    """Have the application respond to every error with a problem."""
    app.add_exception_handler(RefusalError, _refused)
    app.add_exception_handler(RequestValidationError, _invalid_parameter)
    app.add_exception_handler(HTTPException, refused_by_framework)
    app.add_exception_handler(Exception, failed)


#: The media types of `PATCH`. A change of visibility means the same as a merge patch (RFC 7396).
PATCH_TYPES = ("application/json", "application/merge-patch+json")

_NAMED = frozenset(HTTPMethod)


def named_method(scope: Scope) -> str:
    """A request's method for metrics, spans and the log, which callers must not fill with invented ones.

    Unknown methods get the name of OpenTelemetry's HTTP conventions.
    """
    method: str = scope["method"]
    return method if method in _NAMED else "_OTHER"
