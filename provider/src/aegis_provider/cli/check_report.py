"""The result of a check, as lines for people and as a document for programs."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, Final

from aegis_provider.check import RAW, CheckResult, Interval, Performance
from aegis_sdk.cli.terminal import aligned
from aegis_sdk.printable import shown
from aegis_sdk.reading import Share

_TWO_CLASSES: Final = 2


def check_report(result: CheckResult) -> Iterator[str]:
    """Yield the lines of the report: the verdict, a table for each model, and what to know about the numbers."""
    yield result.verdict
    yield from _kept(result)
    for model in result.models:
        rows = [_row(each) for each in result.performances if each.model == model]
        yield from ("", f"{model}:", *aligned(("table", "AUC", *_compared(result), "accuracy"), rows))
    yield from ("", *_notes(result))


def check_document(result: CheckResult) -> dict[str, Any]:
    """Return the result as JSON values."""
    shares = {name: result.share(name) for name in result.configurations}
    return {
        "verdict": result.verdict,
        "held": result.held,
        "notes": list(result.notes),
        "best_model": result.best_model,
        "kept": shares,
        **asdict(result),
    }


def _kept(result: CheckResult) -> Iterator[str]:
    """Yield what the winner keeps, by the model that predicts best from the table as it is."""
    share, model = result.share(result.winner), result.best_model
    if share is None or model is None:
        return
    raw, one = result.of(RAW, model), result.of(result.winner, model)
    if raw is not None and one is not None:
        numbers = f"AUC {one.auc.value:.3f} of {raw.auc.value:.3f}; 0.5 is chance"
        what = f"{Share(share)} of what {model} predicts of {shown(result.label)}"
        yield f"{shown(result.winner)} keeps {what} ({numbers})"


def _compared(result: CheckResult) -> tuple[str, str]:
    return f"less {RAW}", f"less {shown(result.winner)}"


def _row(one: Performance) -> tuple[str, ...]:
    differences = ("-" if each is None else _number(each, "+") for each in (one.to_raw, one.to_winner))
    return shown(one.table), _number(one.auc), *differences, _number(one.accuracy)


def _number(interval: Interval, sign: str = "") -> str:
    """Return the number with half the width of its interval."""
    half = max(interval.value - interval.low, interval.high - interval.value)
    return f"{interval.value:{sign}.4f} ± {half:.4f}"


def _notes(result: CheckResult) -> Iterator[str]:
    """Yield what a reader needs to know, the worst first."""
    for model, tables in result.unfinished.items():
        yield f"not finished within {result.seconds:g} seconds: {model} of {', '.join(map(shown, tables))}"
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
    drawn = (
        f", drawn from {result.of_records}" if result.records + sum(result.rare.values()) < result.of_records else ""
    )
    yield f"{result.records} records{drawn}, in {result.folds} folds, the same for every table"
    if result.classes > _TWO_CLASSES:
        yield f"AUC: each of the {result.classes} label values against the rest, weighted by its records"
    yield "±: 95 % intervals, for models trained on so many records of other draws of the table; differences are paired"
