"""Signing people in at the issuer: the authorization code flow of OpenID Connect Core 1.0 with PKCE (RFC 7636)."""

import base64
import hmac
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final
from urllib.parse import quote, unquote

import httpx
import structlog

from app.callers.identity.tokens import (
    ALGORITHMS,
    Discovery,
    Holder,
    IssuerKeys,
    TokenReader,
    Trust,
    answered,
    calling,
    endpoint,
    fetching,
    is_safe,
)
from app.platform.callers import Role
from app.platform.errors import IssuerUnavailableError, UnknownKeyError
from app.settings import Settings, text_in

_log = structlog.get_logger(__name__)

_BROKEN: Final = "This sign-in began in another browser or has expired. Sign in again."


@dataclass(frozen=True, slots=True)
class RelyingParty:
    """This service as a client of the issuer.

    Attributes:
        secret: its `client_secret`; None for a public client.
        redirect_uri: where the issuer sends browsers back.
        scopes: the requested scopes, separated by spaces.
    """

    id: str
    secret: str | None
    redirect_uri: str
    scopes: str


@dataclass(frozen=True, slots=True)
class Answer:
    """The issuer's response in the query of the redirect URI."""

    state: str
    code: str | None = None
    error: str | None = None
    issuer: str | None = None


def draw_pending(path: str) -> str:
    """A new pending sign-in: a secret that the browser stores in a cookie, and the path to open afterwards.

    State, nonce and PKCE verifier are derived from the whole text. So the issuer's response is valid only in the
    browser that asked for it, and nobody can change the path.
    """
    return f"{secrets.token_urlsafe(32)}.{quote(path, safe='/')}"


def path_of(pending: str) -> str:
    """The path to open after signing in."""
    return unquote(pending.partition(".")[2])


