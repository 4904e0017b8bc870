"""OPTIONS, which every path has, `Allow` (RFC 9110), and the names of methods in metrics and logs."""

from collections.abc import Iterable
from http import HTTPMethod

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match
from starlette.types import Scope

#: The media types of `PATCH`. A change of visibility means the same as a merge patch (RFC 7396).
PATCH_TYPES = ("application/json", "application/merge-patch+json")

_NAMED = frozenset(HTTPMethod)


def named_method(scope: Scope) -> str:
    """A request's method for metrics, spans and the log, which callers must not fill with invented ones.

    Unknown methods get the name of OpenTelemetry's HTTP conventions.
    """
    method: str = scope["method"]
    return method if method in _NAMED else "_OTHER"


def allowed_methods(routes: Iterable[BaseRoute], request: Request) -> list[str]:
    """The methods of a request's path, in alphabetical order; none if there is no such path."""
    matching = [route for route in routes if route.matches(request.scope)[0] is not Match.NONE]
    own = {method for route in matching for method in getattr(route, "methods", None) or ()}
    if not own:
        return []
    return sorted(own | {"OPTIONS"} | ({"HEAD"} if "GET" in own else set()))


def options(methods: Iterable[str]) -> Response:
    """The response to OPTIONS."""
    return Response(status_code=204, headers=method_headers(methods))


def method_headers(methods: Iterable[str]) -> dict[str, str]:
    """`Allow`, and `Accept-Patch` if the path has PATCH (RFC 5789)."""
    patch = {"Accept-Patch": ", ".join(PATCH_TYPES)} if "PATCH" in methods else {}
    return {"Allow": ", ".join(methods)} | patch
