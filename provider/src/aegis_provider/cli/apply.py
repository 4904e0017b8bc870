"""`aegis apply`: the table as a configuration of a plan masks it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aegis_provider.cli.options import (
    AcceptCompositionOption,
    AcceptOption,
    ConsumerOption,
    DelimiterOption,
    EscapeFormulasOption,
    MaskedTableOption,
    PersonOption,
    PlanOption,
    RowsPerPersonOption,
    StaysOption,
    TableArgument,
    memory_limit,
    of_release,
    offering,
    refuse_beside,
)
from aegis_provider.errors import PromiseError
from aegis_sdk.cli.options import AcceptUniqueOption, JsonOption
from aegis_sdk.cli.terminal import InputError, aligned, print_result, progress_bar, say, warn
from aegis_sdk.reading import Alone, number

if TYPE_CHECKING:
    from aegis_provider.ledger import HeldBack, Leaving
    from aegis_provider.plan.model import Plan
    from aegis_provider.release.apply import Applied
    from aegis_provider.release.table_file import HandedOut


def apply(
    context: typer.Context,
    table: TableArgument,
    plan: PlanOption,
    configuration: Annotated[str, typer.Option(help="Id of a configuration in the plan.")],
    output: MaskedTableOption,
    accept_identifiers: AcceptOption = False,  # noqa: FBT002 - a flag
    accept_unique: AcceptUniqueOption = False,  # noqa: FBT002 - a flag
    escape_formulas: EscapeFormulasOption = False,  # noqa: FBT002 - a flag
    force: Annotated[bool, typer.Option("--force", help="Write the table even if it breaks its promise.")] = False,  # noqa: FBT002 - a flag
    person: PersonOption = None,
    rows_per_person: RowsPerPersonOption = None,
    delimiter: DelimiterOption = None,
    to: ConsumerOption = "anyone",
    name: Annotated[
        str | None,
        typer.Option(help="Name of the table; by default that of the release with the plan, or of its file."),
    ] = None,
    accept_composition: AcceptCompositionOption = False,  # noqa: FBT002 - a flag
    stays: StaysOption = False,  # noqa: FBT002 - a flag
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """Write the table as a configuration masks it.

    The masked table has the label and the attributes that the configuration does not drop. Records are shuffled,
    because their order can identify people. Records that the plan declares suppressed are left out, and suppressed
    cells become `*`.
    The promised privacy is measured in the masked table. A table that breaks the promise is not written.

    A generated table that the plan offers is copied unchanged if its SHA-256 matches the plan.

    The table is taken to leave: the ledger (`aegis ledger show`) keeps it, and if it and what left before together
    break the promise, it is not written without --accept-composition. --stays is for tables that nobody else gets.
    """
    from aegis_provider.files import refuse_overwriting
    from aegis_provider.ledger import ACCEPT, Leaving
    from aegis_provider.plan.limits import with_person
    from aegis_provider.plan.reading import load_plan
    from aegis_provider.release.apply import apply as write_masked
    from aegis_provider.release.table_file import hand_out
    from aegis_provider.table import delimiter_in, table_name
    from aegis_provider.workflow.folder import released_as
    from aegis_provider.workflow.releasing import name_of

    intended = with_person(load_plan(plan), person, rows_per_person)
    delimiter = delimiter or delimiter_in(table, intended.label)
    if stays:
        refuse_beside("--stays", {"--to": to != "anyone", "--name": bool(name), ACCEPT: accept_composition})
    how: Mapping[str, Any] = {"delimiter": delimiter, "memory_limit": memory_limit()}
    named, place = name or released_as(plan) or name_of(table), str(output.resolve())
    leaving = None if stays else Leaving(name=named, to=to, place=place, accept=accept_composition)
    ledger = _Ledger(table, intended, configuration, leaving, how)
    if intended.generated_table(configuration) is not None:
        if force or escape_formulas:
            raise InputError(
                "--force and --escape-formulas apply to masking only; a generated table is copied unchanged"
            )
        may: dict[str, Any] = {"accept_identifiers": accept_identifiers, "leaves": ledger.leaves}
        handed_out = hand_out(intended, configuration, output, table, delimiter, **may)
        _print_copied(handed_out, of_release(output, table_name(table), plan, delimiter), as_json=as_json)
        return
    refuse_overwriting(output, table, *intended.files)
    say(f"masking {table_name(table)} ...")
    with offering(context):
        held = ledger.hold_back()
    with _told_of_force(), offering(context), progress_bar("masking records") as progress:
        applied = write_masked(
            table,
            intended,
            configuration,
            output,
            accept_identifiers=accept_identifiers,
            accept_unique=accept_unique,
            force=force,
            escape_formulas=escape_formulas,
            leaves=ledger.leaves,
            held=None if held is None else held.records,
            progress=progress,
            **how,
        )
    _print_applied(table, intended, configuration, output, applied, ledger.together, how, as_json=as_json)


@dataclass
class _Ledger:
    """What the ledger keeps of the masked table.

    Attributes:
        leaving: What is said of its leaving; `None` if it stays, so that the ledger keeps nothing.
        together: What it discloses together with what left before, in sentences.
    """

    table: str
    plan: Plan
    configuration: str
    leaving: Leaving | None
    how: Mapping[str, Any]
    together: list[str] = field(default_factory=list)

    def hold_back(self) -> HeldBack | None:
        """Return the records to hold back beside what left before."""
        from aegis_provider.ledger import hold_back

        if self.leaving is None:
            return None
        held = hold_back(self.table, self.plan, self.configuration, self.leaving, self.how)
        self.leaving = replace(self.leaving, held="" if held is None else held.digest)
        return held

    def leaves(self, part: Path) -> None:
        """Keep that the file `part` leaves."""
        from aegis_provider.files import digest_of
        from aegis_provider.ledger import leave

        if self.leaving is not None:
            leaving = replace(self.leaving, digest=digest_of(part))
            self.together.extend(leave(self.table, self.plan, self.configuration, leaving, self.how))


@contextmanager
def _told_of_force() -> Iterator[None]:
    """Add --force to the error; only this command has that option."""
    try:
        yield
    except PromiseError as error:
        if error.can_be_forced:
            raise PromiseError(f"{error} (--force writes it anyway)") from error
        raise


def _print_copied(handed_out: HandedOut, options: str, *, as_json: bool) -> None:
    """Print what was copied; `options`: those of `aegis risk`."""
    generated = handed_out.generated
    if handed_out.warning:
        warn(handed_out.warning)
    document = {
        "output": str(handed_out.output),
        "configuration": generated.id,
        "sha256": handed_out.sha256,
        "warnings": [handed_out.warning] if handed_out.warning else [],
        "promised": dict(generated.privacy),
    }
    print_result(document, _told(handed_out, f"aegis risk {options}"), as_json=as_json)


def _told(handed_out: HandedOut, command: str) -> Iterator[str]:
    generated = handed_out.generated
    yield f"{handed_out.output}: the generated table {generated.id}, SHA-256 {handed_out.sha256} as the plan states"
    if limits := ", ".join(f"{name} at most {number(limit, 6)}" for name, limit in generated.privacy.items()):
        yield f"promised: {limits}; {command} tries the attacks again"


def _print_applied(
    table: str,
    plan: Plan,
    configuration: str,
    output: Path,
    applied: Applied,
    together: Sequence[str],
    how: Mapping[str, Any],
    *,
    as_json: bool,
) -> None:
    from aegis_provider.privacy import certain_values_warning
    from aegis_provider.release.alone import alone_in_releases, told_alone

    rest = replace(plan, configurations=tuple(each for each in plan.configurations if each.id != configuration))
    shares = alone_in_releases(table, rest, **how) | {configuration: applied.checked.alone.share}
    alone = told_alone(plan, {each.id: shares[each.id] for each in plan.configurations}, configuration)
    certain = certain_values_warning(
        applied.reached, plan, of_people=applied.of_people, by_label=applied.checked.by_label
    )
    for warning in (*applied.faults, *applied.warnings, *filter(None, [certain])):
        warn(warning)
    result = {"output": str(output), "configuration": configuration, **_result(applied), "alone": alone.document}
    lines = [*_masked_report(output, applied, alone), *(f"for you only: {each}" for each in together)]
    print_result({**result, "together": list(together)}, lines, as_json=as_json)


def _masked_report(output: Path, applied: Applied, alone: Alone) -> Iterator[str]:
    left_out = f", {applied.suppressed} left out" if applied.suppressed else ""
    cells = f", {applied.suppressed_cells} cells suppressed (*)" if applied.suppressed_cells else ""
    yield f"{output}: {applied.records} records{left_out}{cells}"
    yield alone.line()
    if rows := list(_measured(applied)):
        yield "privacy, measured in it:"
        yield from aligned(("criterion", "reached", "promised", "in the worst class"), rows)
    if applied.checked.known is not None:
        yield applied.checked.known.shares.sentence
    yield from applied.checked.shown.in_words()
    if applied.checked.replayed:
        yield applied.checked.replayed
    if applied.unchecked:
        yield f"promised, but not measurable in a table: {', '.join(applied.unchecked)}"


def _measured(applied: Applied) -> Iterator[tuple[str, str, str, str]]:
    """Yield the criteria with their meaning, except values that every table trivially satisfies."""
    from aegis_provider.privacy import CRITERIA, promises_nothing

    promises = {name: number(limit, 6) for name, limit in applied.promised.items() if not promises_nothing(name, limit)}
    for name, reached in applied.reached.items():
        if name in promises or not promises_nothing(name, reached):
            said = CRITERIA[name].in_worst_class(reached, of_people=applied.of_people)
            yield name, number(reached, 4), promises.get(name, ""), said


def _result(applied: Applied) -> dict[str, Any]:
    return {
        "records": applied.records,
        "suppressed": applied.suppressed,
        "suppressed_cells": applied.suppressed_cells,
        "promised": dict(applied.promised),
        "reached": dict(applied.reached),
        "shown": {"rare": dict(applied.checked.shown.rare), "below_k": dict(applied.checked.shown.below_k)},
        "telling": [names.in_words() for names in applied.checked.shown.telling],
        **({"unit": "person"} if applied.of_people else {}),
        **({} if applied.checked.known is None else {"known_rows": vars(applied.checked.known)}),
        "unchecked": list(applied.unchecked),
        "faults": list(applied.faults),
        "warnings": list(applied.warnings),
        "replayed": applied.checked.replayed,
    }
