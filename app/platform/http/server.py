"""The HTTP server, what it limits itself, and how it ends. A proxy in front limits the rest."""

import socket
import time
from typing import Final

import uvicorn
from starlette.applications import Starlette
from starlette.types import ASGIApp

from app.settings import Settings

#: Seconds for requests under way once the API stops.
ANSWER_SECONDS: Final = 5

#: From so many connections on, requests are refused (503): fewer than the 1,024 files that a process may usually open.
CONNECTIONS: Final = 800

#: Seconds after which a client is disconnected that reads nothing of its answers.
READ_SECONDS: Final = 30


def server_config(settings: Settings, app: ASGIApp) -> uvicorn.Config:
    """How an application is served."""
    return uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        http="h11",  # it limits headers to 64 kB, and httptools to nothing
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=settings.trusted_proxies or "",
        limit_concurrency=CONNECTIONS,
        # Longer than clients keep idle connections (httpx: 5 s), so that they are not closed as a request is sent.
        timeout_keep_alive=15,
        timeout_graceful_shutdown=ANSWER_SECONDS,
    )


def listening_on(config: uvicorn.Config) -> socket.socket:
    """A socket that listens, whose connections the kernel ends if their clients do not read.

    uvicorn would wait for ever. Connections inherit the option (RFC 5482), which also counts the time in which clients
    take nothing. Only Linux has it.
    """
    listening = config.bind_socket()
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, READ_SECONDS * 1_000)
    listening.listen()
    return listening


class Server(uvicorn.Server):
    """The server. When it is asked to end, it is not ready any more, and goes on for the seconds that load balancers
    need to notice. When it stops, it tells at once whoever waits for an answer that there is none yet.
    """

    def __init__(self, config: uvicorn.Config, app: Starlette, drain_seconds: float) -> None:
        super().__init__(config)
        self._aegis = app
        self._drain_seconds = drain_seconds
        self._stops_at: float | None = None

    async def on_tick(self, counter: int) -> bool:
        """Whether to stop now; asked ten times in a second."""
        is_asked = await super().on_tick(counter)
        if not is_asked or self.force_exit:
            return is_asked
        if self._stops_at is None:
            self._stops_at = time.monotonic() + self._drain_seconds
            self._aegis.state.aegis.ending.set()
        return time.monotonic() >= self._stops_at

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop accepting connections, and give requests a few seconds to end."""
        self._aegis.state.aegis.announcements.end()
        await super().shutdown(sockets)
