from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError

from aegis_provider.cli.options import (
    DelimiterOption,
    HtmlOption,
    OptionalPlanOption,
    memory_limit,
    page_writer,
    refuse_beside,
)
from aegis_provider.report.text import text_lines
from aegis_sdk.cli.options import AttributeOption, EntryArgument, JsonOption, document_of, read
from aegis_sdk.cli.show import chosen
from aegis_sdk.cli.terminal import InputError, print_json, print_result, progress_bar, say
from aegis_sdk.wire import PRIVACY_CRITERIA, Advice, EntryDocument, NotJsonError, faults_of, read_json


def disclose(
    entry: EntryArgument,
    attribute: AttributeOption = None,
    table: Annotated[
        str | None,
        typer.Option(metavar="TABLE", help="The entry's table, to measure how close an attack comes to it."),
    ] = None,
    plan: OptionalPlanOption = None,
    check: Annotated[  # noqa: FBT002 - a flag
        bool, typer.Option("--check", help="Exit code 1 unless the verdict is PASS.")
    ] = False,
    html: HtmlOption = None,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw the entry instead: an image (.svg) or a page of all figures (.html)."),
    ] = None,
    advice: Annotated[
        Path | None, typer.Option(help="With --plot: the output of `aegis advise ... --limit 10000 --json`.")
    ] = None,
    figure: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The figure in an .svg, such as costs; by default frontier, or lattice without --advice.",
        ),
    ] = None,
    privacy: Annotated[
        str | None,
        typer.Option(
            help="With --plot: the privacy criterion drawn against utility; by default the first that varies."
        ),
    ] = None,
    below: Annotated[int, typer.Option(min=2, help="Counts from 1 to below this number are small.")] = 5,
    seconds: Annotated[float, typer.Option(min=0, help="Time limit for the bounds of one attribute.")] = 60,
    delimiter: DelimiterOption = None,
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """Show what the counts of an entry give away. Sends nothing anywhere.

    The first line is the verdict. PASS: no table shows an exact count of 1 to 4 records, all tables together determine
    none, and no guess at one is more than 90 % sure; the line states how many values certainly have 1 to 4 records.
    FAIL: the line ends with the command that fixes it. The report lists the smallest count of each table.
    For each attribute, the report lists cells that no single table shows but all tables together determine exactly:
    subtracting overlapping maskings yields counts of fewer people. With --table and --plan, it also measures how far an
    attacker who has seen no record is from the truth.

    With --plot, there is no verdict. The figures show the utility and privacy of every configuration, the Pareto
    frontier, the cost of each masking, and which masking can be computed from which.
    """
    from aegis_provider.disclosure import EntryError, refuse_small_counts
    from aegis_provider.disclosure import disclose as bound_cells
    from aegis_provider.plan.reading import load_plan
    from aegis_provider.report.disclosure import disclosure_report
    from aegis_provider.report.disclosure_document import disclosure_document
    from aegis_provider.table import delimiter_in

    document = document_of(entry, read(entry))
    if plot is not None:
        judging = {"--table": bool(table), "--plan": bool(plan), "--check": check, "--html": bool(html)}
        refuse_beside("--plot", judging)
        drawn = _plotted(plot, entry, document, advice, figure, privacy, attribute)
        if as_json:
            print_json({"output": str(plot), "figures": drawn})
        else:
            say(f"{plot}: {', '.join(drawn)}")
        return
    if any(each is not None for each in (advice, figure, privacy)):
        raise InputError("--advice, --figure and --privacy need a file to draw: give --plot, too")
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
                table=table,
                plan=intended,
                delimiter=delimiter or delimiter_in(table or "", intended.label if intended else ""),
                memory_limit=memory_limit(),
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


def _plotted(
    output: Path,
    entry: Path,
    document: EntryDocument,
    advice: Path | None,
    figure: str | None,
    privacy: str | None,
    attribute: Sequence[str] | None,
) -> Sequence[str]:
    """Draw an image or a page; return the names of its figures.

    Raises:
        InputError: Options conflict, or there is nothing to draw.
    """
    from aegis_provider.errors import PlotError
    from aegis_provider.output import refuse_overwriting
    from aegis_provider.report.figures import FIGURES, Subject, possible, write_figure, write_figures

    asked = None if advice is None else advice_of(advice)
    names = [each.name for each in chosen(entry, document, attribute)] if attribute else None
    whole_page, subject = _is_page(output, figure), Subject(document, asked, privacy, names)
    if figure is not None and figure not in FIGURES:
        raise InputError(f"--figure must be one of {', '.join(FIGURES)}, not {figure!r}")
    if privacy is not None and privacy not in PRIVACY_CRITERIA:
        raise InputError(f"--privacy must be one of {', '.join(PRIVACY_CRITERIA)}, not {privacy!r}")
    refuse_overwriting(output, entry, *([advice] if advice else []))
    say(f"drawing {entry} ...")
    try:
        if whole_page:
            write_figures(output, subject)
            return [each.name for each in possible(subject)]
        drawn = figure or next(each.name for each in FIGURES.values() if asked or not each.needs_advice)
        write_figure(output, drawn, subject)
    except PlotError as error:
        raise InputError(f"{advice or entry}: {error}") from error
    return [drawn]


def _is_page(output: Path, figure: str | None) -> bool:
    """Return whether the output is a page, not an image.

    Raises:
        InputError: It is neither, or `--figure` is given for a page.
    """
    kind = output.suffix.lower()
    if kind not in (".html", ".svg"):
        raise InputError(f"{output}: not an .svg or .html file; name one")
    if kind == ".html" and figure is not None:
        raise InputError(f"{output}: a page shows every figure; --figure is for .svg files only")
    return kind == ".html"


def advice_of(path: Path) -> Advice:
    """Read the finished advice in a file, as `aegis advise ... --json` prints it.

    Raises:
        InputError: The advice is missing, unfinished or coarse.
    """
    try:
        document = read_json(read(path))
        if isinstance(document, dict) and document.get("view") == "coarse":
            raise InputError(f"{path}: the advice is coarse, without utilities; ask with a key of the entry's provider")
        advice = Advice.model_validate(document)
    except NotJsonError as error:
        raise InputError(f"{path}: not JSON: {error}; give the output of `aegis advise ... --json`") from error
    except ValidationError as error:
        fault = faults_of(error)[0]
        raise InputError(f"{path}: {fault.pointer or 'the advice'}: {fault.detail}") from error
    if advice.status != "succeeded":
        raise InputError(f"{path}: the advice is {advice.status}; ask again with `aegis advise ... --json`")
    return advice
