"""`Idempotency-Key`: a POST request with one is carried out once, and answered alike however often it is sent.

There is no standard for this header: the draft of the IETF expired. docs/api.md says what this service does.
"""

import base64
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Annotated, Final

import orjson
from fastapi import Depends, Header, Request, Response

from app.api.dependencies import CallerDependency, State, StateDependency, services_of
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
    """Carries a request out unless that was done before.

    Only answers of success are kept. A request that is refused has changed nothing, so its key is free again.
    """

    def __init__(self, request: Request, state: State, caller: Caller, key: str | None) -> None:
        self._request, self._state, self._caller, self._key = request, state, caller, key

    async def answer(self, body: bytes, carry_out: Callable[[Factory], Awaitable[Response]]) -> Response:
        """The answer to a request: the first one again if there was one, else that of `carry_out`.

        What `carry_out` changes by the services that it is given is committed together with the answer.

        Raises:
            KeyReusedError: the key was used for another request.
            InFlightError: the same request is being carried out.
        """

        async def carry_out_and_keep(claim: Claim | None) -> Response:
            async with self._services() as services:
                answer = await carry_out(services)
                await _keep(services, claim, answer)
            return answer

        return await self._once(body, carry_out_and_keep)

    async def answer_apart(self, body: bytes, carry_out: Callable[[], Awaitable[Response]]) -> Response:
        """The same for what has transactions of its own, and does no harm if it is carried out twice."""

        async def carry_out_and_keep(claim: Claim | None) -> Response:
            answer = await carry_out()
            if claim is not None:
                async with self._services() as services:
                    await _keep(services, claim, answer)
            return answer

        return await self._once(body, carry_out_and_keep)

    async def _once(self, body: bytes, carry_out: Callable[[Claim | None], Awaitable[Response]]) -> Response:
        if self._key is None:
            return await carry_out(None)
        url = self._request.url
        asked = f"{self._request.method} {url.path}?{url.query}\n".encode() + body
        async with self._services() as services:
            claim = await services.idempotency().claim(self._caller, self._key, asked)
        if isinstance(claim, bytes):
            return _restored(claim)
        try:
            return await carry_out(claim)
        except BaseException:
            async with self._services() as services:
                await services.idempotency().release(claim)
            raise

    @asynccontextmanager
    async def _services(self) -> AsyncIterator[Factory]:
        async with self._state.database.transaction() as session:
            yield services_of(self._state, session)


def get_once(
    request: Request, state: StateDependency, caller: CallerDependency, idempotency_key: IdempotencyKey = None
) -> Once:
    """What carries this request out at most once."""
    if idempotency_key is not None and not _KEY.fullmatch(idempotency_key):
        raise MalformedRequestError("Idempotency-Key must have 16 to 255 visible characters; use a random UUID.")
    return Once(request, state, caller, idempotency_key)


OnceDependency = Annotated[Once, Depends(get_once)]


async def _keep(services: Factory, claim: Claim | None, answer: Response) -> None:
    if claim is None:
        return
    if len(answer.body) <= LARGEST_KEPT:
        await services.idempotency().keep(claim, _packed(answer))
    else:
        await services.idempotency().release(claim)


def _packed(answer: Response) -> bytes:
    headers = {name: answer.headers[name] for name in _KEPT_HEADERS if name in answer.headers}
    body = base64.b64encode(bytes(answer.body)).decode()
    return orjson.dumps({"status": answer.status_code, "headers": headers, "body": body})


def _restored(packed: bytes) -> Response:
    kept = orjson.loads(packed)
    headers = kept["headers"] | {"Idempotency-Replayed": "true"}
    return Response(base64.b64decode(kept["body"]), kept["status"], headers)
