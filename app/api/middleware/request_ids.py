"""Ids of requests, by which an answer, its log lines and its jobs are found."""

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from app.api.request_scope import REQUEST_ID, answer_headers
from app.log import bound
from app.process.answers import REQUEST_ID_HEADER, request_id_of


class RequestIds:
    """Gives each request an id, which is in its answer and in every line that is logged meanwhile."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope[REQUEST_ID] = request_id_of(scope["headers"])
        answer_headers(HTTPConnection(scope)).append((REQUEST_ID_HEADER, scope[REQUEST_ID]))
        with bound(request_id=scope[REQUEST_ID]):
            await self._app(scope, receive, send)
