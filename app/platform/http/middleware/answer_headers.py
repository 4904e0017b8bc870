"""Headers that any other part adds to an answer."""

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.types import Message, Receive, Scope, Send

from app.platform.http.middleware.http_middleware import HttpMiddleware
from app.platform.http.request_scope import answer_headers


class AnswerHeaders(HttpMiddleware):
    """Sends what was appended to `answer_headers(request)` until the answer begins."""

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        further = answer_headers(HTTPConnection(scope))

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in further:
                    headers.append(name, value)
            await send(message)

        await self._app(scope, receive, send_with_headers)
