"""Compressed bodies: what they mean, and how little a bomb costs."""

import gzip
import json
import os
import tracemalloc
import zlib
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.platform.http.bodies import (
    BOMB_BYTES,
    BOMB_RATIO,
    CodingError,
    InflatedSizeError,
    Inflater,
)
from tests.app.platform.http.bombs import MEBIBYTE, gzip_bomb
from tests.service import ACCEPTED, example_entry, publish, running_app

LIMIT = 64 * MEBIBYTE


def inflated(body, limit=LIMIT, step=None):
    """What comes out, fed in pieces of `step` bytes; None if the body ends too early."""
    inflater, out = Inflater(limit), []
    for start in range(0, len(body), step or len(body) or 1):
        out += inflater.feed(body[start : start + (step or len(body))])
    return b"".join(out) if inflater.is_complete else None


@given(st.binary(max_size=2_000), st.integers(1, 300), st.integers(1, 4))
def test_what_was_deflated_comes_out_again(body, step, parts):
    assert inflated(gzip.compress(body) * parts, step=step) == body * parts


def test_a_long_body_comes_out_again():
    body = os.urandom(3 * MEBIBYTE) + b"0" * 3 * MEBIBYTE
    assert inflated(gzip.compress(body), step=65_536) == body


def test_a_body_that_is_cut_off_or_damaged_is_noticed():
    whole = gzip.compress(json.dumps(example_entry()).encode() * 20)
    assert inflated(b"") is None
    for end in range(1, len(whole), 7):
        assert inflated(whole[:end]) is None
    for garbage in (b"no", whole[1:], whole + b"x", whole + bytes(8)):
        with pytest.raises(CodingError):
            inflated(garbage + bytes(16))
    for place in range(len(whole) // 2, len(whole) - 12, 5):
        damaged = whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :]
        with suppress(CodingError):
            assert inflated(damaged) != json.dumps(example_entry()).encode() * 20


@pytest.mark.parametrize("step", [None, 65_536, 1_000])
def test_a_bomb_of_10_gb_is_refused_early(step):
    body = gzip_bomb(10_240)
    tracemalloc.start()
    with pytest.raises(InflatedSizeError):
        inflated(body, step=step)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 50 * MEBIBYTE


def test_many_small_bombs_are_one():
    bomb = gzip.compress(bytes(MEBIBYTE))
    with pytest.raises(InflatedSizeError):
        inflated(bomb * 1_000)


def test_the_limit_is_that_of_what_comes_out():
    body = os.urandom(5_000)
    assert inflated(gzip.compress(body), limit=5_000) == body
    with pytest.raises(InflatedSizeError):
        inflated(gzip.compress(body), limit=4_999)


def test_what_is_well_compressed_is_no_bomb():
    body = (b"0," * 40 + os.urandom(2)) * 100_000
    small = gzip.compress(body)
    assert 10 < len(body) / len(small) < BOMB_RATIO
    assert len(body) > BOMB_BYTES
    assert inflated(small, step=65_536) == body


@pytest.mark.parametrize("empty", [gzip.compress(b"", mtime=0), gzip.compress(b" ", mtime=0)], ids=["empty", "space"])
def test_a_hundred_thousand_members_are_too_many(empty):
    with pytest.raises(CodingError):
        inflated(empty * 100_000)


async def sent(api, body, coding, method="POST", path="/v1/entries", **params):
    headers = {"Content-Type": "application/json", "Content-Encoding": coding, "If-Match": "*"}
    return await api.request(method, path, content=body, headers=headers, params=params)


@pytest.mark.parametrize(
    "sent_as",
    ["gzip", "GZIP", "x-gzip", " gzip "],
)
async def test_a_compressed_entry_is_published(shared_api, sent_as):
    entry = example_entry(name=f"compressed-{sent_as.encode().hex()}")
    answer = await sent(shared_api, gzip.compress(json.dumps(entry).encode()), sent_as, **ACCEPTED)
    assert answer.status_code == 201, answer.text
    path = f"/v1/entries/{answer.json()['id']}"
    assert (await shared_api.get(f"{path}/summaries")).json() == entry


async def test_every_body_may_be_compressed(shared_api):
    head = await publish(shared_api, example_entry(name="each"))
    path = f"/v1/entries/{head['id']}"
    again = gzip.compress(json.dumps(example_entry(name="each")).encode())
    assert (await sent(shared_api, again, "gzip", "PUT", path)).status_code == 200
    changed = await sent(shared_api, gzip.compress(b'{"visibility": "all"}'), "gzip", "PATCH", path)
    assert (changed.status_code, changed.json()["visibility"]) == (200, "all")
    question = gzip.compress(b'{"measure": "g1", "bias_correction": 7}')
    asked = await sent(shared_api, question, "gzip", path=f"{path}/advice")
    assert (asked.status_code, asked.json()["code"]) == (422, "invalid")


async def test_other_codings_are_refused_with_those_there_are(shared_api):
    for codings in (
        ["br"],
        ["zstd"],
        ["deflate"],
        ["gzip, gzip"],
        ["gzip", "zstd"],
        ["gzip,"],
        ["*"],
        ["gzip\x00"],
    ):
        headers = [("Content-Type", "application/json"), *(("Content-Encoding", coding) for coding in codings)]
        answer = await shared_api.post("/v1/entries", content=b"{}", headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_media_type"), codings
        assert answer.headers["Accept-Encoding"] == "gzip", codings


async def test_other_media_types_do_not_concern_codings(shared_api):
    answer = await shared_api.post("/v1/entries", content=b"{}", headers={"Content-Type": "text/plain"})
    assert (answer.status_code, "Accept-Encoding" in answer.headers) == (415, False)


@pytest.mark.parametrize("coding", ["identity", ""])
async def test_a_body_that_is_not_compressed_may_say_so(shared_api, coding):
    assert (await sent(shared_api, b"[]", coding)).status_code == 422


async def test_a_body_that_is_not_what_it_says_is_refused(shared_api):
    whole = gzip.compress(b"[]")
    other = zlib.compress(b"[]")
    for body in (b"", b"[]", whole[:-1], whole + b"[]", other, gzip.compress(whole)):
        answer = await sent(shared_api, body, "gzip")
        assert (answer.status_code, answer.json()["code"]) == (400, "malformed"), body


async def test_a_bomb_is_refused(shared_api):
    bomb = gzip_bomb(10_240)
    for method, path in (("POST", "/v1/entries"), ("PATCH", "/v1/entries/x"), ("POST", "/v1/entries/x/advice")):
        answer = await sent(shared_api, bomb[: 2**18], "gzip", method, path)
        assert (answer.status_code, answer.json()["code"]) == (413, "too_large")


async def test_the_compressed_body_has_the_limit_too(database_url):
    async with running_app(database_url, max_body_bytes=10_000) as api:
        answer = await sent(api, gzip.compress(os.urandom(20_000)), "gzip")
        assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
        fits = await sent(api, gzip.compress(b" " * 9_998 + b"[]"), "gzip")
        grows = await sent(api, gzip.compress(b" " * 9_999 + b"[]"), "gzip")
    assert (fits.status_code, grows.status_code) == (422, 413)
