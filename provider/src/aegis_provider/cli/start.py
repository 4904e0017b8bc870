from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aegis_provider.cli.options import (
    AcceptOption,
    DelimiterOption,
    FoldOption,
    IndexOption,
    KeepLeaksOption,
    OddOption,
    PersonOption,
    RowsPerPersonOption,
    TableArgument,
    memory_limit,
    names_of,
)
from aegis_sdk.cli.options import JsonOption
from aegis_sdk.cli.terminal import aligned, print_result, progress_bar, say, warn
from aegis_sdk.reading import Share, shown, some

if TYPE_CHECKING:
    from aegis_provider.draft import DraftedAttribute, Started

_LABELS = 10
_NAMES = 10
_ALIKE = 3
_LONGEST = 60


def start(
    table: TableArgument,
    label: Annotated[
        list[str],
        typer.Option(help="The column that the others should predict. Repeat it for others; the first is the default."),
    ],
    output: Annotated[Path, typer.Option(help="The plan (YAML). Nothing in an existing plan is changed.")] = Path(
        "plan.yaml"
    ),
    add: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Also draft this column, which was left out or is new in the table."),
    ] = None,
    minimum: Annotated[
        int | None,
        typer.Option(min=1, help="Minimum records of a merged group.  [0.5 % of the records, at least 5]"),
    ] = None,
    odd_as_missing: OddOption = False,  # noqa: FBT002 - a flag
    fold_case: FoldOption = False,  # noqa: FBT002 - a flag
    accept_identifiers: AcceptOption = False,  # noqa: FBT002 - a flag
    index: IndexOption = False,  # noqa: FBT002 - a flag
    keep_leaks: KeepLeaksOption = None,
    person: PersonOption = None,
    rows_per_person: RowsPerPersonOption = None,
    delimiter: DelimiterOption = None,
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """Profile a table and draft a plan for it.

    Each attribute gets maskings from fine to coarse, with a comment on what each keeps. Identifiers, free text and
    constants are left out, with the reason, and so are columns that tell over 95 % of the label or come after it in
    time. The other commands accept the plan as drafted; edit it as you like.
    """
    from aegis_provider.draft import start as draft_plan
    from aegis_provider.table import table_name

    say(f"reading {table_name(table)} ...")
    with progress_bar("drafting maskings") as progress:
        started = draft_plan(
            table,
            label[0],
            output,
            other_labels=label[1:],
            add=add or [],
            minimum=minimum,
            delimiter=delimiter,
            memory_limit=memory_limit(),
            accept_identifiers=accept_identifiers,
            index=index,
            odd_as_missing=odd_as_missing,
            fold_case=fold_case,
            keep_leaks=names_of("keep-leaks", keep_leaks),
            person=person,
            rows_per_person=rows_per_person,
            progress=progress,
        )
    if started.unlabelled:
        warn(f"{started.unlabelled}; remove such lines from the table if they are not records")
    for doubt in started.warnings:
        warn(doubt)
    if started.rare_labels:
        warn(
            f"label values with fewer than 5 records: {some(started.rare_labels, _NAMES)}; merge them with others "
            "in the table, or summarize with --min-cell and --merge-rare-labels"
        )
    print_result(_document(started, label), _report(started, table, label[0]), as_json=as_json)


def _document(started: Started, labels: list[str]) -> dict[str, Any]:
    others = started.other_labels
    return {
        "output": str(started.plan),
        "table": started.described,
        "delimiter": started.delimiter,
        "records": started.records,
        **({"labels": labels} if labels[1:] else {}),
        "label": {"name": labels[0], "records": dict(started.labels)},
        "minimum": started.minimum,
        "attributes": [_attribute(attribute) for attribute in started.attributes],
        "left_out": dict(started.left_out),
        "repeating": dict(started.repeating),
        "people": _people(started),
        "telling": dict(started.leaks.telling),
        "kept": list(started.kept),
        "new": list(started.new),
        **({"doubts": dict(started.doubts)} if started.doubts else {}),
        **({"other_labels": {name: dict(each) for name, each in others.items()}} if others else {}),
    }


def _people(started: Started) -> dict[str, Any] | None:
    if (people := started.people) is None:
        return None
    return {"person": people.column, "people": people.number, "rows_per_person": people.rows, "kept": people.kept}


def _attribute(drafted: DraftedAttribute) -> dict[str, Any]:
    column = drafted.column
    return {
        "name": column.name,
        "type": column.type,
        "values": column.distinct,
        "missing": column.missing,
        "likely_known": column.is_likely_known,
        "perhaps_known": column.perhaps_known,
        "information": drafted.information,
        "by_chance": drafted.by_chance,
        "notes": list(drafted.notes),
        "maskings": [
            {
                "id": level.id,
                "values": level.groups,
                "smallest": level.smallest,
                "kept": level.kept,
                "by_label": level.by_label,
            }
            for level in drafted.levels
        ],
    }


