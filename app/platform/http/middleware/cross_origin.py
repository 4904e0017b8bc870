"""Calls from pages of other origins (Fetch, section 3.2: CORS)."""

from collections.abc import Sequence
from http.client import NO_CONTENT

from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import Response
from starlette.types import ASGIApp

from app.platform.http.answers import REQUEST_ID_HEADER

_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")

#: Headers that a page may send, besides those that every page may send.
_SENT = (
    *("Authorization", "Content-Encoding", "Content-Type", "Idempotency-Key", "If-Match", "If-None-Match", "Prefer"),
    REQUEST_ID_HEADER,
)

#: Headers of an answer that a page may read, besides those that every page may read.
_READ = (
    *("Aegis-Key-Expires", "ETag", "Idempotency-Replayed", "Link", "Location", "Preference-Applied"),
    *("RateLimit", "RateLimit-Policy", "Retry-After", "WWW-Authenticate", REQUEST_ID_HEADER),
)


class CrossOrigin(CORSMiddleware):
    """Lets pages of the named origins call the API, with a key in `Authorization` and never with cookies.

    What a page may not do is missing in the answer to its preflight, and its browser refuses it. That answer has no
    body, as has that to any other OPTIONS.

    Args:
        app: the application.
        origins: the origins, as browsers send them.
    """

    def __init__(self, app: ASGIApp, origins: Sequence[str]) -> None:
        super().__init__(app, origins, allow_methods=_METHODS, allow_headers=_SENT, expose_headers=_READ)

    def preflight_response(self, request_headers: Headers) -> Response:
        """The answer to a preflight."""
        answer = super().preflight_response(request_headers)
        about_origin = {name: value for name, value in answer.headers.items() if not name.startswith("content-")}
        return Response(status_code=NO_CONTENT, headers=about_origin)
