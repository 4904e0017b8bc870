"""Ids of requests, by which an answer, its log lines and its jobs are found."""

from starlette.requests import HTTPConnection
from starlette.types import Receive, Scope, Send

from app.platform.http.answers import REQUEST_ID_HEADER, request_id_of
from app.platform.http.middleware.http_middleware import HttpMiddleware
from app.platform.http.request_scope import REQUEST_ID, answer_headers
from app.platform.log import bound


class RequestIds(HttpMiddleware):
    """Gives each request an id, which is in its answer and in every line that is logged meanwhile."""

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        scope[REQUEST_ID] = request_id_of(scope["headers"])
        answer_headers(HTTPConnection(scope)).append((REQUEST_ID_HEADER, scope[REQUEST_ID]))
        with bound(request_id=scope[REQUEST_ID]):
            await self._app(scope, receive, send)
