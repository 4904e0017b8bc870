"""Identifying columns that a plan shares as they are: refused unless their provider accepts that."""

from collections.abc import Collection, Mapping

import pyarrow as pa
import pyarrow.compute as pc

from aegis_provider.errors import IdentifierError, shortened
from aegis_provider.identifiers.search import identifying
from aegis_provider.identifiers.survey import values_of
from aegis_provider.identifiers.written import PARTLY, identifying_texts
from aegis_provider.plan.model import IDENTITY, Configuration, Plan
from aegis_provider.table import Table
from aegis_sdk.printable import Share


def shared_as_they_are(plan: Plan, configurations: Collection[Configuration]) -> list[str]:
    """Return the label, and the attributes that one of the configurations shares unmasked."""
    return [
        plan.label,
        *(
            each.name
            for each in plan.attributes
            if each.discretization is None and any(one.maskings[each.name] == IDENTITY for one in configurations)
        ),
    ]


def identifying_in(table: Table, plan: Plan, names: Collection[str] | None = None) -> dict[str, str]:
    """Return how the label and the attributes of a plan identify persons, or these columns of it, where they do.

    Raises:
        TableError: The table cannot be read or lacks a column.
    """
    columns = [plan.label, *(each.name for each in plan.attributes)] if names is None else list(names)
    counted = [each.name for each in plan.attributes if each.discretization is None and each.name in columns]
    table.keep_counts(counted, plan.label)  # a plan's table is counted sooner or later, but bins instead of numbers
    return _identifying_beside(table, columns, plan.left_out)


def _identifying_beside(table: Table, names: Collection[str], left_out: Collection[str]) -> dict[str, str]:
    """Return which columns identify persons; columns left out show which stand for the same people as these."""
    beside = [name for name in left_out if name in table.columns and name not in names]
    reasons = identifying(table, values_of(table, [*names, *beside]))
    return {name: reason for name, reason in reasons.items() if name in names}


def refuse_identifiers(
    table: Table,
    where: str,
    names: Collection[str],
    instead: str = "",
    *,
    label: str | None = None,
    left_out: Collection[str] = (),
    known: Mapping[str, str] | None = None,
) -> None:
    """Refuse to share these columns as they are if one of them identifies persons.

    Args:
        table: The table.
        where: What shares them, for the message.
        names: The columns.
        instead: What to do; by default, as for the attribute of a plan.
        label: The label, if it is one of them.
        left_out: Columns that are left out, since others may stand for the same people.
        known: How columns identify persons, if that was found out before.

    Raises:
        IdentifierError: One does.
        TableError: The table cannot be read or lacks a column.
    """
    reasons = _identifying_beside(table, names, left_out) if known is None else known
    for name, reason in ((each, reasons[each]) for each in names if each in reasons):
        do = (
            "choose another label"
            if name == label
            else instead or f"set identity: false for it in {where}, or remove it"
        )
        raise IdentifierError(f"{where}: shares {shortened(name)} as it is: {told(table, name, reason)}; {do}")


def told(table: Table, name: str, reason: str) -> str:
    """Return a reason for the provider alone: if only some records identify, with their share and the first of them.

    Raises:
        TableError: The table cannot be read.
    """
    if not reason.endswith(PARTLY):
        return reason
    records, found, first = 0, 0, None
    for batch in table.batches([name]):
        [column] = batch.columns
        places = pc.indices_nonzero(pc.is_in(column, pa.array(identifying_texts(pc.unique(column)), column.type)))
        if first is None and len(places):
            first = records + places[0].as_py() + 1
        records, found = records + len(column), found + len(places)
    if first is None:
        return reason
    share = f"{Share(found / records)} of the records, first in record {first:,}"
    return f"{reason} ({share}): leave these cells empty to share it"
