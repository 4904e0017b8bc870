"""Checks of every answer and event against the contract: its wire model, and what the OpenAPI document says."""

import json
import re
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import Any

import httpx
import jsonschema_rs
from fastapi.routing import APIRoute
from pydantic import BaseModel

from aegis_sdk import wire
from app.routes import ROUTERS

OPENAPI = Path(__file__).parents[1] / "openapi" / "openapi.json"


@cache
def document() -> dict[str, Any]:
    """Return the committed OpenAPI document."""
    found: dict[str, Any] = json.loads(OPENAPI.read_text(encoding="utf-8"))
    return found


@cache
def _models() -> dict[tuple[str, int], type[BaseModel]]:
    """Return the routes' declared models of answers, by the name of the operation and the status."""
    routes = [route for router in ROUTERS for route in router.routes if isinstance(route, APIRoute)]
    return {
        (route.name, int(status)): content["application/json"]["schema"].model
        for route in routes
        for status, response in route.responses.items()
        if "schema" in (content := response.get("content", {})).get("application/json", {})
    }


def operation_of(method: str, path: str) -> tuple[str, dict[str, Any]] | None:
    """Return the path template and the operation of a request; None if there is none."""
    for template, operations in document()["paths"].items():
        if method in operations and re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", template), path):
            return template, operations[method]
    return None


def _is_page(response: httpx.Response) -> bool:
    """Whether this is a page of the console, which no contract describes."""
    is_html = response.headers.get("Content-Type", "").startswith("text/html")
    return is_html and not response.request.url.path.startswith("/v1")


async def hold_to_contract(response: httpx.Response) -> None:
    """Check, as an httpx event hook, that the contract declares the status and that the body fits its model."""
    await response.aread()
    method, path = response.request.method.lower(), response.request.url.path
    found = operation_of(method, path)
    if _is_page(response) or path.startswith("/dsp/"):  # whose contract others wrote: `tests.dataspace`
        return
    if method == "head":
        assert response.content == b""
    elif response.status_code >= HTTPStatus.BAD_REQUEST:
        _hold_problem(response)
    elif found is not None and (model := _models().get((found[1]["operationId"], response.status_code))) is not None:
        kind = response.headers["Content-Type"].partition(";")[0]
        assert kind in found[1]["responses"][str(response.status_code)]["content"]
        if kind == "application/json":
            model.model_validate_json(response.content)
    if found is not None and response.status_code != HTTPStatus.INTERNAL_SERVER_ERROR:
        assert str(response.status_code) in found[1]["responses"], (
            f"{method} {path}: {response.status_code} is not in the contract"
        )


def _hold_problem(response: httpx.Response) -> None:
    assert response.headers["Content-Type"] == "application/problem+json"
    problem = wire.Problem.model_validate_json(response.content)
    assert problem.status == response.status_code
    assert problem.instance == response.request.url.path
    assert problem.title
    assert problem.detail
    assert re.fullmatch(r"[a-z_]+", problem.code)
    assert len(problem.errors) <= wire.FAULTS_SHOWN
    assert "Traceback" not in response.text


@cache
def _event_schema(type_: str) -> jsonschema_rs.Validator:
    """Return what checks an event of a type, in which no member is left that the document does not name."""
    content = document()["webhooks"][type_]["post"]["requestBody"]["content"]
    closed = {
        name: schema | ({"additionalProperties": False} if schema.get("type") == "object" else {})
        for name, schema in document()["components"]["schemas"].items()
    }
    schema = content["application/json"]["schema"] | {"components": {"schemas": closed}}
    return jsonschema_rs.validator_for(schema, validate_formats=True)


def hold_event(event: dict[str, Any]) -> None:
    """Check that an event is as the section `webhooks` of the OpenAPI document says."""
    _event_schema(event["type"]).validate(event)


def pointers(response: httpx.Response) -> list[str]:
    """Return the JSON Pointers of a refused document's faults."""
    return [fault["pointer"] for fault in response.json()["errors"]]
