"""Pages of other origins: none may call the API unless a setting names them."""

import pytest
from pydantic import ValidationError

from app.settings import Settings
from tests.service import running_app
from tests.tables import raised

PORTAL = "https://portal.example.org"


def preflight(origin, method="POST", headers="authorization, content-type"):
    asked = {"Access-Control-Request-Method": method, "Access-Control-Request-Headers": headers}
    return asked | {"Origin": origin}


@pytest.fixture(scope="module")
async def open_api(_one_loop, shared_database_url):
    async with running_app(shared_database_url, cors_origins=f"{PORTAL}, http://localhost:3000") as api:
        yield api


async def test_a_page_that_is_named_may_call(open_api):
    for origin in (PORTAL, "http://localhost:3000"):
        asked = await open_api.options("/v1/entries", headers=preflight(origin))
        assert (asked.status_code, asked.content) == (204, b"")
        assert asked.headers["Access-Control-Allow-Origin"] == origin
        assert {"POST", "PUT", "PATCH", "DELETE"} <= set(asked.headers["Access-Control-Allow-Methods"].split(", "))
        allowed = asked.headers["Access-Control-Allow-Headers"].lower()
        assert {"authorization", "if-match", "if-none-match", "prefer", "content-encoding"} <= set(allowed.split(", "))
        answer = await open_api.get("/v1/entries", headers={"Origin": origin})
        assert answer.headers["Access-Control-Allow-Origin"] == origin
        assert "Origin" in answer.headers["Vary"]
        assert "Access-Control-Allow-Credentials" not in answer.headers


async def test_a_page_reads_the_headers_it_needs_also_of_problems(open_api):
    problem = await open_api.get("/v1/advice/nothing", headers={"Origin": PORTAL})
    assert problem.status_code == 404
    assert problem.headers["Access-Control-Allow-Origin"] == PORTAL
    exposed = set(problem.headers["Access-Control-Expose-Headers"].split(", "))
    needed = {"ETag", "Location", "Link", "Retry-After", "RateLimit", "RateLimit-Policy", "X-Request-ID"}
    assert needed <= exposed


FOREIGN = ["https://evil.example", "https://portal.example.org.evil.example", "http://portal.example.org", "null", ""]


async def test_a_page_that_is_not_named_may_not(open_api):
    for origin in FOREIGN:
        asked = await open_api.options("/v1/entries", headers=preflight(origin))
        assert (asked.status_code, asked.headers.get("Access-Control-Allow-Origin")) == (204, None), origin
        answer = await open_api.get("/v1/entries", headers={"Origin": origin})
        assert "Access-Control-Allow-Origin" not in answer.headers, origin
        assert "Origin" in answer.headers["Vary"], origin


async def test_what_a_page_may_not_send_is_not_listed(open_api):
    for asked in (preflight(PORTAL, method="TRACE"), preflight(PORTAL, headers="x-secret")):
        answer = await open_api.options("/v1/entries", headers=asked)
        assert answer.status_code == 204
        assert "TRACE" not in answer.headers["Access-Control-Allow-Methods"]
        assert "x-secret" not in answer.headers["Access-Control-Allow-Headers"].lower()


async def test_without_the_setting_no_page_may(shared_api):
    for answer in (
        await shared_api.options("/v1/entries", headers=preflight(PORTAL)),
        await shared_api.get("/v1/entries", headers={"Origin": PORTAL}),
    ):
        assert not [name for name in answer.headers if name.startswith("access-control")]


NO_ORIGINS = [
    *("*", "https://*.example.org", "https://a.example/", "https://a.example/path", "a.example", "ftp://a.example"),
    *("https://A.example", "https://a.example:443", "http://a.example:80", "https://user@a.example", "null"),
    *("https://a.example,*", "https://", "https://a.example:", "https://a b.example"),
]


def test_what_is_no_origin_is_refused():
    told = {origins: raised(ValidationError, Settings, cors_origins=origins) or "" for origins in NO_ORIGINS}
    assert [origins for origins, said in told.items() if "is not an origin" not in said] == []


def test_origins_are_read_as_they_are_named(monkeypatch):
    monkeypatch.setenv("AEGIS_CORS_ORIGINS", f"{PORTAL} ,http://[::1]:3000,https://a.example:8443,")
    assert Settings().cors_origins == (PORTAL, "http://[::1]:3000", "https://a.example:8443")
