"""Reading from other people's links: never from a private network, and never for long without progress."""

import re
import socket
import ssl
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import httpcore
import httpx

from aegis_sdk._addresses import is_public
from aegis_sdk._deadlines import Deadline
from aegis_sdk._errors import AegisError

Resolve = Callable[[str, int], Sequence[str]]

_REDIRECTS: Final = (301, 302, 303, 307, 308)
_MOST_REDIRECTS: Final = 5
_LONGEST_HOST: Final = 253
_LABEL: Final = re.compile(r"[A-Za-z0-9_-]{1,63}", re.ASCII)


class LinkError(AegisError):
    """A link is unusable, also on a second try."""


class RefusedAddressError(LinkError):
    """A name resolves to an address that is not on the public internet."""


class CheckedNetwork(httpcore.NetworkBackend):
    """Resolves names, checks all their addresses, and connects to one of these.

    It connects to the checked address itself, so changing the name's address in between has no effect.
    """

    def __init__(self, resolve: Resolve, *, allow_private: bool, deadline: Deadline | None = None) -> None:
        self._resolve, self._allow_private, self._deadline = resolve, allow_private, deadline
        self._network = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """Connect to the first reachable address of a name.

        Raises:
            RefusedAddressError: One of its addresses is not public. httpcore.ConnectError: The name has no address, or
            none is reachable.
        """
        addresses = _within(timeout, lambda: self._resolve(host, port))
        if not self._allow_private and not all(map(is_public, addresses)):
            raise RefusedAddressError(
                f"{host} is not on the public internet, so nothing is read from it "
                "(AEGIS_LINKS_ALLOW_PRIVATE=true allows it, for development)"
            )
        error: Exception = httpcore.ConnectError(f"{host} has no address")
        for address in addresses:
            if self._deadline is not None and self._deadline.has_passed:
                raise httpcore.ConnectTimeout("none of its addresses answered in time")
            try:
                stream = self._network.connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as failed:
                error = failed
                continue
            if self._deadline is not None:
                self._deadline.holds_for(stream.get_extra_info("socket"))
            return stream
        raise error


def addresses_of(host: str, port: int) -> Sequence[str]:
    """All addresses of a name, as this machine resolves it."""
    resolved = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in resolved))


def _within(seconds: float | None, look_up: Callable[[], Sequence[str]]) -> Sequence[str]:
    """Resolve a name within some seconds: the system's own limit can be minutes."""
    looked_up: list[Sequence[str]] = []
    failures: list[Exception] = []

    def run() -> None:
        try:
            looked_up.append(look_up())
        except (OSError, ValueError) as error:  # resolvers refuse some names with a UnicodeError
            failures.append(error)

    looking = threading.Thread(target=run, daemon=True)
    looking.start()
    looking.join(seconds)
    if looked_up:
        return looked_up[0]
    raise httpcore.ConnectError(str(failures[0])) if failures else httpcore.ConnectTimeout("the name was not resolved")


@dataclass(frozen=True)
class Answered:
    """The response of a link: status, headers by lower-case name, and body in parts.

    The connection is closed at the deadline, which can be moved.
    """

    status: int
    headers: Mapping[str, str]
    parts: Iterator[bytes]
    deadline: Deadline


class Links:
    """Reads from links by HTTPS, without a proxy. Follows redirects after the same checks.

    Args:
        allow_private: Whether addresses of private networks and HTTP are allowed, as in development.
        connect: Seconds to resolve a name and to connect.
        read: Seconds to wait for each part of a response.
        begin: Seconds until the headers of the final response, with all redirects.
        resolve: Resolves a name; by default, this machine's resolver.
        tls: Settings for certificates; by default, those of httpx.
    """

    def __init__(
        self,
        *,
        allow_private: bool,
        connect: float = 10.0,
        read: float = 30.0,
        begin: float = 60.0,
        resolve: Resolve = addresses_of,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._allow_private = allow_private
        self._resolve, self._begin = resolve, begin
        self._timeouts = {"connect": connect, "read": read, "write": read, "pool": connect}
        self._tls = tls or httpx.create_ssl_context()

    @contextmanager
    def read(self, url: str, headers: Mapping[str, str]) -> Iterator[Answered]:
        """Open a link, following redirects.

        Raises:
            LinkError: The link, or one that it redirects to, may not be read. httpcore.NetworkError: Nothing could be
                read; likewise the other errors of httpcore.
        """
        with Deadline(self._begin) as deadline:
            try:
                yield from self._read(url, headers, deadline)
            except (httpcore.NetworkError, httpcore.ProtocolError) as error:
                if deadline.has_passed:
                    raise httpcore.ReadTimeout("it does not answer in time") from error
                raise

    def _read(self, url: str, headers: Mapping[str, str], deadline: Deadline) -> Iterator[Answered]:
        network = CheckedNetwork(self._resolve, allow_private=self._allow_private, deadline=deadline)
        with httpcore.ConnectionPool(ssl_context=self._tls, network_backend=network) as pool:
            for _ in range(_MOST_REDIRECTS + 1):
                target = self._checked(url)
                sent = {"host": target.netloc.decode("ascii"), "accept-encoding": "identity", **headers}
                place = httpcore.URL(
                    scheme=target.raw_scheme, host=target.raw_host, port=target.port, target=target.raw_path
                )
                with pool.stream(
                    "GET",
                    place,
                    headers=[(name.encode("ascii"), value.encode("ascii")) for name, value in sent.items()],
                    extensions={"timeout": self._timeouts},
                ) as answer:
                    received = {
                        name.decode("latin-1").lower(): value.decode("latin-1") for name, value in answer.headers
                    }
                    if answer.status not in _REDIRECTS:
                        yield Answered(answer.status, received, answer.iter_stream(), deadline)
                        return
                    url = _joined(target, received.get("location"))
        raise LinkError("too many redirects")

    def _checked(self, url: str) -> httpx.URL:
        """The link if its form is allowed; its address is checked on connecting."""
        try:
            target = httpx.URL(url)
            host = target.host  # raises an error for an invalid name
        except (httpx.InvalidURL, ValueError):
            raise LinkError("the link is not a URL") from None
        if target.scheme != "https" and not (self._allow_private and target.scheme == "http"):
            raise LinkError(
                "the link must begin with https:// (AEGIS_LINKS_ALLOW_PRIVATE=true allows HTTP, for development)"
            )
        if not host or target.userinfo:
            raise LinkError("the link must have a host and no user")
        if not _is_host(target.raw_host.decode("ascii")):
            raise LinkError("the host of the link is not a valid name")
        return target


def _is_host(host: str) -> bool:
    """Whether a host is an IPv6 address, or a name with labels of valid length."""
    if ":" in host:
        return True
    name = host.removesuffix(".")
    return len(name) <= _LONGEST_HOST and all(map(_LABEL.fullmatch, name.split(".")))


def _joined(url: httpx.URL, location: str | None) -> str:
    try:
        return str(url.join(location or ""))
    except (httpx.InvalidURL, ValueError):
        raise LinkError("the link redirects to something that is not a URL") from None
