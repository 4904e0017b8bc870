"""`Idempotency-Key`: a POST request with one is executed once, and repetitions get the same response.

The header is not standardized: the IETF's draft expired. docs/api.md describes this service's behaviour.
"""

import asyncio
import base64
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from hashlib import sha256
from typing import Annotated, Final, TypeVar

import orjson
import structlog
from fastapi import Depends, Header, Request, Response

from app.edge.dependencies import CallerDependency
from app.edge.state import State, StateDependency, services_of
from app.factory import Factory
from app.platform.callers import Caller
from app.platform.http.idempotency import BEAT, Claim
from app.platform.http.rate_limit import refuse_beyond
from app.platform.http.refusals import MalformedRequestError

#: A reader of the database could guess short keys and decrypt the responses; a UUID has 36 characters.
_KEY: Final = re.compile(r"[!-~]{16,255}")

_KEPT_HEADERS: Final = ("content-type", "location", "etag", "retry-after")

Prepared = TypeVar("Prepared")

_log = structlog.get_logger(__name__)

IdempotencyKey = Annotated[
    str | None,
    Header(
        description="16 to 255 visible characters, such as a UUID: the request is executed once (remembered for 24 h)",
        json_schema_extra={"pattern": f"^{_KEY.pattern}$"},
    ),
]


def _named(done: Response | tuple[str, Response]) -> tuple[str, Response]:
    """What to store of a response (its name if it has one, else all of it), and the response."""
    if isinstance(done, tuple):
        return done
    headers = {name: done.headers[name] for name in _KEPT_HEADERS if name in done.headers}
    body = base64.b64encode(bytes(done.body)).decode()
    return orjson.dumps({"status": done.status_code, "headers": headers, "body": body}).decode(), done


async def _restored(kept: str) -> Response:
    whole = orjson.loads(kept)
    return Response(base64.b64decode(whole["body"]), whole["status"], whole["headers"])


@dataclass(frozen=True, slots=True)
class Once:
    """Executes a request unless that was done before.

    Only successful responses are stored. A refused request has changed nothing, so its key is free again.
    """

    request: Request
    state: State
    caller: Caller
    key: str | None

    @property
    def has_key(self) -> bool:
        """Whether the request may have been executed before."""
        return self.key is not None

    async def answer(
        self,
        body: bytes,
        prepare: Callable[[], Awaitable[Prepared]],
        carry_out: Callable[[Factory, Prepared], Awaitable[Response | tuple[str, Response]]],
        again: Callable[[str], Awaitable[Response]] = _restored,
    ) -> Response:
        """The response to a request: that of `again` if it was executed before, else that of `carry_out`.

        A response may contain a secret that is stored nowhere else, so all of it is stored. If it has a name, only
        that is stored, and `again` builds the current response: deleted data do not survive here, and revoked rights
        take effect.

        Args:
            body: the body, which identifies the request together with its address.
            prepare: the part that takes long or has its own transactions; it may run twice.
            carry_out: returns the response, or its name and the response. What it changes through its services is
                committed together with the stored response.
            again: builds the response from what is stored.

        Raises:
            KeyReusedError: the key was used for another request.
            InFlightError: the same request is being executed.
        """
        if self.key is None:
            prepared = await prepare()
            async with self._services() as services:
                done = await carry_out(services, prepared)
            return done[1] if isinstance(done, tuple) else done
        claim = await self._claim(self.key, body)
        if isinstance(claim, bytes):
            answer = await again(claim.decode())
            answer.headers["Idempotency-Replayed"] = "true"
            return answer
        holding = asyncio.create_task(self._hold(claim))
        try:
            prepared = await prepare()
            async with self._services() as services:
                kept, answer = _named(await carry_out(services, prepared))
                await services.idempotency().keep(claim, kept.encode())
        except BaseException:
            await self._release(claim)
            raise
        finally:
            holding.cancel()
        return answer

    async def _hold(self, claim: Claim) -> None:
        """Renew the claim until the request finishes. Most requests finish before the first renewal."""
        while True:
            await asyncio.sleep(BEAT)
            try:
                async with self._services() as services:
                    await services.idempotency().hold(claim)
            except Exception as error:  # noqa: BLE001 -- a claim that expires is noticed at the commit
                _log.warning("an idempotency key was not renewed", error=type(error).__name__)

    async def _claim(self, key: str, body: bytes) -> Claim | bytes:
        url = self.request.url
        asked = sha256(f"{self.request.method} {url.path}?{url.query}\n".encode())
        asked.update(body)  # without a copy, since it may be large
        rate = self.state.limits.idempotency_keys
        if rate is not None:
            refuse_beyond(rate, self.caller.tenant, "requests with an Idempotency-Key")
        async with self._services() as services:
            return await services.idempotency().claim(self.caller, key, asked.digest())

    async def _release(self, claim: Claim) -> None:
        try:
            async with self._services() as services:
                await services.idempotency().release(claim)
        except Exception as error:  # noqa: BLE001 -- the request's own error matters; the claim expires
            _log.warning("an idempotency key stays claimed", error=type(error).__name__)

    @asynccontextmanager
    async def _services(self) -> AsyncIterator[Factory]:
        async with self.state.database.transaction() as session:
            yield services_of(self.state, session)


async def nothing() -> None:
    """The default for `prepare`."""


def get_once(
    request: Request, state: StateDependency, caller: CallerDependency, idempotency_key: IdempotencyKey = None
) -> Once:
    """The `Once` of this request."""
    is_one = len(request.headers.getlist("idempotency-key")) <= 1
    if not is_one or (idempotency_key is not None and not _KEY.fullmatch(idempotency_key)):
        raise MalformedRequestError("Send one Idempotency-Key of 16 to 255 visible characters, such as a random UUID.")
    return Once(request, state, caller, idempotency_key)


OnceDependency = Annotated[Once, Depends(get_once)]
