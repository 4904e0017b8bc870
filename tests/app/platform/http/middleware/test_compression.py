"""Answers are compressed as their reader prefers, and their tags still name the entry."""

import gzip
import threading

import pytest
from fastapi import APIRouter, Response
from starlette.middleware.gzip import GZipResponder

from app import routes as registry
from tests.for_each import case
from tests.service import example_entry, publish, running_app

LONG = 10_000_000
router = APIRouter()


@router.get("/of/{size}")
async def read_text(size: int) -> Response:
    """Text of this size."""
    return Response(b"a1,b2," * (size // 6) + b"-" * (size % 6), media_type="text/plain")


@router.get("/encoded")
async def read_encoded() -> Response:
    """What is compressed already."""
    return Response(b"x" * 5_000, media_type="application/json", headers={"Content-Encoding": "br"})


@router.get("/picture")
async def read_picture() -> Response:
    """No text."""
    return Response(b"x" * 5_000, media_type="image/png")


@pytest.fixture(scope="module")
async def extended(_one_loop, shared_database_url):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(registry, "ROUTERS", (*registry.ROUTERS, router))
        async with running_app(shared_database_url) as api:
            yield api


async def raw(api, path, accepted, **headers):
    """An answer and its body as it was sent."""
    request = api.build_request("GET", path, headers={"Accept-Encoding": accepted, **headers})
    answer = await api._transport.handle_async_request(request)
    return answer, b"".join([part async for part in answer.stream])


PREFERRED = [
    *(("gzip", "gzip"), ("gzip, deflate, br, zstd", "gzip"), ("identity;q=0.5, gzip;q=0.9", "gzip"), ("*", "gzip")),
    *(
        ("gzip;q=0.5, identity", None),
        ("", None),
        ("identity", None),
        ("br", None),
        ("gzip;q=0", None),
        ("gzip," * 12_000, None),
    ),
]


async def test_an_answer_has_the_coding_that_is_preferred(extended):
    for accepted, coding in PREFERRED:
        with case(accepted):
            answer, body = await raw(extended, "/of/5000", accepted)
            assert answer.headers.get("Content-Encoding") == coding
            assert answer.headers["Vary"] == "Accept-Encoding"
            assert int(answer.headers["Content-Length"]) == len(body)
            assert (gzip.decompress(body) if coding else body) == b"a1,b2," * 833 + b"--"
            assert coding is None or len(body) < 500


async def test_head_has_the_headers_of_get(extended):
    whole = await extended.get("/of/5000")
    only_head = await extended.head("/of/5000")
    assert only_head.headers["Content-Length"] == whole.headers["Content-Length"]
    assert only_head.headers["Content-Encoding"] == whole.headers["Content-Encoding"]


async def test_what_does_not_get_shorter_is_left_as_it_is(extended):
    for path in ["/of/0", "/of/999", "/encoded", "/picture"]:
        plain, same = [await raw(extended, path, accepted) for accepted in ("", "gzip")]
        assert plain[1] == same[1], path
        assert same[0].headers.get("Content-Encoding") == plain[0].headers.get("Content-Encoding"), path


async def test_a_long_answer_is_compressed_in_a_thread_so_that_others_are_served(extended, monkeypatch):
    threads, compress = [], GZipResponder._compress_body

    def noted(*arguments):
        threads.append(threading.get_ident())
        return compress(*arguments)

    monkeypatch.setattr(GZipResponder, "_compress_body", noted)
    answer, body = await raw(extended, f"/of/{LONG}", "gzip")
    assert answer.headers["Content-Encoding"] == "gzip"
    assert len(body) < LONG / 100
    assert len(threads) == 1
    assert threads[0] != threading.get_ident()


@pytest.mark.parametrize("coding", ["gzip", ""])
async def test_a_tag_names_the_entry_in_whatever_coding(shared_api, coding):
    head = await publish(shared_api, example_entry(name=f"in-{coding or 'none'}", description="long " * 500))
    path = f"/v1/entries/{head['id']}"
    answer, _ = await raw(shared_api, path, coding)
    tag = answer.headers["ETag"]
    assert tag.endswith(f'+{coding}"') == bool(coding)
    for accepted in ("gzip", ""):
        unchanged, body = await raw(shared_api, path, accepted, **{"If-None-Match": tag})
        assert (unchanged.status_code, body, unchanged.headers["ETag"]) == (304, b"", tag)
        assert unchanged.headers["Vary"] == "Accept, Accept-Encoding"  # Croissant is elsewhere
    changed = await shared_api.patch(path, json={"visibility": "all"}, headers={"If-Match": tag})
    assert changed.status_code == 200
    assert (await shared_api.patch(path, json={"visibility": "all"}, headers={"If-Match": tag})).status_code == 412


async def test_a_long_problem_is_compressed_too(shared_api):
    entry = example_entry()
    entry["label"]["histogram"] = [-1] * 1_000
    answer = await shared_api.post("/v1/entries", json=entry, headers={"Accept-Encoding": "gzip"})
    assert (answer.status_code, answer.headers["Content-Encoding"]) == (422, "gzip")
    assert len(answer.json()["errors"]) == 100
