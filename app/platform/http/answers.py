"""What every answer of the application has."""

import re
from collections.abc import Iterable
from uuid import uuid4

REQUEST_ID_HEADER = "X-Request-ID"

#: Headers of every answer that has no others of these names. Answers are data: no browser may run, frame or embed them
#: (Content Security Policy Level 3; Fetch, section 3.7), and unless an answer says how long it holds, none is kept.
SAFE_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}

_NAME = REQUEST_ID_HEADER.lower().encode()
_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,128}")


def request_id_of(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """The id of a request: the one that its client has given it, or else a drawn one.

    An id comes back in headers and stands in the log, so it must be one that needs no quotes there.

    Args:
        headers: the request's headers, their names in lower case.
    """
    given = [value for name, value in headers if name == _NAME]
    if len(given) == 1 and _REQUEST_ID.fullmatch(given[0]):
        return given[0].decode()
    return uuid4().hex
