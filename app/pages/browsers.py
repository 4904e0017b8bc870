"""Error pages for browsers."""

from collections.abc import Callable
from typing import Final

from fastapi import Request, Response
from starlette.exceptions import HTTPException

from app.pages.page_route import problem_page
from app.platform.http.negotiation import preferred, qualities

HTML: Final = "text/html"

Answer = Callable[[Request, Exception], Response]

NOT_FOUND: Final = 404

#: Title and code of the errors that have a page, by status.
TITLES: Final = {NOT_FOUND: ("Not found", "not_found"), 405: ("Not possible", "method_not_allowed")}


def is_browser(accept: str | None) -> bool:
    """Whether a browser asks for a page: all browsers accept HTML explicitly, programs do not."""
    return HTML in qualities(accept) and preferred(accept, (HTML, "application/json")) == HTML


def with_pages(answer: Answer) -> Answer:
    """A handler of the framework's errors that shows pages to browsers outside the API.

    Args:
        answer: the handler for everything else.
    """

    def answer_or_page(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 0
        if status not in TITLES or request.url.path.startswith("/v1/") or not is_browser(request.headers.get("accept")):
            return answer(request, error)
        how = f" that can be asked for by {request.method}" if status != NOT_FOUND else ""
        detail = f"There is no page {request.url.path}{how}."
        return problem_page(request, status, *TITLES[status], detail)

    return answer_or_page
