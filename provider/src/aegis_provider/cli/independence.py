from pathlib import Path
from typing import Annotated

import typer

from aegis_provider.cli.independence_report import as_document, report
from aegis_provider.cli.options import DelimiterOption, MaskedTableOption, MemoryOption, TableArgument, names_of
from aegis_provider.independence import STAR, Solver
from aegis_provider.independence import hide as hide_attributes
from aegis_provider.table import table_name
from aegis_sdk.cli.options import JsonOption
from aegis_sdk.cli.terminal import print_result, progress_bar, say


def independence(
    table: TableArgument,
    hide: Annotated[str, typer.Option(metavar="NAME,NAME", help="Attributes of which values are masked.")],
    hidden_from: Annotated[
        str, typer.Option("--from", metavar="NAME,NAME", help="Attributes that they are to be independent of.")
    ],
    clusters: Annotated[int, typer.Option(min=1, help="How many clusters the latter become, all equally large.")],
    output: MaskedTableOption,
    clusters_output: Annotated[
        Path | None,
        typer.Option(help="The values of each cluster; by default masked.clusters.csv beside masked.csv."),
    ] = None,
    solver: Annotated[Solver, typer.Option(help="`best` takes the better of both, then improves it.")] = "best",
    seed: Annotated[int, typer.Option(min=0, help="What every draw comes from.")] = 0,
    seconds: Annotated[
        float, typer.Option(min=0, help="After so long the search for fewer masked values ends with what it has.")
    ] = 30,
    star: Annotated[str, typer.Option(help="What masked values become.")] = STAR,
    delimiter: DelimiterOption = ",",
    memory_limit: MemoryOption = "1GB",
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """Make attributes exactly independent of others. Few of their values are masked, and other columns stay.

    The attributes that they are hidden from become the number of a cluster of records. Their values are written to a
    file of their own, exactly, by cluster and sorted, so that it does not say whose is which; publish it if that is
    meant. The masked table can be ranked with other maskings: a plan names it by `masked_table`.
    """
    say(f"hiding in {table_name(table)} ...")
    with progress_bar("masking") as progress:
        hidden = hide_attributes(
            table,
            hide=names_of("hide", hide),
            from_=names_of("from", hidden_from),
            clusters=clusters,
            output=output,
            clusters_output=clusters_output,
            solver=solver,
            seed=seed,
            seconds=seconds,
            star=star,
            measure=True,
            delimiter=delimiter,
            memory_limit=memory_limit,
            progress=progress,
        )
    print_result(as_document(hidden), report(hidden), as_json=as_json)
