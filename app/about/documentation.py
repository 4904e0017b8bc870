"""What the service says about itself. It needs no key."""

from typing import Annotated, Any

from anyio import to_thread
from fastapi import APIRouter, Header, Request, Response

from app.edge.state import StateDependency
from app.platform.http.conditional import NOT_MODIFIED, PUBLIC, KnownTagsDependency, etag_of
from app.platform.http.negotiation import preferred
from app.platform.http.operations import problems
from app.platform.http.reference import PAGE_HEADERS, Site

router = APIRouter(tags=["documentation"])

_HTML, _JSON, _CSS = "text/html", "application/json", "text/css"

#: Where programs and people find out more (RFC 8631).
_LINKS = '</openapi.json>; rel="service-desc", </docs>; rel="service-doc"'


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
    """Returns a page about every operation and model. It needs no script and nothing from other places."""
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
    """The answer with its tag, or 304."""
    headers = {"ETag": etag_of(body), "Cache-Control": PUBLIC, **PAGE_HEADERS, **(further or {})}
    return known.unchanged(headers["ETag"], headers) or Response(body, media_type=media_type, headers=headers)
