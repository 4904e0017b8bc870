"""Checks every answer in the tests against the contract: its wire model and the OpenAPI document."""

import json
import re
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import Any

import httpx
from fastapi.routing import APIRoute
from pydantic import BaseModel

from aegis_sdk import wire
from app.api.registry import ROUTERS

OPENAPI = Path(__file__).parents[1] / "openapi" / "openapi.json"


@cache
def document() -> dict[str, Any]:
    """The committed OpenAPI document."""
    found: dict[str, Any] = json.loads(OPENAPI.read_text(encoding="utf-8"))
    return found


@cache
def _models() -> dict[tuple[str, int], type[BaseModel]]:
    """The models of answers by operation name and status, as the routes declare them."""
    routes = [route for router in ROUTERS for route in router.routes if isinstance(route, APIRoute)]
    return {
        (route.name, int(status)): content["application/json"]["schema"].model
        for route in routes
        for status, response in route.responses.items()
        if "schema" in (content := response.get("content", {})).get("application/json", {})
    }


def operation_of(method: str, path: str) -> tuple[str, dict[str, Any]] | None:
    """The path template and the operation of a request; None if there is no such operation."""
    for template, operations in document()["paths"].items():
        if method in operations and re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", template), path):
            return template, operations[method]
    return None


async def hold_to_contract(response: httpx.Response) -> None:
    """An httpx event hook that fails unless the status is declared and the body follows the contract."""
    await response.aread()
    method, path = response.request.method.lower(), response.request.url.path
    found = operation_of(method, path)
    if response.status_code >= HTTPStatus.BAD_REQUEST:
        _hold_problem(response)
    elif found is not None and (model := _models().get((found[1]["operationId"], response.status_code))) is not None:
        model.model_validate_json(response.content)
    if found is not None and response.status_code != HTTPStatus.INTERNAL_SERVER_ERROR:
        assert str(response.status_code) in found[1]["responses"], (
            f"{method} {path}: {response.status_code} unannounced"
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


def pointers(response: httpx.Response) -> list[str]:
    """The pointers to the faults of a refused document."""
    return [fault["pointer"] for fault in response.json()["errors"]]
