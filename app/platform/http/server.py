"""The HTTP server, and how it ends."""

import socket
import time
from typing import Final

import uvicorn
from starlette.applications import Starlette

#: Seconds for requests under way once the API stops.
ANSWER_SECONDS: Final = 5


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
