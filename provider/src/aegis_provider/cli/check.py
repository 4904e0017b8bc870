from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aegis_provider.cli.options import DelimiterOption, MemoryOption, PlanOption, TableArgument, names_of
from aegis_provider.errors import EntryError
from aegis_sdk.cli.entry_files import document_of, read
from aegis_sdk.cli.failures import InputError
from aegis_sdk.cli.options import JsonOption
from aegis_sdk.cli.terminal import print_result, progress_bar, say
from aegis_sdk.wire import EntryDocument

if TYPE_CHECKING:
    from aegis_provider.check import CheckResult
    from aegis_provider.plan.model import Plan


def check(
    table: TableArgument,
    plan: PlanOption,
    configurations: Annotated[
        str, typer.Option(metavar="ID,ID", help="Configurations of the plan: the advised one first, then others.")
    ],
    seconds: Annotated[float, typer.Option(min=0, help="No training starts after these seconds.")] = 45.0,
    folds: Annotated[int, typer.Option(min=2, help="Parts of the records; each is predicted from the others.")] = 5,
    entry: Annotated[
        Path | None, typer.Option(help="Add the AUC of each configuration to this entry file, for its readers.")
    ] = None,
    delimiter: DelimiterOption = None,
    memory_limit: MemoryOption = "1GB",
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """Train models on releases to see if the advice held.

    Logistic regression and gradient boosting predict the label of records that they were not trained on: from the
    table as it is, from each configuration, and from nothing. What was not finished in time is named. Everything stays
    on this machine, unless you publish an entry with the AUC.
    """
    from aegis_provider.check import check as check_releases
    from aegis_provider.cli.check_report import check_document, check_report
    from aegis_provider.plan.reading import load_plan
    from aegis_provider.table import delimiter_in, table_name

    intended = load_plan(plan)
    delimiter = delimiter or delimiter_in(table, intended.label)
    ids = names_of("configurations", configurations)
    published = None if entry is None else _published(entry, table, intended, ids)
    say(f"checking {table_name(table)} ...")
    with progress_bar("training models") as progress:
        result = check_releases(
            table,
            intended,
            ids,
            seconds=seconds,
            folds=folds,
            delimiter=delimiter,
            memory_limit=memory_limit,
            progress=progress,
        )
    if entry is not None and published is not None:
        _write(entry, published, intended, result)
    print_result(check_document(result), check_report(result), as_json=as_json)


def _published(path: Path, table: str, plan: Plan, configurations: list[str]) -> EntryDocument:
    """Return the entry in the file, if the result can be added to it.

    Raises:
        InputError: It is not a valid entry, or not one of this plan.
        OutputError: The file cannot be written, or is another input.
    """
    from aegis_provider.check import refuse_other_entry
    from aegis_provider.output import refuse_overwriting

    refuse_overwriting(path, table, *plan.files)
    published = document_of(path, read(path))
    try:
        refuse_other_entry(published, plan, configurations)
    except EntryError as error:
        raise InputError(f"{path}: {error}") from error
    return published


def _write(path: Path, published: EntryDocument, plan: Plan, result: CheckResult) -> None:
    """Write the entry with the AUC of each configuration that was finished.

    Raises:
        InputError: Nothing was finished.
        OutputError: The file cannot be written.
    """
    from aegis_provider.check import with_measured
    from aegis_provider.entry_file import write_entry

    measured = with_measured(published, plan, result)
    if measured == published:
        raise InputError(f"{path}: nothing was finished that could be added; allow more --seconds")
    write_entry(measured, path)
