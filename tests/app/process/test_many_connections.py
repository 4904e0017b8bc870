"""More clients than there may be: who waits for nothing makes room for who asks."""

import asyncio
import resource

import pytest

from app.process.connections import CONNECTIONS
from tests.app.process.served import answered, echo, problem, read_answer, request, served


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
