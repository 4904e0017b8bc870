"""Which addresses webhooks and links may have. Names are not looked up here, but when something is sent there."""

import re
from collections.abc import Iterator
from ipaddress import ip_address

import httpx

from app.platform.errors import Fault, InvalidDocumentError
from app.webhooks.model.addresses import is_public

# What RFC 3986 lets a URL have.
_PLAIN = re.compile(r"([A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})+")
_NAME = re.compile(r"(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", re.ASCII)

#: Names that are never on the public internet (RFC 6761, 6762, 7686 and 8375, and what ICANN keeps for private use).
_PRIVATE_NAMES = ("localhost", "local", "internal", "home.arpa", "onion", "invalid", "test", "localdomain")

#: Lower ports are those of other services than the web's.
_FREE_PORTS, _HTTPS = range(1024, 65536), 443


def refuse_url(text: str, *, allow_private: bool) -> None:
    """Refuse an address that no webhook may have.

    Args:
        text: the address.
        allow_private: whether HTTP and addresses of private networks are allowed, as in development.

    Raises:
        InvalidDocumentError: with what is wrong about it.
    """
    faults = tuple(Fault("/url", detail) for detail in url_faults(text, allow_private=allow_private))
    if faults:
        raise InvalidDocumentError("A webhook cannot have this URL.", faults)


def url_faults(text: str, *, allow_private: bool) -> Iterator[str]:
    """What is wrong about an address; nothing if a public server can have it."""
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
        # Resolvers read 127.1, 0x7f.1 and 2130706433 as addresses, too.
        is_number = re.fullmatch(r"(0x[0-9a-f]*|\d+)", host.rpartition(".")[2])
        if is_number or not _NAME.fullmatch(host):
            return "The host must be a name, or an address in its usual form."
        return None if allow_private or not _is_private_name(host) else "The host must be on the public internet."
    if not allow_private and not is_public(host):
        return "The host must be on the public internet."
    return None


def _is_private_name(host: str) -> bool:
    """Whether a name has one part only, or an ending that the public internet does not have."""
    return "." not in host or any(host.endswith(f".{ending}") for ending in _PRIVATE_NAMES)
