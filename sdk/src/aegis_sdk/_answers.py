"""Reading the service's answers: a document, an id, or the error of a refused request."""

import inspect
import warnings
from typing import TypeVar
from urllib.parse import unquote

import httpx
from pydantic import BaseModel, ValidationError

from aegis_sdk._errors import (
    BadRequestError,
    BudgetSpentError,
    ConflictError,
    ForbiddenError,
    InvalidError,
    KeyExpiresWarning,
    LimitedError,
    NotFoundError,
    PreconditionFailedError,
    ProblemError,
    TooLargeError,
    UnauthorizedError,
    UnavailableError,
    UnexpectedAnswerError,
)
from aegis_sdk.wire import Problem, faults_of

AnswerT = TypeVar("AnswerT", bound=BaseModel)

_BY_STATUS: dict[int, type[ProblemError]] = {
    400: BadRequestError,
    401: UnauthorizedError,
    403: ForbiddenError,
    404: NotFoundError,
    409: ConflictError,
    412: PreconditionFailedError,
    413: TooLargeError,
    422: InvalidError,
    428: PreconditionFailedError,
    429: LimitedError,
    503: UnavailableError,
}


_BY_CODE: dict[str, type[ProblemError]] = {"budget_spent": BudgetSpentError, "in_flight": UnavailableError}

#: What passes by itself: the service is busy or begins anew, or what is before it finds it so.
_PASSING = (
    httpx.codes.TOO_MANY_REQUESTS,
    httpx.codes.BAD_GATEWAY,
    httpx.codes.SERVICE_UNAVAILABLE,
    httpx.codes.GATEWAY_TIMEOUT,
)

#: The one refusal with 429 that is soon over: the others last for hours, or until somebody mends what is wrong.
_TOO_FAST = "rate_exceeded"

_PROBLEM_TYPE = "application/problem+json"
_LONGEST_SHOWN = 200


def is_passing(response: httpx.Response) -> bool:
    """Whether the same request may be answered a little later."""
    if response.status_code == httpx.codes.TOO_MANY_REQUESTS:
        return _code(response) in ("", _TOO_FAST)
    return response.status_code in _PASSING


def is_too_fast(response: httpx.Response) -> bool:
    """Whether the service has done nothing, since the tenant sends more requests than it may."""
    return response.status_code == httpx.codes.TOO_MANY_REQUESTS and _code(response) == _TOO_FAST


def is_in_flight(response: httpx.Response) -> bool:
    """Whether the service still carries out the same request, which was sent before."""
    return response.status_code == httpx.codes.CONFLICT and _code(response) == "in_flight"


def _code(response: httpx.Response) -> str:
    """The code of a refusal, empty if it is no problem document."""
    problem = _problem(response)
    return "" if problem is None else problem.code


def warn_of_expiry(response: httpx.Response) -> None:
    """Issue a warning if the service says that the caller's key expires soon."""
    expires = response.headers.get("Aegis-Key-Expires")
    if expires is not None:
        notice = f"your API key expires at {expires[:16]}Z; ask an administrator of your tenant to replace it"
        warnings.warn(notice, KeyExpiresWarning, stacklevel=_levels_to_caller())


def _levels_to_caller() -> int:
    """How far above its caller the first frame outside of the SDK is: some methods go through more frames."""
    frame, levels = inspect.currentframe(), 0
    while frame is not None and frame.f_globals.get("__name__", "").startswith("aegis_sdk._"):
        frame, levels = frame.f_back, levels + 1
    return levels


def refusal(response: httpx.Response) -> ProblemError | UnexpectedAnswerError:
    """The error for an answer that is no success.

    The service sends a problem document with each of its refusals. Whatever comes without one is from somebody else:
    "not found" of a wrong address says nothing about an entry.
    """
    problem = _problem(response)
    if problem is None:
        return foreign_answer(response)
    kind = _BY_CODE.get(problem.code) or _BY_STATUS.get(response.status_code, ProblemError)
    return kind(response.status_code, problem)


def _problem(response: httpx.Response) -> Problem | None:
    if _media_type(response) != _PROBLEM_TYPE:
        return None
    try:
        return Problem.model_validate_json(response.content)
    except ValidationError:
        return None


def foreign_answer(response: httpx.Response) -> UnexpectedAnswerError:
    """The error for an answer of something else than the service."""
    status, kind, to = response.status_code, _media_type(response), response.headers.get("Location")
    said = f"{status} {response.reason_phrase}".strip() + (f" and {kind}" if kind else "")
    elsewhere = f" It points to {to[:_LONGEST_SHOWN]}." if response.is_redirect and to else ""
    message = f"{response.request.url} answers {said}, which is no answer of Aegis.{elsewhere}"
    return UnexpectedAnswerError(f"{message} Is AEGIS_URL its address, and does no proxy answer instead?", status)


def _media_type(response: httpx.Response) -> str:
    return str(response.headers.get("Content-Type", "")).partition(";")[0].strip().lower()[:_LONGEST_SHOWN]


def read_nothing(response: httpx.Response) -> None:
    """Read the answer to a request that deletes: there is nothing in it.

    Raises:
        UnexpectedAnswerError: There is, so it is somebody else who says that all is well.
    """
    if response.status_code != httpx.codes.NO_CONTENT:
        raise foreign_answer(response)


def located_id(response: httpx.Response) -> str:
    """The id at the end of `Location`. Nothing else of it is used, so that the key is never sent to another host.

    Raises:
        UnexpectedAnswerError: The answer has no such id.
    """
    advice_id = unquote(str(response.headers.get("Location", "")).partition("?")[0].rpartition("/")[2])
    if not advice_id:
        raise UnexpectedAnswerError("The service accepted the question but sent no Location of its advice")
    return advice_id


def read_answer(model: type[AnswerT], response: httpx.Response) -> AnswerT:
    """Read the answer as a model.

    Raises:
        UnexpectedAnswerError: The answer does not fit the model.
    """
    try:
        return model.model_validate_json(response.content)
    except ValidationError as error:
        place = faults_of(error)[0].pointer or "the body"
        raise UnexpectedAnswerError(
            f"The answer of {response.request.url} is not one of Aegis, at {place}", response.status_code
        ) from None
