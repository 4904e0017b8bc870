"""A server of files: a real HTTP server on this machine that serves ranges, and misbehaves as a test chooses."""

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ssl import SSLContext
from typing import Any


@dataclass
class FileServer:
    """Serves `content` at `url`.

    Attributes:
        etag: its tag; None for none.
        ranges: whether it serves parts.
        status: what it answers instead, once for each item.
        cut_after: hangs up after this many bytes of each answer.
        hang_after: stops sending after this many bytes of each answer.
        told_length: the length that it claims; None to send the body in chunks without one.
        location: where it sends the client instead.
        headers: more headers of the file.
        asked: the headers of all requests.
    """

    port: int
    content: bytes
    scheme: str = "http"
    etag: str | None = '"one"'
    ranges: bool = True
    status: list[int] = field(default_factory=list)
    cut_after: int | None = None
    hang_after: int | None = None
    told_length: int | None = -1
    location: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    asked: list[dict[str, str]] = field(default_factory=list)
    closing: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}/table.csv?signature=1"

    def descriptor(self, **changes: Any) -> dict[str, Any]:
        """What a provider says of the file."""
        about = {"url": self.url, "size": len(self.content), "sha256": sha256(self.content).hexdigest()}
        return about | {"media_type": "text/csv"} | changes


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        files: FileServer = self.server.files
        files.asked.append({name.lower(): value for name, value in self.headers.items()})
        if files.status:
            self._plain(files.status.pop(0), {"Retry-After": "0"})
        elif files.location is not None:
            self._plain(302, {"Location": files.location})
        else:
            self._file(files)

    def _plain(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in (headers | {"Content-Length": "0"}).items():
            self.send_header(name, value)
        self.end_headers()

    def _file(self, files: FileServer) -> None:
        begin, size = self._begin(files), len(files.content)
        body = files.content[begin:]
        self.send_response(206 if begin else 200)
        if begin:
            self.send_header("Content-Range", f"bytes {begin}-{size - 1}/{size}")
        if files.etag is not None:
            self.send_header("ETag", files.etag)
        for name, value in files.headers.items():
            self.send_header(name, value)
        if files.told_length is not None:
            self.send_header("Content-Length", str(len(body) if files.told_length < 0 else files.told_length))
        self.end_headers()
        self._send(files, body)

    def _begin(self, files: FileServer) -> int:
        asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        same = self.headers.get("If-Range", files.etag) == files.etag
        return int(asked[1]) if asked and files.ranges and same else 0

    def _send(self, files: FileServer, body: bytes) -> None:
        stop = files.cut_after if files.cut_after is not None else files.hang_after
        try:
            self.wfile.write(body if stop is None else body[:stop])
            self.wfile.flush()
        except OSError:
            return
        if files.hang_after is not None and len(body) > files.hang_after:
            files.closing.wait(20)
        self.close_connection = True

    def log_message(self, *_: Any) -> None:
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: Any) -> None:
        """A client that hangs up is nothing to print."""


@contextmanager
def serving(content: bytes, tls: SSLContext | None = None) -> Iterator[FileServer]:
    """Run a server of a file on a free port."""
    server = _Server(("127.0.0.1", 0), _Handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    server.files = FileServer(server.server_address[1], content, "http" if tls is None else "https")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server.files
    finally:
        server.files.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()
