"""Every answer tells browsers what not to do with it."""

import pytest
from pydantic import ValidationError

from app.settings import Settings
from tests.service import publish, running_app

EVERYWHERE = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
}


ASKED = [
    *(("GET", path) for path in ("/v1/entries", "/v1/advice/x", "/healthz", "/metrics", "/nowhere")),
    *(("OPTIONS", "/v1/entries"), ("POST", "/v1/entries"), ("TRACE", "/v1/entries"), ("HEAD", "/v1/entries")),
]


async def test_an_answer_is_neither_run_nor_framed_nor_kept(shared_api):
    for method, path in ASKED:
        headers = (await shared_api.request(method, path)).headers
        assert {name: headers.get(name) for name in EVERYWHERE} == EVERYWHERE, (method, path)
        assert headers["Cache-Control"] == "no-store", (method, path)
        assert "Strict-Transport-Security" not in headers, (method, path)


async def test_counts_are_not_kept(shared_api):
    head = await publish(shared_api)
    summaries = await shared_api.get(f"/v1/entries/{head['id']}/summaries")
    assert summaries.headers["Cache-Control"] == "no-store"


async def test_https_alone_is_for_those_who_ask_for_it(database_url):
    async with running_app(database_url, hsts_seconds=3600) as api:
        assert (await api.get("/healthz")).headers["Strict-Transport-Security"] == "max-age=3600"
    with pytest.raises(ValidationError):
        Settings(hsts_seconds=-1)
