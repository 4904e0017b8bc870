"""The only table from error to status, and the refusals of requests that are not understood."""

from collections.abc import Mapping, Sequence
from typing import Final

import structlog
from starlette.requests import Request

from app.platform.errors import (
    ActionNotPossibleError,
    BudgetSpentError,
    DatabaseUnavailableError,
    EnoughGrantedError,
    Fault,
    InFlightError,
    InterruptedWorkError,
    InvalidDocumentError,
    IssuerUnavailableError,
    KeyReusedError,
    LeasedError,
    NameTakenError,
    NotFoundError,
    NothingSignedError,
    NoWorkerError,
    OverloadedError,
    QuotaExceededError,
    QuotaSpentError,
    RateExceededError,
    RefusalError,
    RoleNotAllowedError,
    SchemaMismatchError,
    StaleVersionError,
    StorageFullError,
    TooManyGuessesError,
    UnknownKeyError,
    pointer,
)

_log = structlog.get_logger(__name__)

#: The title and the code of a defect.
INTERNAL: Final = ("Internal error", "internal")


class MalformedRequestError(RefusalError):
    """The body is not JSON, or a header cannot be read."""

    code = "malformed"


class UnknownParameterError(InvalidDocumentError):
    """The query has a parameter that the path does not know, so that a filter would be left out without a word."""

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
    """The body is compressed in a way that the service cannot undo."""


#: The status and title of each error. The last title of a status is the one in the OpenAPI document.
STATUS: Mapping[type[RefusalError], tuple[int, str]] = {
    MalformedRequestError: (400, "Malformed request"),
    UnknownKeyError: (401, "Not authenticated"),
    QuotaExceededError: (403, "Quota exceeded"),
    RoleNotAllowedError: (403, "Not allowed"),
    NotFoundError: (404, "Not found"),
    SlowBodyError: (408, "Too slow"),
    ActionNotPossibleError: (409, "Not possible now"),
    EnoughGrantedError: (409, "Enough granted"),
    InFlightError: (409, "In flight"),
    LeasedError: (409, "Leased"),
    NameTakenError: (409, "Name taken"),
    StaleVersionError: (412, "Stale version"),
    BodyTooLargeError: (413, "Body too large"),
    MediaTypeError: (415, "Unsupported media type"),
    KeyReusedError: (422, "Idempotency key reused"),
    InvalidDocumentError: (422, "Invalid"),
    PreconditionRequiredError: (428, "Precondition required"),
    BudgetSpentError: (429, "No questions left"),
    QuotaSpentError: (429, "No questions left today"),
    TooManyGuessesError: (429, "Too many wrong keys"),
    RateExceededError: (429, "Too many requests"),
    NothingSignedError: (501, "Nothing is signed"),
    NoWorkerError: (503, "No worker"),
    InterruptedWorkError: (503, "Interrupted"),
    OverloadedError: (503, "Overloaded"),
    IssuerUnavailableError: (503, "Issuer unavailable"),
    SchemaMismatchError: (503, "Schema mismatch"),
    DatabaseUnavailableError: (503, "Database unavailable"),
    StorageFullError: (507, "Storage full"),
}


def status_and_title(error: RefusalError) -> tuple[int, str]:
    """The status and the title of a refusal."""
    return next(STATUS[kind] for kind in type(error).__mro__ if kind in STATUS)


def note_defect(request: Request, error: Exception) -> None:
    """Log a defect by its class and its path, without the message, which could contain a count."""
    _log.error("unexpected error", error=type(error).__name__, path=request.url.path, exc_info=error)
