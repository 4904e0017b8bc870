from typing import Annotated

import typer

from aegis_provider.cli.options import DelimiterOption, HtmlOption, MemoryOption, OptionalPlanOption, page_writer
from aegis_provider.report.text import text_lines
from aegis_sdk.cli.entry_files import document_of, read
from aegis_sdk.cli.failures import InputError
from aegis_sdk.cli.options import AttributeOption, EntryArgument, JsonOption
from aegis_sdk.cli.terminal import print_result, progress_bar, say


def disclose(
    entry: EntryArgument,
    attribute: AttributeOption = None,
    below: Annotated[int, typer.Option(min=2, help="Counts above 0 and smaller than this are small.")] = 5,
    within: Annotated[int, typer.Option(min=0, help="Count the cells known to within this many records, too.")] = 2,
    table: Annotated[
        str | None,
        typer.Option(metavar="TABLE", help="The entry's own table, to measure how close someone gets to it."),
    ] = None,
    plan: OptionalPlanOption = None,
    seconds: Annotated[float, typer.Option(min=0, help="Time limit for the bounds of one attribute.")] = 60,
    check: Annotated[  # noqa: FBT002 - a flag
        bool, typer.Option("--check", help="Exit code 1 unless the verdict is PASS.")
    ] = False,
    html: HtmlOption = None,
    delimiter: DelimiterOption = None,
    memory_limit: MemoryOption = "1GB",
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """Show what the counts of an entry give away. Nothing is sent anywhere.

    The first line is the verdict. PASS: no table shows an exact count of 1 to 4 records, all tables together determine
    none, and no guess at one is more than 90 % sure; it has the number of values that certainly have 1 to 4 records.
    FAIL: the line ends with the command that mends it. The report has the smallest count of each table.
    For each attribute, it has the cells that all its tables together determine exactly although none shows them:
    differences of overlapping maskings are tables of fewer people. With --table and --plan, it also says how far
    someone who has not seen a record is from the truth.
    """
    from aegis_provider.disclosure import EntryError, refuse_small_counts
    from aegis_provider.disclosure import disclose as bound_cells
    from aegis_provider.plan.reading import load_plan
    from aegis_provider.report.disclosure import disclosure_report
    from aegis_provider.report.disclosure_document import disclosure_document
    from aegis_provider.table import delimiter_in

    document = document_of(entry, read(entry))
    intended = None if plan is None else load_plan(plan, configurations_needed=False)
    inputs = (*([table] if table else []), *(intended.files if intended else ()))
    write_page = page_writer(html, entry, *inputs)
    say(f"bounding the cells of {entry} ...")
    try:
        with progress_bar("bounding cells") as progress:
            disclosed = bound_cells(
                document,
                attribute,
                below=below,
                within=within,
                table=table,
                plan=intended,
                delimiter=delimiter or delimiter_in(table or "", intended.label if intended else ""),
                memory_limit=memory_limit,
                seconds=seconds,
                progress=progress,
            )
    except EntryError as error:
        raise InputError(f"{entry}: {error}") from error
    made_by = f"aegis summarize {table or 'TABLE'} --plan {plan or 'PLAN'} --name {disclosed.entry} --output {entry}"
    report = disclosure_report(disclosed, made_by, in_full=bool(attribute))
    write_page(report)
    print_result(disclosure_document(disclosed), text_lines(report), as_json=as_json)
    if check:
        refuse_small_counts(disclosed, str(entry))