class CodeFlow:
    """Sends browsers to the issuer and reads its responses."""

    def __init__(self, client: RelyingParty, issuer: str, reader: TokenReader) -> None:
        self._client, self._issuer, self._reader = client, issuer, reader
        self._discovery = Discovery(issuer)

    async def address(self, pending: str) -> str:
        """The address at which a browser signs in.

        Raises:
            IssuerUnavailableError: the issuer does not respond, or has no such address.
        """
        challenge = _encoded(sha256(_derived(pending, "verifier").encode()).digest())
        asked = {
            "response_type": "code",
            "client_id": self._client.id,
            "redirect_uri": self._client.redirect_uri,
            "scope": self._client.scopes,
            "state": _derived(pending, "state"),
            "nonce": _derived(pending, "nonce"),
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        url = self._endpoint(await self._discovery.document(), "authorization_endpoint")
        return str(httpx.URL(url).copy_merge_params(asked))

    async def holder(self, pending: str, code: str) -> Holder:
        """The person who signed in: the holder of the access token that the issuer issues for a code.

        Raises:
            UnknownKeyError: the issuer rejects the code, or its tokens are not for this sign-in.
            RoleNotAllowedError: the token gives its holder no tenant or no role.
            IssuerUnavailableError: the issuer does not respond, or its response is invalid.
        """
        tokens = await self._tokens(code, _derived(pending, "verifier"))
        claims = await self._reader.claims(str(tokens.get("id_token")), self._client.id)  # checked by section 3.1.3.7
        if claims.get("azp", self._client.id) != self._client.id:
            raise UnknownKeyError("This ID token is for another client (azp). Sign in again.")
        if not _are_equal(str(claims.get("nonce")), _derived(pending, "nonce")):
            raise UnknownKeyError("This ID token is from another sign-in (nonce). Sign in again.")
        return await self._reader.holder(str(tokens.get("access_token")))

    def code(self, pending: str, answer: Answer) -> str:
        """The code in the issuer's response.

        Raises:
            UnknownKeyError: the response is not for this pending sign-in, or the issuer has refused.
        """
        is_pending = re.match(r"[A-Za-z0-9_-]{43}\.", pending) is not None
        if not (is_pending and _are_equal(answer.state, _derived(pending, "state"))):
            raise UnknownKeyError(_BROKEN)
        if answer.issuer not in {None, self._issuer}:  # RFC 9207
            raise UnknownKeyError("This response is from another issuer. Sign in again.")
        if answer.error is not None or not answer.code:
            raise UnknownKeyError(f"The issuer did not sign you in ({_slug(answer.error)}). Sign in again.")
        return answer.code

    async def _tokens(self, code: str, verifier: str) -> Mapping[str, Any]:
        """The tokens that the issuer issues for a code (RFC 6749, section 4.1.3)."""
        form = {"grant_type": "authorization_code", "code": code, "code_verifier": verifier}
        form["redirect_uri"] = self._client.redirect_uri
        document = await self._discovery.document()
        url, request = self._endpoint(document, "token_endpoint"), self._authenticated(form, document)
        try:
            async with calling() as client:
                return await answered(client, "POST", url, **request)
        except httpx.HTTPStatusError as error:
            raise _refusal(error.response) from error
        except (httpx.HTTPError, ValueError, TypeError) as error:
            _log.warning("the issuer gives no token", error=type(error).__name__)
            raise IssuerUnavailableError("The issuer does not respond. Try again later, or use an API key.") from error

    def _authenticated(self, form: Mapping[str, str], document: Mapping[str, Any]) -> dict[str, Any]:
        """The httpx arguments of a token request, with client authentication (RFC 6749, section 2.3.1)."""
        known = {"client_id": self._client.id}
        if self._client.secret is None:
            return {"data": {**form, **known}}
        # The default without a list (OpenID Connect Discovery 1.0, section 3).
        possible = document.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
        if "client_secret_basic" not in possible and "client_secret_post" in possible:
            return {"data": {**form, **known, "client_secret": self._client.secret}}
        user, password = quote(self._client.id, safe=""), quote(self._client.secret, safe="")
        return {"data": dict(form), "auth": httpx.BasicAuth(user, password)}

    def _endpoint(self, document: Mapping[str, Any], name: str) -> str:
        try:
            return endpoint(document, name)
        except (KeyError, ValueError) as error:
            _log.warning("the issuer signs nobody in", missing=name)
            raise IssuerUnavailableError("The issuer publishes no sign-in address. Use an API key.") from error


def _refusal(answer: httpx.Response) -> UnknownKeyError | IssuerUnavailableError:
    """Why the issuer issues no token: the code is invalid or expired, or it rejects this client."""
    try:
        reason = _slug(answer.json().get("error"))
    except (ValueError, AttributeError):
        reason = "unknown"
    if reason == "invalid_grant":
        return UnknownKeyError("The issuer no longer accepts this sign-in. Sign in again.")
    _log.warning("the issuer gives no token", status=answer.status_code, reason=reason)
    return IssuerUnavailableError("The issuer issues no token to this service; the log says why. Use an API key.")


def _slug(error: object) -> str:
    """An error code (RFC 6749, section 5.2) if it looks like one; anyone could have sent it."""
    return error if isinstance(error, str) and re.fullmatch(r"[a-z_]{1,40}", error) else "unknown"


def _derived(pending: str, purpose: str) -> str:
    """43 characters derived one-way from a pending sign-in, different for every purpose."""
    return _encoded(hmac.digest(pending.encode(), purpose.encode(), "sha256"))


def _encoded(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def _are_equal(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(), other.encode())


#: The path of the redirect URI, at the console's origin.
CALLBACK_PATH: Final = "/sign-in/callback"


def token_reader(settings: Settings) -> TokenReader | None:
    """The reader of the trusted issuer's tokens; None if no issuer is trusted.

    Raises:
        ValueError: a setting about tokens is unusable; the message says which and why.
    """
    if settings.oidc_issuer is None:
        return None
    algorithms = _parts(settings.oidc_algorithms)
    unknown = [name for name in algorithms if name not in ALGORITHMS]
    if unknown or not algorithms:
        message = f"oidc_algorithms: {unknown[0] if unknown else 'none'} is not one of {', '.join(ALGORITHMS)}"
        raise ValueError(message)
    trust = Trust(
        settings.oidc_issuer,
        settings.oidc_audience,
        algorithms,
        settings.oidc_leeway_seconds,
        settings.oidc_tenant_claim,
        settings.oidc_roles_claim,
        dict(map(_role, _parts(settings.oidc_roles))),
    )
    for name, url in (("oidc_issuer", settings.oidc_issuer), ("oidc_jwks_url", settings.oidc_jwks_url)):
        if url is not None and not is_safe(url):
            message = f"{name}: {url} must be an https address (http only on this machine)"
            raise ValueError(message)
    return TokenReader(trust, IssuerKeys(fetching(settings.oidc_issuer, settings.oidc_jwks_url)))


def code_flow(settings: Settings, reader: TokenReader | None) -> CodeFlow | None:
    """The sign-in flow at the issuer; None if this service is not one of its clients.

    Raises:
        ValueError: a setting for it is missing or unusable; the message says which and why.
    """
    if settings.oidc_client_id is None:
        return None
    if reader is None or settings.oidc_issuer is None or settings.console_origin is None:
        message = "oidc_client_id: signing in also needs oidc_issuer and console_origin"
        raise ValueError(message)
    scopes = settings.oidc_scopes
    if scopes is None:
        roles = [part.rpartition("=")[0] for part in _parts(settings.oidc_roles)]
        scopes = " ".join(["openid", *(roles if settings.oidc_roles_claim in {"scope", "scp"} else [])])
    client = RelyingParty(settings.oidc_client_id, _secret(settings), settings.console_origin + CALLBACK_PATH, scopes)
    return CodeFlow(client, settings.oidc_issuer, reader)


def _secret(settings: Settings) -> str | None:
    """The client's secret; None for a public client."""
    if settings.oidc_client_secret is not None:
        return settings.oidc_client_secret.get_secret_value()
    file = settings.oidc_client_secret_file
    return None if file is None else text_in(file, "the client's secret")


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _role(part: str) -> tuple[str, Role]:
    name, mark, role = part.rpartition("=")
    if not (mark and name) or role not in list(Role):
        message = f"oidc_roles: {part!r} is not NAME=ROLE; roles are {', '.join(Role)}"
        raise ValueError(message)
    return name, Role(role)
