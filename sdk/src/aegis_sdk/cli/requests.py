from itertools import islice
from typing import Annotated

import typer

from aegis_sdk._client import Client
from aegis_sdk.cli.failures import InputError
from aegis_sdk.cli.options import JsonOption
from aegis_sdk.cli.request_report import listing, report
from aegis_sdk.cli.terminal import print_json


def requests(
    request_id: Annotated[
        str | None, typer.Argument(metavar="[REQUEST_ID]", help="Show this one with its history, instead of a list.")
    ] = None,
    state: Annotated[str | None, typer.Option(help="Only those in this state, such as advised.")] = None,
    entry: Annotated[str | None, typer.Option(metavar="ENTRY_ID", help="Only those for this entry.")] = None,
    side: Annotated[
        str | None, typer.Option(help="Only those that your tenant has made (consumer) or was made (provider).")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=1_000_000, help="Show at most this many, the newest.")] = 50,
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """Show data requests: a list, or one with its history."""
    if request_id is not None and (state or entry or side):
        raise InputError("--state, --entry and --side narrow the list; leave them out, or the id")
    with Client() as client:
        if request_id is not None:
            one = client.requests.get(request_id)
            typer.echo(one.model_dump_json(indent=2) if as_json else "\n".join(report(one)))
            return
        first = [*islice(client.requests.list(state, entry, side), limit + 1)]
    shown, is_all = first[:limit], len(first) <= limit
    if as_json:
        print_json({"items": [each.model_dump(mode="json") for each in shown], "more": not is_all})
    else:
        typer.echo("\n".join(listing(shown, is_all=is_all)))
