"""Compute a stored answer again."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

import typer

from app.advice.model import PackedReference
from app.advice.service import computation
from app.advice.service.computation import compute_advice, compute_references
from app.advice.service.replay import Replay
from app.cli.commands import fail
from app.cli.environment import DataDir, database_of, settings_of, with_services
from app.platform.database import migrations
from app.platform.process.child import ChildProcess
from app.settings import Settings
from app.tenants.required_privacy import required_by

#: The most differences printed.
_MOST = 20


def replay(
    advice_id: Annotated[str, typer.Argument(help="Id of an advice.")],
    data_dir: DataDir = None,
) -> None:
    """Compute an answer again from the counts of its version, and compare it with the stored one bit for bit.

    Prints `equal` or the differences, never a count. Exits with 0 if equal, 1 if different, 2 if it cannot be computed.
    """
    settings = settings_of(data_dir=data_dir)
    with database_of(settings) as urls:
        migrations.upgrade(urls)
        replayed = asyncio.run(with_services(urls.service, lambda services: services.replays().load(advice_id)))
    try:
        references, result = asyncio.run(_computed(replayed, settings))
    except TimeoutError:
        fail(f"the computation took longer than {settings.job_seconds} s (AEGIS_JOB_SECONDS)")
    for note in replayed.notes(required_by(settings)):
        typer.echo(f"note: {note}")
    differences = list(replayed.differences(references, result))
    for difference in differences[:_MOST]:
        typer.echo(difference)
    if len(differences) > _MOST:
        typer.echo(f"and {len(differences) - _MOST} more differences")
    if differences:
        raise typer.Exit(1)
    typer.echo("equal")


async def _computed(replayed: Replay, settings: Settings) -> tuple[Sequence[PackedReference], bytes]:
    """The references and the answer, computed in a child process as in a worker."""
    child = ChildProcess(computation.__name__, settings.job_seconds)
    references: Sequence[PackedReference] = ()
    if replayed.counts is not None:
        references = await child.run(compute_references, replayed.counts, settings.reconstruction_seconds)
    return references, await child.run(compute_advice, replace(replayed.given, references=tuple(references)))
