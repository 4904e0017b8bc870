"""Parts of HTTP requests to the service, its answers, the error of a refused call, and listings page by page."""

import inspect
import json
import warnings
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, TypeVar
from urllib.parse import quote, unquote

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
    UniqueRecordsError,
)
from aegis_sdk._flows import Flow, Page, Pages
from aegis_sdk.reading import Alone
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

_PROBLEM_TYPE = "application/problem+json"
_LONGEST_SHOWN = 200


def code_of(response: httpx.Response) -> str:
    """The code of a refusal; empty without a problem document."""
    problem = _problem(response)
    return "" if problem is None else problem.code


def warn_of_expiry(response: httpx.Response) -> None:
    """Issue a warning if the service says that the caller's key expires soon."""
    expires = response.headers.get("Aegis-Key-Expires")
    if expires is None:
        return
    # The warning is at the first stack frame outside of the SDK, whose distance differs between methods.
    frame, levels = inspect.currentframe(), 1
    while frame is not None and frame.f_globals.get("__name__", "").startswith("aegis_sdk._"):
        frame, levels = frame.f_back, levels + 1
    notice = f"your API key expires at {expires[:16]}Z; ask an administrator of your tenant to replace it"
    warnings.warn(notice, KeyExpiresWarning, stacklevel=levels)


def refusal(response: httpx.Response) -> ProblemError | UnexpectedAnswerError:
    """The error for an unsuccessful response.

    The service sends a problem document with each of its refusals. A response without one is from another server: "not
    found" at a wrong address says nothing about an entry.
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
    """The error for a response from another server."""
    status, kind, to = response.status_code, _media_type(response), response.headers.get("Location")
    said = f"{status} {response.reason_phrase}".strip() + (f" and {kind}" if kind else "")
    elsewhere = f" It points to {to[:_LONGEST_SHOWN]}." if response.is_redirect and to else ""
    message = f"{response.request.url} answers {said}, which is not a response of Aegis.{elsewhere}"
    return UnexpectedAnswerError(
        f"{message} Check that AEGIS_URL is its address and that no proxy answers instead.", status
    )


def _media_type(response: httpx.Response) -> str:
    return str(response.headers.get("Content-Type", "")).partition(";")[0].strip().lower()[:_LONGEST_SHOWN]


def read_nothing(response: httpx.Response) -> None:
    """Read the empty response to a deletion.

    Raises:
        UnexpectedAnswerError: The response is not empty, so another server has sent it.
    """
    if response.status_code != httpx.codes.NO_CONTENT:
        raise foreign_answer(response)


def located_id(response: httpx.Response) -> str:
    """The id at the end of `Location`. The rest is ignored, so that the key is never sent to another host.

    Raises:
        UnexpectedAnswerError: The response has no such id.
    """
    advice_id = unquote(str(response.headers.get("Location", "")).partition("?")[0].rpartition("/")[2])
    if not advice_id:
        raise UnexpectedAnswerError("The service accepted the question but sent no Location for the advice")
    return advice_id


def read_answer(model: type[AnswerT], response: httpx.Response) -> AnswerT:
    """Read the response as a model.

    Raises:
        UnexpectedAnswerError: The response does not fit the model.
    """
    try:
        return model.model_validate_json(response.content)
    except ValidationError as error:
        place = faults_of(error)[0].pointer or "the body"
        raise UnexpectedAnswerError(
            f"The response of {response.request.url} is not one of Aegis, at {place}", response.status_code
        ) from None


def entry_path(entry_id: str, *parts: str) -> str:
    """The path of an entry, or of something below it."""
    return "/".join(["/v1/entries", quote(entry_id, safe=""), *parts])


def version_params(version: int | None) -> dict[str, str] | None:
    """The parameters that name a version; none for the latest."""
    return None if version is None else {"version": str(version)}


def acceptance_params(accept_small_counts: bool) -> dict[str, str] | None:  # noqa: FBT001 - an option of the client
    """The parameter that accepts exact counts of 1 to 4."""
    return {"accept_small_counts": "true"} if accept_small_counts else None


def refuse_unique(body: bytes, accepted: bool) -> None:  # noqa: FBT001 - an option of the client
    """Refuse an entry that declares a configuration with too many records alone.

    Raises:
        UniqueRecordsError: It has one, which was not accepted.
    """
    if accepted or b'"alone"' not in body:
        return
    try:
        alone = Alone.of(json.loads(body))
        is_much, line = alone.is_much(offered=True), alone.line(offered=True)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return  # not an entry: the service reports the fault
    if is_much:
        raise UniqueRecordsError(f"{line}. Not published: mask more, or accept it with accept_unique=True")


def required_text(require: Mapping[str, float], unit: str | None = None) -> str:
    """Required numbers as a query parameter: `k=10`, or `k=10,unit=person`, with all digits and no exponent."""
    numbers = [f"{name}={Decimal(repr(float(limit))).normalize():f}" for name, limit in require.items()]
    return ",".join([*numbers, *([] if unit is None else [f"unit={unit}"])])


def without_none(values: Mapping[str, str | None]) -> dict[str, str]:
    """The parameters that are not None."""
    return {name: value for name, value in values.items() if value is not None}


def json_bytes(document: BaseModel | Mapping[str, Any] | bytes) -> bytes:
    """A body as JSON. Only the fields of a model that were set are sent, so it is published as written."""
    if isinstance(document, bytes):
        return document
    if isinstance(document, BaseModel):
        return document.model_dump_json(exclude_unset=True).encode()
    return json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


ItemT = TypeVar("ItemT")

_LARGEST = "200"


class ServiceFlows:
    """What the methods of all parts of both clients share (see `aegis_sdk._flows`)."""

    _send: Callable[..., Flow[httpx.Response]]

    def _call(
        self,
        model: type[AnswerT],
        method: str,
        path: str,
        body: BaseModel | Mapping[str, Any] | bytes | None = None,
        **more: Any,  # noqa: ANN401 -- as `Sender.send` takes them
    ) -> Flow[AnswerT]:
        """Call the service, and read its answer as a model."""
        content = None if body is None else json_bytes(body)
        return read_answer(model, (yield from self._send(method, path, content=content, **more)))

    def _pages(self, model: type[Page[ItemT]], path: str, wanted: Mapping[str, str | None]) -> Pages[ItemT]:
        """A listing in pages of the largest size; `wanted` has the filters, None for no filter."""
        document: Any = model  # of pydantic, which a protocol cannot say

        def page_of(token: str | None) -> Flow[Page[ItemT]]:
            params = without_none({**wanted, "limit": _LARGEST, "page_token": token})
            return self._call(document, "GET", path, params=params)

        return page_of
