"""A network that can be slow, cut or broken: a proxy between the service and PostgreSQL's socket."""

import asyncio
import contextlib
import threading
from pathlib import Path
from typing import Self

_CHUNK = 65_536

#: Seconds in which all connections end.
_END_SECONDS = 10.0


class Proxy:
    """Forwards connections from one socket to another, in its own thread.

    Attributes:
        delay: seconds that every part of a conversation takes in either direction.
    """

    def __init__(self, front: Path, back: Path) -> None:
        self.delay = 0.0
        self._passes = asyncio.Event()
        self._passes.set()
        self._front, self._back = front, back
        self._loop = asyncio.new_event_loop()
        self._writers: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> Self:
        """Begin to forward connections."""
        self._thread.start()
        starting = asyncio.start_unix_server(self._meet, self._front)
        self._server = asyncio.run_coroutine_threadsafe(starting, self._loop).result()
        return self

    def __exit__(self, *_: object) -> None:
        """End all connections."""
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _end(self) -> None:
        self._passes.set()
        if self._server is not None:
            self._server.close()
        self._abort()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        if others:
            await asyncio.wait(others, timeout=_END_SECONDS)

    def cut(self) -> None:
        """Let nothing arrive any more, without closing the connections."""
        self._loop.call_soon_threadsafe(self._passes.clear)

    def join(self) -> None:
        """Let everything arrive again."""
        self._loop.call_soon_threadsafe(self._passes.set)

    def reset(self) -> None:
        """Break all connections."""
        self._loop.call_soon_threadsafe(self._abort)

    def _abort(self) -> None:
        for writer in self._writers:
            writer.transport.abort()

    async def _meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there, back = await asyncio.open_unix_connection(self._back)
        except OSError:
            writer.transport.abort()
            return
        self._writers |= {writer, back}
        await asyncio.gather(self._pass(reader, back), self._pass(there, writer))
        self._writers -= {writer, back}

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while part := await reader.read(_CHUNK):
                await asyncio.sleep(self.delay)
                await self._passes.wait()
                writer.write(part)
                await writer.drain()
        await self._passes.wait()  # the end of a conversation is withheld, too
        writer.close()
