"""Clients that are slow, deaf or silent, and a real service that still answers everybody else."""

import asyncio
import resource

import pytest

from app.platform.http.server import CONNECTIONS
from tests.app.platform.process.served import problem, read_answer
from tests.running import address, process

pytestmark = [pytest.mark.long, pytest.mark.processes]

HEALTH = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
UPLOAD = (
    b"POST /v1/entries HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n"
)
LARGE = b"GET /openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


@pytest.fixture(scope="module")
def port(shared_database_url):
    """Where a service listens that may have 1,024 files open, as is usual."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4_000, most), most))
    with process("api", port="0", database_url=shared_database_url) as api:
        resource.prlimit(api.pid, resource.RLIMIT_NOFILE, (1_024, most))
        yield int(address(api).rpartition(":")[2])
        assert api.poll() is None


async def connected(port):
    return await asyncio.open_connection("127.0.0.1", port)


async def health(port):
    """The status that a new client is answered."""
    reader, writer = await connected(port)
    writer.write(HEALTH)
    status, _, _ = await read_answer(reader)
    writer.close()
    return status


async def health_again(port):
    while True:
        yield await health(port)


async def slow(port, byte):
    """What an upload is told that goes on with a byte each 0.1 s, or with none; and that its connection ends then."""
    reader, writer = await connected(port)
    writer.write(UPLOAD + b"{")
    answer = asyncio.create_task(read_answer(reader))
    while not answer.done():
        writer.write(byte)
        await asyncio.sleep(0.1)
    told = problem(await answer)
    with pytest.raises(ConnectionError):
        await send_blanks(writer)
    writer.close()
    return told


async def deaf(port):
    """Ask for much, and read nothing until the service has ended the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1)
    writer.write(LARGE * 200)
    with pytest.raises(ConnectionError):
        await send_blanks(writer)
    writer.close()
    return reader


async def send_blanks(writer):
    while True:
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(0.1)


async def test_slow_bodies_and_deaf_clients_are_told_to_go_and_all_others_are_answered(port):
    hostile = asyncio.gather(slow(port, b" "), slow(port, b""), deaf(port))
    while not hostile.done():
        assert await health(port) == 200
        await asyncio.sleep(0.1)
    dripped, stopped, _ = await hostile
    assert dripped == stopped == (408, "too_slow")


async def test_more_clients_than_there_may_be_are_refused_and_served_again_once_some_have_gone(port):
    held = [await connected(port) for _ in range(CONNECTIONS)]
    assert await health(port) == 503
    held += [await connected(port) for _ in range(300)]  # more than it may have files
    for _, writer in held:
        writer.close()
        await writer.wait_closed()
    answers = health_again(port)
    assert await anext(status async for status in answers if status != 503) == 200  # once it has seen that they end
