"""Reads one masking of the plan file: `{bucketize: {width: 5}}` and its like."""

import os
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Final, TypeAlias

from aegis_provider.errors import PlanError, nearest
from aegis_provider.masking import (
    Blur,
    BlurPositions,
    EdgeBuckets,
    EqualBuckets,
    EqualFrequency,
    FittedFunction,
    Mapped,
    MaskedTable,
    MaskingFunction,
    RandomFunction,
    Round,
    Suppress,
    Token,
    TopBottom,
)
from aegis_provider.plan.chance import read_noise, read_pram, read_randomised_response, read_shuffle
from aegis_provider.plan.element import Element
from aegis_provider.plan.hierarchy import read_level

_MOST_BYTES_OF_SALT = 1 << 20

AnyFunction: TypeAlias = MaskingFunction | FittedFunction | RandomFunction | MaskedTable


def read_function(element: Element, folder: Path) -> AnyFunction:
    """The one masking function that the element states; files that it names are looked up in `folder`.

    Raises `PlanError`, naming the place.
    """
    items = dict(element.items())
    other = items.pop("other", None) if "mapping" in items else None
    if len(items) != 1:
        element.fail(f"expected one masking function of {', '.join(_READERS)}")
    [(name, parameters)] = items.items()
    if name not in _READERS:
        element.fail(f"unknown masking function {name!r}; {nearest(name, list(_READERS))}")
    with parameters.naming_faults():
        return _mapping(parameters, other) if name == "mapping" else _READERS[name](parameters, folder)


def _bucketize(element: Element, _folder: Path) -> AnyFunction:
    fields = element.fields(optional=("width", "origin", "edges", "equal_frequency"))
    if set(fields) == {"equal_frequency"}:
        return EqualFrequency(fields["equal_frequency"].integer(at_least=2))
    if set(fields) == {"edges"}:
        return EdgeBuckets(read_edges(fields["edges"]))
    if set(fields) - {"origin"} != {"width"}:
        element.fail("expected `width`, perhaps with `origin`, or else `edges` or `equal_frequency`")
    origin = fields["origin"].decimal() if "origin" in fields else Decimal(0)
    return EqualBuckets(fields["width"].positive(), origin)


def read_edges(element: Element) -> tuple[Decimal, ...]:
    """A list of two or more ascending numbers. Raises `PlanError`."""
    with element.naming_faults():
        return EdgeBuckets(tuple(edge.decimal(infinite=True) for edge in element.elements())).edges


def _blur(element: Element, _folder: Path) -> Blur | BlurPositions:
    if "positions" in dict(element.items()):
        fields = element.fields("positions", optional=("character",))
        positions = tuple(place.signed_integer() for place in fields["positions"].elements())
        with fields["positions"].naming_faults():
            return BlurPositions(positions, _character(fields))
    fields = element.fields("keep", optional=("character", "at"))
    at = fields["at"].one_of("start", "end") if "at" in fields else "start"
    return Blur(fields["keep"].integer(at_least=0), _character(fields), "end" if at == "end" else "start")


def _character(fields: Mapping[str, Element]) -> str:
    return fields["character"].character() if "character" in fields else "*"


def _round(element: Element, _folder: Path) -> Round:
    return Round(element.fields("to")["to"].positive())


def _top_bottom(element: Element, _folder: Path) -> TopBottom:
    limits = {name: limit.decimal() for name, limit in element.fields(optional=("top", "bottom")).items()}
    return TopBottom(limits.get("top"), limits.get("bottom"))


def _suppress(element: Element, _folder: Path) -> Suppress:
    element.fields()
    return Suppress()


def _mapping(element: Element, other: Element | None) -> Mapped:
    table = {value: masked.text() for value, masked in element.items()}
    return Mapped(table, None if other is None else other.text())


def _token(element: Element, folder: Path) -> Token:
    fields = element.fields(optional=("salt_file", "salt_variable", "length"))
    sources = [fields[name] for name in ("salt_file", "salt_variable") if name in fields]
    if len(sources) != 1:
        element.fail(
            "expected one of `salt_file`, a file beside the plan, and `salt_variable`, a variable of the environment"
        )
    length = fields["length"].integer(at_least=1) if "length" in fields else 12
    return Token(_salt_of_file(sources[0], folder) if "salt_file" in fields else _salt_of_variable(sources[0]), length)


def _salt_of_file(element: Element, folder: Path) -> bytes:
    """Everything in the file but line ends at its end, which editors add."""
    try:
        with (folder / element.name()).open("rb") as file:
            salt = file.read(_MOST_BYTES_OF_SALT + 1).rstrip(b"\r\n")
    except OSError as error:
        raise PlanError(
            f"{element.source}: {element.path}: {element.value} cannot be read: {error.strerror}"
        ) from error
    if len(salt) > _MOST_BYTES_OF_SALT:
        element.fail(f"{element.value} is larger than {_MOST_BYTES_OF_SALT >> 20} MiB; is it a salt?")
    return salt


def _salt_of_variable(element: Element) -> bytes:
    salt = os.environ.get(element.name())
    if salt is None:
        element.fail(f"the environment has no variable {element.value!r}")
    return salt.encode(errors="surrogateescape")


def _masked_table(element: Element, folder: Path) -> MaskedTable:
    fields = element.fields("file", optional=("column",))
    column = fields["column"].name() if "column" in fields else ""
    # The whole path, since a plan that is written elsewhere names the same file in another way.
    return MaskedTable((folder / fields["file"].name()).resolve(), column)


_READERS: Final[Mapping[str, Callable[[Element, Path], AnyFunction]]] = {
    "hierarchy": read_level,
    "bucketize": _bucketize,
    "blur": _blur,
    "round": _round,
    "top_bottom": _top_bottom,
    "suppress": _suppress,
    "mapping": lambda element, _folder: _mapping(element, None),
    "token": _token,
    "noise": read_noise,
    "randomised_response": read_randomised_response,
    "pram": read_pram,
    "shuffle": read_shuffle,
    "masked_table": _masked_table,
}
