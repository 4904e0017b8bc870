"""Reads how an attribute of the plan file is discretised: `discretize: {rule: equal_width, width: 5}`."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Final

from aegis_provider.errors import nearest
from aegis_provider.plan.element import Element
from aegis_provider.plan.masking import read_edges
from aegis_provider.table.discretization import Edges, EqualFrequency, EqualWidth, FreedmanDiaconis, Rule
from aegis_provider.table.values import ValueType

_MOST_BINS = 10_000
_FEWEST_BINS = 2


def read_discretization(element: Element, value_type: ValueType | None) -> Rule:
    """The rule that the element states, for an attribute of that declared type, if any.

    Raises `PlanError`, naming the place.
    """
    if value_type not in {None, ValueType.INTEGER, ValueType.NUMBER}:
        element.fail(f"only numbers are discretised, and the type is {value_type}")
    stated = dict(element.items())
    if "rule" not in stated:
        element.fail(f"`rule` is missing; there is {', '.join(_READERS)}")
    name = stated.pop("rule").text()
    if name not in _READERS:
        element.fail(f"unknown rule {name!r}; {nearest(name, list(_READERS))}")
    return _READERS[name](Element(element.source, element.path, {key: each.value for key, each in stated.items()}))


def _equal_width(element: Element) -> EqualWidth:
    fields = element.fields("width", optional=("origin",))
    origin = fields["origin"].decimal() if "origin" in fields else Decimal(0)
    return EqualWidth(fields["width"].positive(), origin)


def _edges(element: Element) -> Edges:
    edges = element.fields("edges")["edges"]
    if len(edges.elements()) > _MOST_BINS:
        edges.fail(f"at most {_MOST_BINS} edges can be given")
    return Edges(read_edges(edges))


def _equal_frequency(element: Element) -> EqualFrequency:
    bins = element.fields("bins")["bins"]
    number = bins.integer(at_least=_FEWEST_BINS)
    if number > _MOST_BINS:
        bins.fail(f"at most {_MOST_BINS} bins can be made, not {number}")
    return EqualFrequency(number)


def _freedman_diaconis(element: Element) -> FreedmanDiaconis:
    element.fields()
    return FreedmanDiaconis()


_READERS: Final[Mapping[str, Callable[[Element], Rule]]] = {
    "equal_width": _equal_width,
    "edges": _edges,
    "equal_frequency": _equal_frequency,
    "freedman_diaconis": _freedman_diaconis,
}
