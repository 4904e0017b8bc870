"""`Idempotency-Key`: a POST request with one is carried out once, and answered alike however often it is sent.

There is no standard for this header: the draft of the IETF expired. docs/api.md says what this service does.
"""

import re
from typing import Annotated, Final

from fastapi import Depends, Header, Request

from app.api.dependencies import CallerDependency
from app.web.errors import MalformedRequestError
from app.web.once import Once
from app.web.state import StateDependency

#: Short keys could be guessed by who reads the database, and then the answers; a UUID has 36 characters.
_KEY: Final = re.compile(r"[!-~]{16,255}")

IdempotencyKey = Annotated[
    str | None,
    Header(description="16 to 255 visible characters, such as a UUID: the request is carried out once (kept 24 h)"),
]


async def nothing() -> None:
    """What to prepare for a request that says nothing."""


def get_once(
    request: Request, state: StateDependency, caller: CallerDependency, idempotency_key: IdempotencyKey = None
) -> Once:
    """What carries this request out at most once."""
    is_one = len(request.headers.getlist("idempotency-key")) <= 1
    if not is_one or (idempotency_key is not None and not _KEY.fullmatch(idempotency_key)):
        raise MalformedRequestError("Send one Idempotency-Key of 16 to 255 visible characters, such as a random UUID.")
    return Once(request, state, caller, idempotency_key)


OnceDependency = Annotated[Once, Depends(get_once)]
