"""Links of other people: their allowed form, and reading from them, never from a private network and never for long."""

import re
import socket
import ssl
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from types import TracebackType
from typing import Any, Final, Self

import httpcore
import httpx

from aegis_sdk._errors import AegisError

Resolve = Callable[[str, int], Sequence[str]]


# The characters of URLs (RFC 3986).
_PLAIN: Final = re.compile(r"([A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})+")
_NAME: Final = re.compile(
    r"(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", re.ASCII
)

# Domains that are never on the public internet (RFC 6761, 6762, 7686 and 8375, and ICANN's domain for private use).
_PRIVATE_NAMES: Final = ("localhost", "local", "internal", "home.arpa", "onion", "invalid", "test", "localdomain")

# Lower ports belong to services other than the web.
_FREE_PORTS, _HTTPS = range(1024, 65536), 443


def link_faults(text: str, *, allow_private: bool) -> Iterator[str]:
    """The faults of a link, one sentence each. Names are not resolved.

    Args:
        allow_private: Whether HTTP and addresses of private networks are allowed, as in development.
    """
    url = _parsed(text)
    if url is None:
        yield "Not a URL; write other characters than ASCII as %.., and names of other scripts as xn--... ."
        return
    if url.scheme != "https" and not (allow_private and url.scheme == "http"):
        yield "The URL must begin with https://."
    if "@" in re.split("[/?#]", text.partition("//")[2])[0]:
        yield "The URL cannot have a user or a password."
    if "#" in text:
        yield "The URL cannot have a fragment."
    if url.port not in {None, _HTTPS, *_FREE_PORTS}:
        yield f"The port must be {_HTTPS}, or from {_FREE_PORTS.start} to {_FREE_PORTS.stop - 1}."
    if (problem := _host_problem(url.raw_host.decode("ascii").lower(), allow_private=allow_private)) is not None:
        yield problem


def _parsed(text: str) -> httpx.URL | None:
    if not _PLAIN.fullmatch(text):
        return None
    try:
        return httpx.URL(text)
    except (httpx.InvalidURL, ValueError):
        return None


def _host_problem(host: str, *, allow_private: bool) -> str | None:
    try:
        ip_address(host)
    except ValueError:
        # Resolvers also accept 127.1, 0x7f.1 and 2130706433 as addresses.
        is_number = re.fullmatch(r"(0x[0-9a-f]*|\d+)", host.rpartition(".")[2])
        if is_number or not _NAME.fullmatch(host):
            return "The host must be a name, or an address in its usual form."
        is_private = "." not in host or any(host.endswith(f".{ending}") for ending in _PRIVATE_NAMES)
        return "The host must be on the public internet." if is_private and not allow_private else None
    if not allow_private and not is_public(host):
        return "The host must be on the public internet."
    return None


# Global unicast addresses (RFC 4291, section 2.4).
_UNICAST = IPv6Network("2000::/3")

# Addresses of protocols, tunnel relays and documentation (RFC 6890, 7526, 9637), which older versions of Python lack.
_SPECIAL = (IPv4Network("192.0.0.0/24"), IPv4Network("192.88.99.0/24"), IPv6Network("3fff::/20"))

# The prefix of translated IPv4 addresses (NAT64, RFC 6052).
_TRANSLATED = IPv6Network("64:ff9b::/96")


def is_public(text: str) -> bool:
    """Whether an address belongs to a single machine on the public internet."""
    try:
        address = ip_address(text)
    except ValueError:
        return False
    if any(address in network for network in _SPECIAL):
        return False
    if isinstance(address, IPv6Address):
        # An embedded IPv4 address decides: translated, mapped or tunnelled (6to4).
        embedded = address.ipv4_mapped or address.sixtofour
        if address in _TRANSLATED:
            embedded = IPv4Address(int(address) & 0xFFFFFFFF)
        if embedded is not None:
            return is_public(str(embedded))
        return address.is_global and address in _UNICAST
    return address.is_global and not (address.is_multicast or address.is_reserved)


class ConnectionDeadline:
    """Closes connections from another thread when the time is up.

    The time-out of a socket restarts with each byte, so a server that drips headers, early hints or chunk framing could
    block a client without end.
    """

    def __init__(self, seconds: float) -> None:
        self.has_passed = False
        self._lines: list[socket.socket] = []
        self._lock = threading.Lock()
        self._timer = self._started(seconds)

    def __enter__(self) -> Self:
        """Return the running deadline."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Stop it."""
        self._timer.cancel()
        with self._lock:
            for line in self._lines:
                line.close()
            self._lines.clear()

    def holds_for(self, line: socket.socket) -> None:
        """Close this connection, too. TLS takes over the socket itself, so the deadline has a duplicate of it."""
        with self._lock:
            self._lines.append(line.dup())
        if self.has_passed:
            self._cut()

    def move(self, seconds: float) -> None:
        """Move the deadline to this number of seconds from now, unless it has passed."""
        self._timer.cancel()
        self._timer = self._started(seconds)

    def _started(self, seconds: float) -> threading.Timer:
        timer = threading.Timer(seconds, self._cut)
        timer.daemon = True
        timer.start()
        return timer

    def _cut(self) -> None:
        with self._lock:
            self.has_passed = True
            for line in self._lines:
                with suppress(OSError):  # already closed
                    line.shutdown(socket.SHUT_RDWR)


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

    def __init__(self, resolve: Resolve, *, allow_private: bool, deadline: ConnectionDeadline | None = None) -> None:
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
    deadline: ConnectionDeadline


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
        with ConnectionDeadline(self._begin) as deadline:
            try:
                yield from self._read(url, headers, deadline)
            except (httpcore.NetworkError, httpcore.ProtocolError) as error:
                if deadline.has_passed:
                    raise httpcore.ReadTimeout("it does not answer in time") from error
                raise

    def _read(self, url: str, headers: Mapping[str, str], deadline: ConnectionDeadline) -> Iterator[Answered]:
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
        name = target.raw_host.decode("ascii").removesuffix(".")
        is_name = len(name) <= _LONGEST_HOST and all(map(_LABEL.fullmatch, name.split(".")))
        if ":" not in name and not is_name:  # else an IPv6 address
            raise LinkError("the host of the link is not a valid name")
        return target


def _joined(url: httpx.URL, location: str | None) -> str:
    try:
        return str(url.join(location or ""))
    except (httpx.InvalidURL, ValueError):
        raise LinkError("the link redirects to something that is not a URL") from None
