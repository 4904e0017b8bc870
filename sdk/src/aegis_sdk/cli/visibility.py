from typing import Annotated, Literal

import typer
from pydantic import ValidationError

from aegis_sdk._client import Client
from aegis_sdk.cli.failures import InputError
from aegis_sdk.cli.options import EntryIdArgument, JsonOption
from aegis_sdk.cli.terminal import print_json
from aegis_sdk.reading import seen_by, shown
from aegis_sdk.wire import Visibility, VisibleTo, faults_of

_WHO = "`private`: its own tenant only; `all`: every caller; left out, with no --tenant: say who sees it now."


def visibility(
    entry_id: EntryIdArgument,
    who: Annotated[Literal["private", "all"] | None, typer.Argument(metavar="WHO", help=_WHO)] = None,
    tenant: Annotated[
        list[str] | None, typer.Option(help="Its own tenant and this one, and no other; repeatable.")
    ] = None,
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """Say who sees an entry, or change it. A change makes no new version."""
    wanted = _wanted(who, tenant or [])
    with Client() as client:
        head = client.entry(entry_id) if wanted is None else client.set_visibility(entry_id, wanted)
    if as_json:
        print_json(head.model_dump(mode="json", include={"id", "name", "visibility"}))
    else:
        typer.echo(f"{shown(head.name)} is visible to {seen_by(head.visibility)}")


def _wanted(who: Literal["private", "all"] | None, tenants: list[str]) -> Visibility | None:
    """What is to be set, if anything.

    Raises:
        InputError: It is said in two ways, or something that is said cannot be a tenant.
    """
    if who is not None and tenants:
        raise InputError(f"{who} and --tenant are two answers to who sees the entry; say one of them")
    try:
        return VisibleTo(tenants=tenants) if tenants else who
    except ValidationError as error:
        raise InputError(f"--tenant: {faults_of(error)[0].detail}") from error
