"""How operations describe themselves in the OpenAPI document: bodies, answers and problems by reference."""

from collections.abc import Iterator, Sequence
from typing import Any, Literal

from fastapi import APIRouter, FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from aegis_sdk import wire
from app.api.errors import STATUS

_TEMPLATE = "#/components/schemas/{model}"

#: Our own titles: the standard library's phrases differ between versions of Python.
_TITLES = dict(STATUS.values())

#: Problems that any operation under /v1 may answer with.
_ALWAYS = (401, 503)


def body(model: type[BaseModel]) -> dict[str, Any]:
    """`openapi_extra` of an operation that takes a `model`."""
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": _Reference(model)}}}}


def answers(
    status: int,
    model: type[BaseModel] | None,
    description: str,
    *refusals: int,
    headers: tuple[str, ...] = (),
) -> dict[int | str, dict[str, Any]]:
    """`responses` of an operation: what it answers, and with which problems besides those that any may have."""
    content = {} if model is None else {"content": {"application/json": {"schema": _Reference(model)}}}
    success: dict[str, Any] = {"description": description, **content}
    if headers:
        success["headers"] = {name: {"schema": {"type": "string"}} for name in headers}
    described: dict[int | str, dict[str, Any]] = {status: success}
    return described | problems(*refusals, *_ALWAYS)


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """`responses` of an operation: the problems that it may answer with."""
    return {status: _problem(status) for status in sorted(set(statuses))}


def _problem(status: int) -> dict[str, Any]:
    content = {"application/problem+json": {"schema": _Reference(wire.Problem)}}
    return {"description": _TITLES[status], "content": content}


class _Reference(dict[str, str]):
    """A reference to the schema of a model, which it remembers, so that the document can have that schema."""

    def __init__(self, model: type[BaseModel]) -> None:
        super().__init__({"$ref": _TEMPLATE.format(model=model.__name__)})
        self.model = model


def _drop_validation_errors(document: dict[str, Any]) -> None:
    """Take out FastAPI's own form of a validation error, which is never sent: problems are."""
    for unused in ("HTTPValidationError", "ValidationError"):
        document["components"]["schemas"].pop(unused, None)
    for operation in (operation for operations in document["paths"].values() for operation in operations.values()):
        if "application/json" in operation["responses"].get("422", {}).get("content", {}):
            del operation["responses"]["422"]


def _models(routers: Sequence[APIRouter]) -> list[tuple[type[BaseModel], Literal["validation", "serialization"]]]:
    """The wire models that operations refer to; what these contain comes along. One that is sent is read strictly."""
    routes = [route for router in routers for route in router.routes if isinstance(route, APIRoute)]
    requests = {reference.model for route in routes for reference in _references(route.openapi_extra)}
    answered = {reference.model for route in routes for reference in _references(route.responses)}
    return [
        *((model, "validation") for model in requests),
        *((model, "serialization") for model in answered - requests),
    ]


def _references(described: object) -> Iterator[_Reference]:
    """The references in a part of a description."""
    if isinstance(described, _Reference):
        yield described
    elif isinstance(described, dict):
        for member in described.values():
            yield from _references(member)


def openapi(app: FastAPI, routers: Sequence[APIRouter]) -> dict[str, Any]:
    """The whole document: what FastAPI says of the routes, with the schemas of the wire models and the key's scheme.

    Args:
        app: the application that answers them.
        routers: that it was given.
    """
    document = get_openapi(
        title=app.title,
        version=app.version,
        description=app.description,
        routes=app.routes,
        tags=app.openapi_tags,
    )
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    _drop_validation_errors(document)
    _, definitions = models_json_schema(_models(routers), ref_template=_TEMPLATE)
    schemas.update(definitions["$defs"])
    for path, operations in document["paths"].items():
        for operation in operations.values() if path.startswith("/v1/") else ():
            operation["security"] = [{"key": []}]
    document["components"]["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
    document["components"]["schemas"] = dict(sorted(schemas.items()))
    return document
