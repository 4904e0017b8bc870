"""OPTIONS, which every path has, the list of a path's methods in `Allow` (RFC 9110), and how methods are called."""

from collections.abc import Iterable
from http import HTTPMethod

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match
from starlette.types import Scope

#: The types that `PATCH` accepts. A change of visibility means the same as a merge patch (RFC 7396).
PATCH_TYPES = ("application/json", "application/merge-patch+json")

_NAMED = frozenset(HTTPMethod)


def named_method(scope: Scope) -> str:
    """How metrics, spans and the log name a request's method: callers can invent any number of them.

    Those that nobody knows are called as OpenTelemetry's conventions of HTTP have it.
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
    """The answer to OPTIONS."""
    return Response(status_code=204, headers=method_headers(methods))


def method_headers(methods: Iterable[str]) -> dict[str, str]:
    """`Allow`, and `Accept-Patch` where there is something to patch (RFC 5789)."""
    patch = {"Accept-Patch": ", ".join(PATCH_TYPES)} if "PATCH" in methods else {}
    return {"Allow": ", ".join(methods)} | patch
