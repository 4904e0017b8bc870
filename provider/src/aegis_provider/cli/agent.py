from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aegis_provider.cli.fulfil import WORK, WorkOption
from aegis_provider.cli.stages import stage
from aegis_sdk.printable import one_line

if TYPE_CHECKING:
    from aegis_provider.handover.agent import Event


def agent(
    policy: Annotated[Path, typer.Option(help="The policy file (YAML).")],
    once: Annotated[bool, typer.Option("--once", help="Do what can be done now, and end.")] = False,  # noqa: FBT002 - a flag
    lease: Annotated[
        int, typer.Option(min=5, max=3600, metavar="SECONDS", help="So long after it has died, another takes over.")
    ] = 60,
    work: WorkOption = WORK,
    as_json: Annotated[bool, typer.Option("--json", help="Print a line of JSON for each thing done.")] = False,  # noqa: FBT002 - a flag
) -> None:
    """Approve and fulfil data requests unattended, as a policy says.

    The policy says where masked tables are put (`to`), which table and plan each entry has (`entries`), and which
    requests are approved (`approve`): by tenant, words of the purpose, the privacy of the table, and how many a tenant
    gets in 30 days. Who may ask and how private the table must be is always said. A request that no rule allows waits
    for a person; once approved, it is fulfilled, too.

    Any number of agents may run: one of them fulfils a request, and another takes over if it dies. What fails is tried
    again after longer and longer pauses.
    """
    from aegis_provider.handover.agent import Agent
    from aegis_provider.handover.policy import load_policy
    from aegis_sdk import Client

    with Client() as service:
        runner = Agent(service, load_policy(policy), work, lease_seconds=lease, stage=stage)
        while True:
            events = [_printed(event, as_json=as_json) for event in runner.round()]
            if once:
                raise typer.Exit(any(event.kind == "failed" for event in events))
            time.sleep(runner.rest)


def _printed(event: Event, *, as_json: bool) -> Event:
    """Print a line for an event at once, since an agent runs for months."""
    at = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
    typer.echo(_as_json(event, at) if as_json else f"{at} {_in_words(event)}")
    return event


def _as_json(event: Event, at: str) -> str:
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


def _in_words(event: Event) -> str:
    request = event.request
    about = "" if request is None else f" {request.id} of {request.consumer} for {request.entry.name}"
    again = f"; again in {event.retry_in:.0f} s" if event.retry_in else ""
    return one_line(f"{event.kind}{about}: {event.detail}{again}")
