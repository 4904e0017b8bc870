"""More clients than there may be: who waits for nothing makes room for who asks."""

import asyncio
import resource

import pytest

from app.platform.http.connections import CONNECTIONS
from tests.app.platform.process.served import answered, echo, problem, read_answer, request, served


async def connected(port, number):
    return [await asyncio.open_connection("127.0.0.1", port) for _ in range(number)]


async def ask(connection, body):
    reader, writer = connection
    writer.write(request(body=body))
    return (await read_answer(reader))[2]


def close(connections):
    for _, writer in connections:
        writer.close()


async def test_a_new_client_is_served_instead_of_the_one_that_has_waited_longest():
    async with served(connections_at_most=2) as port:
        first, second = await connected(port, 2)
        assert [await ask(first, b"abc"), await ask(second, b"abcd"), await ask(first, b"a")] == [b"3", b"4", b"1"]
        (third,) = await connected(port, 1)
        assert await second[0].read() == b""
        assert [await ask(first, b"abc"), await ask(third, b"abcd")] == [b"3", b"4"]
        close([first, second, third])


async def test_whoever_has_sent_a_part_of_a_request_is_told_why_it_ends():
    async with served(connections_at_most=1) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request(body=b"abc") + b"POST / HTTP/1.1\r\nX: ")
        assert (await read_answer(reader))[2] == b"3"
        assert (await answered(port, request(body=b"abcd")))[2] == b"4"
        ended = await read_answer(reader)
        assert problem(ended) == (503, "overloaded")
        assert ended[1]["retry-after"] == "1"
        writer.close()


async def test_if_all_are_being_answered_a_new_client_is_refused():
    may_answer = asyncio.Event()

    async def slow(scope, receive, send):
        begun.release()
        await may_answer.wait()
        await echo(scope, receive, send)

    begun = asyncio.Semaphore(0)
    async with served(slow, connections_at_most=2) as port:
        busy = await connected(port, 2)
        asking = [asyncio.create_task(ask(one, b"abc")) for one in busy]
        for _ in busy:
            await begun.acquire()
        refused = await answered(port)
        assert problem(refused) == (503, "overloaded")
        assert refused[1]["retry-after"] == "1"
        may_answer.set()
        assert await asyncio.gather(*asking) == [b"3", b"3"]
        close(busy)


async def refuses(_scope, _receive, send):
    """Answer without reading the body."""
    await send({"type": "http.response.start", "status": 401, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"no"})


async def head_sent(port, *headers):
    """A connection on which all of a request is sent but its body of nine bytes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request(*headers, body=b"123456789")[:-9])
    return reader, writer


async def test_whoever_was_answered_before_its_whole_request_arrived_gives_way():
    async with served(refuses, connections_at_most=2, lingering_seconds=600) as port:
        lingering = []
        for _ in range(9):
            lingering.append(await head_sent(port))
            assert (await read_answer(lingering[-1][0]))[0] == 401
        close(lingering)


async def test_whoever_was_refused_gives_way():
    async with served(connections_at_most=1, lingering_seconds=600) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request()[:-2] + b"no header\r\n\r\n")
        assert problem(await read_answer(reader)) == (400, "malformed")
        assert (await answered(port, request(body=b"abcd")))[2] == b"4"
        writer.close()


async def test_a_body_that_does_not_begin_gives_way_and_one_that_has_begun_does_not():
    received = asyncio.Queue()

    async def noted(scope, receive, send):
        async def noting():
            message = await receive()
            received.put_nowait(message)
            return message

        received.put_nowait(None)  # the request has arrived but for its body
        await echo(scope, noting, send)

    async with served(noted, connections_at_most=2) as port:
        begun, empty = await head_sent(port), await head_sent(port)
        begun[1].write(b"1")
        assert [bool(await received.get()) for _ in range(3)].count(True) == 1
        assert (await answered(port, request(body=b"abcd")))[2] == b"4"
        assert problem(await read_answer(empty[0])) == (503, "overloaded")
        begun[1].write(b"23456789")
        assert (await read_answer(begun[0]))[2] == b"9"
        close([begun, empty])


async def test_a_body_that_the_service_has_not_asked_for_does_not_give_way():
    begun, may_read = asyncio.Event(), asyncio.Event()

    async def late(scope, receive, send):
        begun.set()
        await may_read.wait()
        await echo(scope, receive, send)

    async with served(late, connections_at_most=1) as port:
        reader, writer = await head_sent(port, b"Expect: 100-continue")
        await begun.wait()
        assert problem(await answered(port)) == (503, "overloaded")
        may_read.set()
        assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
        writer.write(b"123456789")
        assert (await read_answer(reader))[2] == b"9"
        writer.close()


@pytest.mark.long
async def test_of_a_thousand_idle_connections_the_oldest_end_and_all_others_are_served():
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4_000, most), most))
    async with served() as port:
        opened = await connected(port, 1_000)
        ended = opened[: 1_000 - CONNECTIONS]
        assert [await reader.read() for reader, _ in ended] == [b""] * len(ended)
        for one in opened[len(ended) :]:
            assert await ask(one, b"abc") == b"3"
        close(opened)
