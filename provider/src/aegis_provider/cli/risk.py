from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from aegis_provider.cli.options import (
    DelimiterOption,
    HoldoutOption,
    HtmlOption,
    OptionalPlanOption,
    TableArgument,
    memory_limit,
    names_of,
    page_writer,
    refuse_beside,
    refuse_contradictions,
)
from aegis_provider.extras import needs_extra
from aegis_provider.report.text import text_lines
from aegis_sdk._errors import AegisError
from aegis_sdk.cli.options import JsonOption, RequireOption, requirements_of
from aegis_sdk.cli.terminal import InputError, print_result, progress_bar, say
from aegis_sdk.reading import Alone

if TYPE_CHECKING:
    from aegis_provider.plan.model import Plan
    from aegis_provider.privacy import Assessment
    from aegis_provider.report.risk_verdict import RiskVerdict
    from aegis_provider.synth.attacks.attack import Roles

_SECONDS: Final = 60.0

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
    from aegis_provider.privacy import assess
    from aegis_provider.report.risk import risk_report
    from aegis_provider.report.risk_document import risk_document
    from aegis_provider.report.risk_verdict import risk_verdict
    from aegis_provider.table import delimiter_in, table_name

    if against is not None:
        from aegis_provider.synth.attacks.attack import Roles

        refuse_beside("--against", {"--require": bool(require), "--check": check})
        named = any(each is not None for each in (label, quasi_identifiers, sensitive))
        refuse_contradictions(plan, configuration, holdout, named=named)
        roles = Roles(label, names_of("quasi-identifiers", quasi_identifiers), names_of("sensitive", sensitive))
        most = _SECONDS if seconds is None else seconds
        _attack(table, against, plan, configuration, roles, holdout, most, html, delimiter, as_json=as_json)
        return
    if any(each is not None for each in (label, holdout, seconds)):
        raise InputError("--label, --holdout and --seconds are for attacks; name the original table with --against")
    intended = _plan(plan, configuration, quasi_identifiers, sensitive)
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
    *,
    as_json: bool,
) -> None:
    """Try all attacks on a release of the table and print the results.

    Raises:
        Exit: An attack succeeds, or did not run.
        AegisError: A table or the plan cannot be used, or a library is missing.
    """
    from aegis_provider.plan.reading import load_plan
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
    """Return the plan in the file, or a plan made from the named columns.

    Raises:
        InputError: Both or neither are given, or a configuration is named without a plan.
    """
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
    """Reject an assessment that fails the check.

    Raises:
        AegisError: A promise is broken or not measured, or the verdict is not PASS for another reason.
    """
    if assessment.check_failures:
        first, *others = assessment.check_failures
        more = f" (and {len(others)} more)" if others else ""
        raise AegisError(f"{first.id or 'the table'}: {first.in_words()}{more}")
    if not verdict.passed:
        raise AegisError(verdict.line)
