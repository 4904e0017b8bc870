"""A port of its own for the metrics, which those who reach the API may not see."""

from http.client import NOT_FOUND

from fastapi import Request
from starlette.exceptions import HTTPException
from starlette.types import Receive, Scope, Send

from app.platform.http.middleware.http_middleware import HttpMiddleware
from app.platform.http.problems import refused_by_framework


class MetricsPort(HttpMiddleware):
    """Answers `/metrics`, and nothing else, at the port that the application's state names."""

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on if it came to the right port; otherwise there is no such path."""
        came_there = scope["server"][1] == scope["app"].state.metrics_port
        if came_there == (scope["path"] == "/metrics"):
            await self._app(scope, receive, send)
        else:
            await refused_by_framework(Request(scope), HTTPException(NOT_FOUND))(scope, receive, send)
