import asyncio
from collections.abc import Awaitable, Callable, Mapping
from time import monotonic
from typing import Any, Final

import httpx
import structlog

from app.callers.identity.discovery import FRESH, answered, calling, discovered, endpoint
from app.platform.errors import IssuerUnavailableError, UnknownKeyError

_log = structlog.get_logger(__name__)

Jwk = Mapping[str, Any]
Fetch = Callable[[], Awaitable[Mapping[str, Jwk]]]

#: Keys are forgotten after so many seconds if the issuer does not answer.
FORGOTTEN: Final = 3_600.0

#: Seconds between two questions: after an answer, and after the first failure; each further failure doubles that.
APART: Final = 10.0
FIRST_WAIT: Final = 1.0
LONGEST_WAIT: Final = 60.0

_MOST_KEYS: Final = 100


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
        async with calling() as client:
            url = jwks_url or endpoint(await discovered(client, issuer), "jwks_uri")
            return keys_in(await answered(client, "GET", url))

    return fetch


def keys_in(document: Mapping[str, Any]) -> dict[str, Jwk]:
    """The keys of a JWK Set (RFC 7517) that sign: those of a pair, by their ids."""
    listed = [each for each in document["keys"][:_MOST_KEYS] if isinstance(each, dict)]
    signing = [each for each in listed if each.get("use", "sig") == "sig" and each.get("kty") in {"RSA", "EC", "OKP"}]
    return {each["kid"]: each for each in signing if isinstance(each.get("kid"), str)}
