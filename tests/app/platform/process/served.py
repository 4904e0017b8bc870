"""A real server on a port of its own, and what it answers to bytes."""

import asyncio
import json
from contextlib import asynccontextmanager

import uvicorn

from app.platform.http.connections import Connection


async def echo(_scope, receive, send):
    """Answer with the number of bytes of the body."""
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        size, more = size + len(message.get("body", b"")), message.get("more_body", False)
    body = str(size).encode()
    headers = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


@asynccontextmanager
async def served(application=echo, **limits):
    """The port of a server whose connections have these limits."""
    protocol = type("Limited", (Connection,), limits)
    config = uvicorn.Config(application, port=0, http=protocol, ws="none", lifespan="off", log_config=None)
    server, listening = uvicorn.Server(config), config.bind_socket()
    listening.listen()
    running = asyncio.create_task(server._serve([listening]))
    try:
        yield listening.getsockname()[1]
    finally:
        server.should_exit = server.force_exit = True
        await running
        listening.close()


async def answered(port, *parts):
    """What the server answers to bytes that are sent one after the other: status, headers, body."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        for part in parts:
            writer.write(part)
            await writer.drain()
        return await read_answer(reader)
    finally:
        writer.close()


async def read_answer(reader):
    head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in head[1:] if line)
    return int(head[0].split()[1]), headers, await reader.readexactly(int(headers["content-length"]))


def problem(answer):
    status, headers, body = answer
    assert headers["content-type"] == "application/problem+json"
    assert json.loads(body)["status"] == status
    return status, json.loads(body)["code"]


def request(*headers, body=b""):
    lines = [b"POST / HTTP/1.1", b"Host: x", b"Content-Length: %d" % len(body), *headers]
    return b"\r\n".join(lines) + b"\r\n\r\n" + body
