import sys
from typing import Annotated

import typer

from aegis_sdk._client import Client
from aegis_sdk._errors import AegisError
from aegis_sdk.cli.failures import InputError
from aegis_sdk.cli.options import EntryIdArgument, JsonOption
from aegis_sdk.cli.terminal import print_json
from aegis_sdk.reading import seen_by, shown, verdict_in_words
from aegis_sdk.wire import EntryHead


def sign_off(
    entry_id: EntryIdArgument,
    version: Annotated[int | None, typer.Option(min=1, help="Version to sign off; the latest by default.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask first; required without a terminal.")] = False,  # noqa: FBT002 - a flag
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """Let others see a version that awaits its sign-off. Shows the verdict on it, and asks for confirmation."""
    if not yes and not sys.stdin.isatty():
        raise InputError(f"cannot ask for confirmation without a terminal; use --yes to sign {entry_id} off")
    with Client() as client:
        # Before the entry is read: if it changes meanwhile, the service refuses the sign-off.
        tag = client.etag(entry_id, version)
        head = client.entry(entry_id, version)
        if not yes:
            _ask(head)
        signed = client.sign_off(entry_id, tag, version)
    if as_json:
        print_json(signed.model_dump(mode="json", include={"id", "name", "version", "signed_off_by"}))
    else:
        typer.echo(f"version {signed.version} of {shown(signed.name)} is visible to {seen_by(signed.visibility)}")


def _ask(head: EntryHead) -> None:
    """Ask for confirmation.

    Raises:
        AegisError: The answer is not yes.
    """
    if head.verdict is None:
        typer.echo("NOT JUDGED: no verdict has been reached yet", err=True)
    else:
        typer.echo(verdict_in_words(shown(head.name), head.verdict), err=True)
    published = f", published by {shown(head.published_by)}" if head.published_by else ""
    typer.echo(f"Sign version {head.version} of {shown(head.name)} off{published}? [y/N] ", nl=False, err=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise AegisError("nothing was signed off")
