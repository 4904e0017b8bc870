"""What an issuer says about itself (OpenID Connect Discovery 1.0), and how it is called."""

import asyncio
import ssl
from collections.abc import Callable, Mapping
from functools import cache
from time import monotonic
from typing import Any, Final
from urllib.parse import urlsplit

import httpx
import structlog

from app.platform.errors import IssuerUnavailableError
from app.settings import LOOPBACK

_log = structlog.get_logger(__name__)

#: The document is fetched again after so many seconds, and not again for so many after a failure.
FRESH: Final = 600.0
WAIT: Final = 5.0

_SECONDS: Final = 5.0
_MOST_BYTES: Final = 1 << 20
_PLACE: Final = "/.well-known/openid-configuration"


class Discovery:
    """The discovery document of an issuer, fetched when it is needed and kept for a while."""

    def __init__(self, issuer: str, clock: Callable[[], float] = monotonic) -> None:
        self._issuer, self._clock = issuer, clock
        self._document: Mapping[str, Any] | None = None
        self._next = float("-inf")
        self._lock = asyncio.Lock()

    async def document(self) -> Mapping[str, Any]:
        """The document.

        Raises:
            IssuerUnavailableError: the issuer does not answer, or not as it must.
        """
        async with self._lock:
            if self._clock() >= self._next:
                await self._refresh()
        if self._document is None:
            raise IssuerUnavailableError("The issuer of tokens does not answer. Try again later, or use an API key.")
        return self._document

    async def _refresh(self) -> None:
        try:
            async with calling() as client:
                self._document = await discovered(client, self._issuer)
        except (httpx.HTTPError, httpx.InvalidURL, ValueError, KeyError, TypeError) as error:
            _log.warning("the issuer's discovery document cannot be fetched", error=type(error).__name__)
            self._document, self._next = None, self._clock() + WAIT
            return
        self._next = self._clock() + FRESH


def calling() -> httpx.AsyncClient:
    """What calls an issuer: it waits for seconds only, and goes where it was told to, and nowhere else."""
    return httpx.AsyncClient(timeout=_SECONDS, follow_redirects=False, verify=_authorities())


@cache
def _authorities() -> ssl.SSLContext:
    """The certificates that are trusted; reading them takes a while."""
    return httpx.create_ssl_context()


async def discovered(client: httpx.AsyncClient, issuer: str) -> dict[str, Any]:
    """The issuer's discovery document (section 4).

    Raises:
        ValueError: it is of another issuer.
    """
    document = await answered(client, "GET", issuer.rstrip("/") + _PLACE)
    if document["issuer"] != issuer:
        message = "the discovery document is of another issuer"
        raise ValueError(message)
    return document


def endpoint(document: Mapping[str, Any], name: str) -> str:
    """An address in a discovery document.

    Raises:
        KeyError: it has none.
        ValueError: the address is not safe.
    """
    url = document[name]
    if not isinstance(url, str) or not is_safe(url):
        message = f"{name} is not at a safe address"
        raise ValueError(message)
    return url


def is_safe(url: str) -> bool:
    """Whether nobody on the way can change what an address answers: HTTPS, or this machine itself."""
    parts = urlsplit(url)
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK)


async def answered(client: httpx.AsyncClient, method: str, url: str, **request: Any) -> dict[str, Any]:  # noqa: ANN401 -- httpx's
    """The object that an address answers, if it is not too large.

    Raises:
        httpx.HTTPStatusError: it answers an error, whose body can be read.
        ValueError: it answers no object, or too large a one.
    """
    headers = {"Accept": "application/json"}
    async with client.stream(method, url, headers=headers, **request) as answer:
        body = b""
        async for part in answer.aiter_bytes():
            body += part
            if len(body) > _MOST_BYTES:
                message = "the issuer's answer is too large"
                raise ValueError(message)
    whole = httpx.Response(answer.status_code, content=body, request=answer.request)
    whole.raise_for_status()
    document = whole.json()
    if not isinstance(document, dict):
        message = "the issuer answers no object"
        raise TypeError(message)
    return document
