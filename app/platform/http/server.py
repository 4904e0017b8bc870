"""The HTTP server, its limits and its shutdown. A proxy in front enforces all other limits."""

import socket
import time
from typing import Final

import uvicorn
from starlette.applications import Starlette
from starlette.types import ASGIApp

from app.settings import Settings

#: Seconds for open requests when the API stops.
ANSWER_SECONDS: Final = 5

#: The number of connections from which requests are refused (503): below the usual limit of 1,024 open files.
CONNECTIONS: Final = 800

#: Seconds until a client that reads nothing is disconnected.
READ_SECONDS: Final = 30


def server_config(settings: Settings, app: ASGIApp) -> uvicorn.Config:
    """The server's configuration for an application."""
    return uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        http="h11",  # limits headers to 64 kB; httptools has no limit
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=settings.trusted_proxies or "",
        limit_concurrency=CONNECTIONS,
        # Longer than clients keep idle connections (httpx: 5 s), so that none is closed while a request is sent.
        timeout_keep_alive=15,
        timeout_graceful_shutdown=ANSWER_SECONDS,
    )


def listening_on(config: uvicorn.Config) -> socket.socket:
    """A listening socket, whose connections the kernel closes if their clients do not read.

    uvicorn would wait without end. Connections inherit the option (RFC 5482), which also counts the time
    in which clients read nothing. Only Linux has it.
    """
    listening = config.bind_socket()
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, READ_SECONDS * 1_000)
    listening.listen()
    return listening


class Server(uvicorn.Server):
    """The server.

    Asked to stop, it reports that it is not ready, but serves on until load balancers have noticed. When it stops,
    waiting callers learn at once that there is no answer yet.
    """

    def __init__(self, config: uvicorn.Config, app: Starlette, drain_seconds: float) -> None:
        super().__init__(config)
        self._aegis = app
        self._drain_seconds = drain_seconds
        self._stops_at: float | None = None

    async def on_tick(self, counter: int) -> bool:
        """Whether to stop now; called ten times per second."""
        is_asked = await super().on_tick(counter)
        if not is_asked or self.force_exit:
            return is_asked
        if self._stops_at is None:
            self._stops_at = time.monotonic() + self._drain_seconds
            self._aegis.state.aegis.ending.set()
        return time.monotonic() >= self._stops_at

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop accepting connections, and give open requests a few seconds to finish."""
        self._aegis.state.aegis.announcements.end()
        await super().shutdown(sockets)
