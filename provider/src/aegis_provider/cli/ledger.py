"""Commands for the ledger of a table: what left, to whom and when, and erasing what it keeps of people."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aegis_sdk.cli.options import JsonOption
from aegis_sdk.cli.terminal import FAILED, InputError, aligned, explained, fail, print_result

if TYPE_CHECKING:
    from aegis_provider.ledger import Event, Ledger


def show(
    table: Annotated[str | None, typer.Argument(metavar="[TABLE-NAME]", help="Only this table.")] = None,
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """Show what left of the tables of this machine.

    The name of a table is that of its entry. What is listed left in this order, whatever the clock says.
    """
    from pydantic import TypeAdapter

    from aegis_provider.errors import nearest
    from aegis_provider.ledger import Ledger, ledgers

    every, faults = ledgers()
    chosen = [ledger for ledger in every if table in {None, ledger.name}]
    if table is not None and not chosen and not faults:
        raise InputError(f"{table}: has no ledger; {nearest(table, [ledger.name for ledger in every])}")
    document = TypeAdapter(list[Ledger]).dump_python(chosen, mode="json")
    lines = _lines(chosen) if chosen or faults else ["nothing has left"]
    print_result({"ledgers": document}, lines, as_json=as_json)
    if faults:
        for fault in faults.values():
            fail(explained(fault), FAILED)
        raise typer.Exit(FAILED)


def _lines(ledgers: list[Ledger]) -> Iterator[str]:
    for ledger in ledgers:
        yield f"{ledger.name}: {ledger.folder}"
        yield from aligned(("", "what", "which", "to", "when (UTC)", "people kept"), list(map(_row, ledger.events)))
        if cuts := max((len(each) for each in ledger.cuts.values()), default=0):
            yield f"different cuts of an attribute in its entries: at most {cuts}"
        if ledger.spent:
            yield f"epsilon spent: {ledger.spent}"


def _row(event: Event) -> tuple[str, ...]:
    version = "" if event.version is None else f" version {event.version}"
    which = f"{event.entry}{version}" if event.entry else event.configuration
    kept = f"{event.people:,}" if event.rows else "none"
    kept = kept if event.given else "not given away"
    kept += f", {event.erased:,} rows erased" if event.rows and event.erased else ""
    return f"{event.number}", event.what, which, event.to, event.at.replace("T", " ").rstrip("Z"), kept


def forget(
    table: Annotated[str, typer.Argument(metavar="TABLE-NAME", help="The name of the table, that of its entry.")],
    people: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|-",
            help="Erase these people: a file, or standard input, with a line for each, as the person column has them.  "
            "[everybody]",
        ),
    ] = None,
    event: Annotated[
        list[int] | None,
        typer.Option(metavar="N", help="Erase this event, which nobody got, and count it no longer; repeatable."),
    ] = None,
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """Erase what a ledger keeps of people; that something left is never erased.

    What left before is then no longer measured with what leaves later, for these people. An event of which you say that
    nobody got it stays listed.
    """
    from aegis_provider.ledger import forget as erase

    if people is not None and event:
        raise InputError("--people erases from all events; omit --event")
    releases, rows = erase(table, [] if people is None else _lines_of(people), event or [])
    line = f"{table}: {rows:,} rows of {releases} releases erased; what left is still listed"
    print_result({"releases": releases, "rows": rows}, [line], as_json=as_json)


def _lines_of(file: str) -> list[str]:
    """Return the people that a file, or standard input, lists: not the command line, which others may read."""
    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise InputError(f"{file}: cannot be read as UTF-8 text: {error}") from error
    if not (people := [line for line in text.splitlines() if line]):
        raise InputError(f"{file}: has no line; without --people, everybody is erased")
    return people
