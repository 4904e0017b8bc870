"""What providers, consumers and operators do with data requests."""

from collections.abc import Callable
from typing import Annotated

import typer

from aegis_sdk._client import Client
from aegis_sdk._data_requests import DataRequests
from aegis_sdk.cli.options import JsonOption
from aegis_sdk.cli.request_report import offered
from aegis_sdk.wire import DataRequest

RequestIdArgument = Annotated[str, typer.Argument(metavar="REQUEST_ID", help="Id of a request, from `aegis request`.")]
WhyOption = Annotated[str | None, typer.Option("--why", help="Why, for the other side and for the record.")]
NeededWhyOption = Annotated[str, typer.Option("--why", help="Why, for the other side and for the record.")]


def approve(request_id: RequestIdArgument, why: WhyOption = None, as_json: JsonOption = False) -> None:  # noqa: FBT002
    """Approve a data request."""
    _step(lambda requests: requests.approve(request_id, why), as_json=as_json)


def decline(request_id: RequestIdArgument, why: NeededWhyOption, as_json: JsonOption = False) -> None:  # noqa: FBT002
    """Decline a data request, and say why."""
    _step(lambda requests: requests.decline(request_id, why), as_json=as_json)


def counter(
    request_id: RequestIdArgument,
    configuration: Annotated[str, typer.Argument(metavar="CONFIGURATION", help="What you offer instead.")],
    why: WhyOption = None,
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """Offer another configuration than a data request was advised."""
    _step(lambda requests: requests.counter(request_id, configuration, why), as_json=as_json)


def accept(request_id: RequestIdArgument, why: WhyOption = None, as_json: JsonOption = False) -> None:  # noqa: FBT002
    """Accept the configuration that a provider offers instead."""
    _step(lambda requests: requests.accept(request_id, why), as_json=as_json)


def withdraw(request_id: RequestIdArgument, why: WhyOption = None, as_json: JsonOption = False) -> None:  # noqa: FBT002
    """Take a data request back before anything is delivered."""
    _step(lambda requests: requests.withdraw(request_id, why), as_json=as_json)


def _step(step: Callable[[DataRequests], DataRequest], *, as_json: bool) -> None:
    with Client() as client:
        request = step(client.requests)
    typer.echo(request.model_dump_json(indent=2) if as_json else offered(request))
