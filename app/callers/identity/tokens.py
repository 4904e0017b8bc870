"""Tokens of an issuer (OpenID Connect): its discovery document (Discovery 1.0), its keys, and who holds a token."""

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from time import monotonic
from typing import Any, Final
from urllib.parse import urlsplit

import httpx
import jwt
import structlog

from app.platform.callers import LONGEST_TENANT, Caller, Role, is_tenant_name
from app.platform.errors import IssuerUnavailableError, RoleNotAllowedError, UnknownKeyError
from app.settings import LOOPBACK

_log = structlog.get_logger(__name__)

#: Seconds until the document is fetched again, and until the next attempt after a failure.
FRESH: Final = 600.0
WAIT: Final = 5.0

_SECONDS: Final = 5.0
_MOST_BYTES: Final = 1 << 20
_PLACE: Final = "/.well-known/openid-configuration"


class Discovery:
    """The discovery document of an issuer, fetched on demand and cached."""

    def __init__(self, issuer: str, clock: Callable[[], float] = monotonic) -> None:
        self._issuer, self._clock = issuer, clock
        self._document: Mapping[str, Any] | None = None
        self._next = float("-inf")
        self._lock = asyncio.Lock()

    async def document(self) -> Mapping[str, Any]:
        """The document.

        Raises:
            IssuerUnavailableError: the issuer does not respond, or its response is invalid.
        """
        async with self._lock:
            if self._clock() >= self._next:
                await self._refresh()
        if self._document is None:
            raise IssuerUnavailableError("The issuer of tokens does not respond. Try again later, or use an API key.")
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
    """The HTTP client for an issuer, with a short timeout and without redirects."""
    return httpx.AsyncClient(timeout=_SECONDS, follow_redirects=False, verify=_authorities())


@cache
def _authorities() -> ssl.SSLContext:
    """The trusted certificates; loading them is slow."""
    return httpx.create_ssl_context()


async def discovered(client: httpx.AsyncClient, issuer: str) -> dict[str, Any]:
    """The issuer's discovery document (section 4).

    Raises:
        ValueError: the document is from another issuer.
    """
    document = await answered(client, "GET", issuer.rstrip("/") + _PLACE)
    if document["issuer"] != issuer:
        message = "the discovery document is from another issuer"
        raise ValueError(message)
    return document


def endpoint(document: Mapping[str, Any], name: str) -> str:
    """An address in a discovery document.

    Raises:
        KeyError: the document has no such address.
        ValueError: the address is not safe.
    """
    url = document[name]
    if not isinstance(url, str) or not is_safe(url):
        message = f"{name} is not at a safe address"
        raise ValueError(message)
    return url


def is_safe(url: str) -> bool:
    """Whether responses cannot be changed on the way: HTTPS, or this machine itself."""
    parts = urlsplit(url)
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK)


async def answered(client: httpx.AsyncClient, method: str, url: str, **request: Any) -> dict[str, Any]:  # noqa: ANN401 -- httpx's
    """The JSON object that an address returns, limited in size.

    Raises:
        httpx.HTTPStatusError: an error response, whose body can be read.
        ValueError: the response is not an object, or is too large.
    """
    headers = {"Accept": "application/json"}
    async with client.stream(method, url, headers=headers, **request) as answer:
        body = b""
        async for part in answer.aiter_bytes():
            body += part
            if len(body) > _MOST_BYTES:
                message = "the issuer's response is too large"
                raise ValueError(message)
    whole = httpx.Response(answer.status_code, content=body, request=answer.request)
    whole.raise_for_status()
    document = whole.json()
    if not isinstance(document, dict):
        message = "the issuer's response is not an object"
        raise TypeError(message)
    return document


Jwk = Mapping[str, Any]
Fetch = Callable[[], Awaitable[Mapping[str, Jwk]]]

#: Seconds after which keys are dropped if the issuer does not respond.
FORGOTTEN: Final = 3_600.0

#: Seconds until the next fetch, after a success and after the first failure; further failures double it.
APART: Final = 10.0
FIRST_WAIT: Final = 1.0
LONGEST_WAIT: Final = 60.0

_MOST_KEYS: Final = 100


class IssuerKeys:
    """The public keys of an issuer by their ids (`kid`), fetched on demand.

    An unknown id may be that of a new key, so the keys are fetched again, but only some time after the last fetch.
    Invented ids therefore cannot make this service call the issuer all the time.
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
            IssuerUnavailableError: no key is known, because the issuer does not respond.
        """
        if not self._may_answer(kid):
            async with self._lock:
                if not self._may_answer(kid) and self._clock() >= self._next:
                    await self._refresh()
        if self._clock() - self._fetched > FORGOTTEN:
            raise IssuerUnavailableError("The issuer of tokens does not respond. Try again later, or use an API key.")
        if kid not in self._keys:
            raise UnknownKeyError("This token is signed with a key that its issuer does not have.")
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
    """A function that fetches the issuer's keys from `jwks_url`, by default the one in its discovery document."""

    async def fetch() -> Mapping[str, Jwk]:
        async with calling() as client:
            url = jwks_url or endpoint(await discovered(client, issuer), "jwks_uri")
            return keys_in(await answered(client, "GET", url))

    return fetch


def keys_in(document: Mapping[str, Any]) -> dict[str, Jwk]:
    """The asymmetric signing keys of a JWK Set (RFC 7517) by their ids."""
    listed = [key for key in document["keys"][:_MOST_KEYS] if isinstance(key, dict)]
    signing = [key for key in listed if key.get("use", "sig") == "sig" and key.get("kty") in {"RSA", "EC", "OKP"}]
    return {key["kid"]: key for key in signing if isinstance(key.get("kid"), str)}


