"""Exact decimal arithmetic on the numbers of a domain, without binary floats."""

from decimal import Context, Decimal, Inexact
from typing import Final

from aegis_provider.errors import UnmaskableValueError
from aegis_provider.table.values import MISSING, Domain, ValueType, decimal_of, is_whole, possible_code

#: The most significant digits of a round number.
ROUND_DIGITS: Final = 3

# Enough precision for every quotient and sum of two numbers that `decimal_of` reads; a lost digit is an error.
_EXACT = Context(prec=8_000, Emax=999_999, Emin=-999_999, traps=[Inexact])
_WHOLE = Context(prec=8_000, Emax=999_999, Emin=-999_999)


def numbers_of(domain: Domain) -> list[Decimal | None]:
    """Return the number of each value, `None` if missing.

    Raises:
        UnmaskableValueError: A value is not a number, or may be a code.
    """
    if domain.value_type in {ValueType.INTEGER, ValueType.NUMBER}:
        return list(domain.keys)
    if (code := possible_code(domain.texts)) is not None:
        raise UnmaskableValueError(code, "may be a code; add `type: number` if it is a number")
    return [None if text == MISSING else decimal_of(text) for text in domain.texts]


def floor_ratio(number: Decimal, width: Decimal) -> Decimal:
    """Return the largest integer `n` with `n * width <= number`, for `width > 0`."""
    ratio = _WHOLE.divide_int(number, width)
    below = _EXACT.compare(_EXACT.multiply(ratio, width), number) > 0
    return _EXACT.subtract(ratio, Decimal(1)) if below else ratio


def plus(number: Decimal, other: Decimal) -> Decimal:
    """Return the exact sum."""
    return _EXACT.add(number, other)


def minus(number: Decimal, other: Decimal) -> Decimal:
    """Return the exact difference."""
    return _EXACT.subtract(number, other)


def times(number: Decimal, other: Decimal) -> Decimal:
    """Return the exact product."""
    return _EXACT.multiply(number, other)


def is_round(number: Decimal) -> bool:
    """Return whether a number has at most three significant digits, and so reveals no value."""
    return len(number.normalize().as_tuple().digits) <= ROUND_DIGITS


def simplest(below: Decimal, above: Decimal) -> Decimal:
    """Return the number with the fewest digits that is above the first number and not above the second."""
    exponent = max(below.adjusted(), above.adjusted()) + 1
    while True:
        unit = Decimal(1).scaleb(exponent)
        next_multiple = times(plus(floor_ratio(below, unit), Decimal(1)), unit)
        if next_multiple <= above:
            return next_multiple
        exponent -= 1


def plain(number: Decimal) -> str:
    """Return the number as text without an exponent, with all its decimals; zero has no sign."""
    return f"{number.copy_abs() if number.is_zero() else number:f}"


def json_number(number: Decimal) -> int | float | str:
    """Return the number for JSON: as a number if that loses no digit, otherwise as text."""
    if not number.is_finite():
        return "-inf" if number < 0 else "inf"
    if is_whole(number) and abs(number) < 2**53:
        return int(number)
    return float(number) if Decimal(repr(float(number))) == number else plain(number)


def interval_name(lower: Decimal, upper: Decimal) -> str:
    """Return the name of an interval, such as `[0.5,1.0)`, `[1.0,inf)` or `(-inf,0.5)`."""
    opening = "(-inf" if lower.is_infinite() else f"[{plain(lower)}"
    return f"{opening},{'inf' if upper.is_infinite() else plain(upper)})"
