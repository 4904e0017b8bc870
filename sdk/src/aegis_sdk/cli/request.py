import json
import sys
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from aegis_sdk._client import Client
from aegis_sdk._errors import AegisError
from aegis_sdk.cli.failures import InputError
from aegis_sdk.cli.options import (
    EntryIdArgument,
    JsonOption,
    KindsOption,
    RequireOption,
    WeightsOption,
    kinds_of,
    requirements_of,
    weights_of,
)
from aegis_sdk.cli.request_report import offered
from aegis_sdk.cli.terminal import say
from aegis_sdk.cli.usual_measure import usual_measure
from aegis_sdk.reading import shown
from aegis_sdk.wire import EntryHead


def request(
    entry_id: EntryIdArgument,
    purpose: Annotated[str, typer.Option(help="What the data is for.")],
    contact: Annotated[str, typer.Option(help="Whom the provider can ask, such as a mail address.")],
    accept_terms: Annotated[  # noqa: FBT002 - a flag
        bool, typer.Option("--accept-terms", help="Accept the entry's licence and policy; required without a terminal.")
    ] = False,
    measure: Annotated[
        str | None,
        typer.Option(help="As for `aegis advise`, with the same default.", show_default=False),
    ] = None,
    attribute: Annotated[
        list[str] | None, typer.Option(help="Only this attribute is needed; repeatable. By default, all are.")
    ] = None,
    require: RequireOption = None,
    weights: WeightsOption = None,
    kinds: KindsOption = None,
    wait: Annotated[float, typer.Option(min=0, help="Seconds to wait for the advice.")] = 60.0,
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """Request the masked table that suits you best. Prints the request's id; its provider decides."""
    required, weighted, named = requirements_of(require), weights_of(weights), kinds_of(kinds)
    if not accept_terms and not sys.stdin.isatty():
        raise InputError("cannot ask whether you accept the terms without a terminal; use --accept-terms")
    with Client() as client:
        head = client.entry(entry_id)
        if not accept_terms:
            _ask(head)
        made = client.requests.create(
            entry_id,
            measure or usual_measure(client, entry_id, weighted, named),
            purpose=purpose,
            contact=contact,
            terms=head.terms or "",
            version=head.version,
            attributes=attribute,
            weights=weighted or None,
            require=required or None,
            kinds=named,
            wait=wait,
        )
    if as_json:
        typer.echo(made.model_dump_json(indent=2))
        return
    typer.echo(made.id)
    if made.state == "failed":
        raise AegisError(offered(made))
    say(offered(made))


def _ask(head: EntryHead) -> None:
    """Show the terms and ask for acceptance.

    Raises:
        AegisError: The answer is not yes.
    """
    policy: Mapping[str, Any] | None = head.entry_schema.get("terms")
    typer.echo(f"licence of {shown(head.name)}: {shown(head.license, 300)}", err=True)
    if policy is not None:
        typer.echo(f"policy: {json.dumps(policy, indent=2)}", err=True)
    typer.echo("Accept these terms? [y/N] ", nl=False, err=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise AegisError("nothing was requested")
