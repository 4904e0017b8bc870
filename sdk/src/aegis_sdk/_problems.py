"""From an answer that refuses a request to the error that says so."""

import httpx
from pydantic import ValidationError

from aegis_sdk._errors import (
    BadRequestError,
    ConflictError,
    ForbiddenError,
    InvalidError,
    NotFoundError,
    PreconditionFailedError,
    ProblemError,
    TooLargeError,
    UnauthorizedError,
    UnavailableError,
)
from aegis_sdk.wire import Problem

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
    503: UnavailableError,
}


def problem_error(response: httpx.Response) -> ProblemError:
    """The error of a refused request, whether or not its body is a problem."""
    try:
        problem = Problem.model_validate_json(response.content)
    except ValidationError:
        problem = Problem(title=response.reason_phrase, status=response.status_code)
    return _BY_STATUS.get(response.status_code, ProblemError)(response.status_code, problem)
