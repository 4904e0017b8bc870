"""Create, list and revoke API keys, and renew the server key."""

from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer

from app.cli.environment import DataDir, on_services
from app.platform.callers import ApiKey, Role


def create_key(
    tenant: Annotated[str, typer.Option(help="Name of the tenant, created if it is new.")],
    role: Annotated[Role, typer.Option(help="What the key may do.")],
    expires_days: Annotated[
        int | None, typer.Option(min=1, max=36_500, help="Days until the key expires; by default, it never does.")
    ] = None,
    data_dir: DataDir = None,
) -> None:
    """Create a key and print it. Only its hash is stored, so it cannot be printed again.

    A service that runs in development mode requires keys only after a restart.
    """
    lifetime = None if expires_days is None else timedelta(days=expires_days)
    text, _ = on_services(data_dir, lambda services: services.keyring().create(tenant, role, lifetime))
    typer.echo(text)


def list_keys(data_dir: DataDir = None) -> None:
    """List every key ever created: prefix, tenant, role, whether it is valid, and when it was last used."""
    for key in on_services(data_dir, lambda services: services.keyring().all()):
        typer.echo("\t".join(_key_line(key)))


def revoke_key(
    prefix: Annotated[str, typer.Argument(help="Readable prefix of the key, such as `aegis_1a2b3c4d`.")],
    data_dir: DataDir = None,
) -> None:
    """Revoke a key. The service refuses it from now on."""
    on_services(data_dir, lambda services: services.keyring().revoke(prefix))


def renew_server_key(data_dir: DataDir = None) -> None:
    """Replace the key of the digests shown to others, and compute these digests again. Print their number."""
    typer.echo(on_services(data_dir, lambda services: services.server_key().renew()))


def _key_line(key: ApiKey) -> tuple[str, ...]:
    if key.revoked_at is not None:
        state = f"revoked {key.revoked_at:%Y-%m-%d}"
    elif key.expires_at is not None:
        state = f"{'expires' if key.is_valid(datetime.now(UTC)) else 'expired'} {key.expires_at:%Y-%m-%d}"
    else:
        state = "valid"
    used = "never used" if key.last_used_at is None else f"used {key.last_used_at:%Y-%m-%d}"
    return key.prefix, key.tenant, key.role.value, state, used
