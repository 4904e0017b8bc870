from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aegis_provider.cli.options import (
    DelimiterOption,
    EffortOption,
    HtmlOption,
    KeepOption,
    PersonOption,
    PlanOption,
    RowsPerPersonOption,
    TableArgument,
    kept_of,
    memory_limit,
    page_writer,
)
from aegis_sdk.cli.options import JsonOption, WeightsOption, requirements_of, weights_of
from aegis_sdk.cli.terminal import InputError, aligned, print_result, progress_bar, say, warn
from aegis_sdk.reading import Alone, Share, shown, some

if TYPE_CHECKING:
    from aegis_provider.plan.model import Configuration, Plan
    from aegis_provider.privacy.privacy_table import CellPlan
    from aegis_provider.search import FrontierPoint, Requirement, SearchResult

_SHOWN = 10


def configurations(
    table: TableArgument,
    plan: PlanOption,
    output: Annotated[Path, typer.Option(help="A copy of the plan with these configurations.")],
    require: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=NUMBERS",
            help="Required privacy, for example k=5; repeatable. Several numbers, k=2,5,10, are separate requirements.",
        ),
    ] = None,
    suppress_at_most: Annotated[
        str,
        typer.Option(
            metavar="SHARES",
            help="Suppress at most this share of records, those in classes that break a requirement. Each of several "
            "shares, 0,0.01,0.05, is tried with each requirement.",
        ),
    ] = "0",
    measure: Annotated[
        str, typer.Option(help="Measure of utility for search and ranking, as for `aegis advise`.")
    ] = "joint",
    most: Annotated[int, typer.Option(min=1, help="Number of configurations to keep, the most useful first.")] = 1000,
    effort: EffortOption = "normal",
    keep: KeepOption = None,
    weights: WeightsOption = None,
    seconds: Annotated[
        float, typer.Option(min=0.1, help="Time limit of the search; Ctrl-C ends it earlier and keeps the best so far.")
    ] = 1800.0,
    html: HtmlOption = None,
    person: PersonOption = None,
    rows_per_person: RowsPerPersonOption = None,
    delimiter: DelimiterOption = None,
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """Find the configurations that meet the requirements and keep the most utility.

    Utility is how much the masked table tells about the label.
    """
    from aegis_provider.files import refuse_overwriting
    from aegis_provider.plan.limits import with_demands, with_person
    from aegis_provider.plan.reading import load_plan
    from aegis_provider.plan.writing import write_plan
    from aegis_provider.release.alone import alone_in_releases, told_alone
    from aegis_provider.report.figures import frontier_report
    from aegis_provider.search import find_configurations
    from aegis_provider.table import delimiter_in, table_name

    intended = with_demands(load_plan(plan, configurations_needed=False), kept_of(keep), weights_of(weights))
    intended = with_person(intended, person, rows_per_person)
    delimiter = delimiter or delimiter_in(table, intended.label)
    refuse_overwriting(output, table, *intended.files)
    requirements = _requirements(require or [], suppress_at_most)
    write_page = page_writer(html, table, output, *intended.files)
    say(f"reading {table_name(table)} ...")
    with progress_bar("searching the combinations of maskings; Ctrl-C keeps the best so far") as progress:
        result = find_configurations(
            table,
            intended,
            requirements,
            measure=measure,
            most=most,
            effort=effort,
            seconds=seconds,
            delimiter=delimiter,
            memory_limit=memory_limit(),
            progress=progress,
        )
    if result.interrupted:
        warn("Ctrl-C ended the search; the best configurations so far are kept")
    required_ones = "; ".join(point.requirement.described() for point in result.frontier)
    remark = f"Found by `aegis plan configurations`, {required_ones}, the most useful first by {result.measure}."
    write_plan(plan, intended, result.configurations, output, remark)
    offered = replace(intended, configurations=result.configurations)
    shares = alone_in_releases(table, offered, delimiter=delimiter, memory_limit=memory_limit())
    alone = told_alone(offered, shares, result.configurations[0].id)
    write_page(frontier_report(result, Path(table_name(table)).name, _about(intended)))
    fixed = {
        attribute.name: result.configurations[0].maskings[attribute.name]
        for attribute in intended.chosen
        if attribute.name not in intended.quasi_identifiers
    }
    defaults = {attribute.name: attribute.kept_as for attribute in intended.chosen}
    document = {"output": str(output), "not_searched": fixed, **_document(result, shares), "alone": alone.document}
    print_result(
        document, [*_report(output, intended, result, alone), *_not_searched(fixed, defaults)], as_json=as_json
    )


