from pathlib import Path
from typing import Annotated, Literal

import typer

from aegis_provider.cli.options import (
    AcceptOption,
    DelimiterOption,
    MaskedTableOption,
    MemoryOption,
    TableArgument,
    names_of,
)
from aegis_sdk.cli.failures import InputError
from aegis_sdk.cli.options import JsonOption
from aegis_sdk.cli.terminal import print_result, progress_bar, say, warn


def independence(
    table: TableArgument,
    hide: Annotated[str, typer.Option(metavar="NAME,NAME", help="Attributes whose values are masked.")],
    hidden_from: Annotated[
        str, typer.Option("--from", metavar="NAME,NAME", help="Attributes that they become independent of.")
    ],
    clusters: Annotated[
        int, typer.Option(min=1, help="Number of equally large clusters that replace the --from attributes.")
    ],
    output: MaskedTableOption,
    plan: Annotated[
        Path | None,
        typer.Option(
            "--plan", help="The plan. It says what must stay, such as the label, and which values have an order."
        ),
    ] = None,
    keep: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,NAME", help="Columns that must stay, such as a label, if there is no --plan; '' for none."
        ),
    ] = None,
    ordered: Annotated[
        str | None,
        typer.Option(metavar="NAME,NAME", help="Attributes of --from that are numbers or dates, not codes."),
    ] = None,
    clusters_output: Annotated[
        Path | None,
        typer.Option(help="File for the contents of each cluster; by default masked.clusters.csv beside masked.csv."),
    ] = None,
    exact_values: Annotated[  # noqa: FBT002 - a flag
        bool, typer.Option("--exact-values", help="Write and print the exact values of every record in the clusters.")
    ] = False,
    solver: Annotated[
        Literal["matching", "identical", "best"],
        typer.Option(help="`best` takes the better result of the other two, then improves it."),
    ] = "best",
    seed: Annotated[int, typer.Option(min=0, help="Seed of every random draw.")] = 0,
    seconds: Annotated[
        float,
        typer.Option(min=0, help="Time limit of the search for fewer masked values; the best result so far is used."),
    ] = 30,
    star: Annotated[str, typer.Option(help="Text that replaces masked values.")] = "*",
    keep_order: Annotated[bool, typer.Option("--keep-order", help="Keep the order of the records.")] = False,  # noqa: FBT002 - a flag
    delimiter: DelimiterOption = None,
    memory_limit: MemoryOption = "1GB",
    accept_identifiers: AcceptOption = False,  # noqa: FBT002 - a flag
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """Make attributes exactly independent of others. Few of their values are masked, and other columns stay.

    The attributes that they are hidden from become one column: the number of a cluster of records. The contents of the
    clusters go to a file of their own, in words or exactly (--exact-values). They are sorted, so the file does not
    show whose value is whose, and the masked table is put into a random order. Values are categories unless the plan's
    types or --ordered say that they are numbers or dates. The clusters of a single attribute with an order are
    intervals. To rank the masked table with other maskings, name it in a plan by `masked_table`.
    """
    from aegis_provider.cli.independence_report import as_document, report
    from aegis_provider.independence import hide as hide_attributes
    from aegis_provider.plan.reading import load_plan
    from aegis_provider.table import delimiter_in, open_table, table_name
    from aegis_provider.table.formulas import formulas_in

    if plan is None and keep is None:
        raise InputError("say what must stay as it is: give --plan with a label, or --keep NAME,NAME ('' for nothing)")
    intended = None if plan is None else load_plan(plan, configurations_needed=False)
    say(f"hiding in {table_name(table)} ...")
    with progress_bar("masking") as progress:
        hidden = hide_attributes(
            table,
            hide=names_of("hide", hide),
            from_=names_of("from", hidden_from),
            clusters=clusters,
            output=output,
            clusters_output=clusters_output,
            exact_values=exact_values,
            plan=intended,
            keep=names_of("keep", keep),
            ordered=names_of("ordered", ordered),
            solver=solver,
            seed=seed,
            seconds=seconds,
            star=star,
            keep_order=keep_order,
            measure=True,
            delimiter=delimiter or delimiter_in(table, intended.label if intended else hide.split(",")[0]),
            memory_limit=memory_limit,
            accept_identifiers=accept_identifiers,
            progress=progress,
        )
    with open_table(output, delimiter=delimiter_in(output, hidden.cluster), memory_limit=memory_limit) as written:
        if said := formulas_in(written).in_words():
            warn(said)
    print_result(as_document(hidden), report(hidden), as_json=as_json)
