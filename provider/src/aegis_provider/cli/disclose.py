from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from pydantic import ValidationError

from aegis_provider.cli.options import (
    DelimiterOption,
    HoldoutOption,
    HtmlOption,
    OptionalPlanOption,
    PersonOption,
    RowsPerPersonOption,
    TableArgument,
    memory_limit,
    names_of,
    page_writer,
    refuse_beside,
    refuse_contradictions,
)
from aegis_provider.errors import needs_extra
from aegis_sdk._errors import AegisError
from aegis_sdk.cli.group import LocalVerdict
from aegis_sdk.cli.options import (
    AttributeOption,
    EntryArgument,
    JsonOption,
    RequireOption,
    document_of,
    read,
    requirements_of,
)
from aegis_sdk.cli.show import chosen
from aegis_sdk.cli.terminal import InputError, print_json, print_result, progress_bar, say, warn
from aegis_sdk.reading import Alone, shown
from aegis_sdk.wire import PRIVACY_CRITERIA, Advice, EntryDocument, NotJsonError, faults_of, read_json

if TYPE_CHECKING:
    from aegis_provider.plan.model import Plan
    from aegis_provider.privacy import Assessment
    from aegis_provider.report.verdicts import RiskVerdict
    from aegis_provider.synth.attacks.attack import Roles


_SECONDS: Final = 60.0
"""Time limit of verdicts on entries, and of attacks."""


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
    from aegis_provider.report.disclosure import disclosure_document, disclosure_report
    from aegis_provider.report.rendering import text_lines
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
    """Draw an image or a page; return the names of its figures."""
    from aegis_provider.errors import PlotError
    from aegis_provider.files import refuse_overwriting
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
    """Return whether the output is a page, not an image."""
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


def judge(entry: EntryDocument, path: Path, *, counts: bool = True) -> LocalVerdict:
    """Return the verdict of `aegis disclose` on the entry in this file; what takes over a minute is undecided.
    Identifying values are only warned about, since the entry's maker accepted them. Without `counts`, nothing else is
    judged.

    Raises:
        InputError: The entry contradicts its controls, or its counts contradict each other.
    """
    from aegis_provider.disclosure import EntryError, verdict_on
    from aegis_provider.identifiers import identifying_in_entry
    from aegis_provider.report.verdicts import judged_line

    say(f"judging {path} ...")
    for name, how in identifying_in_entry(entry).items():
        warn(f"{path}: {shown(name)} identifies persons: it {how}, which everyone with access to the counts will see")
    if not counts:
        return LocalVerdict(passed=True, line="")
    try:
        judged = verdict_on(entry, _SECONDS)
    except EntryError as error:
        raise InputError(f"{path}: {error}") from error
    made_by = f"aegis summarize TABLE --plan PLAN --name {entry.name} --output {path}"
    return LocalVerdict(judged.verdict.passed, judged_line(entry.name, judged, made_by))


ColumnsOption = Annotated[str | None, typer.Option(metavar="NAME,NAME", help="Columns of a table without a plan.")]


