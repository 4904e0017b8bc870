"""Commands for data requests: create, list, show and decide."""

import json
import sys
from collections.abc import Callable, Mapping
from itertools import islice
from typing import Annotated, Any

import typer

from aegis_sdk._client import Client
from aegis_sdk._data_requests import DataRequests
from aegis_sdk._errors import AegisError
from aegis_sdk.cli.failures import InputError
from aegis_sdk.cli.options import (
    EntryIdArgument,
    JsonOption,
    KindsOption,
    MeasureOption,
    RequestIdArgument,
    RequireOption,
    WeightsOption,
    kinds_of,
    requirements_of,
    usual_measure,
    weights_of,
)
from aegis_sdk.cli.request_report import listing, offered, report
from aegis_sdk.cli.terminal import print_json, say
from aegis_sdk.reading import shown
from aegis_sdk.wire import DataRequest, EntryHead

WhyOption = Annotated[str | None, typer.Option("--why", help="Reason, for the other side and for the record.")]
NeededWhyOption = Annotated[str, typer.Option("--why", help="Reason, for the other side and for the record.")]

_SECONDS = 60.0
"""Seconds to wait for the advice."""


def new(
    entry_id: EntryIdArgument,
    purpose: Annotated[str, typer.Option(help="Purpose of the data.")],
    contact: Annotated[str, typer.Option(help="Contact for the provider, such as a mail address.")],
    accept_terms: Annotated[  # noqa: FBT002 - a flag
        bool, typer.Option("--accept-terms", help="Accept the entry's licence and policy; required without a terminal.")
    ] = False,
    require: RequireOption = None,
    attribute: Annotated[
        list[str] | None, typer.Option(help="Attribute that is needed; repeatable. By default, all are.")
    ] = None,
    measure: MeasureOption = None,
    weights: WeightsOption = None,
    kinds: KindsOption = None,
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
            wait=_SECONDS,
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


def list_(
    state: Annotated[str | None, typer.Option(help="Only requests in this state, such as advised.")] = None,
    entry: Annotated[str | None, typer.Option(metavar="ENTRY_ID", help="Only requests for this entry.")] = None,
    side: Annotated[
        str | None, typer.Option(help="Only requests that your tenant has made (consumer) or received (provider).")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=1_000_000, help="Show at most this many requests, the newest.")] = 50,
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """List data requests."""
    with Client() as client:
        first = [*islice(client.requests.list(state, entry, side), limit + 1)]
    listed, is_all = first[:limit], len(first) <= limit
    if as_json:
        print_json({"items": [request.model_dump(mode="json") for request in listed], "more": not is_all})
    else:
        typer.echo("\n".join(listing(listed, is_all=is_all)))


def show(request_id: RequestIdArgument, as_json: JsonOption = False) -> None:  # noqa: FBT002 - a flag
    """Show a data request with its history."""
    with Client() as client:
        one = client.requests.get(request_id)
    typer.echo(one.model_dump_json(indent=2) if as_json else "\n".join(report(one)))


def approve(request_id: RequestIdArgument, why: WhyOption = None, as_json: JsonOption = False) -> None:  # noqa: FBT002
    """Approve a data request."""
    _step(lambda requests: requests.approve(request_id, why), as_json=as_json)


def decline(request_id: RequestIdArgument, why: NeededWhyOption, as_json: JsonOption = False) -> None:  # noqa: FBT002
    """Decline a data request, with a reason."""
    _step(lambda requests: requests.decline(request_id, why), as_json=as_json)


def counter(
    request_id: RequestIdArgument,
    configuration: Annotated[str, typer.Argument(metavar="CONFIGURATION", help="Configuration to offer instead.")],
    why: WhyOption = None,
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """Offer a configuration other than the recommended one."""
    _step(lambda requests: requests.counter(request_id, configuration, why), as_json=as_json)


def accept(request_id: RequestIdArgument, why: WhyOption = None, as_json: JsonOption = False) -> None:  # noqa: FBT002
    """Accept the configuration that a provider offers instead."""
    _step(lambda requests: requests.accept(request_id, why), as_json=as_json)


def withdraw(request_id: RequestIdArgument, why: WhyOption = None, as_json: JsonOption = False) -> None:  # noqa: FBT002
    """Withdraw a data request before anything is delivered."""
    _step(lambda requests: requests.withdraw(request_id, why), as_json=as_json)


def _step(step: Callable[[DataRequests], DataRequest], *, as_json: bool) -> None:
    with Client() as client:
        request = step(client.requests)
    typer.echo(request.model_dump_json(indent=2) if as_json else offered(request))
