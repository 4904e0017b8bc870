"""The allowed form of links to delivered tables and of URLs of webhooks."""

import re
from collections.abc import Iterator
from ipaddress import ip_address
from typing import Final

import httpx

from aegis_sdk._addresses import is_public

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
