"""A way to the database that begins late, as that of a server which still starts, or leads to one that seems old."""

import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from socketserver import BaseRequestHandler, ThreadingTCPServer
from urllib.parse import parse_qs, urlsplit


@dataclass
class Relay:
    """Leads from `url` to a database. Hangs up at once on the first connections: as many as `refused` says."""

    url: str
    refused: int


@contextmanager
def relay(database_url: str, refused: int = 0, major: bytes = rb"\g<0>") -> Iterator[Relay]:
    """Listen on a TCP port of this machine, and lead to the socket in the URL of a database.

    Args:
        major: The major version that the server says to be, of two digits.
    """
    parts = urlsplit(database_url)
    place = f"{parse_qs(parts.query)['host'][0]}/.s.PGSQL.5432"

    class Handler(BaseRequestHandler):
        def handle(self) -> None:
            if led.refused > 0:
                led.refused -= 1
                return
            with socket.socket(socket.AF_UNIX) as database:
                database.connect(place)
                back = threading.Thread(target=_pass_on, args=(database, self.request, major))
                back.start()
                _pass_on(self.request, database)
                back.join()

    with ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        host, port = server.server_address[:2]
        led = Relay(parts._replace(netloc=f"{parts.username}@{host}:{port}", query="").geturl(), refused)
        listening = threading.Thread(target=server.serve_forever, args=(0.05,))
        listening.start()
        try:
            yield led
        finally:
            server.shutdown()
            listening.join()


def _pass_on(from_: socket.socket, to: socket.socket, major: bytes = rb"\g<0>") -> None:
    """Pass on what comes from one side, until that ends; then the other has its end, too."""
    with suppress(OSError):
        while data := from_.recv(65536):
            to.sendall(re.sub(rb"(?<=server_version\0)\d\d", major, data))
    with suppress(OSError):
        to.shutdown(socket.SHUT_WR)
