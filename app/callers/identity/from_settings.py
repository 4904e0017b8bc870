from typing import Final

from app.callers.identity.code_flow import CodeFlow, RelyingParty
from app.callers.identity.issuer import IssuerKeys, fetching, is_safe
from app.callers.identity.tokens import ALGORITHMS, TokenReader, Trust
from app.platform.callers import Role
from app.platform.secret_files import text_in
from app.settings import Settings

#: The path of the redirect URI, at the console's origin.
CALLBACK_PATH: Final = "/sign-in/callback"


def token_reader(settings: Settings) -> TokenReader | None:
    """The reader of the trusted issuer's tokens; None if no issuer is trusted.

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
    client = RelyingParty(
        settings.oidc_client_id, _secret(settings), settings.console_origin + CALLBACK_PATH, _scopes(settings)
    )
    return CodeFlow(client, settings.oidc_issuer, reader)


def _secret(settings: Settings) -> str | None:
    """The client's secret; None for a public client."""
    if settings.oidc_client_secret is not None:
        return settings.oidc_client_secret.get_secret_value()
    file = settings.oidc_client_secret_file
    return None if file is None else text_in(file, "the client's secret")


def _scopes(settings: Settings) -> str:
    """The scopes to request: the configured ones, else `openid`, and the roles if they are scopes."""
    if settings.oidc_scopes is not None:
        return settings.oidc_scopes
    roles = [part.rpartition("=")[0] for part in _parts(settings.oidc_roles)]
    return " ".join(["openid", *(roles if settings.oidc_roles_claim in {"scope", "scp"} else [])])


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
        message = f"oidc_roles: {part!r} is not NAME=ROLE; roles are {', '.join(Role)}"
        raise ValueError(message)
    return name, Role(role)
