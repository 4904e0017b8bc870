from pathlib import Path
from typing import Annotated

import typer

from aegis_provider.cli.options import (
    ConfigurationOption,
    DelimiterOption,
    HoldoutOption,
    HtmlOption,
    OptionalPlanOption,
    TableArgument,
    memory_limit,
    page_writer,
    refuse_contradictions,
)
from aegis_provider.report.text import text_lines
from aegis_sdk.cli.options import JsonOption
from aegis_sdk.cli.terminal import InputError, print_result, progress_bar, say


def fidelity(
    release: TableArgument,
    against: Annotated[str, typer.Option(metavar="TABLE", help="The table that the release was made from.")],
    plan: OptionalPlanOption = None,
    configuration: ConfigurationOption = None,
    label: Annotated[str | None, typer.Option(help="The label, if there is no plan.")] = None,
    holdout: HoldoutOption = None,
    html: HtmlOption = None,
    delimiter: DelimiterOption = None,
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """Measure the utility and fidelity of a release.

    Models are trained on the release, generated or masked, and on as many real records. Both are tested on held-out
    real records. Clusters, associations and distances follow. Each number is compared with what is possible, measured
    between real records, and with chance. `aegis risk RELEASE --against TABLE` measures what attacks achieve.
    """
    from aegis_provider.plan.reading import load_plan
    from aegis_provider.synth.fidelity import fidelity as measure
    from aegis_provider.synth.report.fidelity import fidelity_document, fidelity_report
    from aegis_provider.table import table_name

    refuse_contradictions(plan, configuration, holdout, named=label is not None)
    if plan is None and label is None:
        raise InputError("no column to predict; give --plan, or name it with --label")
    intended = None if plan is None else load_plan(plan, configurations_needed=configuration is not None)
    write_page = page_writer(html, release, against, *(intended.files if intended else ()))
    say(f"reading {table_name(release)} ...")
    with progress_bar("measuring") as progress:
        result = measure(
            release,
            against,
            plan=intended,
            configuration=configuration,
            label=label,
            holdout=holdout,
            embed=html is not None,
            delimiter=delimiter,
            memory_limit=memory_limit(),
            progress=progress,
        )
    report = fidelity_report(result, Path(table_name(release)).name)
    write_page(report)
    print_result(fidelity_document(result), text_lines(report), as_json=as_json)
    if result.not_judged:
        raise typer.Exit(1)
