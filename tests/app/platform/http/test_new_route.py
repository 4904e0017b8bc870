"""A new route needs only a record in the registry of routers to be answered, guarded, counted and described."""

import pytest
from fastapi import APIRouter
from pydantic import Field

from aegis_sdk.wire.documents import Answer
from app import routes as registry
from app.edge.dependencies import CallerDependency, FactoryDependency
from app.entries.store.searches import Search
from app.main import create_app
from app.platform.http.operations import JsonResponse, answers
from app.settings import Settings
from tests.answers import document
from tests.service import create_key, example_entry, running_app


class ProbeTally(Answer):
    """The number of entries."""

    visible: int = Field(description="Entries that the caller may see")


router = APIRouter(tags=["tally"])


@router.get("/v1/tally", summary="Count the entries", responses=answers(200, ProbeTally, "How many", 422))
async def read_tally(caller: CallerDependency, factory: FactoryDependency) -> JsonResponse:
    """Counts the entries that the caller may see."""
    page = await factory.catalogue().page(caller, Search(), 200, None)
    return JsonResponse({"visible": len(page.items)})


@pytest.fixture(autouse=True)
def _registered(monkeypatch):
    monkeypatch.setattr(registry, "ROUTERS", (*registry.ROUTERS, router))


async def test_it_is_answered_in_a_transaction_and_counted(database_url):
    async with running_app(database_url) as api:
        await api.post("/v1/entries", json=example_entry())
        answer = await api.get("/v1/tally")
        assert ProbeTally.model_validate_json(answer.content) == ProbeTally(visible=1)
        metrics = (await api.get("/metrics")).text
        assert 'aegis_http_requests_total{method="GET",route="/v1/tally",status="200"} 1.0' in metrics


async def test_it_asks_for_a_key(database_url):
    key = await create_key(database_url, "tenant", "consumer")
    async with running_app(database_url) as api:
        assert (await api.get("/v1/tally")).status_code == 401
        assert (await api.get("/v1/tally", headers=key)).json() == {"visible": 0}


def test_it_describes_itself_and_leaves_the_rest_as_it_is():
    described = create_app(Settings(database_url=None)).openapi()
    operation = described["paths"].pop("/v1/tally")["get"]
    assert operation["responses"]["200"]["content"]["application/json"]["schema"]["$ref"].endswith("/ProbeTally")
    assert {"401", "422", "503"} <= set(operation["responses"])
    assert operation["security"] == [{"key": []}]
    assert described["components"]["schemas"].pop("ProbeTally")["properties"]["visible"]["type"] == "integer"
    assert described == document()
