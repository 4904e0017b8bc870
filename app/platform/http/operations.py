"""The bodies, responses and problems of operations in the OpenAPI document, by reference."""

from typing import Any

from pydantic import BaseModel

from aegis_sdk import wire
from app.platform.http.refusals import STATUS

TEMPLATE = "#/components/schemas/{model}"

#: Own titles, since the standard library's phrases differ between versions of Python.
_TITLES = dict(STATUS.values())

#: Problems of any operation under /v1.
_ALWAYS = (400, 401, 403, 422, 429, 503)

#: Problems of operations that need no key.
_WITHOUT_KEY = (400, 503)


def body(model: type[BaseModel], *, replaces: bool = False) -> dict[str, Any]:
    """The `openapi_extra` of an operation whose body is a `model`.

    The body is optional if all its members are, unless it `replaces` a resource, which an empty one would reset.
    """
    required = replaces or any(field.is_required() for field in model.model_fields.values())
    return {"requestBody": {"required": required, "content": {"application/json": {"schema": Reference(model)}}}}


def answers(
    status: int,
    model: type[BaseModel] | None,
    description: str,
    *refusals: int,
    headers: tuple[str, ...] = (),
    needs_key: bool = True,
) -> dict[int | str, dict[str, Any]]:
    """The `responses` of an operation: its result, and its problems besides the common ones."""
    content = {} if model is None else {"content": {"application/json": {"schema": Reference(model)}}}
    success: dict[str, Any] = {"description": description, **content}
    if headers:
        success["headers"] = {name: {"schema": {"type": "string"}} for name in headers}
    described: dict[int | str, dict[str, Any]] = {status: success}
    return described | problems(*refusals, *(_ALWAYS if needs_key else _WITHOUT_KEY))


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The `responses` of an operation for its problems."""
    return {status: _problem(status) for status in sorted(set(statuses))}


def _problem(status: int) -> dict[str, Any]:
    content = {"application/problem+json": {"schema": Reference(wire.Problem)}}
    return {"description": _TITLES[status], "content": content}


class Reference(dict[str, str]):
    """A reference to the schema of a model, with the model, whose schema is added to the document later."""

    def __init__(self, model: type[BaseModel]) -> None:
        super().__init__({"$ref": TEMPLATE.format(model=model.__name__)})
        self.model = model
