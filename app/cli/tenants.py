"""The policies, quotas and API keys of tenants, and the server key."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal

import typer

from app.cli.commands import fail
from app.cli.environment import DataDir, on_services
from app.factory import Factory
from app.platform.callers import Role
from app.settings import numbers_by_name
from app.tenants.model import Composed, Quota
from app.tenants.required_privacy import privacy_in


def set_tenant(
    tenant: Annotated[str, typer.Argument(help="Name of the tenant, created if it is new.")],
    *,
    require: Annotated[
        str | None,
        typer.Option(
            help="Privacy that a configuration must guarantee to compete, as in k=10,t=0.2 or k=10,unit=person, which "
            "counts people; '': none."
        ),
    ] = None,
    sign_off: Annotated[
        bool | None,
        typer.Option("--sign-off/--no-sign-off", help="Whether a reviewer must sign off new versions."),
    ] = None,
    composition: Annotated[
        Literal["nested", "one", "any", "default"] | None,
        typer.Option(
            help="Which configurations of one table a consumer may have: those nested in each other, one, or any."
        ),
    ] = None,
    quota: Annotated[
        str | None,
        typer.Option(help="Its quota, as in entries=100,advice=500; the defaults apply to the rest; '': to all."),
    ] = None,
    data_dir: DataDir = None,
) -> None:
    """Set a tenant's policy, which adds to the service's, and its quota. Both apply at once.

    Options that are not given change nothing.
    """
    changes: dict[str, Any] = {} if require is None else {"required_privacy": privacy_in(require)}
    changes |= {} if sign_off is None else {"demands_sign_off": sign_off}
    if composition is not None:
        changes["composition"] = None if composition == "default" else Composed(composition)
    try:
        own = None if quota is None else Quota.from_numbers(numbers_by_name(quota))
    except ValueError as error:
        fail(f"--quota: {error}")

    async def change(services: Factory) -> None:
        known = services.tenants()
        await known.set_policy(tenant, replace(await known.tenants.policy(tenant), **changes))
        if own is not None:
            await known.set_quota(tenant, own)

    on_services(data_dir, change)


def list_tenants(data_dir: DataDir = None) -> None:
    """List every tenant with its policy."""
    for name, policy in on_services(data_dir, lambda services: services.tenants().tenants.all()):
        line = [name, str(policy.required_privacy or "nothing required"), *(["sign-off"] * policy.demands_sign_off)]
        line += [] if policy.composition is None else [f"composition={policy.composition}"]
        typer.echo("\t".join(line))


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

    async def create(services: Factory) -> tuple[str, bool]:
        keyring = services.keyring()
        is_first = not await keyring.any_created()
        text, _ = await keyring.create(tenant, role, lifetime)
        return text, is_first

    text, is_first = on_services(data_dir, create)
    typer.echo(text)
    if is_first:
        typer.echo(
            "aegis-server: the first key: a service that runs without keys requires them only after a restart", err=True
        )


def list_keys(data_dir: DataDir = None) -> None:
    """List every key ever created: prefix, tenant, role, whether it is valid, and when it was last used."""
    for key in on_services(data_dir, lambda services: services.keyring().keys.all()):
        if key.revoked_at is not None:
            state = f"revoked {key.revoked_at:%Y-%m-%d}"
        elif key.expires_at is not None:
            state = f"{'expires' if key.is_valid(datetime.now(UTC)) else 'expired'} {key.expires_at:%Y-%m-%d}"
        else:
            state = "valid"
        used = "never used" if key.last_used_at is None else f"used {key.last_used_at:%Y-%m-%d}"
        typer.echo(f"{key.prefix}\t{key.tenant}\t{key.role.value}\t{state}\t{used}")


def revoke_key(
    prefix: Annotated[str, typer.Argument(help="Readable prefix of the key, such as `aegis_1a2b3c4d`.")],
    data_dir: DataDir = None,
) -> None:
    """Revoke a key. The service refuses it from now on."""
    on_services(data_dir, lambda services: services.keyring().revoke(prefix))


def renew_server_key(data_dir: DataDir = None) -> None:
    """Replace the key of the digests shown to others, and compute these digests again. Print their number."""
    typer.echo(on_services(data_dir, lambda services: services.server_key().renew()))
