"""What the service says about itself, without a key: its documentation, probes and metrics."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final, Literal

import orjson
from anyio import to_thread
from fastapi import APIRouter, Header, Query, Request, Response
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from app.edge.state import StateDependency
from app.platform.errors import DatabaseUnavailableError, InterruptedWorkError, NoWorkerError, SchemaMismatchError
from app.platform.http.conditional import NOT_MODIFIED, PUBLIC, KnownTagsDependency, etag_of
from app.platform.http.negotiation import preferred
from app.platform.http.operations import problems
from app.platform.telemetry import build_version

documentation = APIRouter(tags=["documentation"])

#: Pages may load their style sheet and nothing else, and run no scripts (Content Security Policy Level 3).
_PAGE_HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
}

Schema = Mapping[str, Any]

#: The lower and upper limits of a value, and what they count.
_LIMITS = (("minimum", "maximum", ""), ("minLength", "maxLength", " characters"), ("minItems", "maxItems", " items"))


def kind_of(schema: Schema) -> Markup:
    """The values that a schema allows, with links to its models."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return Markup('<a href="#{0}">{0}</a>').format(name)
    if choices := schema.get("anyOf") or schema.get("oneOf"):
        return Markup(" or ").join(kind_of(choice) for choice in choices)
    if "const" in schema or "enum" in schema:
        values = schema.get("enum") or [schema["const"]]
        return Markup(" or ").join(code(json.dumps(value, ensure_ascii=False)) for value in values)
    limits = ", ".join(_limits(schema))
    kind = escape("list" if schema.get("type") == "array" else schema.get("type", "any JSON value"))
    kind += Markup(" ({})").format(limits) if limits else ""
    held = schema.get("items") or schema.get("additionalProperties")
    if not isinstance(held, Mapping):
        return kind
    is_choice = not held.keys().isdisjoint(("anyOf", "oneOf", "enum"))
    return kind + (Markup(" of ({})") if is_choice else Markup(" of {}")).format(kind_of(held))


def content_of(part: Mapping[str, Any]) -> Markup:
    """The model of a body, or its media types."""
    content = part.get("content", {})
    schemas = [one["schema"] for one in content.values() if "$ref" in one.get("schema", {})]
    return kind_of(schemas[0]) if schemas else Markup(", ").join(content)


def code(text: str) -> Markup:
    """A piece of code."""
    return Markup("<code>{}</code>").format(text)


def prose(text: str) -> Markup:
    """Text with code between backticks."""
    parts = text.split("`")
    return Markup("").join(code(part) if place % 2 else escape(part) for place, part in enumerate(parts))


def _limits(schema: Schema) -> Iterator[str]:
    for lower, upper, unit in _LIMITS:
        if lower in schema and upper in schema:
            yield f"{schema[lower]} to {schema[upper]}{unit}"
        elif lower in schema:
            yield f"{schema[lower]} or more{unit}"
        elif upper in schema:
            yield f"up to {schema[upper]}{unit}"
    if "exclusiveMinimum" in schema:
        yield f"above {schema['exclusiveMinimum']}"
    if "exclusiveMaximum" in schema:
        yield f"below {schema['exclusiveMaximum']}"


