from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import aegis_sdk  # loads httpx only when its client is used
from aegis_provider.cli.options import (
    AcceptCompositionOption,
    AcceptOption,
    ChosenOption,
    TableArgument,
    memory_limit,
    offering,
)
from aegis_provider.cli.release import faults_of, lights_of
from aegis_sdk.cli.options import AcceptUniqueOption, JsonOption
from aegis_sdk.cli.terminal import print_result, stage, warn
from aegis_sdk.reading import Share

if TYPE_CHECKING:
    from aegis_provider.workflow.refreshing import Refreshed

_LISTED = 5


def refresh(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder of a release.")],
    table: TableArgument,
    publish: Annotated[  # noqa: FBT002 - a flag
        bool, typer.Option("--publish", help="Publish the entry as a new version.")
    ] = False,
    to: Annotated[
        str | None, typer.Option(metavar="CONSUMER", help="Who gets the table.  [who got the release]")
    ] = None,
    accept_unique: AcceptUniqueOption = False,  # noqa: FBT002 - a flag
    accept_identifiers: AcceptOption = False,  # noqa: FBT002 - a flag
    accept_composition: AcceptCompositionOption = False,  # noqa: FBT002 - a flag
    configuration: ChosenOption = None,
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """Repeat a release on its table as it is today.

    Says what changed. Its configurations are measured again, not searched, and counted by the same key. Those that no
    longer have the required privacy are left out. What was accepted by name for the release before has to be accepted
    again. If this fails, the folder has the release before. Nothing is sent anywhere without --publish.
    """
    from aegis_provider.workflow.refreshing import refresh as make_refresh

    with offering(context), aegis_sdk.Client() if publish else nullcontext() as client:
        refreshed = make_refresh(
            folder,
            table,
            publish=client,
            to=to,
            accept_unique=accept_unique,
            accept_identifiers=accept_identifiers,
            accept_composition=accept_composition,
            configuration=configuration,
            memory_limit=memory_limit(),
            stage=stage,
        )
    for warning in refreshed.released.findings.masked.applied.warnings:
        warn(warning)
    faults = list(faults_of(refreshed.released, accept_unique=accept_unique))
    lines = [*_report(refreshed, folder), *(f"{folder}: not to be shared yet: {fault}" for fault in faults)]
    print_result(_document(refreshed, folder), lines, as_json=as_json)
    if faults:
        raise typer.Exit(1)


def _document(refreshed: Refreshed, folder: Path) -> dict[str, object]:
    before, after = refreshed.before.card, refreshed.released.card
    return {
        "output": str(folder),
        "entry": refreshed.released.entry_id,
        "records": [before.records + (before.left_out or 0), _records(refreshed)],
        "configuration": [before.configuration, after.configuration],
        "kept": [before.kept, after.kept],
        "lost": list(refreshed.lost),
        "counts": refreshed.counts,
        "changed": refreshed.changed,
        "together": list(refreshed.released.together),
    }


def _records(refreshed: Refreshed) -> int:
    applied = refreshed.released.findings.masked.applied
    return applied.records + applied.suppressed + applied.held_back


def _report(refreshed: Refreshed, folder: Path) -> Iterator[str]:
    """Yield the head of the card, and what changed."""
    before, after = refreshed.before.card, refreshed.released.card
    yield from lights_of(after)
    yield f"{folder}: the release of {before.made}, repeated on the table of today"
    yield f"records: {before.records + (before.left_out or 0):,} before, {_records(refreshed):,} today"
    yield f"counts of the entry: {refreshed.changed:,} of {refreshed.counts:,} changed"
    if refreshed.advice_holds:
        yield f"{before.configuration} is still the best of {after.considered}"
    elif after.chosen and after.configuration == before.configuration:
        best = refreshed.released.advice.ranking[0].id
        yield f"{after.configuration} is shared again; {best} is the best of {after.considered} now"
    elif after.chosen:
        yield f"{after.configuration} was chosen by its id from {after.considered}"
    else:
        yield f"{after.configuration} is the best of {after.considered} now, no longer {before.configuration}"
    if before.kept is not None and after.kept is not None:
        yield f"it keeps {Share(after.kept).whole} of what the table tells, {Share(before.kept).whole} before"
    if refreshed.lost:
        some = ", ".join(refreshed.lost[:_LISTED]) + (", ..." if len(refreshed.lost) > _LISTED else "")
        yield f"no longer offered, for want of {after.aim}: {some} ({len(refreshed.lost):,} in all)"
    yield after.privacy_line
    yield from (f"for you only: {each}" for each in refreshed.released.together)
    yield "no configuration was searched: `aegis release` in another folder may find one that keeps more"
    if refreshed.released.entry_id is not None:
        yield f"published: {refreshed.released.entry_id} has this entry, as a new version if it changed"
    elif before.service is not None:
        yield f"{before.service.address} has the entry before, {before.service.entry}: --publish adds a version"
