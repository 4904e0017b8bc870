"""What a client may send, and how slowly: by real connections to a real server."""

import asyncio
import re

import pytest

from app.platform.http.answers import SAFE_HEADERS
from app.platform.http.connections import HEADER_BYTES, HEADERS
from app.platform.http.middleware.head_method import HeadMethod
from tests.app.platform.process.served import answered, echo, problem, read_answer, request, served


@pytest.mark.parametrize("size", [0, 10, 3_000_000])
async def test_what_is_within_the_limits_is_answered(size):
    filled = [b"X%d: %s" % (place, b"a" * 100) for place in range(HEADERS - 2)]
    async with served() as port:
        status, _, body = await answered(port, request(*filled, body=b"b" * size))
    assert (status, body) == (200, str(size).encode())


async def test_a_connection_goes_on_after_head():
    async with served(HeadMethod(echo)) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"HEAD / HTTP/1.1\r\nHost: x\r\n\r\n" + request(body=b"hello"))
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        assert head.startswith("http/1.1 200")
        assert "content-length: 1\r\n" in head
        assert (await read_answer(reader))[2] == b"5"  # what comes next is no body of the answer before
        writer.close()


async def test_requests_one_after_the_other_on_one_connection():
    async with served() as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for size in (5, 100_000, 0, 7):
            writer.write(request(body=b"b" * size))
            assert (await read_answer(reader))[2] == str(size).encode()
        writer.close()


@pytest.mark.parametrize(
    "parts",
    [
        [request(*[b"X%d: a" % place for place in range(HEADERS - 1)])],
        [request(b"X: " + b"a" * HEADER_BYTES)],
        [b"POST /" + b"a" * HEADER_BYTES + b" HTTP/1.1\r\n"],
        [b"POST / HTTP/1.1\r\n", b"X: " + b"a" * HEADER_BYTES],
        [request(body=b"first"), b"POST / HTTP/1.1\r\nX: ", b"a" * 2 * HEADER_BYTES],
    ],
    ids=["many", "long", "a long path", "unfinished", "of a second request"],
)
async def test_too_many_or_too_long_headers_are_refused(parts):
    sent = list(parts)
    async with served() as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        if len(sent) == 3:
            writer.write(sent.pop(0))
            assert (await read_answer(reader))[2] == b"5"
        for part in sent:
            writer.write(part)
        assert problem(await read_answer(reader)) == (431, "headers_too_large")
        assert await reader.read() == b""
        writer.close()


async def test_what_is_no_http_is_refused():
    async with served() as port:
        assert problem(await answered(port, b"\x16\x03\x01\r\n\r\n")) == (400, "malformed")


async def test_headers_that_do_not_end_are_refused_in_time():
    async with served(header_seconds=0.3) as port:
        assert problem(await answered(port, b"GET / HTTP/1.1\r\nHost: x\r\n")) == (408, "too_slow")


async def test_a_connection_that_says_nothing_is_closed():
    async with served(header_seconds=0.3) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        assert await reader.read() == b""
        writer.close()


async def test_a_body_that_hardly_arrives_is_refused():
    async with served(body_seconds=0.3) as port:
        head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n"
        assert problem(await answered(port, head, b"a" * 50)) == (408, "too_slow")


async def test_an_answer_that_takes_long_is_waited_for():
    async def slow(scope, receive, send):
        await asyncio.sleep(1.0)
        await echo(scope, receive, send)

    async with served(slow, header_seconds=0.2, body_seconds=0.2) as port:
        status, _, body = await answered(port, request(body=b"whole"))
    assert (status, body) == (200, b"5")


CHUNKED = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"


@pytest.mark.parametrize(
    "rest",
    [b"0\r\n" + b"X: aaaaaaaa\r\n" * 70_000, b"0\r\nX: " + b"a" * 10**6, b"3;" + b"a" * 10**6],
    ids=["many trailers", "a long trailer", "a long extension"],
)
async def test_what_surrounds_the_parts_of_a_body_is_limited_too(rest):
    async with served() as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(CHUNKED)
        await writer.drain()
        writer.write(rest)
        assert problem(await read_answer(reader)) == (431, "headers_too_large")
        assert await reader.read() == b""
        writer.close()


async def test_a_client_that_does_not_read_its_answers_is_disconnected():
    async def long_answer(_scope, _receive, send):
        body = b"a" * 20_000_000
        headers = [(b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async with served(long_answer, write_seconds=0.3, connections_at_most=1) as port:
        deaf_reader, deaf = await asyncio.open_connection("127.0.0.1", port, limit=1)
        deaf.write(request())
        await asyncio.sleep(2)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request())
        status, _, body = await read_answer(reader)
        assert (status, len(body)) == (200, 20_000_000)
        writer.close()
        deaf.close()
        assert deaf_reader is not None


async def test_an_empty_line_after_a_request_does_not_keep_a_connection_open():
    async with served(header_seconds=0.3) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request(body=b"abc"))
        assert (await read_answer(reader))[2] == b"3"
        writer.write(b"\r\n")
        assert problem(await read_answer(reader)) == (408, "too_slow")
        writer.close()


