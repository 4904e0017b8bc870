from typing import Annotated, Literal

import typer
from pydantic import ValidationError

from aegis_sdk._client import Client
from aegis_sdk.cli.failures import InputError
from aegis_sdk.cli.options import EntryIdArgument, JsonOption
from aegis_sdk.cli.terminal import print_json
from aegis_sdk.reading import seen_by, shown
from aegis_sdk.wire import Visibility, VisibleTo, faults_of

_WHO = "`private`: only its own tenant; `all`: every caller; without WHO and --tenant: show who sees it now."


def visibility(
    entry_id: EntryIdArgument,
    who: Annotated[Literal["private", "all"] | None, typer.Argument(metavar="WHO", help=_WHO)] = None,
    tenant: Annotated[list[str] | None, typer.Option(help="Only its own tenant and this one; repeatable.")] = None,
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """Show or change who sees an entry. A change makes no new version."""
    wanted = _wanted(who, tenant or [])
    with Client() as client:
        head = client.entry(entry_id) if wanted is None else client.set_visibility(entry_id, wanted)
    if as_json:
        print_json(head.model_dump(mode="json", include={"id", "name", "visibility"}))
    else:
        typer.echo(f"{shown(head.name)} is visible to {seen_by(head.visibility)}")


def _wanted(who: Literal["private", "all"] | None, tenants: list[str]) -> Visibility | None:
    """The visibility to set, None if there is nothing to change.

    Raises:
        InputError: Both ways are used at once, or a name cannot be that of a tenant.
    """
    if who is not None and tenants:
        raise InputError(f"{who} and --tenant exclude each other; use one of them to say who sees the entry")
    try:
        return VisibleTo(tenants=tenants) if tenants else who
    except ValidationError as error:
        raise InputError(f"--tenant: {faults_of(error)[0].detail}") from error
