"""Whatever part of the service adds a header, the answer has it, and so has a problem."""

import pytest
from fastapi import APIRouter, Request, Response

from app import routes as registry
from app.platform.errors import NotFoundError
from app.platform.http.request_scope import answer_headers
from tests.service import running_app

router = APIRouter()


@router.get("/added")
async def read_added(request: Request, *, missing: bool = False, broken: bool = False) -> Response:
    """Adds two headers of one name, then answers, refuses or fails."""
    answer_headers(request).extend([("Probe", "first"), ("Probe", "second")])
    if missing:
        raise NotFoundError("There is nothing.")
    if broken:
        raise ZeroDivisionError
    return Response("there")


@pytest.fixture
async def extended(database_url, monkeypatch):
    monkeypatch.setattr(registry, "ROUTERS", (*registry.ROUTERS, router))
    async with running_app(database_url) as api:
        yield api


async def test_an_answer_has_the_headers_that_were_added(extended):
    for params, status in (({}, 200), ({"missing": True}, 404), ({"broken": True}, 500)):
        answer = await extended.get("/added", params=params)
        assert (answer.status_code, answer.headers.get_list("Probe")) == (status, ["first", "second"])
    assert "Probe" not in (await extended.get("/healthz")).headers


async def test_a_defect_is_counted_as_it_is_answered(extended):
    answer = await extended.get("/added", params={"broken": True})
    assert (answer.json()["code"], answer.headers["Content-Type"]) == ("internal", "application/problem+json")
    counted = 'aegis_http_requests_total{method="GET",route="/added",status="500"} 1.0'
    assert counted in (await extended.get("/metrics")).text
