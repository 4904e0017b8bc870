"""Reads of the plan file which attributes are sensitive, and which are quasi-identifiers."""

from collections.abc import Mapping, Sequence

from aegis_provider.errors import nearest
from aegis_provider.plan.element import Element
from aegis_provider.plan.model import Attribute


def read_roles(
    fields: Mapping[str, Element], label: str, attributes: Sequence[Attribute]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The sensitive attributes (the label, if the plan names none) and the quasi-identifiers (by default all others).

    Raises `PlanError` for a name that is neither an attribute nor the label, and for one that is both.
    """
    known = [*(attribute.name for attribute in attributes), label]
    sensitive = _names(fields["sensitive"], known) if "sensitive" in fields else (label,)
    if "quasi_identifiers" not in fields:
        return sensitive, tuple(name for name in known[:-1] if name not in sensitive)
    quasi_identifiers = _names(fields["quasi_identifiers"], known)
    for name in quasi_identifiers:
        if name in sensitive:
            fields["quasi_identifiers"].fail(f"{name!r} is sensitive, and cannot be a quasi-identifier too")
    return sensitive, quasi_identifiers


def _names(element: Element, known: list[str]) -> tuple[str, ...]:
    names = [each.name() for each in element.elements()]
    for place, name in enumerate(names):
        if name not in known:
            element.fail(f"unknown attribute {name!r}; {nearest(name, known)}")
        if name in names[:place]:
            element.fail(f"{name!r} stands twice")
    return tuple(names)