#: The algorithms that may be trusted: asymmetric ones, so that verifying a token does not allow making one.
ALGORITHMS: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")


@dataclass(frozen=True, slots=True)
class Trust:
    """The trusted issuer, and how its tokens describe their holder.

    Attributes:
        audience: the required `aud`: this service.
        algorithms: the accepted signature algorithms.
        leeway: the allowed clock difference in seconds.
        tenant_claim: the claim with the tenant's name; a dot leads into an object.
        roles_claim: the claim with the names of roles: a list, or a text separated by spaces.
        roles: the role of each name; other names are ignored.
    """

    issuer: str
    audience: str
    algorithms: Sequence[str]
    leeway: float
    tenant_claim: str
    roles_claim: str
    roles: Mapping[str, Role]


def _at(claims: Mapping[str, Any], path: str) -> object:
    """The value at a dotted path; a claim whose own name has dots comes first."""
    if path in claims:
        return claims[path]
    first, _, rest = path.partition(".")
    inner = claims.get(first)
    return _at(inner, rest) if rest and isinstance(inner, dict) else None


#: A longer token is refused unread. Those of large companies have a few thousand characters.
MOST_CHARACTERS: Final = 8_192

#: OpenID Connect Core 1.0, section 2: a subject has at most 255 characters.
LONGEST_SUBJECT: Final = 255

#: The last second that a `datetime` can have.
_LAST: Final = int(datetime.max.replace(tzinfo=UTC).timestamp())

_REASONS: Final[Mapping[type[Exception], str]] = {
    jwt.ExpiredSignatureError: "has expired",
    jwt.ImmatureSignatureError: "is not valid yet",
    jwt.InvalidAudienceError: "is not for this service (aud)",
    jwt.InvalidIssuerError: "is from another issuer (iss)",
    jwt.InvalidAlgorithmError: "is signed with an algorithm that is not accepted",
    jwt.MissingRequiredClaimError: "does not say when it expires (exp), for whom it is (aud), who issued it (iss) or "
    "who holds it (sub)",
    jwt.InvalidSignatureError: "has a wrong signature: it was changed, cut short, or signed with another key",
}


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a token, and until when it is valid."""

    caller: Caller
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class TokenReader:
    """Identifies the holder of a token of the trusted issuer."""

    trust: Trust
    keys: IssuerKeys

    async def caller(self, token: str) -> Caller:
        """The caller that holds a token; raises as `holder`."""
        return (await self.holder(token)).caller

    async def holder(self, token: str) -> Holder:
        """The holder of a token (a JWT, RFC 7519) for this service.

        Raises:
            UnknownKeyError: not a token, not from the issuer, not for this service, or not valid now.
            RoleNotAllowedError: the token names no tenant or no role.
            IssuerUnavailableError: the issuer's keys are not known.
        """
        claims = await self.claims(token, self.trust.audience)
        return Holder(self._caller(claims), datetime.fromtimestamp(min(int(claims["exp"]), _LAST), UTC))

    async def claims(self, token: str, audience: str) -> Mapping[str, Any]:
        """The claims of a token for an audience, after checks of issuer, signature and times.

        Raises:
            UnknownKeyError: not a token, not from the issuer, not for this audience, or not valid now.
            IssuerUnavailableError: the issuer's keys are not known.
        """
        if len(token) > MOST_CHARACTERS:
            raise UnknownKeyError(f"This token is longer than {MOST_CHARACTERS} characters.")
        try:
            claims: dict[str, Any] = jwt.decode(
                token,
                await self._key(jwt.get_unverified_header(token)),
                algorithms=self.trust.algorithms,
                audience=audience,
                issuer=self.trust.issuer,
                leeway=self.trust.leeway,
                options={"require": ["exp", "aud", "iss", "sub"]},
            )
        except (jwt.PyJWTError, ValueError, TypeError, RecursionError) as error:
            known = (reason for kind, reason in _REASONS.items() if isinstance(error, kind))
            reason = next(known, "cannot be read: it is not a JWT, or was cut short")
            raise UnknownKeyError(f"This token {reason}.") from error
        return claims

    async def _key(self, header: Mapping[str, Any]) -> jwt.PyJWK:
        """The key that a token's header names, for its algorithm, if both are acceptable."""
        algorithm, kid = header.get("alg"), header.get("kid")
        if algorithm not in self.trust.algorithms:
            raise jwt.InvalidAlgorithmError
        if not isinstance(kid, str):
            raise UnknownKeyError("This token does not say which key signed it (kid).")
        jwk = await self.keys.key(kid)
        return jwt.PyJWK(dict(jwk), algorithm=jwk.get("alg") or algorithm)

    def _caller(self, claims: Mapping[str, Any]) -> Caller:
        tenant, stated = _at(claims, self.trust.tenant_claim), _at(claims, self.trust.roles_claim)
        names = stated.split() if isinstance(stated, str) else stated if isinstance(stated, list) else []
        given = self.trust.roles
        roles = frozenset(given[name] for name in names if isinstance(name, str) and name in given)
        if not isinstance(tenant, str) or not is_tenant_name(tenant):
            raise RoleNotAllowedError(
                f"This token names no tenant: its claim {self.trust.tenant_claim!r} must be a text of 1 to "
                f"{LONGEST_TENANT} printable characters."
            )
        if not roles:
            known = ", ".join(given)
            raise RoleNotAllowedError(
                f"This token gives no role: its claim {self.trust.roles_claim!r} must have one of {known}."
            )
        subject = claims["sub"]
        if not (1 <= len(subject) <= LONGEST_SUBJECT and subject.isprintable()):
            raise RoleNotAllowedError(
                f"This token names nobody: its claim 'sub' must be a text of 1 to "
                f"{LONGEST_SUBJECT} printable characters."
            )
        return Caller(tenant, roles, subject)
