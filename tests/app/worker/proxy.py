"""A way to the test's database that can be cut, so that the database is gone for one process and for no other."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from urllib.parse import parse_qs, urlsplit

#: Seconds in which what was accepted gets its transport.
_CLOSED_AFTER = 0.05


class Proxy:
    """Passes bytes between TCP connections on loopback and a server's socket."""

    def __init__(self, url: str) -> None:
        self._parts = urlsplit(url)
        place = parse_qs(self._parts.query)
        self._socket = f"{place['host'][0]}/.s.PGSQL.{place['port'][0]}"
        self._writers: list[asyncio.StreamWriter] = []
        self._passing: set[asyncio.Task[None] | None] = set()
        self._is_hanging = self._is_cut = False

    async def start(self) -> str:
        """Begin; return the URL of the same database by this way."""
        self._server = await asyncio.start_server(self._pass, "127.0.0.1", 0)
        port = self._server.sockets[0].getsockname()[1]
        return f"postgresql://{self._parts.username}@127.0.0.1:{port}{self._parts.path}"

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._passing.add(asyncio.current_task())
        self._writers.append(writer)
        inner_reader, inner_writer = await asyncio.open_unix_connection(self._socket)
        self._writers.append(inner_writer)
        if self._is_cut:  # meanwhile
            inner_writer.transport.abort()
        await asyncio.gather(self._copy(reader, inner_writer), self._copy(inner_reader, writer))

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(65536):
                if not self._is_hanging:
                    writer.write(data)
        writer.close()

    def hang(self) -> None:
        """From now on, pass nothing: connections stay, and nobody answers."""
        self._is_hanging = True

    def cut(self) -> None:
        """Break all connections, and accept no others."""
        self._is_cut, loop = True, asyncio.get_running_loop()
        # asyncio leaks a connection that it has accepted if its server closes before that has a transport.
        for listening in self._server.sockets:
            loop.remove_reader(listening.fileno())
        loop.call_later(_CLOSED_AFTER, self._server.close)
        for writer in self._writers:
            writer.transport.abort()

    async def end(self) -> None:
        """The same, and wait until all of them are closed."""
        self.cut()
        await asyncio.sleep(2 * _CLOSED_AFTER)
        if self._passing:
            await asyncio.wait([task for task in self._passing if task is not None], timeout=10)


@asynccontextmanager
async def proxied(url: str) -> AsyncIterator[tuple[Proxy, str]]:
    """Yield a way to this database, and the URL by it."""
    proxy = Proxy(url)
    try:
        yield proxy, await proxy.start()
    finally:
        await proxy.end()
