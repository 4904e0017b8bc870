"""Commands for the ledger of a table: what left, to whom and when, and erasing what it keeps of people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from aegis_sdk.cli.options import JsonOption
from aegis_sdk.cli.terminal import InputError, aligned, print_result

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

    every = ledgers()
    chosen = [ledger for ledger in every if table in {None, ledger.name}]
    if table is not None and not chosen:
        raise InputError(f"{table}: has no ledger; {nearest(table, [ledger.name for ledger in every])}")
    document = TypeAdapter(list[Ledger]).dump_python(chosen, mode="json")
    print_result({"ledgers": document}, _lines(chosen), as_json=as_json)


def _lines(ledgers: list[Ledger]) -> Iterator[str]:
    if not ledgers:
        yield "nothing has left"
    for ledger in ledgers:
        yield f"{ledger.name}: {ledger.folder}"
        yield from aligned(("", "what", "which", "to", "when (UTC)", "people kept"), list(map(_row, ledger.events)))
        if ledger.spent:
            yield f"epsilon spent: {ledger.spent}"


def _row(event: Event) -> tuple[str, ...]:
    version = "" if event.version is None else f" version {event.version}"
    which = f"{event.entry}{version}" if event.what == "entry" else event.configuration
    kept = f"{event.people:,}" if event.rows else "none"
    kept += f", {event.erased:,} rows erased" if event.rows and event.erased else ""
    return f"{event.number}", event.what, which, event.to, event.at.replace("T", " ").rstrip("Z"), kept


def forget(
    table: Annotated[str, typer.Argument(metavar="TABLE-NAME", help="The name of the table, that of its entry.")],
    person: Annotated[
        list[str] | None,
        typer.Option(metavar="VALUE", help="Erase this person, as the person column has it; repeatable.  [everybody]"),
    ] = None,
    as_json: JsonOption = False,  # noqa: FBT002 - a flag
) -> None:
    """Erase what a ledger keeps of people; that something left is never erased.

    What left before is then no longer measured with what leaves later, for these people.
    """
    from aegis_provider.ledger import forget as erase

    releases, rows = erase(table, person or [])
    line = f"{table}: {rows:,} rows of {releases} releases erased; what left is still listed"
    print_result({"releases": releases, "rows": rows}, [line], as_json=as_json)
