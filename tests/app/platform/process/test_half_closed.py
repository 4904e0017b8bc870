"""Clients that say that they send no more (RFC 9293, section 3.6), and still read."""

import asyncio

import pytest

from tests.app.platform.process.served import echo, problem, read_answer, request, served


async def slow(scope, receive, send):
    """Answer after the client's end has arrived."""
    await asyncio.sleep(0.2)
    await echo(scope, receive, send)


async def half_closed(port, sent):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(sent)
    writer.write_eof()
    return reader, writer


@pytest.mark.parametrize("application", [echo, slow])
async def test_what_was_asked_is_answered_and_then_the_connection_ends(application):
    async with served(application) as port:
        reader, writer = await half_closed(port, request(body=b"abc"))
        assert (await read_answer(reader))[2] == b"3"
        assert await reader.read() == b""
        writer.close()


async def test_all_that_was_asked_is_answered():
    async with served(slow) as port:
        asked = [request(body=b"a" * size) for size in (3, 0, 200_000)]
        reader, writer = await half_closed(port, b"".join(asked))
        assert [(await read_answer(reader))[2] for _ in asked] == [b"3", b"0", b"200000"]
        assert await reader.read() == b""
        writer.close()


@pytest.mark.parametrize("missing", [1, 29, 40, 75])
async def test_a_part_of_a_request_is_refused(missing):
    async with served() as port:
        reader, writer = await half_closed(port, request(body=b"a" * 30)[:-missing])
        assert problem(await read_answer(reader)) == (400, "malformed")
        assert await reader.read() == b""
        writer.close()


async def test_a_part_of_a_request_does_not_disturb_the_answer_before():
    async with served(slow) as port:
        reader, writer = await half_closed(port, request(body=b"abc") + b"POST / HT")
        assert (await read_answer(reader))[2] == b"3"
        assert await reader.read() == b""
        writer.close()


async def test_who_has_asked_nothing_is_told_nothing():
    async with served() as port:
        reader, writer = await half_closed(port, b"")
        assert await reader.read() == b""
        writer.close()


async def test_the_rest_of_a_body_that_was_refused_may_be_missing():
    async def refuses(_scope, _receive, send):
        await send({"type": "http.response.start", "status": 413, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"no"})

    async with served(refuses) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request(body=b"a" * 30)[:-1])
        assert (await read_answer(reader))[0] == 413
        writer.write_eof()
        assert await reader.read() == b""
        writer.close()
