"""The routers of the service, in the order of the OpenAPI document, and the document itself.

To add a route, write a function in one of these routers, or in a new router that you add to `ROUTERS`. Its response is
a model of `aegis_sdk.wire`, and its decisions belong in a method of a service. A new tag is described in `TAGS`.
Then run `make openapi`, and add a row to the table in `docs/api.md` that says who may use it.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal

from fastapi import APIRouter, FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from app import about
from app.advice.api import routes as advice
from app.audit import api as audit
from app.callers import api as keys
from app.catalogues.api import routes as catalogues
from app.dataspace.api import routes as dataspace
from app.edge.dependencies import KEYED
from app.entries.api import previews, saved_searches
from app.entries.api import routes as entries
from app.platform.http.operations import TEMPLATE, Reference, body
from app.requests.api import routes as data_requests
from app.tenants import api as tenants
from app.webhooks import api as webhooks
from app.webhooks.api import EVENTS, HEADERS

ROUTERS: tuple[APIRouter, ...] = (
    entries.router,
    previews.router,
    advice.router,
    data_requests.router,
    *dataspace.ROUTERS,
    audit.router,
    advice.measures_router,
    keys.router,
    tenants.router,
    advice.questions_router,
    webhooks.router,
    saved_searches.router,
    catalogues.router,
    about.operation,
    about.documentation,
)

#: The groups of operations with their descriptions. A router with a new tag adds it here.
TAGS: Final[Mapping[str, str]] = {
    "entries": "What providers publish about their tables: summaries, never a record",
    "advice": "Which masking configuration loses the least predictive utility",
    "requests": "Requests for masked data, from the question to the verified delivery",
    "dataspace": "The Dataspace Protocol 2025-1, for connectors: its own schemas are normative",
    "audit": "The audit log, receipts, and the keys that verify both",
    "measures": "The measures of utility that advice can be asked for",
    "keys": "The API keys of a tenant",
    "policy": "What a tenant requires, and how much it may store and ask",
    "webhooks": "The addresses that receive a tenant's events",
    "searches": "Saved searches, which are told what they find",
    "catalogues": "The entries in the terms of other catalogues, which harvest them",
    "operation": "For operators: probes, metrics, and the list of questions",
    "documentation": "The service's own documentation",
    "events": "The events that the service posts to webhooks, signed by the rules of Standard Webhooks",
}

_LICENCE: Final = {"name": "Apache License 2.0", "identifier": "Apache-2.0"}

#: The operator of a service is responsible for it; the project does not know them.
_CONTACT: Final = {"name": "The operator of this service"}

#: The document is served by the service itself (`/openapi.json`), at any address.
_SERVERS: Final = [{"url": "/", "description": "The service that this document is read from"}]


def _correct_operations(document: dict[str, Any]) -> None:
    """Correct what FastAPI cannot know: the service sends problems instead of validation errors, parameters are never
    null, ids in paths are UUIDs (any other gives 404), an operation that returns 428 requires `If-Match`, and only some
    need a key.
    """
    for path, operations in document["paths"].items():
        for operation in operations.values():
            if "application/json" in operation["responses"].get("422", {}).get("content", {}):
                del operation["responses"]["422"]
            for parameter in operation.get("parameters", ()):
                _correct_parameter(parameter, operation["responses"])
            operation["security"] = [{"key": []}] if path.startswith(KEYED) else []


def _correct_parameter(parameter: dict[str, Any], responses: Mapping[str, Any]) -> None:
    schema = parameter["schema"]
    kinds = [kind for kind in schema.pop("anyOf", ()) if kind != {"type": "null"}]
    for kind in kinds:  # at most one is left
        schema |= kind
    if parameter["in"] == "path" and parameter["name"].endswith("_id"):
        schema["format"] = "uuid"
    if parameter["name"] == "if-match":
        parameter["required"] = "428" in responses


def _require_discriminators(schemas: dict[str, Any]) -> None:
    """Require the discriminator of a union: otherwise a document might match several schemas."""
    for discriminator in (schema["discriminator"] for schema in schemas.values() if "discriminator" in schema):
        for reference in discriminator["mapping"].values():
            schema = schemas[reference.removeprefix(TEMPLATE.format(model=""))]
            schema["required"] = sorted({discriminator["propertyName"], *schema.get("required", ())})


def _sent(type_: str, when: str, model: type[BaseModel]) -> dict[str, Any]:
    return {
        "tags": ["events"],
        "summary": type_,
        "description": f"Sent when {when}, to webhooks that subscribe to it.",
        "operationId": f"receive_{type_.replace('.', '_')}",
        "parameters": HEADERS,
        **body(model),
        "responses": {
            "2XX": {"description": "The event has arrived"},
            "410": {"description": "The receiver is gone: the webhook is disabled"},
            "4XX": {"description": "A failure, like any other status or no response within ten seconds: sent again"},
        },
        "security": [],
    }


def _models(routers: Sequence[APIRouter]) -> list[tuple[type[BaseModel], Literal["validation", "serialization"]]]:
    """The wire models that operations refer to, without nested ones, which follow. Requests are validated strictly."""
    routes = [route for router in routers for route in router.routes if isinstance(route, APIRoute)]
    requests = {reference.model for route in routes for reference in _references(route.openapi_extra)}
    answered = {reference.model for route in routes for reference in _references(route.responses)}
    answered |= {model for _, model in EVENTS.values()}
    return [
        *((model, "validation") for model in requests),
        *((model, "serialization") for model in answered - requests),
    ]


def _references(described: object) -> Iterator[Reference]:
    if isinstance(described, Reference):
        yield described
    elif isinstance(described, dict):
        for member in described.values():
            yield from _references(member)


def openapi(app: FastAPI, routers: Sequence[APIRouter]) -> dict[str, Any]:
    """The whole document: FastAPI's description of the routes, wire models, security and webhooks."""
    document = get_openapi(
        title=app.title,
        version=app.version,
        description=app.description,
        routes=app.routes,
        tags=[{"name": name, "description": description} for name, description in TAGS.items()],
        servers=_SERVERS,
        contact=_CONTACT,
        license_info=_LICENCE,
    )
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    scheme = {"type": "http", "scheme": "bearer", "description": "An API key, or a token of the trusted issuer (JWT)"}
    document["components"]["securitySchemes"] = {"key": scheme}
    _correct_operations(document)
    _, definitions = models_json_schema(_models(routers), ref_template=TEMPLATE)
    schemas.update(definitions["$defs"])
    _require_discriminators(schemas)
    document["components"]["schemas"] = dict(sorted(schemas.items()))
    # OpenAPI 3.1, section 4.8.1
    webhooks = {type_: {"post": _sent(type_, when, model)} for type_, (when, model) in EVENTS.items()}
    return document | {"webhooks": webhooks}
