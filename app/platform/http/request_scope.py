"""Data of a request that middlewares and routes share in its ASGI scope. Routes return their own responses, which
FastAPI's response parameter does not affect.
"""

from starlette.requests import HTTPConnection

ANSWER_HEADERS = "aegis.answer_headers"
REQUEST_ID = "aegis.request_id"


def answer_headers(request: HTTPConnection) -> list[tuple[str, str]]:
    """Additional headers of the response, also of a problem. Append to this list."""
    headers: list[tuple[str, str]] = request.scope.setdefault(ANSWER_HEADERS, [])
    return headers


def request_id(request: HTTPConnection) -> str | None:
    """The request's id; None outside the middleware that sets it."""
    return request.scope.get(REQUEST_ID)
