"""Set and list the policies and quotas of tenants."""

from dataclasses import replace
from typing import Annotated, Any

import typer

from app.cli.environment import DataDir, on_services
from app.cli.group import fail
from app.factory import Factory
from app.settings import numbers_by_name
from app.tenants.api.required_privacy import privacy_in
from app.tenants.model import Quota


def set_tenant(
    tenant: Annotated[str, typer.Argument(help="Name of the tenant, created if it is new.")],
    *,
    require: Annotated[
        str | None,
        typer.Option(help="Privacy that a configuration must guarantee to compete, as in k=10,t=0.2; '': none."),
    ] = None,
    sign_off: Annotated[
        bool | None,
        typer.Option("--sign-off/--no-sign-off", help="Whether a reviewer must sign off new versions."),
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
    own = None if quota is None else quota_in(quota)

    async def change(services: Factory) -> None:
        known = services.tenants()
        await known.set_policy(tenant, replace(await known.policy(tenant), **changes))
        if own is not None:
            await known.set_quota(tenant, own)

    on_services(data_dir, change)


def list_tenants(data_dir: DataDir = None) -> None:
    """List every tenant with its policy."""
    for name, policy in on_services(data_dir, lambda services: services.tenants().all()):
        line = (name, str(policy.required_privacy or "nothing required"), *(["sign-off"] * policy.demands_sign_off))
        typer.echo("\t".join(line))


def quota_in(text: str) -> Quota:
    """The quota in a text like `entries=100,advice=500`; exit with a message if it is invalid."""
    try:
        return Quota.from_numbers(numbers_by_name(text))
    except ValueError as error:
        fail(f"--quota: {error}")
