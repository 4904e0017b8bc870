"""Clients that are slow, deaf or silent, and a real service that still answers everybody else."""

import asyncio
import resource
import time

import pytest

from app.platform.http.connections import CONNECTIONS
from tests.app.platform.process.served import problem, read_answer
from tests.running import address, process

pytestmark = [pytest.mark.long, pytest.mark.processes]

HEALTH = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
UPLOAD = (
    b"POST /v1/entries HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n"
)
SIGN_IN = (
    b"POST /sign-in HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-www-form-urlencoded\r\n"
    b"Content-Length: 99\r\n\r\n"
)
NOWHERE = b"POST /nowhere HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99\r\n\r\n"
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


async def is_healthy(port):
    reader, writer = await connected(port)
    writer.write(HEALTH)
    writer.write_eof()
    status, _, _ = await read_answer(reader)
    assert await reader.read() == b""
    writer.close()
    return status == 200


async def dripped(port, head):
    """What a client is told that sends a byte each 0.1 s after its first bytes, and how long it took."""
    reader, writer = await connected(port)
    writer.write(head)
    answer, start = asyncio.create_task(read_answer(reader)), time.monotonic()
    while not answer.done():
        writer.write(b"a")
        await asyncio.sleep(0.1)
    writer.close()
    return problem(await answer), time.monotonic() - start


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


async def test_slow_and_deaf_clients_are_told_to_go_and_all_others_are_answered(port):
    slow = asyncio.gather(dripped(port, HEALTH[:-2] + b"X: "), dripped(port, UPLOAD), deaf(port))
    while not slow.done():
        assert await is_healthy(port)
        await asyncio.sleep(0.1)
    (in_headers, first), (in_body, second), _ = await slow
    assert (in_headers, in_body) == ((408, "too_slow"), (408, "too_slow"))
    assert min(first, second) > 10  # who is only a little slow is waited for


async def test_a_thousand_idle_connections_keep_nobody_out(port):
    idle = [await connected(port) for _ in range(1_000)]
    assert await is_healthy(port)
    ended = idle[: 1_001 - CONNECTIONS]
    assert [await reader.read() for reader, _ in ended] == [b""] * len(ended)
    assert not any(reader.at_eof() for reader, _ in idle[len(ended) :])
    for _, writer in idle:
        writer.close()


@pytest.mark.parametrize("head", [NOWHERE, SIGN_IN], ids=["answered early", "read first"])
async def test_a_thousand_requests_without_their_bodies_keep_nobody_out(port, head):
    held = []
    for _ in range(1_000):
        held.append(await connected(port))
        held[-1][1].write(head)
    assert await is_healthy(port)
    for _, writer in held:
        writer.close()
