"""What the service says about itself. It needs no key."""

import json
import re
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Annotated, Any, Final

import orjson
from anyio import to_thread
from fastapi import APIRouter, Header, Request, Response
from jinja2 import Environment, PackageLoader, StrictUndefined

from app.about.kinds import code, content_of, kind_of, prose
from app.edge.state import StateDependency
from app.platform.http.conditional import NOT_MODIFIED, PUBLIC, KnownTagsDependency, etag_of
from app.platform.http.negotiation import preferred
from app.platform.http.operations import problems

router = APIRouter(tags=["documentation"])

#: Pages may load their style sheet and nothing else, and run no scripts (Content Security Policy Level 3).
_PAGE_HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
}

_TEMPLATES: Final = Environment(
    loader=PackageLoader("app.about"), autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined
)
_TEMPLATES.filters |= {
    "code": code,
    "content": content_of,
    "example": lambda value: json.dumps(value, ensure_ascii=False, indent=1),
    "kind": kind_of,
    "prose": prose,
    "variables": lambda path: re.sub(r"\{(\w+)\}", lambda found: f"${found[1].upper()}", path),
}

_HTML, _JSON, _CSS = "text/html", "application/json", "text/css"

#: Links to the documentation for programs and people (RFC 8631).
_LINKS = '</openapi.json>; rel="service-desc", </docs>; rel="service-doc"'


class Site:
    """The documents about the service, each built once.

    Args:
        describe: returns the OpenAPI document.
    """

    def __init__(self, describe: Callable[[], Mapping[str, Any]]) -> None:
        self._describe = describe

    @cached_property
    def document(self) -> bytes:
        """The OpenAPI document as JSON."""
        return orjson.dumps(self._describe())

    @cached_property
    def reference(self) -> bytes:
        """The reference of all operations and models. The first call takes a tenth of a second."""
        api = self._describe()
        groups: dict[str, list[tuple[str, str, Any]]] = {}
        for path, methods in (*api["paths"].items(), *api["webhooks"].items()):
            for method, operation in methods.items():
                groups.setdefault(operation["tags"][0], []).append((method, path, operation))
        return _page("reference.html", api=api, groups=groups)

    @cached_property
    def style(self) -> bytes:
        """The style sheet of the pages."""
        return _page("style.css")

    def home(self, *, needs_key: bool) -> bytes:
        """The home page: what the service is, and how to begin."""
        return _page("home.html", info=self._describe()["info"], needs_key=needs_key)

    def index(self, *, needs_key: bool) -> bytes:
        """The home page as JSON."""
        links = {"documentation": "/docs", "openapi": "/openapi.json", "readiness": "/readyz"}
        info = self._describe()["info"]
        return orjson.dumps({"name": info["title"], "version": info["version"], "needs_key": needs_key} | links)


def _page(template: str, **values: Any) -> bytes:  # noqa: ANN401 -- what the template shows
    return _TEMPLATES.get_template(template).render(values).encode()


def _answers(description: str, *types: str) -> dict[int | str, dict[str, Any]]:
    content: dict[str, Any] = {one: {} for one in types}
    return {200: {"description": description, "content": content}, **NOT_MODIFIED, **problems(400)}


@router.get(
    "/",
    summary="Read what this is",
    response_class=Response,
    responses=_answers("A page, or JSON", _HTML, _JSON),
)
async def read_home(
    request: Request,
    state: StateDependency,
    known: KnownTagsDependency,
    accept: Annotated[str | None, Header(description="`application/json` for the same as JSON")] = None,
) -> Response:
    """Says what the service is, its version, where to read more, and whether a key is needed."""
    site, needs_key = _site(request), not state.development_mode
    is_json = preferred(accept, (_HTML, _JSON)) == _JSON
    body = site.index(needs_key=needs_key) if is_json else site.home(needs_key=needs_key)
    return _answer(known, body, _JSON if is_json else _HTML, {"Vary": "Accept", "Link": _LINKS})


@router.get(
    "/docs",
    summary="Read the reference of the API",
    response_class=Response,
    responses=_answers("The reference", _HTML),
)
async def read_reference(request: Request, known: KnownTagsDependency) -> Response:
    """Returns the reference of all operations and models, without scripts or foreign content."""
    site = _site(request)
    return _answer(known, await to_thread.run_sync(lambda: site.reference), _HTML)


@router.get(
    "/docs/style.css",
    summary="Read the style sheet of the pages",
    response_class=Response,
    responses=_answers("The style sheet", _CSS),
)
async def read_style(request: Request, known: KnownTagsDependency) -> Response:
    """Returns the style sheet of `/` and `/docs`."""
    return _answer(known, _site(request).style, _CSS)


@router.get(
    "/openapi.json",
    summary="Read the OpenAPI document",
    response_class=Response,
    responses=_answers("The document", _JSON),
)
async def read_openapi(request: Request, known: KnownTagsDependency) -> Response:
    """Describes every operation with its fields, examples and problems."""
    site = _site(request)
    return _answer(known, await to_thread.run_sync(lambda: site.document), _JSON)


def _site(request: Request) -> Site:
    site: Site = request.app.state.site
    return site


def _answer(
    known: KnownTagsDependency, body: bytes, media_type: str, further: dict[str, str] | None = None
) -> Response:
    """The response with its entity tag, or 304."""
    headers = {"ETag": etag_of(body), "Cache-Control": PUBLIC, **_PAGE_HEADERS, **(further or {})}
    return known.unchanged(headers["ETag"], headers) or Response(body, media_type=media_type, headers=headers)
