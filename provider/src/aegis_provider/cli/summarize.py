from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from aegis_provider.cli.options import (
    AcceptOption,
    DelimiterOption,
    NewRandomnessOption,
    PersonOption,
    PlanOption,
    RowsPerPersonOption,
    TableArgument,
    memory_limit,
)
from aegis_sdk.cli.options import JsonOption
from aegis_sdk.cli.terminal import InputError, print_json, progress_bar, say, warn

if TYPE_CHECKING:
    from aegis_provider.control import Control, Controlled, LastingRandomness
    from aegis_provider.plan.model import Plan
    from aegis_provider.prepare import PreparedEntry

_SHOWN = 10
_VALUES = 4


def summarize(
    table: TableArgument,
    plan: PlanOption,
    name: Annotated[str, typer.Option(help="Name of the entry: a-z 0-9 - _ .")],
    output: Annotated[Path, typer.Option(help="The entry (JSON); read it before you publish it.")],
    pairs: Annotated[bool, typer.Option("--pairs", help="Also count pairs of attributes (joint measures).")] = False,  # noqa: FBT002 - a flag
    exact: Annotated[  # noqa: FBT002 - a flag
        bool, typer.Option("--exact", help="Publish exact counts and all values, whatever that gives away.")
    ] = False,
    min_cell: Annotated[
        int | None,
        typer.Option(metavar="N", help="Merge masked values until every count is 0 or of at least so many people."),
    ] = None,
    round_to: Annotated[
        int | None,
        typer.Option(
            metavar="BASE", help="Round every count at random to a multiple of this, times --rows-per-person."
        ),
    ] = None,
    epsilon: Annotated[
        float | None, typer.Option(metavar="E", help="Add noise to every count: differential privacy for all tables.")
    ] = None,
    merge_rare_labels: Annotated[  # noqa: FBT002 - a flag
        bool,
        typer.Option(
            "--merge-rare-labels", help="Merge label values with fewer records than the minimum (--min-cell)."
        ),
    ] = False,
    split: Annotated[
        Literal["equal", "cube_root"] | None,
        typer.Option(
            help="How to split epsilon over the tables; `cube_root` (of their cells) adds the least noise.  [equal]"
        ),
    ] = None,
    open_answers: Annotated[  # noqa: FBT002 - a flag
        bool,
        typer.Option("--open-answers", help="Let all who see the entry read full answers (with --epsilon)."),
    ] = False,
    plan_output: Annotated[
        Path | None, typer.Option(help="The plan that matches the entry, as changed by --min-cell.")
    ] = None,
    accept_identifiers: AcceptOption = False,  # noqa: FBT002 - a flag
    person: PersonOption = None,
    rows_per_person: RowsPerPersonOption = None,
    new_randomness: NewRandomnessOption = False,  # noqa: FBT002 - a flag
    delimiter: DelimiterOption = None,
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """Count a table as its plan says and write the catalogue entry. Sends nothing anywhere.
    Only what configurations share is counted. Counts are rounded at random unless you choose another control.
    """
    from aegis_provider.control import LastingRandomness, refuse_conflicts
    from aegis_provider.files import none_if_refused
    from aegis_provider.identifiers import accepted_in_words
    from aegis_provider.plan.limits import with_person
    from aegis_provider.plan.reading import load_plan
    from aegis_provider.prepare import ONE_MORE_LOOK, accepted_in_entry, refuse_outputs
    from aegis_provider.table import delimiter_in, table_name

    minimum = _minimum(min_cell, plan_output, merge_rare_labels=merge_rare_labels)
    controls = [*minimum, *_other_controls(round_to, epsilon, split, open_answers=open_answers)]
    refuse_conflicts(controls)
    if exact and controls:
        raise InputError("--exact cannot be combined with a disclosure control; omit one of them")
    intended = with_person(load_plan(plan), person, rows_per_person)
    delimiter = delimiter or delimiter_in(table, intended.label)
    refuse_outputs(table, intended, output, plan_output)
    if intended.generated:
        from aegis_provider.synth.offer import refuse_early

        refuse_early(intended, controls, delimiter=delimiter)
    say(f"counting {table_name(table)} ...")
    how: Mapping[str, Any] = {"delimiter": delimiter, "memory_limit": memory_limit()}
    chance = LastingRandomness(warning=ONE_MORE_LOOK) if new_randomness else None
    wanted = _Wanted(name, controls, chance, exact=exact, pairs=pairs, accept_identifiers=accept_identifiers)
    with none_if_refused(output, *filter(None, [plan_output])):
        prepared = _counted(table, intended, wanted, how)
    _warn(prepared, plan_output)
    prepared.write(output, plan_output)
    spent = "" if epsilon is None else _spent(table, intended, output, name, epsilon, how)
    if as_json:
        written = {} if plan_output is None else {"plan": str(plan_output)}
        print_json({"output": str(output), **written, **_result(prepared)})
    else:
        _report(output, prepared)
        if "+" in spent:
            typer.echo(f"epsilon spent on this table if you share all entries that were made of it: {spent}")
        if accept_identifiers and (found := accepted_in_entry(prepared, **how)):
            typer.echo(accepted_in_words(found))


@dataclass(frozen=True)
class _Wanted:
    """The entry that is wanted. `chance`: what its rounding is drawn by; by default, that of this computer."""

    name: str
    controls: Sequence[Control]
    chance: LastingRandomness | None
    exact: bool
    pairs: bool
    accept_identifiers: bool


def _counted(table: str, plan: Plan, wanted: _Wanted, how: Mapping[str, Any]) -> PreparedEntry:
    """Count the entry that is wanted: as that of a release if it has pairs, and nothing else is said of its counts."""
    from aegis_provider.prepare import prepare_entry

    accepts = {"accept_identifiers": wanted.accept_identifiers}
    if wanted.pairs and not wanted.exact and not wanted.controls:
        from aegis_provider.state import lasting_randomness
        from aegis_provider.workflow.entry import entry_of_release

        chance = wanted.chance or lasting_randomness()
        prepared = entry_of_release(table, plan, wanted.name, chance, progress_bar, {**accepts, **how})
    else:
        about: Mapping[str, Any] = {"name": wanted.name, "exact": wanted.exact, "pairs": wanted.pairs, **accepts}
        with progress_bar("counting") as progress:
            prepared = prepare_entry(
                table, plan, wanted.controls, chance=wanted.chance, progress=progress, **about, **how
            )
    if plan.generated:
        from aegis_provider.synth.offer import with_generated

        with progress_bar("comparing releases") as progress:
            prepared = with_generated(prepared, progress=progress, **how)
    return prepared


def _spent(table: str, intended: Plan, output: Path, name: str, epsilon: float, how: Mapping[str, Any]) -> str:
    """Keep in the ledger that a noisy entry was made: its noise is drawn anew each time, and spends epsilon."""
    from aegis_provider.files import digest_of
    from aegis_provider.ledger import Event, note

    event = Event(what="entry", entry=name, digest=digest_of(output), epsilon=epsilon)
    return note(table, intended, name, event, how).spent


def _minimum(min_cell: int | None, plan_output: Path | None, *, merge_rare_labels: bool) -> Iterator[Control]:
    """Yield the minimum cell, if requested."""
    from aegis_provider.control import MinimumCell

    if merge_rare_labels and min_cell is None:
        raise InputError("--merge-rare-labels merges label values with fewer records than --min-cell; give that too")
    if plan_output is not None and min_cell is None:
        raise InputError("--plan-output writes the plan that --min-cell changes; give --min-cell too")
    if min_cell is not None:
        yield MinimumCell(min_cell, merge_rare_labels)


def _other_controls(
    round_to: int | None, epsilon: float | None, split: Literal["equal", "cube_root"] | None, *, open_answers: bool
) -> Iterator[Control]:
    """Yield the other requested controls."""
    from aegis_provider.control import LaplaceNoise, RandomRounding

    if split is not None and epsilon is None:
        raise InputError("--split says how epsilon is split; give --epsilon too")
    if open_answers and epsilon is None:
        raise InputError("--open-answers needs noisy counts; give --epsilon too")
    if round_to is not None:
        yield RandomRounding(round_to)
    if epsilon is not None:
        yield LaplaceNoise(epsilon, split or "equal", open_answers=open_answers)


def _warn(prepared: PreparedEntry, plan_output: Path | None) -> None:
    if prepared.chance is not None and prepared.chance.made:
        typer.echo(f"aegis: {prepared.chance.made}", err=True)
    for warning in prepared.warnings:
        warn(warning)
    if prepared.controlled.changes.changes_the_plan and plan_output is None:
        warn(
            "the unchanged plan would release what the entry no longer contains: write the matching plan with "
            "--plan-output and apply that one"
        )


def _result(prepared: PreparedEntry) -> dict[str, Any]:
    """Return what was written, as JSON values."""
    from aegis_provider.entry import small_below

    entry, exposure, controlled = prepared.entry, prepared.exposure, prepared.controlled
    of_people = {} if entry.people is None else {"people": entry.people, "rows_per_person": entry.rows_per_person}
    result = {
        "records": entry.records,
        **of_people,
        "configurations": len(entry.configurations or []),
        "pairs": len(entry.pairs),
        "nearly_unique": list(exposure.nearly_unique),
        "below_k": exposure.below_k,
    }
    if controlled.controls:
        return {**result, "controls": {**controlled.declared(), **controlled.changes.listed()}}
    below = small_below(entry.rows_per_person or 1)
    small = {"below": below, "counts": exposure.small.counts, "smallest": exposure.small.smallest}
    return {**result, "small_counts": small}


def _report(output: Path, prepared: PreparedEntry) -> None:
    entry = prepared.entry
    counted = f", {len(entry.pairs)} pairs" if "pairs" in entry.model_fields_set else ""
    drawn = f" ({len(entry.generated)} generated)" if entry.generated else ""
    people = "" if entry.people is None else f" of {entry.people} people"
    say(f"{output}: {entry.records} records{people}, {len(entry.configurations or [])} configurations{drawn}{counted}")
    for line in _changes_in_words(prepared.controlled):
        typer.echo(line)


def _changes_in_words(controlled: Controlled) -> Iterator[str]:
    """List what was merged, rounded and left out, and each table's share of epsilon; long lists are truncated."""
    changes = controlled.changes
    merged = [
        f"{each.attribute}, {each.masking}: {_quoted(group.values)} became {group.text!r}"
        for each in changes.merged
        for group in each.groups
    ]
    yield from _listed("masked values merged", merged)
    if changes.label is not None:
        yield from _listed("label values merged", [f"{_quoted(changes.label.values)} became {changes.label.text!r}"])
    yield from _listed("rounded, since they cannot be merged", changes.rounded)
    yield from _listed("left out", changes.tables)
    noise = [
        f"{each.table}: {each.cells} cells, epsilon {each.epsilon:.4g}, noise of scale {each.scale:.4g}"
        for each in changes.noise
    ]
    yield from _listed("tables with noise", noise)


def _quoted(values: Sequence[str]) -> str:
    """Quote the first few values."""
    shown = ", ".join(map(repr, values[:_VALUES]))
    return shown if len(values) <= _VALUES else f"{shown} and {len(values) - _VALUES} more"


def _listed(title: str, lines: Iterable[str]) -> Iterator[str]:
    items = list(lines)
    if not items:
        return
    yield f"{title}: {len(items)}"
    yield from (f"  {line}" for line in islice(items, _SHOWN))
    if len(items) > _SHOWN:
        yield f"  and {len(items) - _SHOWN} more, which --json lists"
