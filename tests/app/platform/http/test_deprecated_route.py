"""A route that is deprecated says so in the document and in each of its answers, and no other route does."""

from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime

import pytest
from fastapi import APIRouter

from app import routes as registry
from app.edge.dependencies import CallerDependency
from app.main import create_app
from app.platform.http.operations import answers, deprecated
from app.settings import Settings
from tests.service import create_key, running_app

SINCE, SUNSET = date(2026, 12, 1), date(2027, 9, 1)
PATHS = ("/v1/old", "/v1/old?number=many", "/v1/entries")

router = APIRouter(tags=["entries"])


@router.get("/v1/old", responses=answers(200, None, "What it was", 422), **deprecated(SINCE, SUNSET))
async def read_old(_: CallerDependency, number: int = 0) -> dict[str, int]:
    """Goes on working."""
    return {"still": number}


@pytest.fixture(autouse=True)
def _registered(monkeypatch):
    monkeypatch.setattr(registry, "ROUTERS", (*registry.ROUTERS, router))


async def test_its_answers_say_since_when_and_until_when_it_works_and_where_to_read_on(database_url):
    key = await create_key(database_url, "tenant", "consumer")
    async with running_app(database_url) as api:
        good, refused, other = [await api.get(path, headers=key) for path in PATHS]
        unknown = await api.get("/v1/old")
    assert (good.status_code, good.json()) == (200, {"still": 0})
    assert [answer.status_code for answer in (refused, unknown)] == [422, 401]
    for answer in (good, refused, unknown):
        began = answer.headers["Deprecation"]
        assert began.startswith("@")
        assert datetime.fromtimestamp(int(began[1:]), UTC) == datetime(2026, 12, 1, tzinfo=UTC)
        assert answer.headers["Sunset"] == "Wed, 01 Sep 2027 00:00:00 GMT"
        assert parsedate_to_datetime(answer.headers["Sunset"]) == datetime(2027, 9, 1, tzinfo=UTC)
        assert 'rel="deprecation"' in answer.headers["Link"]
    assert not {"deprecation", "sunset"} & set(other.headers)


def test_the_document_marks_it_alone():
    described = create_app(Settings(database_url=None)).openapi()["paths"]
    marked = [path for path, operations in described.items() for one in operations.values() if "deprecated" in one]
    assert marked == ["/v1/old"]
