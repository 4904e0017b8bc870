from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from aegis_provider.cli.options import (
    DelimiterOption,
    PersonOption,
    PlanOption,
    RowsPerPersonOption,
    TableArgument,
    memory_limit,
    names_of,
)
from aegis_provider.errors import EntryError
from aegis_sdk.cli.options import JsonOption, document_of, read
from aegis_sdk.cli.terminal import InputError, aligned, print_result, progress_bar, say
from aegis_sdk.printable import shown
from aegis_sdk.reading import Share
from aegis_sdk.wire import EntryDocument

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aegis_provider.check import CheckResult, Performance
    from aegis_provider.plan.model import Plan

_TWO_CLASSES: Final = 2


def check(
    table: TableArgument,
    plan: PlanOption,
    configurations: Annotated[
        str, typer.Option(metavar="ID,ID", help="Configurations of the plan: the advised one first, then others.")
    ],
    seconds: Annotated[float, typer.Option(min=0, help="Training ends after these seconds.")] = 45.0,
    entry: Annotated[
        Path | None, typer.Option(help="Add the AUC or R2 of each configuration to this entry file, for its readers.")
    ] = None,
    person: PersonOption = None,
    rows_per_person: RowsPerPersonOption = None,
    delimiter: DelimiterOption = None,
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """Train models on releases to see if the advice held.

    Logistic regression and gradient boosting predict the label of held-out
    records from the unmasked table, from each configuration, and from nothing;
    of a label that is a number, ridge and boosted regression. The report lists
    models that did not finish in time. Everything stays on this machine unless
    you publish an entry with the numbers.
    """
    from aegis_provider.check import check as check_releases
    from aegis_provider.plan.limits import with_person
    from aegis_provider.plan.reading import load_plan
    from aegis_provider.table import delimiter_in, table_name

    intended = with_person(load_plan(plan), person, rows_per_person)
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
            delimiter=delimiter,
            memory_limit=memory_limit(),
            progress=progress,
        )
    if entry is not None and published is not None:
        _write(entry, published, intended, result)
    print_result(as_document(result), report(result), as_json=as_json)


def _published(path: Path, table: str, plan: Plan, configurations: list[str]) -> EntryDocument:
    """Return the entry in the file after checking that the result can be added to it."""
    from aegis_provider.check import refuse_other_entry
    from aegis_provider.files import refuse_overwriting

    refuse_overwriting(path, table, *plan.files)
    published = document_of(path, read(path))
    try:
        refuse_other_entry(published, plan, configurations)
    except EntryError as error:
        raise InputError(f"{path}: {error}") from error
    return published


def _write(path: Path, published: EntryDocument, plan: Plan, result: CheckResult) -> None:
    """Write the entry with the performance on each configuration that finished."""
    from aegis_provider.check import with_measured
    from aegis_provider.entry import write_entry

    measured = with_measured(published, plan, result)
    if measured == published:
        raise InputError(f"{path}: no configuration finished in time, so there is nothing to add; allow more --seconds")
    write_entry(measured, path)


def report(result: CheckResult) -> Iterator[str]:
    """Yield the lines of the report: the verdict, a table for each model, and notes on the numbers."""
    from aegis_provider.classifiers import AUC, RAW

    yield result.verdict
    yield from _kept(result)
    yield from (f"{shown(label)}: {each.in_words}" for label, each in result.by_label.items())
    for model in result.models:
        is_number = result.scale != AUC
        rows = [_row(each, is_number=is_number) for each in result.performances if each.model == model]
        less = f"less {RAW}", f"less {shown(result.winner)}"
        header = ("table", result.scale, *less, "RMSE" if is_number else "accuracy")
        yield from ("", f"{model}:", *aligned(header, rows))
    yield from ("", *_notes(result))


def as_document(result: CheckResult) -> dict[str, Any]:
    """Return the result as JSON values."""
    shares = {name: result.share(name) for name in result.configurations}
    return {
        "verdict": result.verdict,
        "held": result.held,
        "notes": list(result.notes),
        "best_model": result.best_model,
        "kept": shares,
        **_named(asdict(result)),
    }


def _named(result: dict[str, Any]) -> dict[str, Any]:
    """Return the result with the names of the numbers that predict a number."""
    from aegis_provider.classifiers import AUC

    if result["scale"] == AUC:
        return result
    names = {"auc": "r2", "accuracy": "rmse"}
    named = [{names.get(key, key): value for key, value in each.items()} for each in result["performances"]]
    return {**result, "performances": named}


def _kept(result: CheckResult) -> Iterator[str]:
    """Yield the share that the winner keeps, by the model that predicts best from the unmasked table."""
    from aegis_provider.classifiers import AUC, RAW

    share, model = result.share(result.winner), result.best_model
    if share is None or model is None:
        return
    raw, one = result.of(RAW, model), result.of(result.winner, model)
    if raw is not None and one is not None:
        chance = "0.5 is chance" if result.scale == AUC else "0 is chance"
        numbers = f"{result.scale} {one.auc.value:.3f} of {raw.auc.value:.3f}; {chance}"
        what = f"{Share(share)} of what {model} predicts of {shown(result.label)}"
        yield f"{shown(result.winner)} keeps {what} ({numbers})"


def _row(one: Performance, *, is_number: bool) -> tuple[str, ...]:
    differences = ("-" if each is None else each.in_words(4, "+") for each in (one.to_raw, one.to_winner))
    error = one.accuracy.in_unit() if is_number else one.accuracy.in_words(4)
    return shown(one.table), one.auc.in_words(4), *differences, error


def _notes(result: CheckResult) -> Iterator[str]:
    """Yield notes on the numbers, the most serious first."""
    for model, tables in result.unfinished.items():
        yield f"not finished within {result.seconds:g} seconds: {model} of {', '.join(map(shown, tables))}"
    if result.shown_as != "identity":
        yield f"{shown(result.label)} is predicted as {shown(result.winner)} shows it: {shown(result.shown_as)}"
    if result.apart:
        yield f"not checked, since they show {shown(result.label)} otherwise: {', '.join(map(shown, result.apart))}"
    if result.refitted:
        yield f"fitted to the label anew in each fold: the maskings of {', '.join(map(shown, result.refitted))}"
    if result.rare:
        rare = ", ".join(f"{shown(value)} ({records})" for value, records in result.rare.items())
        yield f"label values with fewer than {result.folds} records are not checked: {rare}"
    for name, records in result.left_out.items():
        if records:
            left_out = f"{records} record{'s' * (records != 1)}"
            yield f"{shown(name)} leaves out {left_out}: models are tested on them, but not trained on them"
    yield from result.notes
    yield from _method(result)


def _method(result: CheckResult) -> Iterator[str]:
    from aegis_provider.classifiers import AUC

    drawn = (
        f", drawn from {result.of_records}" if result.records + sum(result.rare.values()) < result.of_records else ""
    )
    yield f"{result.records} records{drawn}, in {result.folds} folds, the same for every table"
    if result.scale != AUC:
        how = "as it is" if result.shown_as == "identity" else "by the mean scores of its coarser bins"
        yield f"R2: the share of the variance of {shown(result.label)}, {how}, that is predicted; RMSE: in its unit"
    elif result.classes > _TWO_CLASSES:
        yield f"AUC: each of the {result.classes} label values against the rest, weighted by its records"
    yield "±: 95 % intervals, for models trained on as many records of other draws of the table; differences are paired"
