"""Methods that every path has besides its own: HEAD, OPTIONS, and the list of them in `Allow` (RFC 9110)."""

from collections.abc import Iterable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

#: The types that `PATCH` accepts. A change of visibility means the same as a merge patch (RFC 7396).
PATCH_TYPES = ("application/json", "application/merge-patch+json")


class HeadMethod:
    """ASGI middleware that answers HEAD as GET, without the body."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, HEAD as GET."""
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return

        async def send_without_body(message: Message) -> None:
            await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

        await self._app({**scope, "method": "GET"}, receive, send_without_body)


def allowed_methods(routes: Iterable[BaseRoute], request: Request) -> list[str]:
    """The methods of a request's path, in alphabetical order; none if there is no such path."""
    matching = [route for route in routes if route.matches(request.scope)[0] is not Match.NONE]
    own = {method for route in matching for method in getattr(route, "methods", None) or ()}
    if not own:
        return []
    return sorted(own | {"OPTIONS"} | ({"HEAD"} if "GET" in own else set()))


def options(methods: Iterable[str]) -> Response:
    """The answer to OPTIONS."""
    return Response(status_code=204, headers=method_headers(methods))


def method_headers(methods: Iterable[str]) -> dict[str, str]:
    """`Allow`, and `Accept-Patch` where there is something to patch (RFC 5789)."""
    patch = {"Accept-Patch": ", ".join(PATCH_TYPES)} if "PATCH" in methods else {}
    return {"Allow": ", ".join(methods)} | patch
