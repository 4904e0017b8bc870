import asyncio
from collections.abc import Awaitable, Callable, Mapping
from time import monotonic
from typing import Any, Final
from urllib.parse import urlsplit

import httpx
import structlog

from app.domain.errors import IssuerUnavailableError, UnknownKeyError
from app.settings import LOOPBACK

_log = structlog.get_logger(__name__)

Jwk = Mapping[str, Any]
Fetch = Callable[[], Awaitable[Mapping[str, Jwk]]]

#: Keys are asked for again after so many seconds, and forgotten after so many if the issuer does not answer.
FRESH: Final = 600.0
FORGOTTEN: Final = 3_600.0

#: Seconds between two questions: after an answer, and after the first failure; each further failure doubles that.
APART: Final = 10.0
FIRST_WAIT: Final = 1.0
LONGEST_WAIT: Final = 60.0

_SECONDS: Final = 5.0
_MOST_BYTES: Final = 1 << 20
_MOST_KEYS: Final = 100
_DISCOVERY: Final = "/.well-known/openid-configuration"


class IssuerKeys:
    """The public keys of an issuer by their ids (`kid`), fetched when they are needed.

    An unknown id may be that of a new key, so it makes the keys be fetched again: once, and not before the last time is
    a while ago. Whoever invents ids can therefore not make this service call the issuer all the time.
    """

    def __init__(self, fetch: Fetch, clock: Callable[[], float] = monotonic) -> None:
        self._fetch, self._clock = fetch, clock
        self._keys: Mapping[str, Jwk] = {}
        self._fetched = self._next = float("-inf")
        self._wait = FIRST_WAIT
        self._lock = asyncio.Lock()

    async def key(self, kid: str) -> Jwk:
        """The key with this id.

        Raises:
            UnknownKeyError: the issuer has no such key.
            IssuerUnavailableError: no key is known, because the issuer does not answer.
        """
        if not self._may_answer(kid):
            async with self._lock:
                if not self._may_answer(kid) and self._clock() >= self._next:
                    await self._refresh()
        if self._clock() - self._fetched > FORGOTTEN:
            raise IssuerUnavailableError("The issuer of tokens does not answer. Try again later, or use an API key.")
        if kid not in self._keys:
            raise UnknownKeyError("This token is signed by a key that its issuer does not have.")
        return self._keys[kid]

    def _may_answer(self, kid: str) -> bool:
        return kid in self._keys and self._clock() - self._fetched <= FRESH

    async def _refresh(self) -> None:
        try:
            self._keys = await self._fetch()
        except (httpx.HTTPError, httpx.InvalidURL, ValueError, KeyError, TypeError) as error:
            _log.warning("the issuer's keys cannot be fetched", error=type(error).__name__)
            self._next, self._wait = self._clock() + self._wait, min(2 * self._wait, LONGEST_WAIT)
            return
        self._fetched = self._clock()
        self._next, self._wait = self._fetched + APART, FIRST_WAIT


def fetching(issuer: str, jwks_url: str | None) -> Fetch:
    """What fetches the keys of an issuer: from this address, or from the one that the issuer's discovery names."""

    async def fetch() -> Mapping[str, Jwk]:
        async with httpx.AsyncClient(timeout=_SECONDS, follow_redirects=False) as client:
            url = jwks_url or await _discovered(client, issuer)
            return keys_in(await _json(client, url))

    return fetch


def keys_in(document: Mapping[str, Any]) -> dict[str, Jwk]:
    """The keys of a JWK Set (RFC 7517) that sign: those of a pair, by their ids."""
    listed = [each for each in document["keys"][:_MOST_KEYS] if isinstance(each, dict)]
    signing = [each for each in listed if each.get("use", "sig") == "sig" and each.get("kty") in {"RSA", "EC", "OKP"}]
    return {each["kid"]: each for each in signing if isinstance(each.get("kid"), str)}


def is_safe(url: str) -> bool:
    """Whether nobody on the way can change what an address answers: HTTPS, or this machine itself."""
    parts = urlsplit(url)
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK)


async def _discovered(client: httpx.AsyncClient, issuer: str) -> str:
    """The address of the issuer's keys (OpenID Connect Discovery 1.0, section 4)."""
    document = await _json(client, issuer.rstrip("/") + _DISCOVERY)
    url = document["jwks_uri"]
    if document["issuer"] != issuer or not isinstance(url, str) or not is_safe(url):
        message = "the discovery document is of another issuer, or its keys are not at a safe address"
        raise ValueError(message)
    return url


async def _json(client: httpx.AsyncClient, url: str) -> dict[str, Any]:
    """The object at an address, if it is not too large."""
    async with client.stream("GET", url, headers={"Accept": "application/json"}) as answer:
        answer.raise_for_status()
        body = b""
        async for part in answer.aiter_bytes():
            body += part
            if len(body) > _MOST_BYTES:
                message = "the issuer's answer is too large"
                raise ValueError(message)
    document: dict[str, Any] = httpx.Response(200, content=body).json()
    return document
