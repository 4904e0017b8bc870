"""`Idempotency-Key`: a POST request with one is carried out once, and answered alike however often it is sent.

There is no standard for this header: the draft of the IETF expired. docs/api.md says what this service does.
"""

import base64
import re
from collections.abc import Awaitable, Callable
from typing import Annotated, Final

import orjson
from fastapi import Depends, Header, Request, Response

from app.api.dependencies import CallerDependency, FactoryDependency, State, StateDependency
from app.api.errors import MalformedRequestError
from app.domain.callers import Caller
from app.factory import Factory
from app.services.idempotency import Claim

#: Short keys could be guessed by who reads the database, and then the answers; a UUID has 36 characters.
_KEY: Final = re.compile(r"[!-~]{16,255}")

#: Larger answers are not kept. Only advice is so large, and asking again for the same advice changes nothing.
LARGEST_KEPT: Final = 1_000_000

_KEPT_HEADERS: Final = ("content-type", "location", "etag", "retry-after")

IdempotencyKey = Annotated[
    str | None,
    Header(description="16 to 255 visible characters, such as a UUID: the request is carried out once (kept 24 h)"),
]


class Once:
    """Carries a request out unless that was done before."""

    def __init__(self, request: Request, state: State, caller: Caller, factory: Factory, key: str | None) -> None:
        self._request, self._state, self._caller, self._factory, self._key = request, state, caller, factory, key

    async def answer(self, body: bytes, carry_out: Callable[[], Awaitable[Response]]) -> Response:
        """The answer to a request: the first one again if there was one, else that of `carry_out`.

        Only answers of success are kept. A request that is refused has changed nothing, so its key is free again.

        Raises:
            KeyReusedError: the key was used for another request.
            InFlightError: the same request is being carried out.
        """
        if self._key is None:
            return await carry_out()
        url = self._request.url
        asked = f"{self._request.method} {url.path}?{url.query}\n".encode() + body
        async with self._state.database.transaction() as session:
            found = await Factory(session, self._state.queue).idempotency().claim(self._caller, self._key, asked)
        return _restored(found) if isinstance(found, bytes) else await self._kept(found, carry_out)

    async def _kept(self, claim: Claim, carry_out: Callable[[], Awaitable[Response]]) -> Response:
        try:
            answer = await carry_out()
            is_kept = len(answer.body) <= LARGEST_KEPT
            if is_kept:
                await self._factory.idempotency().keep(claim, _packed(answer))
        except BaseException:
            await self._release(claim)
            raise
        if not is_kept:
            await self._release(claim)
        return answer

    async def _release(self, claim: Claim) -> None:
        async with self._state.database.transaction() as session:
            await Factory(session, self._state.queue).idempotency().release(claim)


def get_once(
    request: Request,
    state: StateDependency,
    caller: CallerDependency,
    factory: FactoryDependency,
    idempotency_key: IdempotencyKey = None,
) -> Once:
    """What carries this request out at most once, in the transaction of its services."""
    if idempotency_key is not None and not _KEY.fullmatch(idempotency_key):
        raise MalformedRequestError("Idempotency-Key must have 16 to 255 visible characters; use a random UUID.")
    return Once(request, state, caller, factory, idempotency_key)


OnceDependency = Annotated[Once, Depends(get_once)]


def _packed(answer: Response) -> bytes:
    headers = {name: answer.headers[name] for name in _KEPT_HEADERS if name in answer.headers}
    body = base64.b64encode(bytes(answer.body)).decode()
    return orjson.dumps({"status": answer.status_code, "headers": headers, "body": body})


def _restored(packed: bytes) -> Response:
    kept = orjson.loads(packed)
    headers = kept["headers"] | {"Idempotency-Replayed": "true"}
    return Response(base64.b64decode(kept["body"]), kept["status"], headers)