def _requirements(texts: Sequence[str], shares: str) -> list[Requirement]:
    """Return a requirement for each combination of one number per text and one share."""
    from aegis_provider.search import Requirement

    choices = []
    for text in texts:
        name, equals, numbers = text.partition("=")
        choices.append([f"{name}{equals}{number.strip()}" for number in numbers.split(",")])
    required = [requirements_of(list(each)) for each in product(*choices)]
    return [Requirement(each, share) for each in required for share in map(_share_of, shares.split(","))]


def _share_of(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"--suppress-at-most must be a share such as 0.01, or several, 0,0.01, not {text!r}") from None


def _not_searched(fixed: dict[str, str], defaults: Mapping[str, str]) -> Iterator[str]:
    """List the fixed maskings of the attributes that are not quasi-identifiers."""
    if fixed:
        chosen = ", ".join(f"{name}: {choice}" for name, choice in fixed.items())
        yield ""
        yield f"not quasi-identifiers, so the same in every configuration (`default` in the plan): {chosen}"
        coarser = ", ".join(name for name, choice in fixed.items() if choice != defaults[name])
        if coarser:
            yield f"in coarser bins than the plan's default, with which no masking meets the requirement: {coarser}"


def _document(result: SearchResult, alone: Mapping[str, float | None]) -> dict[str, Any]:
    each = zip(result.configurations, result.utilities, result.shares, strict=True)
    return {
        "records": result.records,
        "combinations": result.nodes,
        "evaluated": result.evaluated,
        "complete": result.complete,
        "interrupted": result.interrupted,
        "cut": result.cut,
        "measure": result.measure,
        "unmasked_utility": result.unmasked,
        "limits": None if result.limits is None else asdict(result.limits),
        "ignored": {name: list(choices) for name, choices in result.ignored.items()},
        "frontier": [_point(point) for point in result.frontier],
        "configurations": [
            {
                "id": one.id,
                "about": result.names[one.id],
                "maskings": dict(one.maskings),
                "privacy": dict(one.privacy),
                "suppressed": one.suppressed or 0,
                "alone": alone[one.id],
                "utility": utility,
                "share": share,
                **({"by_label": _by_label(result, place)} if result.by_label else {}),
            }
            for place, (one, utility, share) in enumerate(each)
        ],
    }


def _by_label(result: SearchResult, place: int) -> dict[str, Any]:
    """Return what a configuration keeps of each of several labels, and how it protects each."""
    privacy = result.configurations[place].by_label
    return {
        label: {"share": of[place], "privacy": dict(privacy.get(label, {}))} for label, of in result.by_label.items()
    }


def _point(point: FrontierPoint) -> dict[str, Any]:
    best = point.configuration
    return {
        "require": dict(point.requirement.privacy),
        "suppress_at_most": point.requirement.suppress_at_most,
        "configuration": None if best is None else best.id,
        "privacy": None if best is None else dict(best.privacy),
        "suppressed": None if best is None else best.suppressed or 0,
        "utility": None if best is None else point.utility,
        "share": None if best is None else point.share,
        "minimal": point.minimal,
        "complete": point.complete,
        "unmet": point.unmet,
        "at_most_more": point.at_most_more,
    }


def _report(output: Path, plan: Plan, result: SearchResult, alone: Alone) -> Iterator[str]:
    from aegis_provider.report.figures import proof_of

    kept = len(result.configurations)
    yield f"{output}: {kept:,} configuration{'s' * (kept != 1)}{f'; {result.cut}' if result.cut else ''}"
    yield alone.line(offered=True)
    evaluations = f"{result.nodes:,} combinations of maskings, {result.evaluated:,} evaluations"
    yield f"{evaluations}; {result.records:,} records"
    yield (
        f"utility: {result.measure}, relative to the unmasked attributes, about {_about(plan)} "
        "(rare values merged, as an entry lists them)"
    )
    for name, choices in result.ignored.items():
        yield f"too many masked values to compare: {name} as {', '.join(choices)}"
    if result.limits is not None:
        first = f"{result.frontier[0].requirement.described()}: " if len(result.frontier) > 1 else ""
        yield f"{first}{result.limits.in_words}"
    yield ""
    if len(result.frontier) > 1:
        yield from _frontier(result)
        yield from _best_by_label(result)
        yield from (point.unmet for point in result.frontier if point.unmet)
    else:
        yield from _ranking(result)
        yield from _best_by_label(result)
        yield ""
        yield f"{proof_of(result.frontier[0])[0].upper()}{proof_of(result.frontier[0])[1:]}."