def risk(
    table: TableArgument,
    plan: OptionalPlanOption = None,
    configuration: Annotated[str | None, typer.Option(help="Report on this configuration only, in full.")] = None,
    require: RequireOption = None,
    against: Annotated[
        str | None, typer.Option(metavar="TABLE", help="Attack the first table as a release of this one.")
    ] = None,
    html: HtmlOption = None,
    quasi_identifiers: ColumnsOption = None,
    sensitive: ColumnsOption = None,
    label: Annotated[str | None, typer.Option(help="With --against: the label, if there is no plan.")] = None,
    holdout: HoldoutOption = None,
    seconds: Annotated[
        float | None, typer.Option(min=0, help="With --against: no attack starts after these seconds.  [60]")
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Exit code 1 unless the verdict is PASS.")] = False,  # noqa: FBT002 - a flag
    person: PersonOption = None,
    rows_per_person: RowsPerPersonOption = None,
    delimiter: DelimiterOption = None,
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """Measure the privacy of a table and of its releases. This includes the risk of re-identification.

    The first line is the verdict: PASS if every promise and requirement holds, otherwise FAIL and the command that
    fixes it. Without promises, there is no verdict.

    The releases are the configurations of the plan. A table without a plan, such as a masked one, needs
    --quasi-identifiers, --sensitive or both.

    With --against, the table is a release, generated or masked, of the other one. Attacks on it are tried and compared
    with chance. The first line is PASS, FAIL or NOT JUDGED. The exit code is 1 unless all attacks ran and failed.
    """
    from aegis_provider.plan.limits import with_person
    from aegis_provider.privacy import assess
    from aegis_provider.report.rendering import text_lines
    from aegis_provider.report.risk import risk_document, risk_report
    from aegis_provider.report.verdicts import risk_verdict
    from aegis_provider.table import delimiter_in, table_name

    if against is not None:
        from aegis_provider.synth.attacks.attack import Roles

        refuse_beside("--against", {"--require": bool(require), "--check": check})
        named = any(each is not None for each in (label, quasi_identifiers, sensitive))
        refuse_contradictions(plan, configuration, holdout, named=named)
        roles = Roles(label, names_of("quasi-identifiers", quasi_identifiers), names_of("sensitive", sensitive))
        most = _SECONDS if seconds is None else seconds
        whose = {"person": person, "rows_per_person": rows_per_person}
        _attack(table, against, plan, configuration, roles, holdout, most, html, delimiter, whose, as_json=as_json)
        return
    if any(each is not None for each in (label, holdout, seconds)):
        raise InputError("--label, --holdout and --seconds are for attacks; name the original table with --against")
    intended = with_person(_plan(plan, configuration, quasi_identifiers, sensitive), person, rows_per_person)
    required = requirements_of(require)
    write_page = page_writer(html, table, *intended.files)
    column = intended.label or next(iter(intended.columns), "")
    how = {"delimiter": delimiter or delimiter_in(table, column), "memory_limit": memory_limit()}
    say("measuring the table ...")
    with progress_bar("measuring configurations") as progress:
        assessment = assess(table, intended, configuration=configuration, require=required, progress=progress, **how)
    alone = _alone(table, intended, configuration, **how)
    verdict = risk_verdict(assessment, table_name(table), plan, alone)
    report = risk_report(assessment, Path(table_name(table)).name, verdict, alone)
    write_page(report)
    in_full = configuration is not None or not intended.configurations
    document = risk_document(assessment, verdict, in_full=in_full)
    told = {"alone": None if alone is None else alone.document}
    print_result(document | told, text_lines(report), as_json=as_json)
    if check:
        _refuse_broken(assessment, verdict)


def _attack(
    release: str,
    table: str,
    path: Path | None,
    configuration: str | None,
    roles: Roles,
    holdout: float | None,
    seconds: float,
    html: Path | None,
    delimiter: str | None,
    whose: Mapping[str, Any],
    *,
    as_json: bool,
) -> None:
    """Try all attacks on a release of the table and print the results."""
    from aegis_provider.plan.reading import load_plan
    from aegis_provider.report.rendering import text_lines
    from aegis_provider.synth.attacks.attack import open_case
    from aegis_provider.synth.attacks.judging import Result, judge
    from aegis_provider.synth.report.attacks import attacks_document, attacks_report
    from aegis_provider.table import table_name

    with needs_extra("synth"):
        import sklearn  # noqa: F401 - an extra, so that its absence is noticed before the work
    plan = None if path is None else load_plan(path, configurations_needed=configuration is not None)
    write_page = page_writer(html, release, table, *(plan.files if plan else ()))
    say(f"reading {table_name(release)} ...")
    opened = open_case(
        release,
        table,
        plan=plan,
        configuration=configuration,
        roles=roles,
        holdout=holdout,
        delimiter=delimiter,
        memory_limit=memory_limit(),
        **whose,
    )
    with progress_bar("attacking") as progress:
        judgement = judge(opened.case, seconds, progress)
    report = attacks_report(opened, judgement, Path(table_name(release)).name, seconds)
    write_page(report)
    print_result(attacks_document(opened, judgement), text_lines(report), as_json=as_json)
    if judgement.result is not Result.PASS:
        raise typer.Exit(1)


def _alone(table: str, plan: Plan, configuration: str | None, **how: str) -> Alone | None:
    """Return how many records are alone in releases, or in a table without a plan; `None` if a plan has no release."""
    from aegis_provider.release.alone import alone_in_releases, alone_in_table, told_alone
    from aegis_provider.table import table_name

    if not plan.files:
        return alone_in_table(table, plan, Path(table_name(table)).name, **how)
    if not plan.configurations:
        return None
    return told_alone(plan, alone_in_releases(table, plan, **how), configuration)


def _plan(path: Path | None, configuration: str | None, quasi_identifiers: str | None, sensitive: str | None) -> Plan:
    """Return the plan in the file, or a plan made from the named columns."""
    from aegis_provider.plan.reading import load_plan
    from aegis_provider.privacy import plan_of_roles

    named = quasi_identifiers is not None or sensitive is not None
    if path is not None and named:
        raise InputError("the plan names quasi-identifiers and sensitive columns: change them there, or omit --plan")
    if path is not None:
        return load_plan(path, configurations_needed=False)
    if not named:
        raise InputError("give --plan, or name columns with --quasi-identifiers and --sensitive")
    if configuration is not None:
        raise InputError("--configuration names a configuration of a plan; give --plan too")
    return plan_of_roles(names_of("quasi-identifiers", quasi_identifiers), names_of("sensitive", sensitive))


def _refuse_broken(assessment: Assessment, verdict: RiskVerdict) -> None:
    """Reject an assessment that fails the check."""
    if assessment.check_failures:
        first, *others = assessment.check_failures
        more = f" (and {len(others)} more)" if others else ""
        raise AegisError(f"{first.id or 'the table'}: {first.in_words()}{more}")
    if not verdict.passed:
        raise AegisError(verdict.line)
