from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from aegis_sdk.cli.extras import provider, with_advisor, with_extra
from aegis_sdk.cli.independence_report import as_document, report
from aegis_sdk.cli.options import DelimiterOption, JsonOption, MemoryOption, TableArgument, delimiter_of, names_of
from aegis_sdk.cli.saying import print_json, progress_bar, say


class Solver(StrEnum):
    """As `aegis_sdk.provider.independence` names them, which needs its libraries."""

    BEST = "best"
    MATCHING = "matching"
    IDENTICAL = "identical"


def independence(
    table: TableArgument,
    hide: Annotated[str, typer.Option(metavar="NAME,NAME", help="Attributes of which values are masked.")],
    hidden_from: Annotated[
        str, typer.Option("--from", metavar="NAME,NAME", help="Attributes that they are to be independent of.")
    ],
    clusters: Annotated[int, typer.Option(min=1, help="Of how many equal parts the latter become one column.")],
    output: Annotated[Path, typer.Option(help="The masked table: Parquet if it ends in .parquet, CSV otherwise.")],
    clusters_output: Annotated[
        Path | None,
        typer.Option(help="The values of each cluster; by default masked.clusters.csv beside masked.csv."),
    ] = None,
    solver: Annotated[Solver, typer.Option(help="`best` takes the better of both, then improves it.")] = Solver.BEST,
    seed: Annotated[int, typer.Option(min=0, help="What every draw comes from; the same one, the same table.")] = 0,
    seconds: Annotated[
        float, typer.Option(min=0, help="After so long the search for fewer masked values ends with what it has.")
    ] = 30,
    star: Annotated[str, typer.Option(help="What masked values become.")] = "*",
    delimiter: DelimiterOption = ",",
    memory_limit: MemoryOption = "1GB",
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """
    Make attributes exactly independent of others. As few values are masked as can be; other columns stay.

    The attributes that they are hidden from become the number of a cluster of records. What they were is written
    beside the table, exactly and for each cluster, so that nobody knows whose is which: publish that file only if that
    is meant. The masked table can be ranked with other maskings: a plan names it by `masked_table`.
    """
    part = provider()
    with_advisor("aegis_advisor.measures")
    hiding = with_extra("independence", "aegis_sdk.provider.independence")
    say(f"hiding in {part.shown(table)} ...")
    reading = {"delimiter": delimiter_of(delimiter), "memory_limit": memory_limit}
    with progress_bar("masking") as progress:
        hidden = hiding.hide(
            table,
            hide=names_of("hide", hide),
            from_=names_of("from", hidden_from),
            clusters=clusters,
            output=output,
            clusters_output=clusters_output,
            solver=solver.value,
            seed=seed,
            seconds=seconds,
            star=star,
            progress=progress,
            **reading,
        )
    with progress_bar("measuring") as progress:
        associations = hiding.associations(table, output, hidden, progress=progress, **reading)
    if as_json:
        print_json({"output": str(output), **as_document(hidden, associations)})
    else:
        typer.echo("\n".join(report(output, hidden, associations)))
