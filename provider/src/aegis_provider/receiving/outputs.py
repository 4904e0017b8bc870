"""Whether a text can be what a masking function makes of some value, by what an entry says of the function."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Final

from aegis_provider.errors import UnmaskableValueError
from aegis_provider.masking.blur import Blur, BlurPositions, Suppress
from aegis_provider.masking.bucketize import EdgeBuckets, EqualBuckets
from aegis_provider.masking.function import MaskingFunction
from aegis_provider.masking.numbers import Round, TopBottom
from aegis_provider.receiving.spans import span_of
from aegis_provider.table.values import MISSING, Domain, ValueType, decimal_of

Parameters = Mapping[str, Any]

_INVALID = (ArithmeticError, AttributeError, KeyError, TypeError, ValueError, UnmaskableValueError)
"""What parameters or values raise that a function does not have."""


def rounded_by(function: Mapping[str, Any] | None) -> Decimal | None:
    """Return how far rounding may move a number, by what is published of the function; `None` if it does not round."""
    made = None if function is None else _function(function["name"], function.get("parameters") or {})
    return made.to / 2 if isinstance(made, Round) else None


def can_be_output(text: str, function: Mapping[str, Any] | None, value_type: ValueType) -> bool:
    """Return whether a function, as published, can have this text as a masked value; true if that is not known.

    Round, blur and the like leave their own masked values as they are; of an interval, a number in it is masked.
    """
    masking = None if function is None else _function(function["name"], function.get("parameters") or {})
    if masking is None or text == MISSING:
        return True
    # Numbers are masked as such even if the entry's type says integers: 7.5 may be a multiple of 2.5.
    kinds = dict.fromkeys((value_type, ValueType.NUMBER, ValueType.STRING))
    return any(_becomes(masking, one, kind, text) for one in _originals(text) for kind in kinds)


def _becomes(masking: MaskingFunction, value: str, value_type: ValueType, text: str) -> bool:
    try:
        return masking.mask(Domain.of([value], value_type)) == [text]
    except _INVALID:
        return False


def _originals(text: str) -> list[str]:
    """Return the text itself, and for an interval a number in it."""
    span = span_of(text)
    if span is None or span.low == span.high:
        return [text]
    within = span.low if span.low.is_finite() else span.high - 1
    return [text, f"{within:f}"] if within.is_finite() else [text]


def _function(name: str, parameters: Parameters) -> MaskingFunction | None:
    try:
        return _MAKERS[name](parameters) if name in _MAKERS else None
    except _INVALID:
        return None


def _number(value: object) -> Decimal:
    """Return a parameter as a number; whoever publishes an entry may have written anything there."""
    return Decimal(value) if value in ("-inf", "inf") and isinstance(value, str) else decimal_of(str(value))


def _buckets(parameters: Parameters) -> MaskingFunction:
    if "edges" in parameters:
        return EdgeBuckets(tuple(map(_number, parameters["edges"])))
    return EqualBuckets(_number(parameters["width"]), _number(parameters.get("origin", 0)))


def _blur(parameters: Parameters) -> MaskingFunction:
    character = parameters.get("character", "*")
    if "positions" in parameters:
        return BlurPositions(tuple(parameters["positions"]), character)
    return Blur(parameters["keep"], character, parameters.get("at", "start"))


def _limits(parameters: Parameters) -> MaskingFunction:
    top, bottom = (None if parameters.get(name) is None else _number(parameters[name]) for name in ("top", "bottom"))
    return TopBottom(top, bottom)


_MAKERS: Final[Mapping[str, Callable[[Parameters], MaskingFunction]]] = {
    Round.name: lambda parameters: Round(_number(parameters["to"])),
    Blur.name: _blur,
    Suppress.name: lambda _: Suppress(),
    TopBottom.name: _limits,
    EqualBuckets.name: _buckets,
}