def _report(started: Started, table: str, label: str) -> Iterator[str]:
    yield f"{started.described}: {started.records:,} records"
    if started.leaks.telling:
        from aegis_provider.report.verdicts import leak_warning

        yield f"warning: {leak_warning(started.leaks.telling, label)}"
    for name, values in {label: started.labels, **started.other_labels}.items():
        yield from _labels(name, values, started.records)
    if started.attributes:
        yield from _drafted(started, label)
    if started.left_out:
        yield from ("", "left out:")
        yield from aligned(("column", "why"), list(_left_out(started)))
    if started.people is not None:
        yield from started.people.in_words()
    else:
        yield from _repeating(started)
    if started.leaks.left_out:
        yield "--keep-leaks NAME keeps what is known before the label is"
    yield ""
    yield from _plan(started)
    yield from _next(started, table)


def _repeating(started: Started) -> Iterator[str]:
    for name, values in started.repeating.items():
        repeats = f"{shown(name)} repeats: {values:,} values in {started.records:,} records"
        yield f"{repeats}. Privacy counts records; with --person {shlex.quote(name)} it counts people"


def _left_out(started: Started) -> Iterator[tuple[str, str]]:
    """Yield the columns left out, with the reason; more than ten for one reason share a row."""
    by_reason: dict[str, list[str]] = {}
    for name, why in started.left_out.items():
        by_reason.setdefault(why, []).append(name)
    for name, why in started.left_out.items():
        alike = by_reason[why]
        if len(alike) <= _NAMES:
            yield shown(name), why
        elif name == alike[0]:
            yield some(alike, _ALIKE), why


def _labels(label: str, values: Mapping[str, int], every: int) -> Iterator[str]:
    yield from ("", f"label {shown(label)}: {len(values)} values")
    rows = [(shown(value), records, Share(records / every)) for value, records in values.items()]
    yield from aligned(("value", "records", "share"), rows[:_LABELS])
    if len(rows) > _LABELS:
        yield f"  and {len(rows) - _LABELS} more"


def _drafted(started: Started, label: str) -> Iterator[str]:
    yield from ("", f"drafted, with at least {started.minimum:,} records in each merged group:")
    header = ("column", "type", "values", "missing", "bits", "by chance", "masked values and share kept", "")
    yield from aligned(header, [_row(attribute) for attribute in started.attributes])
    yield f"bits: mutual information with {shown(label)}; by chance: the bits expected of an independent column"
    yield "share kept: the share of these bits that the masking keeps"
    if any(level.by_label for attribute in started.attributes for level in attribute.levels):
        yield "*: merges values by the label, which tells more of records left out; others do not look at it"
    if any(attribute.column.is_likely_known for attribute in started.attributes):
        yield "known: others probably know it, judging by its name"
    if any(attribute.column.perhaps_known for attribute in started.attributes):
        yield f"perhaps known: judging by its values; {_known_line(started.plan)} lists what others know"


def _known_line(plan: Path) -> str:
    """Return where a plan lists what others know: `plan.yaml, line 17`."""
    lines = plan.read_text(encoding="utf-8").splitlines()
    place = next((number for number, line in enumerate(lines, 1) if "quasi_identifiers:" in line), None)
    return f"`quasi_identifiers` in {plan}" if place is None else f"{plan}, line {place},"


def _row(drafted: DraftedAttribute) -> tuple[str | int, ...]:
    column = drafted.column
    kept = (
        f"{each.groups}{'*' * each.by_label}" + (f": {Share(each.kept).whole}" if each.kept is not None else "")
        for each in drafted.levels
    )
    bits, chance = f"{drafted.information:.4f}", f"{drafted.by_chance:.4f}"
    remarks = ["known"] * column.is_likely_known
    remarks += [f"perhaps known ({column.perhaps_known})"] * bool(column.perhaps_known)
    remarks += [f"{some(column.missing_codes, 3)} may mean missing"] * bool(column.missing_codes)
    remarks += drafted.remarks
    remarks += [f"{column.possible_code} may be a code or a number: see its type in the plan"] * bool(
        column.possible_code
    )
    return (
        shown(column.name),
        column.type,
        column.distinct,
        column.missing,
        bits,
        chance,
        ", ".join(kept) or "-",
        "; ".join(remarks),
    )


def _plan(started: Started) -> Iterator[str]:
    if not started.kept:
        yield f"{started.plan}: {len(started.attributes)} attribute{'s' * (len(started.attributes) != 1)}"
        return
    added = (
        f"added {some([attribute.column.name for attribute in started.attributes], _NAMES)}"
        if started.attributes
        else "unchanged"
    )
    yield f"{started.plan}: {added}; it keeps what it said before"
    if started.new:
        yield f"not in the plan, so not shared: {some(started.new, _NAMES)}; draft one with --add NAME"


def _next(started: Started, table: str) -> Iterator[str]:
    delimiter = started.delimiter or ","
    mark = "tab" if delimiter == "\t" else shlex.quote(delimiter)
    option = "" if delimiter == "," else f" --delimiter {mark}"
    plan = shlex.quote(str(started.plan))
    files = f"{shlex.quote(table)} --plan {plan}"
    yield f"next: aegis plan configurations {files} --require k=5 --output found.yaml{option}"
