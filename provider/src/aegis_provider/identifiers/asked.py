"""Identifying columns that a plan shares as they are: refused unless their provider accepts that."""

from collections.abc import Collection

from aegis_provider.errors import IdentifierError, shortened
from aegis_provider.identifiers.search import identifying
from aegis_provider.identifiers.survey import values_of
from aegis_provider.plan.model import IDENTITY, Configuration, Plan
from aegis_provider.table import Table


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
    return identifying(table, values_of(table, columns))


def refuse_identifiers(table: Table, where: str, names: Collection[str]) -> None:
    """Refuse to share these columns as they are if one of them identifies persons.

    Args:
        table: The table.
        where: What shares them, for the message.
        names: The columns.

    Raises:
        IdentifierError: One does.
        TableError: The table cannot be read or lacks a column.
    """
    for name, reason in identifying(table, values_of(table, list(names))).items():
        raise IdentifierError(f"{where}: shares {shortened(name)} as it is: {reason}; leave it out or mask it")
