"""What middlewares and routes share about a request, in its ASGI scope. Routes return answers themselves, so FastAPI's
own parameter for the answer does not reach these.
"""

from starlette.requests import HTTPConnection

ANSWER_HEADERS = "aegis.answer_headers"
REQUEST_ID = "aegis.request_id"


def answer_headers(request: HTTPConnection) -> list[tuple[str, str]]:
    """Headers that the request's answer will have besides its own, problems included. Append to this list."""
    headers: list[tuple[str, str]] = request.scope.setdefault(ANSWER_HEADERS, [])
    return headers


def request_id(request: HTTPConnection) -> str | None:
    """The request's id; None outside of the middleware that gives it one."""
    return request.scope.get(REQUEST_ID)
