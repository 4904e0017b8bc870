"""What a connection answers itself: refusals of requests that the application does not see, and its defects."""

import json
from collections.abc import Iterable
from http import HTTPStatus

from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from app.platform.http.answers import REQUEST_ID_HEADER, SAFE_HEADERS, request_id_of

#: Seconds after which a client may try again that was refused because there are too many.
_AGAIN_SECONDS = 1


def refusal(status: int, code: str, detail: str, request_headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """The whole answer to a request that is refused: a problem (RFC 9457), after which the connection is closed."""
    body = _problem(status, code, detail)
    headers = _headers_of(body, request_headers)
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        headers["Retry-After"] = str(_AGAIN_SECONDS)
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}", *map(": ".join, headers.items()), "", ""]
    return "\r\n".join(lines).encode() + body


async def send_failure(cycle: RequestResponseCycle) -> None:
    """Answer a request whose application has failed without an answer."""
    body = _problem(500, "internal", "The service failed; see its log.")
    headers = _headers_of(body, cycle.scope["headers"])
    pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
    await cycle.send({"type": "http.response.start", "status": 500, "headers": pairs})
    await cycle.send({"type": "http.response.body", "body": body, "more_body": False})


def _problem(status: int, code: str, detail: str) -> bytes:
    title = HTTPStatus(status).phrase
    return json.dumps(
        {"type": "about:blank", "title": title, "status": status, "code": code, "detail": detail}
    ).encode()


def _headers_of(body: bytes, request_headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """The headers of a problem after which the connection is closed."""
    return {
        "Content-Type": "application/problem+json",
        "Content-Length": str(len(body)),
        "Connection": "close",
        REQUEST_ID_HEADER: request_id_of(request_headers),
        **SAFE_HEADERS,
    }
