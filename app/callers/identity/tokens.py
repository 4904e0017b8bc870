from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

import jwt

from app.callers.identity.issuer import IssuerKeys
from app.platform.callers import LONGEST_TENANT, Caller, Role, is_tenant_name
from app.platform.errors import RoleNotAllowedError, UnknownKeyError

#: The algorithms that may be trusted: asymmetric ones, so that verifying a token does not allow making one.
ALGORITHMS: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")


@dataclass(frozen=True, slots=True)
class Trust:
    """The trusted issuer, and how its tokens describe their holder.

    Attributes:
        issuer: the `iss` of trusted tokens.
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

    def tenant_in(self, claims: Mapping[str, Any]) -> str | None:
        """The tenant that a token names; None if it names none."""
        tenant = _at(claims, self.tenant_claim)
        return tenant if isinstance(tenant, str) else None

    def roles_in(self, claims: Mapping[str, Any]) -> frozenset[Role]:
        """The roles that a token names."""
        stated = _at(claims, self.roles_claim)
        names = stated.split() if isinstance(stated, str) else stated if isinstance(stated, list) else []
        return frozenset(self.roles[name] for name in names if isinstance(name, str) and name in self.roles)


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


class TokenReader:
    """Identifies the holder of a token of the trusted issuer."""

    def __init__(self, trust: Trust, keys: IssuerKeys) -> None:
        self._trust = trust
        self._keys = keys

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
        claims = await self.claims(token, self._trust.audience)
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
            header = jwt.get_unverified_header(token)
            key = await self._key(header)
            return self._claims(token, key, audience)
        except (jwt.PyJWTError, ValueError, TypeError, RecursionError) as error:
            known = (reason for kind, reason in _REASONS.items() if isinstance(error, kind))
            reason = next(known, "cannot be read: it is not a JWT, or was cut short")
            raise UnknownKeyError(f"This token {reason}.") from error

    async def _key(self, header: Mapping[str, Any]) -> jwt.PyJWK:
        """The key that a token's header names, for its algorithm, if both are acceptable."""
        algorithm, kid = header.get("alg"), header.get("kid")
        if algorithm not in self._trust.algorithms:
            raise jwt.InvalidAlgorithmError
        if not isinstance(kid, str):
            raise UnknownKeyError("This token does not say which key signed it (kid).")
        jwk = await self._keys.key(kid)
        return jwt.PyJWK(dict(jwk), algorithm=jwk.get("alg") or algorithm)

    def _claims(self, token: str, key: jwt.PyJWK, audience: str) -> dict[str, Any]:
        trust = self._trust
        claims: dict[str, Any] = jwt.decode(
            token,
            key,
            algorithms=trust.algorithms,
            audience=audience,
            issuer=trust.issuer,
            leeway=trust.leeway,
            options={"require": ["exp", "aud", "iss", "sub"]},
        )
        return claims

    def _caller(self, claims: Mapping[str, Any]) -> Caller:
        tenant, roles = self._trust.tenant_in(claims), self._trust.roles_in(claims)
        if tenant is None or not is_tenant_name(tenant):
            raise RoleNotAllowedError(
                f"This token names no tenant: its claim {self._trust.tenant_claim!r} must be a text of 1 to "
                f"{LONGEST_TENANT} printable characters."
            )
        if not roles:
            known = ", ".join(self._trust.roles)
            raise RoleNotAllowedError(
                f"This token gives no role: its claim {self._trust.roles_claim!r} must have one of {known}."
            )
        subject = claims["sub"]
        if not (1 <= len(subject) <= LONGEST_SUBJECT and subject.isprintable()):
            raise RoleNotAllowedError(
                f"This token names nobody: its claim 'sub' must be a text of 1 to "
                f"{LONGEST_SUBJECT} printable characters."
            )
        return Caller(tenant, roles, subject)
