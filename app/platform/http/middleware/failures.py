"""Defects, and requests that are cancelled because the server stops, as problems."""

import asyncio

from fastapi import Request
from starlette.types import Message, Receive, Scope, Send

from app.platform.http.middleware.http_middleware import HttpMiddleware
from app.platform.http.problems import failed, interrupted


class Failures(HttpMiddleware):
    """Answers a request whose answer fails before it has begun.

    The framework would answer a defect outside of all middlewares, so that this answer alone had none of their headers.
    """

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        has_begun = False

        async def note_begin(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            await self._app(scope, receive, note_begin)
        except asyncio.CancelledError:
            if has_begun:
                raise
            await interrupted(Request(scope))(scope, receive, send)
        except Exception as error:
            if has_begun:
                raise
            await failed(Request(scope), error)(scope, receive, send)
