"""What the server itself refuses, by real connections to a real server."""

import asyncio

import pytest

from app.platform.http.middleware import HeadMethod
from tests.app.platform.process.served import echo, read_answer, served

HEADER_BYTES = 64 * 1024
GET, POST, HOST = b"GET / HTTP/1.1\r\n", b"POST / HTTP/1.1\r\n", b"Host: x\r\n"


def post(*headers, body=b""):
    return POST + HOST + b"".join([*headers, b"Content-Length: %d\r\n\r\n" % len(body), body])


async def test_requests_one_after_the_other_on_one_connection():
    filled = [b"X%d: %s\r\n" % (place, b"a" * 500) for place in range(100)]
    async with served(HeadMethod(echo)) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"HEAD / HTTP/1.1\r\n" + HOST + b"\r\n" + post(body=b"hello"))  # at once
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        assert head.startswith("http/1.1 200")
        assert "content-length: 1\r\n" in head
        assert (await read_answer(reader))[2] == b"5"  # what comes next is not a body of the answer before
        for size in (100_000, 0, 3_000_000, 7):
            writer.write(post(*filled, body=b"b" * size))
            assert (await read_answer(reader))[2] == str(size).encode()
        writer.close()


NO_HTTP = {
    "another protocol": b"\x16\x03\x01\r\n\r\n",
    "no version": b"GET /\r\n" + HOST + b"\r\n",
    "no host": GET + b"\r\n",
    "two hosts": GET + HOST + b"Host: y\r\n\r\n",
    "a blank in the path": b"GET /a b HTTP/1.1\r\n" + HOST + b"\r\n",
    "no ASCII": b"GET \xff HTTP/1.1\r\n" + HOST + b"\r\n",
    "no colon": GET + HOST + b"no colon\r\n\r\n",
    "no name": GET + HOST + b": no name\r\n\r\n",
    "a blank in a name": GET + HOST + b"A B: c\r\n\r\n",
    "a zero": GET + HOST + b"X: a\x00b\r\n\r\n",
    "a negative length": POST + HOST + b"Content-Length: -1\r\n\r\n",
    "two lengths": POST + HOST + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    "no chunk": POST + HOST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
    "an unknown coding": POST + HOST + b"Transfer-Encoding: gzip\r\n\r\n",
}


async def test_what_is_no_http_is_refused_and_its_connection_ends():
    async with served() as port:
        for kind, sent in NO_HTTP.items():
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(sent)
            assert (await reader.read()).startswith(b"HTTP/1.1 400 "), kind
            writer.close()


CHUNKED = POST + HOST + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"
ENDLESS = {
    "a path": (b"GET /", b"a"),
    "a header": (GET + b"X: ", b"a"),
    "headers": (GET, b"X: a\r\n"),
    "a trailer": (CHUNKED + b"0\r\nX: ", b"a"),
    "trailers": (CHUNKED + b"0\r\n", b"X: a\r\n"),
    "an extension of a chunk": (CHUNKED + b"3;", b"a"),
    "headers of a second request": (post(body=b"first") + GET, b"X: a\r\n"),
}


@pytest.mark.parametrize("kind", ENDLESS)
async def test_what_surrounds_bodies_is_not_taken_without_an_end(kind):
    first, more = ENDLESS[kind]
    async with served() as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(first)
        with pytest.raises(ConnectionError):
            await send_much(writer, more * HEADER_BYTES)
        writer.close()
        assert reader is not None


async def send_much(writer, part):
    for _ in range(200):
        writer.write(part)
        await writer.drain()


async def test_a_connection_that_cannot_be_served_is_told_so(monkeypatch):
    monkeypatch.setattr("app.platform.http.server.CONNECTIONS", 3)
    async with served() as port:
        opened = [await asyncio.open_connection("127.0.0.1", port) for _ in range(3)]
        opened[0][1].write(post(body=b"abc"))
        assert (await read_answer(opened[0][0]))[0] == 503
        assert await opened[0][0].read() == b""  # which makes room
        for reader, writer in opened[1:]:
            writer.write(post(body=b"abc"))
            assert (await read_answer(reader))[2] == b"3"
        for _, writer in opened:
            writer.close()
