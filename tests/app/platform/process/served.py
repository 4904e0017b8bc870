"""A real server on a port of its own, set up as the service's is, and what it answers to bytes."""

import asyncio
import json
from contextlib import asynccontextmanager

import uvicorn

from app.platform.http.server import listening_on, server_config
from app.settings import Settings


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
async def served(application=echo):
    """The port of a server of this application."""
    config = server_config(Settings(port=0), application)
    config.lifespan = "off"
    server, listening = uvicorn.Server(config), listening_on(config)
    running = asyncio.create_task(server.serve([listening]))
    try:
        yield listening.getsockname()[1]
    finally:
        server.should_exit = server.force_exit = True
        await running
        listening.close()


async def read_answer(reader):
    """The next answer on a connection: status, headers, body."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in head[1:] if line)
    return int(head[0].split()[1]), headers, await reader.readexactly(int(headers["content-length"]))


def problem(answer):
    status, headers, body = answer
    assert headers["content-type"] == "application/problem+json"
    assert json.loads(body)["status"] == status
    return status, json.loads(body)["code"]
