"""Providers' commands for data requests: mask and deliver approved tables, by hand or unattended."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from aegis_provider.cli.options import (
    AcceptCompositionOption,
    AcceptOption,
    ColludingOption,
    DelimiterOption,
    EscapeFormulasOption,
    PlanOption,
    TableArgument,
    memory_limit,
)
from aegis_provider.errors import PlanError
from aegis_sdk.cli.options import AcceptUniqueOption, JsonOption, RequestIdArgument
from aegis_sdk.cli.requests import delivered
from aegis_sdk.cli.terminal import print_result, stage, warn
from aegis_sdk.printable import one_line
from aegis_sdk.wire import read_json

if TYPE_CHECKING:
    from aegis_provider.handover import Fulfilled
    from aegis_provider.handover.agent import Event

WORK: Final = Path(".aegis-fulfil")

ToOption = Annotated[
    str,
    typer.Option(
        "--to",
        metavar="PLACE",
        help="Where to put the masked table: s3://BUCKET/PREFIX, az://CONTAINER/PREFIX, gs://BUCKET/PREFIX, the "
        "address of a web server that accepts PUT, or a directory.",
    ),
]
LinkOption = Annotated[
    str | None,
    typer.Option(metavar="URL", help="Public address of the directory or web server; not needed for buckets."),
]
WorkOption = Annotated[
    Path, typer.Option(metavar="DIR", help="Holds unfinished work, so that a new run can resume it.")
]


def fulfil(
    request_id: RequestIdArgument,
    table: TableArgument,
    plan: PlanOption,
    to: ToOption,
    link: LinkOption = None,
    file_format: Annotated[
        Literal["csv", "parquet"], typer.Option("--format", help="The format of the masked table.")
    ] = "csv",
    card: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also deliver this release card, the JSON of `aegis release`.")
    ] = None,
    accept_unique: AcceptUniqueOption = False,  # noqa: FBT002 - a flag
    work: WorkOption = WORK,
    escape_formulas: EscapeFormulasOption = False,  # noqa: FBT002 - a flag
    delimiter: DelimiterOption = None,
    accept_identifiers: AcceptOption = False,  # noqa: FBT002 - a flag
    accept_composition: AcceptCompositionOption = False,  # noqa: FBT002 - a flag
    colluding: ColludingOption = False,  # noqa: FBT002 - a flag
    lineage: Annotated[
        str | None,
        typer.Option(metavar="PLACE", help="Also send an OpenLineage event to this address, or add it to this file."),
    ] = None,
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """Mask a table for an approved data request and deliver it.

    Plan, entry and approval must agree, by digest and masking. The promised privacy is measured in the masked table,
    its records are shuffled, and it is uploaded to your own storage. The service gets its address and digest, never the
    table. A generated table is delivered unchanged.

    If more than 1 % of the records are alone on all shared columns, whatever the plan assumes about an attacker's
    knowledge, the table is not delivered without --accept-unique.

    If it and what its consumer has of this table together break the promise, by the ledger on this machine
    (`aegis ledger show`), it is not delivered without --accept-composition.

    Credentials come from the environment, as for other tools: AWS_ACCESS_KEY_ID, AZURE_STORAGE_ACCOUNT_NAME,
    GOOGLE_SERVICE_ACCOUNT and so on. Links to buckets are presigned and expire after at most seven days.

    The same command again resumes an interrupted run. While it runs, no other program can fulfil the request.
    """
    from aegis_provider.handover import Lineage, Task, storage_at
    from aegis_provider.handover import fulfil as fulfil_task
    from aegis_provider.ledger import CompositionError
    from aegis_provider.plan.reading import load_plan
    from aegis_provider.table import delimiter_in
    from aegis_sdk import Client

    storage, intended = storage_at(to, link), load_plan(plan)
    with Client() as service:
        task = Task(
            service,
            request_id,
            table,
            intended,
            delimiter=delimiter or delimiter_in(table, intended.label),
            memory_limit=memory_limit(),
            accept_identifiers=accept_identifiers,
            accept_composition=accept_composition,
            colluding=colluding,
            ending=f".{file_format}",
            escape_formulas=escape_formulas,
            card=None if card is None else _card(card),
            accept_unique=accept_unique,
            lineage=None if lineage is None else Lineage.at(lineage),
            stage=stage,
        )
        try:
            fulfilled = fulfil_task(task, storage, work)
        except CompositionError as error:
            error.add_note(f"To take the approval back: aegis requests decline {request_id} --why REASON")
            raise
    for warning in filter(None, (*fulfilled.masked.warnings, fulfilled.warning)):
        warn(warning)
    print_result(json.loads(fulfilled.request.model_dump_json()), _report(fulfilled), as_json=as_json)


def relink(
    request_id: RequestIdArgument,
    to: ToOption,
    link: LinkOption = None,
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """Renew the link to a delivered table, for example after a presigned link expired.

    The file must still be where `aegis requests fulfil` uploaded it.
    """
    from aegis_provider.handover import relink as give_new_link
    from aegis_provider.handover import storage_at
    from aegis_sdk import Client

    storage = storage_at(to, link)
    with Client() as service:
        request = give_new_link(service, request_id, storage)
    lines = () if request.delivery is None else delivered(request.delivery)
    print_result(json.loads(request.model_dump_json()), lines, as_json=as_json)


def _card(path: Path) -> dict[str, Any]:
    try:
        card = read_json(path.read_bytes())
    except (OSError, ValueError) as error:
        raise PlanError(f"{path}: not a release card: {error}") from error
    if not isinstance(card, dict):
        raise PlanError(f"{path}: not a release card: a card is a JSON object")
    return card


def _report(fulfilled: Fulfilled) -> Iterator[str]:
    delivery, masked = fulfilled.request.delivery, fulfilled.masked
    if delivery is not None:
        first, *others = delivered(delivery)
        yield first
        yield from () if fulfilled.alone is None else (fulfilled.alone.line(),)
        yield from fulfilled.together
        yield from others
    if masked.suppressed:
        yield f"left out: {masked.suppressed:,} record{'s' * (masked.suppressed != 1)}, as the plan declares"
    if masked.checked is not None and masked.checked.replayed:
        yield masked.checked.replayed
    if masked.unmeasured:
        yield f"promised, but not measurable in a table: {', '.join(masked.unmeasured)}"


def agent(
    policy: Annotated[Path, typer.Option(help="The policy file (YAML).")],
    once: Annotated[bool, typer.Option("--once", help="Do the pending work and exit.")] = False,  # noqa: FBT002 - a flag
    lease: Annotated[
        int, typer.Option(min=5, max=3600, metavar="SECONDS", help="Another agent takes over this long after one dies.")
    ] = 60,
    work: WorkOption = WORK,
    as_json: Annotated[bool, typer.Option("--json", help="Print a line of JSON for each thing done.")] = False,  # noqa: FBT002 - a flag
) -> None:
    """Approve and fulfil data requests unattended, by the rules of a policy file.

    The policy file states where masked tables go (`to`), the table and plan of each entry (`entries`), and which
    requests to approve (`approve`): by tenant, words of the purpose, privacy of the table, and number per tenant in 30
    days. Every rule must name tenants and a minimum privacy. A request that no rule allows waits for a person; once
    approved, it is fulfilled, too. So does one that the ledger or the service's policy forbids beside what its consumer
    has; the agent says once why.

    Any number of agents may run: one of them fulfils a request, and another takes over if it dies. Failures are retried
    with growing pauses.
    """
    from aegis_provider.handover.agent import Agent, load_policy
    from aegis_sdk import Client

    with Client() as service:
        runner = Agent(service, load_policy(policy), work, lease_seconds=lease, stage=stage)
        while True:
            events = [_event_printed(event, as_json=as_json) for event in runner.round()]
            if once:
                raise typer.Exit(any(event.kind == "failed" for event in events))
            time.sleep(runner.rest)


def _event_printed(event: Event, *, as_json: bool) -> Event:
    """Print an event at once, since an agent runs for months."""
    at = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
    typer.echo(_event_as_json(event, at) if as_json else f"{at} {_event_in_words(event)}")
    return event


def _event_as_json(event: Event, at: str) -> str:
    request = event.request
    return json.dumps(
        {
            "at": at,
            "event": event.kind,
            "request": None if request is None else request.id,
            "consumer": None if request is None else request.consumer,
            "entry": None if request is None else request.entry.name,
            "detail": event.detail,
            "retry_in": event.retry_in,
        }
    )


def _event_in_words(event: Event) -> str:
    request = event.request
    about = "" if request is None else f" {request.id} of {request.consumer} for {request.entry.name}"
    again = f"; again in {event.retry_in:.0f} s" if event.retry_in else ""
    return one_line(f"{event.kind}{about}: {event.detail}{again}")
