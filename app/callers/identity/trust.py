from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from app.platform.callers import Role

#: The algorithms that may be trusted: signatures by a key pair, so that nobody who can check a token can make one.
ALGORITHMS: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")


@dataclass(frozen=True, slots=True)
class Trust:
    """Whose tokens are trusted, and what they say about their holder.

    Attributes:
        issuer: the `iss` of trusted tokens.
        audience: the `aud` that must be among theirs: this service.
        algorithms: those by which they may be signed.
        leeway: how many seconds clocks may differ.
        tenant_claim: where a token has the name of the tenant; a dot leads into an object.
        roles_claim: where it has names of roles: a list, or a text with blanks between.
        roles: the role that each name stands for; other names stand for none.
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
    """The value at a path of names with dots between; a claim whose own name has dots comes first."""
    if path in claims:
        return claims[path]
    first, _, rest = path.partition(".")
    inner = claims.get(first)
    return _at(inner, rest) if rest and isinstance(inner, dict) else None