def _about(plan: Plan) -> str:
    return f"{some(list(plan.labels), len(plan.labels))}, on average" if plan.other_labels else plan.label


def _best_by_label(result: SearchResult) -> Iterator[str]:
    """Yield the best configuration for each of several labels."""
    for label, shares in result.by_label.items():
        place = max(range(len(shares)), key=shares.__getitem__)
        yield f"best for {shown(label)}: {result.configurations[place].id}, {Share(shares[place])}"


def _ranking(result: SearchResult) -> Iterator[str]:
    names = list(result.configurations[0].privacy)
    listed = zip(result.configurations[:_SHOWN], result.shares, strict=False)
    rows = [(each.id, *_reached(each, names), str(Share(share)), result.names[each.id]) for each, share in listed]
    yield from aligned(("configuration", *names, "suppressed", "utility", "in words"), rows)
    if len(result.configurations) > _SHOWN:
        yield f"  and {len(result.configurations) - _SHOWN:,} more"


def _frontier(result: SearchResult) -> Iterator[str]:
    from aegis_provider.report.figures import proof_of

    names = list(result.configurations[0].privacy)
    rows = []
    for point in result.frontier:
        required = ", ".join(f"{name}={number:g}" for name, number in point.requirement.privacy.items())
        best = point.configuration
        reached = (
            ("none", *("" for _ in names), "", "")
            if best is None
            else (best.id, *map(str, _reached(best, names)), str(Share(point.share)))
        )
        rows.append((required, f"{point.requirement.suppress_at_most:.4g}", *reached, proof_of(point)))
    yield from aligned(("required", "suppressed at most", "best", *names, "suppressed", "utility", ""), rows)
    named = dict.fromkeys(point.configuration.id for point in result.frontier if point.configuration is not None)
    yield ""
    yield from (f"{name}: {result.names[name]}" for name in named)


def _reached(configuration: Configuration, names: Sequence[str]) -> tuple[int | float, ...]:
    return (*(configuration.privacy[name] for name in names), configuration.suppressed or 0)


def cells(
    table: TableArgument,
    plan: PlanOption,
    output: Annotated[Path, typer.Option(help="A copy of the plan with the numbers of suppressed cells.")],
    delimiter: DelimiterOption = None,
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """Suppress single cells instead of whole records.

    A configuration that leaves out records suppresses single cells of these records instead, which become `*`, and
    still meets its promise. Records are left out only where suppressing cells is not enough. `aegis apply` and the
    other commands follow the new plan.
    """
    from aegis_provider.files import refuse_overwriting
    from aegis_provider.plan.reading import load_plan
    from aegis_provider.plan.writing import write_plan
    from aegis_provider.privacy.privacy_table import suppress_cells
    from aegis_provider.table import delimiter_in, table_name

    intended = load_plan(plan)
    delimiter = delimiter or delimiter_in(table, intended.label)
    refuse_overwriting(output, table, *intended.files)
    say(f"reading {table_name(table)} ...")
    with progress_bar("choosing cells") as progress:
        found = suppress_cells(table, intended, delimiter=delimiter, memory_limit=memory_limit(), progress=progress)
    write_plan(plan, intended, found.plan.configurations, output, "With suppressed cells, by `aegis plan cells`.")
    print_result(
        {"output": str(output), "configurations": _listed(found)}, _cells_report(output, found), as_json=as_json
    )


def _listed(found: CellPlan) -> list[dict[str, Any]]:
    return [
        {
            "id": configuration.id,
            "left_out_without": found.left_out[configuration.id],
            "suppressed": configuration.suppressed,
            "suppressed_cells": configuration.suppressed_cells,
        }
        for configuration in found.plan.configurations
        if configuration.id in found.left_out
    ]


def _cells_report(output: Path, found: CellPlan) -> Iterator[str]:
    rows = [tuple(each.values()) for each in _listed(found)]
    yield f"{output}: {len(rows):,} of {len(found.plan.configurations):,} configurations suppress cells"
    yield ""
    yield from aligned(("configuration", "left out before", "left out now", "cells suppressed"), rows[:_SHOWN])
    if len(rows) > _SHOWN:
        yield f"  and {len(rows) - _SHOWN:,} more"
