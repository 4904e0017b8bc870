"""Reads one masking of the plan file: `{bucketize: {width: 5}}` and its like."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Final

from aegis_sdk.provider.errors import PlanError
from aegis_sdk.provider.masking import (
    Blur,
    EdgeBuckets,
    EqualBuckets,
    Hierarchy,
    Mapped,
    MaskingFunction,
    Round,
    Suppress,
)
from aegis_sdk.provider.plan_element import Element, nearest


def read_function(element: Element, folder: Path) -> MaskingFunction:
    """
    The one masking function that the element states; hierarchy files are looked up in `folder`.

    Raises `PlanError`, naming the place.
    """
    items = dict(element.items())
    other = items.pop("other", None) if "mapping" in items else None
    if len(items) != 1:
        element.fail(f"expected one masking function of {', '.join(_READERS)}")
    [(name, parameters)] = items.items()
    if name == "mapping":
        return _mapping(parameters, other)
    if name not in _READERS:
        element.fail(f"unknown masking function {name!r}; {nearest(name, list(_READERS))}")
    return _READERS[name](parameters, folder)


def _hierarchy(element: Element, folder: Path) -> Hierarchy:
    fields = element.fields("file", "level", optional=("delimiter",))
    level = fields["level"].integer(at_least=1)
    delimiter = fields["delimiter"].character() if "delimiter" in fields else ";"
    try:
        return Hierarchy.read(folder / fields["file"].name(), level, delimiter)
    except PlanError as error:
        element.fail(str(error))


def _bucketize(element: Element, _folder: Path) -> EqualBuckets | EdgeBuckets:
    fields = element.fields(optional=("width", "origin", "edges"))
    if ("edges" in fields) == ("width" in fields) or ("edges" in fields and "origin" in fields):
        element.fail("expected `width`, perhaps with `origin`, or else `edges`")
    if "edges" in fields:
        return EdgeBuckets(read_edges(fields["edges"]))
    origin = fields["origin"].decimal() if "origin" in fields else Decimal(0)
    return EqualBuckets(fields["width"].positive(), origin)


def read_edges(element: Element) -> tuple[Decimal, ...]:
    """A list of two or more ascending numbers. Raises `PlanError`."""
    edges = tuple(edge.decimal(infinite=True) for edge in element.elements())
    if len(edges) < 2:  # noqa: PLR2004 - an interval has two ends
        element.fail("at least two edges are needed")
    for lower, upper in pairwise(edges):
        if lower >= upper:
            element.fail(f"edges must ascend, but {upper} follows {lower}")
    return edges


def _blur(element: Element, _folder: Path) -> Blur:
    fields = element.fields("keep", optional=("character",))
    character = fields["character"].character() if "character" in fields else "*"
    return Blur(fields["keep"].integer(at_least=0), character)


def _round(element: Element, _folder: Path) -> Round:
    return Round(element.fields("to")["to"].positive())


def _suppress(element: Element, _folder: Path) -> Suppress:
    element.fields()
    return Suppress()


def _mapping(element: Element, other: Element | None) -> Mapped:
    table = {value: masked.text() for value, masked in element.items()}
    if not table:
        element.fail("at least one `value: masked value` is needed")
    return Mapped(table, None if other is None else other.text())


_READERS: Final[Mapping[str, Callable[[Element, Path], MaskingFunction]]] = {
    "hierarchy": _hierarchy,
    "bucketize": _bucketize,
    "blur": _blur,
    "round": _round,
    "suppress": _suppress,
    "mapping": lambda element, _folder: _mapping(element, None),
}