_TEMPLATES: Final = Environment(
    loader=PackageLoader("app"), autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined
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


def reference_of(api: Mapping[str, Any]) -> bytes:
    """The reference of all operations and models of an OpenAPI document. It takes a tenth of a second."""
    groups: dict[str, list[tuple[str, str, Any]]] = {}
    for path, methods in (*api["paths"].items(), *api["webhooks"].items()):
        for method, operation in methods.items():
            groups.setdefault(operation["tags"][0], []).append((method, path, operation))
    return _page("reference.html", api=api, groups=groups)


def _page(template: str, **values: Any) -> bytes:  # noqa: ANN401 -- what the template shows
    return _TEMPLATES.get_template(template).render(values).encode()


def _answers(description: str, *types: str) -> dict[int | str, dict[str, Any]]:
    content: dict[str, Any] = {one: {} for one in types}
    return {200: {"description": description, "content": content}, **NOT_MODIFIED, **problems(400)}


@documentation.get(
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
    info, needs_key = request.app.openapi()["info"], not state.development_mode
    further = {"Vary": "Accept", "Link": _LINKS}
    if preferred(accept, (_HTML, _JSON)) != _JSON:
        return _answer(known, _page("home.html", info=info, needs_key=needs_key), _HTML, further)
    links = {"documentation": "/docs", "openapi": "/openapi.json", "readiness": "/readyz"}
    index = {"name": info["title"], "version": info["version"], "needs_key": needs_key, **links}
    return _answer(known, orjson.dumps(index), _JSON, further)


@documentation.get(
    "/docs",
    summary="Read the reference of the API",
    response_class=Response,
    responses=_answers("The reference", _HTML),
)
async def read_reference(request: Request, known: KnownTagsDependency) -> Response:
    """Returns the reference of all operations and models, without scripts or foreign content."""
    return _answer(known, await to_thread.run_sync(request.app.state.reference), _HTML)


@documentation.get(
    "/docs/style.css",
    summary="Read the style sheet of the pages",
    response_class=Response,
    responses=_answers("The style sheet", _CSS),
)
async def read_style(known: KnownTagsDependency) -> Response:
    """Returns the style sheet of `/` and `/docs`."""
    return _answer(known, _page("style.css"), _CSS)


@documentation.get(
    "/openapi.json",
    summary="Read the OpenAPI document",
    response_class=Response,
    responses=_answers("The document", _JSON),
)
async def read_openapi(request: Request, known: KnownTagsDependency) -> Response:
    """Describes every operation with its fields, examples and problems."""
    return _answer(known, orjson.dumps(await to_thread.run_sync(request.app.openapi)), _JSON)


def _answer(
    known: KnownTagsDependency, body: bytes, media_type: str, further: dict[str, str] | None = None
) -> Response:
    """The response with its entity tag, or 304."""
    headers = {"ETag": etag_of(body), "Cache-Control": PUBLIC, **_PAGE_HEADERS, **(further or {})}
    return known.unchanged(headers["ETag"], headers) or Response(body, media_type=media_type, headers=headers)


operation = APIRouter(tags=["operation"])

#: If the metrics have a port of their own, it serves nothing else, and the other port serves no metrics.
_AT_OTHER_PORT = problems(404)

_ALIVE = {"status": "alive", "version": build_version()}


@operation.get(
    "/healthz",
    summary="Is the process alive?",
    responses={
        200: {"description": "Alive", "content": {"application/json": {"example": _ALIVE}}},
        **_AT_OTHER_PORT,
    },
)
async def read_health() -> dict[str, str]:
    """Returns 200 and the version while the process runs; does not use the database."""
    return {"status": "alive", "version": build_version()}


_READY = {"status": "ready", "workers": 1}


@operation.get(
    "/readyz",
    summary="Can it answer?",
    responses={
        200: {"description": "Ready", "content": {"application/json": {"example": _READY}}},
        **problems(404, 422, 503),
    },
)
async def read_readiness(
    state: StateDependency,
    require: Annotated[
        Literal["workers"] | None, Query(description="`workers`: without one, the answer is 503 instead of 200")
    ] = None,
) -> dict[str, str | int]:
    """Returns 200 if the database responds in time and this version works with its schema; otherwise, and once the
    process is stopping, 503. Without a worker, `status` is `degraded`: everything works, but new questions wait.
    """
    if state.ending.is_set():
        raise InterruptedWorkError("This process is stopping; send requests to another one.")
    pulse = await state.probe.pulse()
    if pulse is None:
        raise DatabaseUnavailableError("The catalogue's database does not respond.")
    if pulse.mismatch is not None:
        raise SchemaMismatchError(pulse.mismatch)
    if pulse.workers == 0 and require is not None:
        raise NoWorkerError("The database responds, but no worker has sent a heartbeat in the last seconds.")
    return {"status": "ready" if pulse.workers else "degraded", "workers": pulse.workers}


_EXAMPLE = 'aegis_http_requests_total{method="POST",route="/v1/entries",status="201"} 3.0'


@operation.get(
    "/metrics",
    summary="Metrics for Prometheus",
    response_class=Response,
    responses={
        200: {"description": "The metrics", "content": {"text/plain": {"example": _EXAMPLE}}},
        **_AT_OTHER_PORT,
    },
)
async def read_metrics(request: Request, state: StateDependency) -> Response:
    """Returns the counters of this process, and the database and queue metrics, at most a few seconds old."""
    await state.probe.read()
    return Response(generate_latest(request.app.state.registry), media_type=CONTENT_TYPE_LATEST)