async def test_bytes_that_arrive_with_the_headers_count_as_body():
    async with served(body_seconds=0.3) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n"
        writer.write(head + b"a" * 900)
        await asyncio.sleep(0.7)
        writer.write(b"a" * 100)
        assert (await read_answer(reader))[2] == b"1000"
        writer.close()


async def test_time_in_which_the_service_does_not_read_does_not_count():
    async def sleepy(scope, receive, send):
        await asyncio.sleep(1.0)
        await echo(scope, receive, send)

    async with served(sleepy, body_seconds=0.2) as port:
        status, _, body = await answered(port, request(body=b"a" * 5_000_000))
    assert (status, body) == (200, b"5000000")


async def refuses(_scope, _receive, send):
    """Answer without reading the body."""
    await send({"type": "http.response.start", "status": 413, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"no"})


async def test_a_connection_whose_request_arrives_whole_after_its_answer_does_not_stay_open_for_ever():
    async with served(refuses, header_seconds=0.3) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        asked = request(body=b"abc")
        writer.write(asked[:-1])
        assert (await read_answer(reader))[0] == 413
        writer.write(asked[-1:])
        assert await asyncio.wait_for(reader.read(), 30) == b""
        writer.close()


async def test_the_rest_of_a_body_that_is_answered_already_is_not_read_for_ever():
    async with served(refuses, lingering_seconds=0.3) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 999999999999\r\n\r\n")
        assert (await read_answer(reader))[0] == 413
        with pytest.raises(ConnectionError):
            await asyncio.wait_for(send_for_ever(writer), 10)
        writer.close()


async def send_for_ever(writer):
    while True:
        writer.write(b"a" * 10_000)
        await writer.drain()
        await asyncio.sleep(0.01)


async def test_a_bad_request_behind_another_does_not_disturb_its_answer():
    async def slow(scope, receive, send):
        await asyncio.sleep(0.3)
        await echo(scope, receive, send)

    async with served(slow) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request(body=b"abc"))
        await asyncio.sleep(0.1)
        writer.write(b"\x16\x03\x01\r\n\r\n")
        assert (await read_answer(reader))[2] == b"3"
        assert await reader.read() == b""
        writer.close()


NO_HTTP = [
    b"GET / HTTP/9.9\r\n\r\n",
    b"get / HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET / HTTP/1.1\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    b"GET /a b HTTP/1.1\r\n\r\n",
    b"GET / HTTP/1.1\r\nno colon\r\n\r\n",
    b"GET / HTTP/1.1\r\n: no name\r\n\r\n",
    b"GET / HTTP/1.1\r\nA B: c\r\n\r\n",
    b"GET / HTTP/1.1\r\nX: a\x00b\r\n\r\n",
    b"GET / HTTP/1.1\r\n X: folded\r\n\r\n",
    b"GET \xff HTTP/1.1\r\n\r\n",
    b"CONNECT aegis:443 HTTP/1.1\r\nHost: aegis\r\n\r\n",
    b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
    b"POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    b"POST / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"POST / HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n",
]


async def test_whatever_is_no_http_is_answered_with_a_problem():
    async with served() as port:
        told = {sent: problem(await answered(port, sent)) for sent in NO_HTTP}
    assert told == dict.fromkeys(NO_HTTP, (400, "malformed"))


async def test_a_refusal_is_as_safe_as_other_answers_and_has_the_request_s_id():
    async with served() as port:
        _, headers, _ = await answered(port, request(b"X-Request-ID: mine", b"X: " + b"a" * HEADER_BYTES))
        _, others, _ = await answered(port, b"no http\r\n\r\n")
    assert {name.lower(): value.lower() for name, value in SAFE_HEADERS.items()}.items() <= headers.items()
    assert headers["x-request-id"] == "mine"
    assert re.fullmatch(r"[0-9a-f]{32}", others["x-request-id"])


async def breaks(_scope, _receive, _send):
    raise ZeroDivisionError


async def says_nothing(_scope, _receive, _send):
    pass


@pytest.mark.parametrize("application", [breaks, says_nothing])
async def test_an_application_that_does_not_answer_is_a_problem(application):
    async with served(application) as port:
        answer = await answered(port, request(b"X-Request-ID: mine"))
    assert problem(answer) == (500, "internal")
    assert answer[1]["x-request-id"] == "mine"
