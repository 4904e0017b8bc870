"""Headers that keep browsers from running, embedding, guessing or keeping what the service answers."""

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.platform.http.answers import SAFE_HEADERS


class SafeHeaders:
    """Adds the headers that every answer has, unless a route has set its own.

    Args:
        app: the application.
        hsts_seconds: for how long browsers use HTTPS alone (RFC 6797); None does not say so.
    """

    def __init__(self, app: ASGIApp, hsts_seconds: int | None = None) -> None:
        self._app = app
        hsts = {} if hsts_seconds is None else {"Strict-Transport-Security": f"max-age={hsts_seconds}"}
        self._headers = SAFE_HEADERS | hsts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self._headers.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, send_safely)
