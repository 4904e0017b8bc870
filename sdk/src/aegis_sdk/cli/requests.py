"""Commands for data requests: create, list, show and decide, with their reports."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import Annotated, Any

import typer

from aegis_sdk._client import Client
from aegis_sdk._data_requests import DataRequests
from aegis_sdk._errors import AegisError
from aegis_sdk.cli.group import ledger_asked
from aegis_sdk.cli.options import (
    AskedLabelOption,
    EntryIdArgument,
    JsonOption,
    KindsOption,
    MeasureOption,
    RequestIdArgument,
    RequireOfPeopleOption,
    TargetOption,
    WeightsOption,
    kinds_of,
    requirements_in,
    weights_of,
)
from aegis_sdk.cli.terminal import InputError, aligned, print_json, say
from aegis_sdk.printable import one_line
from aegis_sdk.reading import Share, number, shown
from aegis_sdk.wire import Change, Composition, DataRequest, DataRequestHead, Delivery, EntryHead, Verification

WhyOption = Annotated[str | None, typer.Option("--why", help="Reason, for the other side and for the record.")]
NeededWhyOption = Annotated[str, typer.Option("--why", help="Reason, for the other side and for the record.")]

AcceptCompositionOption = Annotated[
    bool,
    typer.Option(
        "--accept-composition",
        help="Grant it although the policy, or the ledger here, forbids it beside what the consumer has of the table.",
    ),
]

_SECONDS = 60.0
"""Seconds to wait for the advice."""


def new(
    entry_id: EntryIdArgument,
    purpose: Annotated[str, typer.Option(help="Purpose of the data.")],
    contact: Annotated[str, typer.Option(help="Contact for the provider, such as a mail address.")],
    accept_terms: Annotated[  # noqa: FBT002 - a flag
        bool, typer.Option("--accept-terms", help="Accept the entry's licence and policy; required without a terminal.")
    ] = False,
    require: RequireOfPeopleOption = None,
    attribute: Annotated[
        list[str] | None, typer.Option(help="Attribute that is needed; repeatable. By default, all are.")
    ] = None,
    measure: MeasureOption = None,
    label: AskedLabelOption = None,
    target: TargetOption = None,
    weights: WeightsOption = None,
    kinds: KindsOption = None,
    configuration: Annotated[
        str | None,
        typer.Option(help="Configuration to ask for, which meets --require. By default, the first of your advice."),
    ] = None,
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """Request the masked table that suits you best, or a given one. Prints the request's id; its provider decides."""
    (required, unit), weighted, named = requirements_in(require), weights_of(weights), kinds_of(kinds)
    if not accept_terms and not sys.stdin.isatty():
        raise InputError("cannot ask whether you accept the terms without a terminal; use --accept-terms")
    with Client() as client:
        head = client.entry(entry_id)
        if not accept_terms:
            _ask(head)
        made = client.requests.create(
            entry_id,
            measure,
            purpose=purpose,
            contact=contact,
            terms=head.terms or "",
            version=head.version,
            label=label,
            target=target,
            attributes=attribute,
            weights=weighted or None,
            require=required or None,
            kinds=named,
            unit=unit,
            configuration=configuration,
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


def approve(
    request_id: RequestIdArgument,
    why: WhyOption = None,
    accept_composition: AcceptCompositionOption = False,  # noqa: FBT002 - a flag
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """Approve a data request.

    If the release that made its offer left from this machine, its table is first measured with what its consumer has,
    by the ledger (`aegis ledger show`). What breaks the promise is not approved without --accept-composition.
    """
    _granted(
        lambda requests: requests.approve(request_id, why, accept_composition=accept_composition),
        (request_id, None),
        accept=accept_composition,
        as_json=as_json,
    )


def decline(request_id: RequestIdArgument, why: NeededWhyOption, as_json: JsonOption = False) -> None:  # noqa: FBT002
    """Decline a data request, with a reason.

    This takes an approval back, too, until the table is delivered.
    """
    _act(lambda requests: requests.decline(request_id, why), as_json=as_json)


def counter(
    request_id: RequestIdArgument,
    configuration: Annotated[str, typer.Argument(metavar="CONFIGURATION", help="Configuration to offer instead.")],
    why: WhyOption = None,
    accept_composition: AcceptCompositionOption = False,  # noqa: FBT002 - a flag
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """Offer a configuration other than the recommended one.

    It is measured as for `aegis requests approve`, since its consumer may accept it at once.
    """
    _granted(
        lambda requests: requests.counter(request_id, configuration, why, accept_composition=accept_composition),
        (request_id, configuration),
        accept=accept_composition,
        as_json=as_json,
    )


def accept(request_id: RequestIdArgument, why: WhyOption = None, as_json: JsonOption = False) -> None:  # noqa: FBT002
    """Accept the configuration that a provider offers instead."""
    _act(lambda requests: requests.accept(request_id, why), as_json=as_json)


def withdraw(request_id: RequestIdArgument, why: WhyOption = None, as_json: JsonOption = False) -> None:  # noqa: FBT002
    """Withdraw a data request before anything is delivered."""
    _act(lambda requests: requests.withdraw(request_id, why), as_json=as_json)


def _granted(
    step: Callable[[DataRequests], DataRequest], asked: tuple[str, str | None], *, accept: bool, as_json: bool
) -> None:
    """Ask the ledger of this machine about a request and what is offered, and take the step unless it refuses."""
    with Client() as client:
        said = ledger_asked(client, *asked, accept=accept)
        request = step(client.requests)
    lines = [offered(request), *(f"for you only: {each}" for each in said)]
    typer.echo(request.model_dump_json(indent=2) if as_json else "\n".join(lines))


def _act(step: Callable[[DataRequests], DataRequest], *, as_json: bool) -> None:
    with Client() as client:
        request = step(client.requests)
    typer.echo(request.model_dump_json(indent=2) if as_json else offered(request))


_LONG = 60
_TEXT = 500
_LINK = 4_000


def offered(request: DataRequestHead) -> str:
    """One line: the state of a request, and the configuration offered or agreed upon."""
    if request.problem is not None:
        return one_line(f"{request.state}: {request.problem.detail}")
    what = "" if request.configuration is None else f": {shown(request.configuration)}{_cost(request)}{_about(request)}"
    stale = "; the entry has a newer version" if request.stale else ""
    return one_line(f"{request.state}{what}{stale}")


def _about(request: DataRequestHead) -> str:
    return f": {shown(request.about, _TEXT)}" if request.about else ""


def _cost(request: DataRequestHead) -> str:
    """The place of the configuration, as well as the caller may know it, and the share that it keeps."""
    cost, place = request.cost, request.full_rank if isinstance(request, DataRequest) else None
    if place is not None:
        rank = "not ranked" if place.rank is None else f"rank {place.rank} of {place.considered}"
    elif cost is not None:
        rank = f"rank {cost.rank} by rounded losses" if cost.deviation is None else f"rank {cost.rank}"
    else:
        return ""
    kept = "" if cost is None or cost.utility_share is None else f", keeps {Share(cost.utility_share)}"
    return f" ({rank}{kept})"


def listing(requests: Sequence[DataRequestHead], *, is_all: bool) -> Iterator[str]:
    """A row for each request."""
    if requests:
        columns = ("id", "state", "entry", "configuration", "consumer", "provider", "changed", "in words")
        yield from aligned(columns, [_row(one) for one in requests])
    else:
        yield "no requests"
    if not is_all:
        yield "and more: raise --limit, or narrow the list with --state, --entry or --side"


def _row(request: DataRequestHead) -> tuple[str, ...]:
    entry = f"{shown(request.entry.name, _LONG)} v{request.entry.version}"
    names = (request.configuration or "-", request.consumer, request.entry.tenant)
    return (
        request.id,
        shown(request.state),
        entry,
        *map(shown, names),
        time_text(request.changed_at),
        shown(request.about or "-", _TEXT),
    )


def report(request: DataRequest) -> Iterator[str]:
    """A request with its history, and the actions that the caller may take."""
    yield offered(request)
    yield f"entry {shown(request.entry.name, _LONG)}, version {request.entry.version}, of {shown(request.entry.tenant)}"
    yield f"for {shown(request.consumer)}: {shown(request.purpose, _TEXT)}"
    yield f"contact: {'erased' if request.contact is None else shown(request.contact, _TEXT)}"
    needs = {name: value for name, value in request.request.items() if value is not None and name != "bias_correction"}
    yield "needs " + ", ".join(f"{name} {shown(_plain(value), _TEXT)}" for name, value in needs.items())
    yield ""
    yield from aligned(("when", "who", "what", "why"), [_step(one) for one in request.changes])
    if request.delivery is not None:
        yield ""
        yield from delivered(request.delivery)
    if request.verification is not None:
        yield from _verified(request.verification)
    if request.composition is not None:
        yield from _composed(request.composition, request.consumer)
    if request.possible:
        yield ""
        yield f"you may: {', '.join(map(shown, request.possible))}"
    place = request.full_rank
    if place is not None and place.rank != 1 and "counter" in request.possible:
        best, about = shown(place.best), f" ({shown(place.about, _TEXT)})" if place.about else ""
        yield f"{best}{about} loses the least; offer it: aegis requests counter {request.id} {best}"
    if request.expires_at is not None:
        yield f"expires {request.expires_at:%Y-%m-%d} unless somebody does something"


_RELATIONS: Mapping[str, str] = {
    "same": "the same",
    "coarser": "this one can be made from it, so nothing new leaves",
    "finer": "it can be made from this one",
    "other": "not known to be nested: groups of both together may be smaller than either promises",
}
"""How a requested configuration relates to one that the consumer has."""


def _composed(composition: Composition, consumer: str) -> Iterator[str]:
    """What the consumer has of the same table, and whether the policy allows this configuration beside it."""
    yield ""
    for one in composition.granted:
        when = f"{'delivered' if one.delivered else 'approved'} {time_text(one.at)}"
        which = f"{shown(one.configuration)} of {shown(one.entry, _LONG)} v{one.version}"
        yield f"{shown(consumer)} has {which} ({when}): {_RELATIONS[one.relation]}"
    if not composition.kept:
        instead = "" if composition.allowed is None else f"; {shown(composition.allowed)} keeps it"
        yield f"the policy {composition.policy!r} forbids it beside these{instead}"


def delivered(delivery: Delivery) -> Iterator[str]:
    """The lines that report a delivery."""
    yield f"delivered: {delivery.records} records, {delivery.size} bytes of {shown(delivery.media_type, _LINK)}"
    until = "" if delivery.expires_at is None else f", until {time_text(delivery.expires_at)}"
    yield f"{shown(delivery.url, _LINK)}{until}"
    yield f"SHA-256 {shown(delivery.sha256, _LINK)}"
    if delivery.privacy:
        numbers = ", ".join(f"{shown(name)} = {number(reached, 6)}" for name, reached in delivery.privacy.items())
        yield f"{numbers}, as its provider measured"


def _verified(verification: Verification) -> Iterator[str]:
    if verification.sha256 is None:
        yield "its consumer has got no file"
        return
    counts = f"{verification.cells_compared} counts compared, {verification.cells_differing or 'none'} differ"
    records = "not counted" if verification.records is None else f"{verification.records} records"
    yield f"its consumer found: {records}, SHA-256 {shown(verification.sha256, _LINK)}, {counts}"
    if verification.privacy:
        numbers = ", ".join(f"{shown(name)} = {number(reached, 6)}" for name, reached in verification.privacy.items())
        yield f"{numbers}, as its consumer measured"


def _plain(value: object) -> str:
    if isinstance(value, dict):
        return " ".join(f"{name}={limit:g}" for name, limit in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _step(change: Change) -> tuple[str, ...]:
    who = shown(change.side) if change.tenant is None else f"{shown(change.side)} {shown(change.tenant)}"
    who += "" if change.by is None else f" ({shown(change.by)})"
    what = shown(change.action)
    what += "" if change.configuration is None else f" {shown(change.configuration)}"
    what += "" if change.beside is None else f" beside {shown(change.beside, _TEXT)}"
    return time_text(change.at), who, what, shown(change.reason, _TEXT) if change.reason else ""


def time_text(moment: datetime) -> str:
    """A time to the second, in UTC."""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
