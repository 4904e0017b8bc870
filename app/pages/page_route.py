"""Routes that return pages, errors included; refusals on the page of the refused form, and error pages for browsers."""

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self
from urllib.parse import urlencode, urlsplit

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from aegis_sdk.wire import FAULTS_SHOWN, pointer_of
from app.edge.state import get_state
from app.pages.commands import Commands, aegis, curl
from app.pages.origins import SAFE_METHODS, own_path, refuse_foreign_origin
from app.pages.page import page, see
from app.platform.errors import Fault, InvalidDocumentError, RefusalError, UnknownKeyError, WaitError
from app.platform.http.negotiation import preferred, qualities
from app.platform.http.refusals import INTERNAL, note_defect, status_and_title
from app.platform.http.request_scope import request_id

Handler = Callable[[Request], Coroutine[Any, Any, Response]]

HTML: Final = "text/html"

Answer = Callable[[Request, Exception], Response]

NOT_FOUND: Final = 404

#: Title and code of the errors that have a page, by status.
TITLES: Final = {NOT_FOUND: ("Not found", "not_found"), 405: ("Not possible", "method_not_allowed")}


class PageRoute(APIRoute):
    """A route of the console. It accepts forms of its own pages only, and shows refusals in the API's words."""

    def get_route_handler(self) -> Handler:
        """The handler, with pages for refusals."""
        handle = super().get_route_handler()

        async def show(request: Request) -> Response:
            try:
                refuse_foreign_origin(request, get_state(request))
                return await handle(request)
            except UnknownKeyError as error:
                return _sign_in(request, error)
            except RefusalError as error:
                return refusal_page(request, error)
            except RequestValidationError as error:
                faults = [Fault(pointer_of(line["loc"][1:]), line["msg"]) for line in error.errors()]
                detail = "A parameter of the page's address is invalid."
                return problem_page(request, 422, "Invalid", "invalid", detail, faults)
            except HTTPException:
                raise
            except Exception as error:  # noqa: BLE001 -- logged, and then answered as in the API
                note_defect(request, error)
                return problem_page(request, 500, *INTERNAL, "This page failed. The log of the service says why.")

        return show


def refusal_page(request: Request, error: RefusalError) -> Response:
    """The page of a refusal."""
    status, title = status_and_title(error)
    faults = error.faults if isinstance(error, InvalidDocumentError) else ()
    answer = problem_page(request, status, title, error.code, error.detail, faults)
    if isinstance(error, WaitError):
        answer.headers["Retry-After"] = str(error.seconds)
    return answer


def problem_page(
    request: Request, status: int, title: str, code: str, detail: str, faults: Sequence[Fault] = ()
) -> Response:
    """The page of a problem, with its first hundred faults and their places."""
    request.app.state.metrics.refused(code)
    shown = {"title": title, "detail": detail, "code": code, "status": status, "request_id": request_id(request)}
    left_out = max(len(faults) - FAULTS_SHOWN, 0)
    commands = Commands((aegis("entries", "list"),), (curl(getattr(request.state, "viewer", None), "/v1/entries"),))
    return page(
        request, "error.html", status, problem=shown, faults=faults[:FAULTS_SHOWN], left_out=left_out, commands=commands
    )


def _sign_in(request: Request, error: UnknownKeyError) -> Response:
    """Redirect to the sign-in page, and from there back to this page."""
    request.app.state.metrics.refused(error.code)
    if "hx-request" in request.headers:  # a part of a page: htmx redirects the whole page
        return Response(status_code=204, headers={"HX-Refresh": "true"})
    if request.method in SAFE_METHODS:
        back = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        return see(f"/sign-in?{urlencode({'next': back})}")
    return see(f"/sign-in?{urlencode({'next': _page_of_form(request), 'unsent': 'yes'})}")


def _page_of_form(request: Request) -> str:
    """The page whose form was sent; the home page if no link can open it."""
    try:
        came_from = urlsplit(request.headers.get("referer", ""))
    except ValueError:
        return "/"
    pages = [route for route in request.app.state.routes if "GET" in (getattr(route, "methods", None) or ())]
    if not any(route.path_regex.match(came_from.path) for route in pages):
        return "/"
    return own_path(came_from.path + (f"?{came_from.query}" if came_from.query else ""))


def is_browser(accept: str | None) -> bool:
    """Whether a browser asks for a page: all browsers accept HTML explicitly, programs do not."""
    return HTML in qualities(accept) and preferred(accept, (HTML, "application/json")) == HTML


def with_pages(answer: Answer) -> Answer:
    """A handler of the framework's errors that shows pages to browsers outside the API."""

    def answer_or_page(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 0
        if status not in TITLES or request.url.path.startswith("/v1/") or not is_browser(request.headers.get("accept")):
            return answer(request, error)
        how = f" that can be asked for by {request.method}" if status != NOT_FOUND else ""
        detail = f"There is no page {request.url.path}{how}."
        return problem_page(request, status, *TITLES[status], detail)

    return answer_or_page


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a form was refused, in the API's words.

    Attributes:
        seconds: the time after which a retry makes sense; None if it does not.
    """

    status: int
    detail: str
    faults: tuple[Fault, ...] = ()
    seconds: int | None = None

    @classmethod
    def of(cls, request: Request, error: RefusalError) -> Self:
        """The refusal of an error, counted like one of the API."""
        request.app.state.metrics.refused(error.code)
        faults = error.faults[:FAULTS_SHOWN] if isinstance(error, InvalidDocumentError) else ()
        seconds = error.seconds if isinstance(error, WaitError) else None
        return cls(status_and_title(error)[0], error.detail, faults, seconds)

    @property
    def by_field(self) -> dict[str, str]:
        """The first fault of every field, by the first name in its pointer."""
        first: dict[str, str] = {}
        for fault in self.faults:
            first.setdefault(fault.pointer.strip("/").partition("/")[0], fault.detail)
        return first

    def on(self, answer: Response) -> Response:
        """The response with `Retry-After` if there is a time to wait."""
        if self.seconds is not None:
            answer.headers["Retry-After"] = str(self.seconds)
        return answer
