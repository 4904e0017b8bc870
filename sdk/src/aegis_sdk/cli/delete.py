import sys
from typing import Annotated

import typer

from aegis_sdk._client import Client
from aegis_sdk._errors import AegisError
from aegis_sdk.cli.failures import InputError
from aegis_sdk.cli.options import EntryIdArgument, JsonOption
from aegis_sdk.cli.terminal import print_json
from aegis_sdk.reading import shown
from aegis_sdk.wire import Head


def delete(
    entry_id: EntryIdArgument,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask first; required without a terminal.")] = False,  # noqa: FBT002 - a flag
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """Delete an entry with all its versions and advice. Asks for confirmation, since this cannot be undone."""
    if not yes and not sys.stdin.isatty():
        raise InputError(f"cannot ask for confirmation without a terminal; use --yes to delete {entry_id}")
    with Client() as client:
        head = client.entry(entry_id)
        if not yes:
            _ask(head)
        client.delete(entry_id)
    if as_json:
        print_json({"id": head.id, "name": head.name})
    else:
        typer.echo(f"deleted {shown(head.name)} ({head.id})")


def _ask(head: Head) -> None:
    """Ask for confirmation.

    Raises:
        AegisError: The answer is not yes.
    """
    entry = f"{shown(head.name)} ({head.id}), version {head.version} and all earlier ones, with their advice"
    typer.echo(f"Delete {entry}? [y/N] ", nl=False, err=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise AegisError("nothing was deleted")
