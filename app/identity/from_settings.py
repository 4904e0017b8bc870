from app.domain.callers import Role
from app.identity.issuer_keys import IssuerKeys, fetching, is_safe
from app.identity.tokens import TokenReader
from app.identity.trust import ALGORITHMS, Trust
from app.settings import Settings


def token_reader(settings: Settings) -> TokenReader | None:
    """What reads tokens of the issuer that the settings trust; None if they trust none.

    Raises:
        ValueError: a setting about tokens is unusable; the message says which and why.
    """
    if settings.oidc_issuer is None:
        return None
    trust = Trust(
        settings.oidc_issuer,
        settings.oidc_audience,
        _algorithms(_parts(settings.oidc_algorithms)),
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


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _algorithms(names: list[str]) -> list[str]:
    unknown = [name for name in names if name not in ALGORITHMS]
    if unknown or not names:
        message = f"oidc_algorithms: {unknown[0] if unknown else 'none'} is not one of {', '.join(ALGORITHMS)}"
        raise ValueError(message)
    return names


def _role(part: str) -> tuple[str, Role]:
    name, mark, role = part.rpartition("=")
    if not (mark and name) or role not in list(Role):
        message = f"oidc_roles: {part!r} is no NAME=ROLE; roles are {', '.join(Role)}"
        raise ValueError(message)
    return name, Role(role)
