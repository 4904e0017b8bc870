from collections.abc import Callable
from typing import Annotated

import typer

from aegis_sdk._client import Client
from aegis_sdk.cli.advice_report import report
from aegis_sdk.cli.options import JsonOption, RequireOption, requirements_of
from aegis_sdk.cli.terminal import say
from aegis_sdk.wire import Advice


def advise(
    entry_id: Annotated[str, typer.Argument(metavar="ENTRY_ID", help="What `aegis publish` printed.")],
    measure: Annotated[
        str, typer.Option(help="mutual_information, chi_square, joint, g3, ...; GET /v1/measures lists all.")
    ],
    require: RequireOption = None,
    limit: Annotated[int, typer.Option(min=0, help="Rows of the ranking.")] = 20,
    bias: Annotated[
        bool | None,
        typer.Option(
            "--bias-correction/--no-bias-correction",
            help="Less the bias of small samples, or not; by default joint is, the others are not.",
            show_default=False,
        ),
    ] = None,
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """Ask which configuration loses least. The ranking comes first, then the cost of the best per attribute."""
    required = requirements_of(require)
    with Client() as client:
        say(f"asking about {entry_id} ...")
        advice = client.advise(
            entry_id, measure, require=required or None, limit=limit, bias_correction=bias, on_progress=_progress_said()
        )
        if as_json:
            typer.echo(advice.model_dump_json(indent=2))
            return
        schema = client.entry(entry_id, advice.entry.version).entry_schema
    typer.echo("\n".join(report(advice, schema)))


def _progress_said() -> Callable[[Advice], None]:
    """Says how far an unfinished advice is, whenever it has come further."""
    said = None

    def tell(advice: Advice) -> None:
        nonlocal said
        if advice.progress is not None and advice.progress != said:
            said = advice.progress
            say(f"{said.done} of {said.total} attributes reconstructed ...")

    return tell
